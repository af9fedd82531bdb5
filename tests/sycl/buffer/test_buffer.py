"""Buffers: construction, sub-buffers and destruction."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises


def fill(queue, buffer, value, **access):
    """Submit a group that writes a value to every element of the accessor."""

    def group(handler):
        accessor = buffer.get_access(handler, "write", **access)
        handler.fill(accessor, value)

    return queue.submit(group)


def contents(buffer):
    with buffer.get_host_access("read") as array:
        return array.copy()


# ---------------------------------------------------------------------- construction


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.complex128, [("a", "<i4"), ("b", "<f8")]])
def test_a_buffer_holds_the_elements_of_an_array(queue, shape, dtype):
    array = np.arange(np.prod(shape)).astype("u1").astype(dtype).reshape(shape)
    buffer = bl.Buffer(array)
    assert (buffer.shape, buffer.dtype, buffer.size, buffer.ndim) == (shape, array.dtype, array.size, len(shape))
    assert buffer.nbytes == array.nbytes and len(buffer) == shape[0] and not buffer.is_sub_buffer
    out = np.zeros_like(array)
    queue.submit(lambda handler: handler.copy(buffer.get_access(handler, "read"), out)).wait()
    np.testing.assert_array_equal(out, array)


def test_buffers_of_other_memory(queue):
    assert contents(bl.Buffer(b"abc")).tolist() == [97, 98, 99]
    data = bytearray(4)
    with bl.Buffer(data) as buffer:
        fill(queue, buffer, 9)
    assert data == b"\x09" * 4
    turned = np.arange(12, dtype=np.int16).reshape(3, 4).T
    with bl.Buffer(turned) as buffer:
        np.testing.assert_array_equal(contents(buffer), turned)
        fill(queue, buffer, 5, range=(1, 3), offset=(1, 0))
    assert turned.tolist() == [[0, 4, 8], [5, 5, 5], [2, 6, 10], [3, 7, 11]]


def test_a_buffer_without_elements(queue):
    for buffer in (bl.Buffer(0, np.int32), bl.Buffer(np.empty((3, 0), np.int32))):
        assert buffer.size == 0
        fill(queue, buffer, 1).wait()
        assert contents(buffer).shape == buffer.shape
        buffer.close()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.float32(1),), None),
        ((np.zeros((1, 1, 1, 1)),), None),
        (((), np.int32), None),
        ((-1, np.int32), None),
        (("x", np.int32), None),
        (([1, 2],), "a list is no array"),
        ((np.array([None]),), "object"),
        ((np.zeros(3), np.int32), None),
        ((3, "nonsense"), "nonsense"),
    ],
)
def test_what_no_buffer_can_be_made_of(arguments, message):
    with raises(bl.InvalidError, names=message):
        bl.Buffer(*arguments)


# ---------------------------------------------------------------------- sub-buffers


def test_sub_buffers_see_the_same_elements(queue):
    array = np.zeros((4, 6), np.int32)
    with bl.Buffer(array) as buffer:
        rows, part = buffer.sub_buffer((1, 0), (2, 6)), buffer.sub_buffer((3, 2), (1, 3))
        assert rows.is_sub_buffer and rows.shape == (2, 6) and part.nbytes == 12
        fill(queue, rows, 1)
        fill(queue, part, 2)
        fill(queue, part, 3, offset=(0, 2))
        assert contents(part).tolist() == [[2, 2, 3]]
        rows.close()
        assert not rows.closed
    assert array.tolist() == [[0] * 6, [1] * 6, [1] * 6, [0, 0, 2, 2, 3, 0]]
    with raises(bl.InvalidError):
        fill(queue, part, 1)


@pytest.mark.parametrize(
    "offset, shape",
    [
        ((0, 0), (2, 3)),
        ((0, 4), (1, 3)),
        ((5, 0), (0, 6)),
        (0, 6),
        ((0, -1), (1, 1)),
    ],
)
def test_sub_buffers_that_cannot_be(offset, shape):
    buffer = bl.Buffer((4, 6), np.int32)
    with raises(bl.InvalidError):
        buffer.sub_buffer(offset, shape)
    with raises(bl.InvalidError, names="sub_buffer"):
        buffer.sub_buffer((0, 0), (2, 6)).sub_buffer((0, 0), (1, 6))


def test_the_contiguous_regions_of_three_dimensions():
    buffer = bl.Buffer((3, 4, 5), np.uint8)
    numbers = np.arange(60).reshape(3, 4, 5)
    for z, y, x in np.ndindex(4, 5, 6):
        flat = np.sort(numbers[:z, :y, :x].ravel())
        if not flat.size:
            continue
        if (np.diff(flat) == 1).all():
            assert buffer.sub_buffer((0, 0, 0), (z, y, x)).nbytes == flat.size
        else:
            with raises(bl.InvalidError):
                buffer.sub_buffer((0, 0, 0), (z, y, x))


def test_a_buffer_reinterpreted(queue):
    array = np.arange(8, dtype=np.uint32)
    with bl.Buffer(array) as buffer:
        halves = buffer.reinterpret((4, 4), np.uint16)
        assert contents(halves).tolist() == array.view("u2").reshape(4, 4).tolist()
        fill(queue, halves, 7, range=(1, 2), offset=(2, 0))
        assert buffer.reinterpret(dtype="u1").shape == (32,) and buffer.reinterpret((2, 4)).dtype == np.uint32
        last = buffer.sub_buffer(4, 4).reinterpret(dtype="f8")
        assert last.shape == (2,) and last.is_sub_buffer
        with raises(bl.InvalidError, names=(12, 32)):
            buffer.reinterpret(3)
        with raises(bl.InvalidError):
            buffer.reinterpret(None, [("a", "u1", 3)])
    assert array.tolist() == [0, 1, 2, 3, 7 + (7 << 16), 5, 6, 7]


def test_parts_keep_the_whole_and_write_it_back(queue):
    array = np.zeros(4, np.int32)
    part = bl.Buffer(array).sub_buffer(1, 2)
    gc.collect()
    fill(queue, part, 3).wait()
    assert not part.closed
    del part
    gc.collect()
    assert array.tolist() == [0, 3, 3, 0]


# ---------------------------------------------------------------------- destruction


def test_closing_writes_back_what_commands_changed(queue):
    array = np.zeros(8, np.float32)
    buffer = bl.Buffer(array)
    fill(queue, buffer, 2.5)
    buffer.close()
    assert buffer.closed and array.tolist() == [2.5] * 8
    buffer.close()
    for use in (
        lambda: buffer.get_host_access(),
        lambda: buffer.sub_buffer(0, 1),
        lambda: buffer.reinterpret(8),
        lambda: buffer.set_final_data(None),
        lambda: buffer.get_access(None),
        lambda: buffer.__enter__(),
    ):
        with raises(bl.InvalidError):
            use()


def test_dropping_the_last_reference_writes_back(queue):
    array = np.zeros(8, np.int32)

    def scope():
        buffer = bl.Buffer(array)
        fill(queue, buffer, 4)

    scope()
    assert array.tolist() == [4] * 8


def test_a_buffer_in_a_cycle_is_written_back(queue):
    array = np.zeros(8, np.int32)

    class Ring:
        pass

    ring = Ring()
    ring.self = ring
    ring.buffer = bl.Buffer(array)
    fill(queue, ring.buffer, 6)
    del ring
    gc.collect()
    for _ in range(1000):  # by another thread: garbage collection may start at any time
        if array.any():
            break
        time.sleep(0.01)
    assert array.tolist() == [6] * 8


def test_where_the_elements_go(queue):
    array, other = np.zeros((2, 3), np.int32), np.zeros(6, np.int32)
    with bl.Buffer(array) as buffer:
        buffer.set_final_data(other)
        fill(queue, buffer, 1)
    assert array.tolist() == [[0] * 3] * 2 and other.tolist() == [1] * 6
    with bl.Buffer(array) as buffer:
        buffer.set_final_data(None)
        fill(queue, buffer, 1)
        with buffer.get_host_access() as view:
            view[...] = 3
    assert array.tolist() == [[0] * 3] * 2
    strided = np.zeros((6, 2), np.int32)[:, 0]
    with bl.Buffer((2, 3), np.int32) as buffer:
        buffer.set_final_data(strided)
        fill(queue, buffer, 9)
    assert strided.tolist() == [9] * 6
    with bl.Buffer(array) as buffer:  # unchanged, but written to another array
        buffer.set_final_data(other)
    assert other.tolist() == [0] * 6


def test_writing_back_can_be_turned_off_and_on(queue):
    array = np.zeros(3, np.int32)
    with bl.Buffer(array) as buffer:
        buffer.set_write_back(False)
        fill(queue, buffer, 1)
    assert array.tolist() == [0] * 3
    with bl.Buffer(array) as buffer:
        buffer.set_write_back(False)
        buffer.set_write_back(True)
        fill(queue, buffer, 1)
    assert array.tolist() == [1] * 3


def test_read_only_arrays_are_never_written(queue):
    array = np.arange(4, dtype=np.int32)
    array.flags.writeable = False
    with bl.Buffer(array) as buffer:
        with buffer.get_host_access() as view:
            view += 1
        fill(queue, buffer, 8, range=1)
        assert contents(buffer).tolist() == [8, 2, 3, 4]
        queue.submit(lambda handler: handler.update_host(buffer.get_access(handler, "read"))).wait()
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "target, message",
    [
        ([0, 0], "a list is no numpy array"),
        (np.zeros(3, np.int32), ("3", "int32", "4", "int32")),
        (np.zeros(4, np.float32), ("4", "float32", "4", "int32")),
        (np.broadcast_to(np.int32(0), 4), None),
    ],
)
def test_final_data_that_cannot_be(target, message):
    buffer = bl.Buffer(4, np.int32)
    with raises(bl.InvalidError, names=message):
        buffer.set_final_data(target)
    with raises(bl.InvalidError):
        buffer.sub_buffer(0, 2).set_final_data(None)


# ---------------------------------------------------------------------- blocking and non-blocking destruction


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


def held(queue, buffer, gate, mode="read_write"):
    """Submit a group on the buffer that ends when the gate opens."""

    def group(handler):
        buffer.get_access(handler, mode)
        handler.host_task(lambda: gate.wait(20))

    return queue.submit(group)


def test_closing_waits_where_there_is_something_to_write_back(queue, gate):
    array = np.zeros(4, np.int32)
    buffer = bl.Buffer(array)
    event = held(queue, buffer, gate)
    threading.Timer(0.05, gate.set).start()
    buffer.close()
    assert event.status is bl.EventStatus.complete


@pytest.mark.parametrize("make", ["shape", "read-only", "no write-back"])
def test_closing_does_not_wait_where_there_is_nothing_to_write_back(queue, gate, make):
    array = np.zeros(4, np.int32)
    if make == "read-only":
        array.flags.writeable = False
    buffer = bl.Buffer(4, np.int32) if make == "shape" else bl.Buffer(array)
    if make == "no write-back":
        buffer.set_final_data(None)
    event = held(queue, buffer, gate)
    buffer.close()
    assert event.status is not bl.EventStatus.complete
    gate.set()
    event.wait()


def test_closing_does_not_wait_for_commands_that_only_read_a_copy(queue, gate):
    array = np.zeros(4, np.int32)
    buffer = bl.Buffer(array)
    queue.submit(lambda handler: handler.copy(buffer.get_access(handler, "read"), np.empty_like(array))).wait()
    event = held(queue, buffer, gate, "read")
    buffer.close()
    assert event.status is not bl.EventStatus.complete


def test_queues_and_contexts_of_buffers_do_not_block(device, gate):
    queue = bl.Queue(device, bl.Context(device))
    buffer = bl.Buffer(4, np.int32)
    event = held(queue, buffer, gate)
    del queue, buffer
    gc.collect()
    assert event.status is not bl.EventStatus.complete
    gate.set()
    event.wait()
