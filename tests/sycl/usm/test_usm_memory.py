"""Unified shared memory: pointers, arrays, views, copies and refused arguments."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

KINDS = ("device", "host", "shared")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape, dtype", [(7, "f4"), ((3, 5), "u2"), ((2, 3, 4), "i8"), ((), "f8"), ((0, 3), "f4")])
def test_arrays_carry_values_to_the_device_and_back(queue, kind, shape, dtype):
    array = bl.usm_empty(shape, dtype, queue, kind=kind)
    values = np.random.default_rng(1).integers(0, 100, array.shape).astype(dtype)
    assert array.copy_from(values, queue) is array
    found = array.numpy(queue)
    assert found.dtype == np.dtype(dtype) and found.shape == values.shape
    np.testing.assert_array_equal(found, values)
    assert (array.kind, array.ndim, array.size, array.nbytes) == (kind, values.ndim, values.size, values.nbytes)


def test_structured_elements(queue):
    dtype = np.dtype([("x", "f4"), ("n", "i2"), ("pad", "u1", 6)])
    values = np.zeros(5, dtype)
    values["x"], values["n"] = np.arange(5), -1
    array = bl.usm_empty(5, dtype, queue).copy_from(values)
    np.testing.assert_array_equal(array.numpy(), values)
    value = values[3]
    queue.fill(array, value).wait()
    np.testing.assert_array_equal(array.numpy()["x"], [3] * 5)


VIEWS = [
    np.s_[1],
    np.s_[1:],
    np.s_[::2],
    np.s_[::-1],
    np.s_[:, 3],
    np.s_[..., 1:3],
    np.s_[1:4, ::-2, None],
    np.s_[-1, 2:5:2, 1],
    np.s_[None, ...],
    np.s_[4:1],
    np.s_[3:1:-1, 1, ::-1],
]


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("key", VIEWS, ids=str)
def test_slices_are_views_like_those_of_numpy(queue, key, kind):
    values = np.arange(5 * 6 * 4, dtype=np.float32).reshape(5, 6, 4)
    array = bl.usm_empty(values.shape, values.dtype, queue, kind=kind).copy_from(values)
    view, expected = array[key], values[key]
    assert view.shape == expected.shape
    assert view.is_contiguous == expected.flags.c_contiguous
    np.testing.assert_array_equal(view.numpy(), expected)
    values[key] = expected * 2 + 1
    view.copy_from(expected * 1, queue)
    view.copy_from(values[key])
    np.testing.assert_array_equal(array.numpy(), values)
    if kind == "shared":
        np.testing.assert_array_equal(np.asarray(view), values[key])


def test_a_view_of_a_view_and_other_shapes(queue):
    values = np.arange(24, dtype=np.int32)
    array = bl.usm_empty(24, np.int32, queue).copy_from(values)
    np.testing.assert_array_equal(array[4:20][::3][1].numpy(), values[4:20][::3][1])
    np.testing.assert_array_equal(array.reshape(4, -1).numpy(), values.reshape(4, 6))
    np.testing.assert_array_equal(array.reshape((2, 3, 4))[1, :, 2].numpy(), values.reshape(2, 3, 4)[1, :, 2])
    np.testing.assert_array_equal(array.view("u1").numpy(), values.view("u1"))
    np.testing.assert_array_equal(array.view("f4").view("i4").numpy(), values)
    assert len(array.reshape(4, 6)) == 4


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda a: a[0, 0, 0], "does not fit an array of shape (4, 6)"),
        (lambda a: a[..., ...], "does not fit"),
        (lambda a: a[[1, 2]], "views are made by integers, slices"),
        (lambda a: a[1.5], "index 1.5"),
        (lambda a: a.reshape(5, 5), "cannot be reshaped to (5, 5)"),
        (lambda a: a.reshape(-1, -1), "cannot be reshaped"),
        (lambda a: a[:, 1:5].reshape(16), ("reshape: this view ", " is not contiguous")),
        (lambda a: a[:, ::2].view("u1"), "view: this view"),
        (lambda a: a[:, :5].copy_from(1).view("f8"), "20 bytes of the last dimension are no whole number"),
        (lambda a: a.view([("a", "u1", 5)]), "no whole number"),
        (lambda a: a.copy_from(np.zeros((3, 6))), "shape (3, 6) does not fit one of shape (4, 6)"),
        (lambda a: a.view("u1").copy_from(256), "int64 elements do not go into uint8"),
        (lambda a: a.view("u1").copy_from(np.int64(1)), "int64 elements do not go into uint8"),
        (lambda a: a.copy_from(1j), "complex128 elements do not go into float32"),
        (lambda a: len(a[0, 0]), None),
    ],
)
def test_views_that_cannot_be(queue, use, message):
    array = bl.usm_empty((4, 6), np.float32, queue)
    if message is None:
        with pytest.raises(TypeError, match=r"shape \(\)"):
            use(array)
        return
    with raises(bl.InvalidError, names=message):
        use(array)


def test_an_index_out_of_range_is_an_index_error(queue):
    array = bl.usm_empty((4, 6), np.float32, queue)
    for key in (4, -5, (0, 6)):
        with pytest.raises(IndexError, match="out of range for dimension"):
            array[key]
    assert [view.shape for view in array] == [(6,)] * 4  # iteration ends


def test_values_are_broadcast_and_converted_as_numpy_would(queue):
    array = bl.usm_empty((3, 4), np.float32, queue).copy_from(np.arange(4))
    np.testing.assert_array_equal(array.numpy(), np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4)))
    array.copy_from(2.5)
    assert (array.numpy() == 2.5).all()
    bl.usm_empty(3, np.uint8, queue).copy_from([255, 0, 7])
    array.copy_from(np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    np.testing.assert_array_equal(array.numpy(), np.arange(12.0).reshape(3, 4))


def test_host_memory_is_seen_in_place(queue):
    array = bl.usm_empty((2, 3), np.int32, queue, kind="shared").copy_from(np.arange(6).reshape(2, 3))
    seen = np.asarray(array)
    seen[1, 2] = 77
    assert array.numpy()[1, 2] == 77
    assert not np.shares_memory(np.array(array, copy=True), seen)
    del array
    gc.collect()
    assert seen[1, 2] == 77  # numpy keeps the memory alive


def test_device_memory_is_no_numpy_array_unless_copied(queue):
    array = bl.usm_empty(4, np.int32, queue).copy_from([1, 2, 3, 4])
    for use in (np.asarray, np.array, lambda a: np.add(a, 1), lambda a: a.__array__(copy=True)):
        with pytest.raises(TypeError, match=r"the host does not reach device memory: array.numpy\(\) copies it"):
            use(array)


def test_the_cuda_array_interface_is_of_cuda_memory_alone(queue):
    array = bl.usm_empty((4, 6), np.float32, queue)
    if queue.backend != "cuda":
        with pytest.raises(AttributeError, match="not to CUDA"):
            _ = array.__cuda_array_interface__
        return
    interface = array[:, ::2].__cuda_array_interface__
    assert interface["version"] == 3 and interface["shape"] == (4, 3) and interface["strides"] == (24, 8)
    assert interface["data"] == (array.address, False) and interface["typestr"] == "<f4"


def test_the_interface_of_fake_cuda_memory(fake):
    array = bl.usm_empty((4, 6), np.float32, bl.Queue())
    assert array[:, ::2].__cuda_array_interface__ == {
        "version": 3,
        "shape": (4, 3),
        "data": (array.address, False),
        "strides": (24, 8),
        "typestr": "<f4",
        "stream": None,
    }
    assert array.__cuda_array_interface__["strides"] is None


def test_pointers_count_as_numbers(queue):
    pointer = bl.malloc_device(100, queue)
    assert int(pointer) == pointer.address != 0
    assert (pointer + 40).address == pointer.address + 40 and (pointer + 40).nbytes == 60
    assert (pointer + 40) - 40 == pointer and hash((pointer + 40) - 40) == hash(pointer)
    assert pointer + 1 != pointer and pointer and pointer.pointer is pointer
    assert (pointer.device, pointer.context, pointer.kind) == (queue.device, queue.context, "device")
    for offset in (-1, 101):
        with raises(bl.InvalidError, names=100):
            pointer + offset
    with pytest.raises(TypeError):
        pointer + 1.5


@pytest.mark.parametrize("malloc", [bl.malloc_device, bl.malloc_host, bl.malloc_shared])
def test_memory_is_aligned_as_asked(queue, device, context, malloc):
    for alignment in (0, 64, 4096):
        pointer = malloc(1000, device, context, alignment=alignment)
        assert pointer.nbytes == 1000 and pointer.address % max(alignment, 1) == 0
        bl.free(pointer, queue)


@pytest.mark.parametrize(
    "use, error, message",
    [
        (lambda q: bl.malloc_device(0, q), bl.InvalidError, ("nbytes=0", "1")),
        (lambda q: bl.malloc_device(-4, q), bl.InvalidError, "nbytes=-4"),
        (lambda q: bl.malloc_device(1.5, q), bl.InvalidError, "nbytes=1.5"),
        (lambda q: bl.malloc_device("9", q), bl.InvalidError, "nbytes='9'"),
        (lambda q: bl.malloc_device(4, q, alignment=3), bl.InvalidError, "alignment=3"),
        (lambda q: bl.malloc_device(4, q, alignment="8"), bl.InvalidError, "alignment='8'"),
        (lambda q: bl.malloc_device(4), bl.InvalidError, None),
        (lambda q: bl.malloc_device(2**40, q), bl.MemoryAllocationError, "1099511627776"),
        (lambda q: bl.malloc_host(2**62, q), bl.MemoryAllocationError, "4611686018427387904"),
        (lambda q: bl.malloc_device(2**70, q), bl.MemoryAllocationError, None),
        (lambda q: bl.usm_empty(-1, "f4", q), bl.InvalidError, None),
        (lambda q: bl.usm_empty((2, 1.5), "f4", q), bl.InvalidError, "shape=(2, 1.5)"),
        (lambda q: bl.usm_empty(2**62, "f4", q), bl.MemoryAllocationError, None),
        (lambda q: bl.usm_empty(4, "banana", q), bl.InvalidError, "dtype='banana'"),
        (lambda q: bl.usm_empty(4, object, q), bl.InvalidError, None),
        (lambda q: bl.usm_empty(4, "V0", q), bl.InvalidError, None),
        (lambda q: bl.usm_empty(4, "f4", q, kind="fast"), bl.InvalidError, ("kind='fast'", "'shared'")),
        (lambda q: bl.usm_empty(4, "f4", q, kind="unknown"), bl.InvalidError, ("'device', 'host'", "'shared'")),
    ],
)
def test_sizes_and_kinds_that_cannot_be(queue, use, error, message):
    with raises(error, names=message):
        use(queue)


def test_freed_memory_is_of_no_use(queue):
    array = bl.usm_empty(16, np.uint8, queue)
    view, pointer = array[4:], array.pointer
    bl.free(array)
    assert array.closed and view.closed and pointer.closed and not pointer
    for use in (
        lambda: bl.free(array),
        lambda: bl.free(pointer, queue),
        lambda: array.numpy(),
        lambda: view.copy_from(1),
        lambda: pointer.address,
        lambda: queue.memset(pointer, 0),
        lambda: queue.memcpy(np.zeros(4, np.uint8), view, 4),
        lambda: array[1:],
        array.__enter__,
    ):
        with raises(bl.InvalidError, match="16.*0x[0-9a-f]+"):
            use()
    array.close()


def test_free_takes_whole_allocations_of_its_own(queue, device):
    pointer = bl.malloc_device(64, queue)
    other = bl.Queue(device, bl.Context(device))
    with raises(bl.InvalidError):
        bl.free(pointer, other)
    with raises(bl.InvalidError):
        bl.free(pointer + 8, queue)
    with raises(bl.InvalidError, names="free"):
        bl.free(pointer.address, queue)
    lent = bl.UsmPointer._adopt(pointer.address, 64, pointer.kind, device, queue.context, owned=False)
    with raises(bl.InvalidError):
        bl.free(lent)
    bl.free(pointer, queue)


# ---------------------------------------------------------------------- commands


@pytest.mark.parametrize("source", ["array", "bytearray", "memoryview", "usm"])
def test_memcpy_between_any_two_kinds_of_memory(queue, source):
    values = np.arange(32, dtype=np.uint8)
    src = {
        "array": values,
        "bytearray": bytearray(values),
        "memoryview": memoryview(values),
        "usm": bl.usm_empty(32, np.uint8, queue).copy_from(values),
    }[source]
    target = bl.malloc_device(32, queue)
    out = bytearray(16)
    copied = queue.memcpy(target, src, 32)
    queue.memcpy(out, target + 8, 16, depends_on=copied).wait()
    assert list(out) == list(range(8, 24))


def test_memcpy_without_a_size_copies_everything(queue):
    values = np.arange(10, dtype=np.float64)
    array = bl.usm_empty(10, np.float64, queue)
    queue.memcpy(array, values).wait()
    np.testing.assert_array_equal(array.numpy(), values)
    with raises(bl.InvalidError, names=(80, 72)):
        queue.memcpy(array, values[:9])


def test_copying_nothing_completes(queue):
    array = bl.usm_empty(4, np.uint8, queue)
    queue.memcpy(array, np.zeros(0, np.uint8), 0).wait()
    queue.memcpy(array, b"", 0, depends_on=queue.memset(array, 1)).wait()
    queue.fill(bl.usm_empty(0, np.float32, queue), 1.0).wait()
    assert array.numpy().tolist() == [1] * 4


READ_ONLY = np.zeros(8, np.uint8)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda q, a: q.memcpy(a, np.zeros(4, "u1"), 8), "8 bytes leave the src, which has 4"),
        (lambda q, a: q.memcpy(a, np.zeros(99, "u1"), 99), "99 bytes leave the dst, which has 32"),
        (lambda q, a: q.memcpy(a.pointer + 30, np.zeros(4, "u1"), 4), "leave the dst, which has 2"),
        (lambda q, a: q.memcpy(READ_ONLY, a, 8), ("dst array of shape ", " is read-only")),
        (lambda q, a: q.memcpy(bytes(8), a, 8), "dst is a read-only"),
        (lambda q, a: q.memcpy(np.zeros((4, 4), "u1")[:, ::2], a, 8), ("dst array ", " is not C-contiguous")),
        (lambda q, a: q.memcpy(memoryview(bytearray(16))[::2], a, 8), "dst buffer is not contiguous"),
        (lambda q, a: q.memcpy(a[::2], a, 8), "dst: this view"),
        (lambda q, a: q.memcpy(a, np.array([None]), 8), "src array holds Python objects"),
        (lambda q, a: q.memcpy(a, a.address, 8), "src: a int is no memory"),
        (lambda q, a: q.memcpy(a, a, 1.5), "nbytes=1.5"),
        (lambda q, a: q.memcpy(a, a, -1), "nbytes=-1"),
        (lambda q, a: q.copy(a, a, 9), None),
        (lambda q, a: q.memset(a, 256), "value=256"),
        (lambda q, a: q.memset(a, -1), "value=-1"),
        (lambda q, a: q.memset(a, 1, 33), "33 bytes leave the memory, which has 32"),
        (lambda q, a: q.memset(np.zeros(4), 1), "a ndarray is no UsmPointer"),
        (lambda q, a: q.fill(a, 1, 9), None),
        (lambda q, a: q.fill(a.pointer, 1.5), "pattern=1.5"),
        (lambda q, a: q.fill(a, np.float64(1)), ("float64", "float32")),
        (lambda q, a: q.fill(a, 1j), ("pattern=1j", "float32")),
        (lambda q, a: q.fill(a.view("u1"), 256), ("pattern=256", "uint8")),
        (lambda q, a: q.fill(a.view("i4"), 1.5), ("pattern=1.5", "int32")),
        (lambda q, a: q.fill(a, b""), "pattern=b''"),
        (lambda q, a: q.fill(a, "x"), "pattern='x'"),
    ],
)
def test_commands_on_memory_that_cannot_be(queue, use, message):
    array = bl.usm_empty(8, np.float32, queue)
    with raises(bl.InvalidError, names=message):
        use(queue, array)


def test_device_memory_of_another_context_is_refused(queue, device):
    with bl.Queue(device, bl.Context(device)) as other:
        foreign = bl.malloc_device(8, other)
        with raises(bl.InvalidError):
            queue.memset(foreign, 0)
        with raises(bl.InvalidError):
            bl.usm_empty(4, "f4", queue).numpy(other)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 12, 16, 24])
def test_fill_takes_patterns_of_any_size(queue, size):
    pattern = bytes(range(1, size + 1))
    pointer = bl.malloc_device(size * 5 + 1, queue)
    cleared = queue.memset(pointer, 0)
    filled = queue.fill(pointer, pattern, 5, depends_on=cleared)
    out = bytearray(size * 5 + 1)
    queue.memcpy(out, pointer, depends_on=filled).wait()
    assert bytes(out) == pattern * 5 + b"\0"


@pytest.mark.parametrize(
    "dtype, pattern", [("f4", 1.25), ("f4", 3), ("i2", -5), ("u8", 2**64 - 1), ("?", True), ("c8", 1 + 2j), ("f2", 0.5)]
)
def test_fill_converts_plain_numbers_to_the_dtype(queue, dtype, pattern):
    array = bl.usm_empty(9, dtype, queue)
    queue.fill(array, pattern).wait()
    np.testing.assert_array_equal(array.numpy(), np.full(9, pattern, dtype))
