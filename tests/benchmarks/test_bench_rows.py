"""The rows of ``bindless bench``: what is measured, with what peers and targets, has its only place in ``src``.

The table at the end says of each row with a target whether it is reached; no test fails for being slow.
"""

from __future__ import annotations

import math

import pytest

import bindless as bl
from bindless.bench.measure import Bench
from bindless.bench.sampling import sample_format
from bindless.cli.bench import PARTS
from tests.benchmarks.conftest import show_row

SAMPLES = 1 << 22
KINDS = [
    (channel_type, channels)
    for channel_type in ("unorm_int8", "snorm_int8", "unorm_int16", "snorm_int16", "unsigned_int16", "fp16", "fp32")
    for channels in (1, 3, 4)
]


@pytest.fixture
def bench(device: bl.Device) -> Bench:
    return Bench(bl.Queue(device, in_order=True), SAMPLES)


@pytest.mark.parametrize("part", PARTS)
def test_rows_have_times(bench: Bench, part: str) -> None:
    PARTS[part](bench)
    assert bench.rows or bench.notes
    for row in bench.rows:
        assert 0 < row.seconds < math.inf and row.peer_seconds >= 0
        assert row.reached is not None or not (row.goal or row.goal_seconds or row.goal_percent)
        peers = {row.peer: row.ratio} if row.ratio is not None else {}
        show_row(row.operation, row.seconds, row.speed(row.seconds) if row.amount else "", peers, row.target)


@pytest.mark.parametrize(("channel_type", "channels"), KINDS, ids=str)
def test_every_format(bench: Bench, channel_type: str, channels: int) -> None:
    """Each kind of texel that the device has, compared with four channels of 32-bit floats."""
    if channels == 3 and bench.queue.device.backend is bl.Backend.cuda:
        with pytest.raises(bl.FeatureNotSupportedError):
            sample_format(bench, channel_type, channels)
        return
    seconds, floats = sample_format(bench, channel_type, channels), sample_format(bench, "fp32", 4)
    assert 0 < seconds < math.inf
    show_row(f"sample 2D {channel_type} x{channels}", seconds, "", {"fp32 x4": floats / seconds}, "")
