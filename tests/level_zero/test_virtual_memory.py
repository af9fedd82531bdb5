"""Reserved addresses, physical memory, and growing arrays."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.level_zero import GrowableArray, PhysicalMemory, VirtualRange, get_page_size
from tests.support.compile_kernels import compiled_text
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

SUM = """
kernel void add(global const int *data, global int *out) {
    atomic_add(out, data[get_global_id(0)]);
}
"""


def test_an_array_grows_where_it_is(queue: bl.Queue) -> None:
    page = get_page_size(1, queue)
    with GrowableArray(np.int32, queue, capacity=1_000_000) as growing:
        address = growing.address
        assert len(growing) == 0 and growing.nbytes_mapped == 0 and growing.array.shape == (0,)
        first = growing.append(np.arange(10), queue)
        assert 0 < growing.nbytes_mapped <= 2 * page
        expected = np.arange(10, dtype=np.int32)
        for count in (1, 2000, 30_000, 200_000):
            more = np.arange(count, dtype=np.int32) * 7
            expected = np.concatenate([expected, more])
            growing.append(more, queue)
            assert growing.address == address
            assert 4 * len(expected) <= growing.nbytes_mapped <= 8 * len(expected) + 2 * page
        assert np.array_equal(growing.array.numpy(queue), expected)
        assert np.array_equal(first.numpy(queue), expected[:10])
        bundle = bl.load_kernel_bundle(compiled_text(SUM, "spirv"), queue.context)
        out = bl.usm_empty(1, np.int32, queue, kind="shared")
        queue.fill(out, 0).wait()
        queue.parallel_for(len(growing), bundle.get_kernel("add"), growing.array, out).wait()
        assert out.numpy()[0] == expected.sum(dtype=np.int32)
        view = growing.array
    with raises(bl.InvalidError):
        view.numpy(queue)
    with raises(bl.InvalidError):
        growing.append([1], queue)


def test_rows_and_capacity(queue: bl.Queue) -> None:
    with GrowableArray("u1", queue, capacity=3, row_shape=(2, 5)) as growing:
        assert growing.capacity == 3 < get_page_size(30, queue) // 10
        growing.append(np.full((2, 2, 5), 3), queue)
        growing.append(np.full((2, 5), 4), queue)
        assert growing.array.shape == (3, 2, 5)
        assert growing.array.numpy(queue).sum() == 2 * 30 + 40
        growing.resize(1)
        assert len(growing) == 1 and growing.array.numpy(queue).sum() == 30
        with raises(bl.InvalidError, names=(0, growing.capacity)):
            growing.resize(growing.capacity + 1)
        with raises(bl.InvalidError, names="shape (2, 5)"):
            growing.append(np.zeros((5, 2)), queue)


def test_one_memory_at_two_addresses(queue: bl.Queue) -> None:
    page = get_page_size(1, queue)
    memory = PhysicalMemory(1, queue)
    assert memory.nbytes == page
    with VirtualRange(4 * page, queue) as addresses:
        assert addresses.nbytes == 4 * page and addresses.mapped == ()
        assert addresses.map(memory) == addresses.address
        addresses.map(memory, 2 * page)
        assert addresses.mapped == ((0, page), (2 * page, page))
        backend, native = queue._backend, queue._native
        written, read = np.arange(page, dtype=np.uint8), np.zeros(page, np.uint8)
        backend.wait_event(backend.copy(native, addresses.address, written.ctypes.data, page))
        backend.wait_event(backend.copy(native, read.ctypes.data, addresses.address + 2 * page, page))
        assert np.array_equal(read, written)
        with raises(bl.InvalidError):
            addresses.map(memory, 2 * page)
        with raises(bl.InvalidError):
            addresses.map(memory, 1)
        with raises(bl.InvalidError):
            addresses.map(memory, 4 * page)
        addresses.set_access(0, page, "read")
        with raises(bl.InvalidError, names="read_write, read, none"):
            addresses.set_access(0, page, "write")
        addresses.unmap(0)
        with raises(bl.InvalidError):
            addresses.unmap(0)
        assert addresses.mapped == ((2 * page, page),)
    with raises(bl.InvalidError):
        addresses.map(memory)


def test_sizes_beyond_all_memory(queue: bl.Queue) -> None:
    with raises(bl.InvalidError, names=(1, 2)):
        VirtualRange(0, queue)
    with pytest.raises(bl.MemoryAllocationError):
        VirtualRange(2**62, queue)
    with pytest.raises(bl.MemoryAllocationError):
        PhysicalMemory(2**62, queue)


def test_dropped_arrays_give_back_addresses_and_memory(queue: bl.Queue) -> None:
    from bindless.core import ownership

    before = len(ownership._live)
    growing = GrowableArray(np.float64, queue, capacity=100)
    growing.append(np.ones(10), queue)
    view = growing.array
    del growing
    assert view.numpy(queue).sum() == 10
    del view
    queue.wait()
    assert len(ownership._live) == before


def test_no_more_rows_than_were_asked_for(queue: bl.Queue) -> None:
    with GrowableArray(np.float64, queue, capacity=100, row_shape=3) as growing:
        with pytest.raises(bl.InvalidError) as refused:
            growing.append(np.zeros((101, 3)), queue)
        assert refused.value.code is bl.Errc.invalid
        assert (growing.capacity, len(growing)) == (100, 0)
        growing.append(np.ones((60, 3)), queue)
        with pytest.raises(bl.InvalidError):
            growing.append(np.zeros((60, 3)), queue)
        growing.append(np.ones((40, 3)), queue)
        assert len(growing) == 100 and (growing.array.numpy(queue) == 1).all()
