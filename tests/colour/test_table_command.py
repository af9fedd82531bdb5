"""The reference driver's tables of colours against the kernel ``csrc/kernels/source/lut3d.cl``: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

Array = npt.NDArray[Any]
TYPES = np.uint8, np.uint16, np.float16, np.float32


@pytest.fixture
def queue() -> bl.Queue:
    return bl.Queue("reference")


def pictures(random: np.random.Generator, dtype: Any, channels: int) -> Array:
    """Pixels of all kinds; of floats also values outside, infinite ones and what is no number."""
    count = 64 * 5 + 37
    if np.dtype(dtype).kind == "u":
        return random.integers(0, np.iinfo(dtype).max, (count, channels), dtype, endpoint=True)
    picture = (random.random((count, channels)) * 1.5 - 0.25).astype(dtype)
    picture[:: count // 40] = np.round(picture[:: count // 40] * 4) / 4  # on entries, with equal shares
    picture[5:9] = [[np.nan] * channels, [np.inf] * channels, [-np.inf] * channels, [-0.0] * channels]
    picture.view(f"u{picture.itemsize}")[9, -1] = 0x7C01 if picture.itemsize == 2 else 0x7F800001  # signals
    return picture


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("interpolation", ["trilinear", "tetrahedral"])
def test_bits_are_those_of_the_kernel(
    queue: bl.Queue, monkeypatch: pytest.MonkeyPatch, interpolation: str, dtype: Any, channels: int
) -> None:
    random = np.random.default_rng(3)
    table, shaper = random.random((5, 5, 5, 3), np.float32), np.sort(random.random((20, 3), np.float32), 0)
    table = table * 1.2 - 0.1
    domain = (-0.1, 0.0, 0.05), (1.0, 0.9, 1.1)
    picture = pictures(random, dtype, channels)
    tables = (
        bl.Lut3D(table),
        bl.Lut3D(table, domain=domain, shaper=shaper),
        bl.Lut3D(None, shaper=shaper, shaper_domain=domain),
        bl.Lut3D(random.random((40, 40, 40, 3), np.float32) if channels == 3 else table[:2, :2, :2]),
    )
    for lut in tables:
        for out in TYPES:
            values = lut(picture, interpolation, out=out, queue=queue)
            with monkeypatch.context() as patch:
                patch.setattr(type(queue._backend), "colour_tables", None)
                wanted = lut(picture, interpolation, out=out, queue=queue)
            assert values.dtype == out and values.tobytes() == wanted.tobytes()


def test_memory(queue: bl.Queue) -> None:
    """Arrays in USM; pictures whose values pass by the caches; the result in the picture."""
    random = np.random.default_rng(4)
    lut = bl.Lut3D(random.random((4, 4, 4, 3), np.float32))
    picture = random.random((500, 700, 3), np.float32)
    wanted = lut(picture, queue=queue)
    there: bl.UsmArray = bl.usm_empty(picture.shape, picture.dtype, queue)
    queue.memcpy(there, picture).wait()
    assert np.array_equal(lut(there, queue=queue).numpy(), wanted)
    large = np.concatenate([picture] * 5)
    assert np.array_equal(lut(large, queue=queue), np.concatenate([wanted] * 5))
    lut(large, out=large, queue=queue)
    assert np.array_equal(large[-500:], wanted)
