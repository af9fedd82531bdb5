"""Driver calls of ``bindless.dask`` on the driver of ``fake_cuda.c``: run by ``test_cuda_recording.py``."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.backends.cuda.fake_cuda import Fake
from tests.backends.cuda.recorded_resampling import UNITS, parameters

from bindless.dask.arrays import warp_of  # isort: skip
from bindless.dask.blocks import Blocks  # isort: skip
from bindless.dask.block import compute  # isort: skip
from bindless.dask.chunks import starts_in  # isort: skip
from bindless.dask.staging import is_pinned, staged_empty  # isort: skip
from bindless.dask.workspace import Workspace  # isort: skip

SHAPE = (256, 160, 160)
MAKES = ("cuArray3DCreate", "cuArrayDestroy", "cuTexObject", "cuModule")


@pytest.fixture
def blocks() -> Blocks:
    image = np.zeros(SHAPE, np.float32)
    warp = warp_of(image, np.diag([0.95, 0.98, 0.99]), 0.4, None, 1, "nearest", 0.0, "hardware")
    return Blocks(warp, starts_in(SHAPE, (32, 80, 80)), image)


def made(blocks: Blocks, workspace: Workspace, number: tuple[int, ...]) -> np.ndarray:
    return compute(blocks.warp, blocks.block(number), blocks.image.__getitem__, None, workspace)


def test_a_block_allocates_nothing(blocks: Blocks, fake: Fake) -> None:
    """Blocks inside have boxes of several sizes, and one image."""
    fake.parameters(*parameters(UNITS))
    with bl.Queue("cuda", in_order=True) as queue:
        workspace = Workspace(queue)
        made(blocks, workspace, (1, 1, 1))
        fake.clear()
        sizes, before = set(), fake.allocations()
        for plane in range(1, 6):
            spans = blocks.warp.spans(blocks.block((plane, 1, 1)))
            assert spans is not None
            sizes.add(spans[0].size)
            assert is_pinned(made(blocks, workspace, (plane, 1, 1)))
        assert len(sizes) > 1
        assert fake.allocations() == before
        assert not [line for line in fake.lines() if line.startswith(MAKES)]
        assert len(fake.lines("cuLaunchKernel")) == len(fake.lines("cuMemcpy3D")) == 5
        assert len(fake.lines("cuMemcpyAsync")) + len(fake.lines("cuMemcpyDtoH")) == 5
        workspace.close()


def test_results_share_pinned_memory(blocks: Blocks, fake: Fake) -> None:
    """A dropped array's memory serves the next one; what is kept is not touched."""
    with bl.Queue("cuda", in_order=True) as queue:
        first = staged_empty(queue, (1 << 19,), np.dtype(np.float32))
        first.fill(1)
        second = staged_empty(queue, (1 << 19,), np.dtype(np.float32))
        second.fill(2)
        assert (first == 1).all()
        address = first.ctypes.data
        view = first[10:]
        del first
        assert staged_empty(queue, (1 << 19,), np.dtype(np.float32)).ctypes.data != address
        del view
        assert staged_empty(queue, (1 << 19,), np.dtype(np.float32)).ctypes.data == address


def refuse(*_: object, **__: object) -> None:
    raise bl.MemoryAllocationError("no pinned memory is left")


def test_pinned_memory_has_a_limit(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.dask import staging

    monkeypatch.setattr(staging, "_MOST_BYTES", 5 << 20)
    device = bl.Device("cuda")
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        kept = [staged_empty(queue, (1 << 20,), np.dtype(np.uint16)) for _ in range(4)]
        assert [is_pinned(array) for array in kept] == [True, True, False, False]
        del kept[:2]
        assert is_pinned(staged_empty(queue, (3 << 19,), np.dtype(np.uint16)))  # others are freed
        monkeypatch.setattr(staging, "usm_empty", refuse)
        assert not is_pinned(staged_empty(queue, (1 << 19,), np.dtype(np.uint8)))
