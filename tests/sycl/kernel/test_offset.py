"""Ranges whose global ids begin at an offset (SYCL 2020, "ND-range kernels": deprecated)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import level_zero as ze

SOURCE = """
#include <bindless/device.h>
kernel void ids(global ulong *out)
{
    size_t at = 0, items = 1;
    for (uint k = 3; k-- > 0;) at = at * get_global_size(k) + (get_global_id(k) - get_global_offset(k));
    for (uint k = 0; k < 3; ++k) items *= get_global_size(k);
    for (uint k = 0; k < 3; ++k) {
        out[(k * 3 + 0) * items + at] = get_global_id(k);
        out[(k * 3 + 1) * items + at] = get_global_offset(k);
        out[(k * 3 + 2) * items + at] = get_group_id(k) * get_local_size(k) + get_local_id(k);
    }
}
kernel void add(global int *data, int value) { data[bindless_item_id(0, 1)] += value; }
"""

pytestmark = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)
RANGES = [((12,), (4,), (5,)), ((4, 6), (2, 3), (0, 7)), ((2, 4, 6), (1, 2, 3), (3, 0, 2**31)), ((8,), (8,), (0,))]


@pytest.fixture(scope="module")
def built() -> bl.KernelFile:
    return bl.build(SOURCE)


def ids_of(sizes: tuple[int, ...], offset: tuple[int, ...]) -> npt.NDArray[Any]:
    """Values of each item by native dimension: global id, offset, global id without offset."""
    inside = np.indices(sizes).reshape(len(sizes), -1)[::-1]
    wanted = np.zeros((3, 3, int(np.prod(sizes))), np.uint64)
    for k, (ids, start) in enumerate(zip(inside, offset[::-1])):
        wanted[k] = [ids + start, np.full_like(ids, start), ids]
    return wanted


def require_offsets(queue: bl.Queue) -> None:
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("CUDA has no offsets; test_a_driver_without_offsets says how it tells")


@pytest.mark.parametrize(("sizes", "groups", "offset"), RANGES)
def test_ids_begin_at_the_offset(
    built: bl.KernelFile, queue: bl.Queue, sizes: tuple[int, ...], groups: tuple[int, ...], offset: tuple[int, ...]
) -> None:
    if any(offset):
        require_offsets(queue)
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("ids")
    nvidia = queue.backend is bl.Backend.opencl and queue.device._record.native.takes_ptx
    if nvidia and max(offset) >= 2**31:  # the driver reads the offset as a negative number
        with pytest.raises(bl.FeatureNotSupportedError):
            queue.parallel_for(bl.NdRange(sizes, groups, offset), kernel, bl.usm_empty(1, np.uint64, queue))
        return
    out = bl.usm_empty((3, 3, int(np.prod(sizes))), np.uint64, queue)
    for index_space in (
        bl.NdRange(sizes, groups, offset),
        bl.NdRange(sizes, groups),
        bl.NdRange(sizes, groups, offset),
    ):
        queue.parallel_for(index_space, kernel, out).wait()
        wanted = ids_of(sizes, tuple(index_space.offset))
        np.testing.assert_array_equal(out.numpy(queue), wanted)


@pytest.mark.parametrize("in_order", [True, False])
def test_every_way_to_launch(built: bl.KernelFile, device: bl.Device, in_order: bool) -> None:
    with bl.Queue(device, in_order=in_order) as queue:
        require_offsets(queue)
        kernel = bl.load_kernel_bundle(built, queue).get_kernel("add")
        data = bl.usm_empty(20, np.int32, queue)
        queue.fill(data, np.int32(0)).wait()
        space, wanted = bl.NdRange(4, 2, offset=8), np.zeros(20, np.int32)
        before = queue.submit(lambda handler: handler.host_task(lambda: None))
        for value in (1, 2, 4):  # without an offset, an equal launch takes the repeated path
            queue.parallel_for(space, kernel, data, value, depends_on=before).wait()
            wanted[8:12] += value
        queue.parallel_for(bl.NdRange(4, 2), kernel, data, 8).wait()
        wanted[:4] += 8
        queue.submit(lambda handler: handler.parallel_for(space, kernel, data, 16)).wait()
        wanted[8:12] += 16
        bound = kernel.bind(queue, space, data, 32)
        for _ in range(3):
            bound().wait()
            wanted[8:12] += 32
        graph = bl.CommandGraph(queue)
        graph.parallel_for(space, kernel, data, 128)
        graph.parallel_for(bl.NdRange(4, 2), kernel, data, 256)
        for _ in range(2):
            graph().wait()
            wanted[8:12] += 128
            wanted[:4] += 256
        np.testing.assert_array_equal(data.numpy(queue), wanted)
        graph.close()


def test_accessors(built: bl.KernelFile, queue: bl.Queue) -> None:
    require_offsets(queue)
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("add")
    found = np.zeros(20, np.int32)
    with bl.Buffer(found) as buffer:

        def add(handler: bl.Handler) -> None:
            handler.parallel_for(bl.NdRange(4, 2, 3), kernel, buffer.get_access(handler, "read_write"), 7)

        queue.submit(add)
    np.testing.assert_array_equal(found, [0] * 3 + [7] * 4 + [0] * 13)


def test_a_driver_without_offsets(built: bl.KernelFile, queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("add")
    data = bl.usm_empty(20, np.int32, queue)
    monkeypatch.setattr(type(queue._backend), "offset_launch", None)
    with pytest.raises(bl.FeatureNotSupportedError):
        queue.parallel_for(bl.NdRange(4, 2, 8), kernel, data, 1)
    queue.parallel_for(bl.NdRange(4, 2, 0), kernel, data, 1).wait()


def test_no_cooperative_launch_from_an_offset(built: bl.KernelFile, queue: bl.Queue) -> None:
    if queue._backend.cooperative_launch is None:
        pytest.skip("no cooperative launches")
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("add")
    data = bl.usm_empty(20, np.int32, queue)
    with pytest.raises(bl.FeatureNotSupportedError):
        ze.launch_cooperative(queue, bl.NdRange(4, 4, 8), kernel, data, np.int32(1))


def test_the_value() -> None:
    space = bl.NdRange((4, 6), (2, 3), (1, 2))
    assert space.offset == bl.Range(1, 2) and bl.NdRange(8, 4).offset == bl.Range(0)
    assert space != bl.NdRange((4, 6), (2, 3)) and space == bl.NdRange((4, 6), (2, 3), offset=bl.Range(1, 2))
    assert hash(space) == hash(bl.NdRange((4, 6), (2, 3), (1, 2)))
    assert repr(space) == "NdRange(Range(4, 6), Range(2, 3), Range(1, 2))"
    assert repr(bl.NdRange(8, 4)) == "NdRange(Range(8), Range(4))"
    for offset in ((1, 2), -1, 1.5, "1"):
        with pytest.raises((bl.NdRangeError, bl.InvalidError)):
            bl.NdRange(8, 4, offset)  # type: ignore[arg-type]
