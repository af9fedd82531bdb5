"""``UsmArray.__dlpack__``: contents of the capsule, lifetime of the memory, and numpy as a consumer."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import bindless as bl
from tests.support.dlpack_peer import (
    COPIED,
    LEGACY,
    VERSIONED,
    delete,
    described,
    layout,
    managed_of,
    name_of,
    numpy_view,
    take,
)
from tests.support.error_checks import raises

KINDS = ("device", "host", "shared")
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


@pytest.fixture
def count_exports():
    """Number of exports whose deleter has not run."""
    from bindless.sycl.usm.dlpack_export import capsules

    return capsules.count_exports


@pytest.fixture(autouse=True)
def no_export_stays(count_exports):
    """Every test leaves as many live exports as it found."""
    before = count_exports()
    yield
    if count_exports() != before:
        gc.collect()
    assert count_exports() <= before


def place_of(device, kind):
    if device.backend == "reference":
        return (1, 0)
    if device.backend != "cuda":
        return (14, device.index)
    return {"device": (2, device.index), "host": (3, 0), "shared": (13, 0)}[kind]


def host_visible(device, kind):
    return device.backend == "reference" or kind != "device"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version, name", [(None, LEGACY), ((0, 8), LEGACY), ((1, 0), VERSIONED), ((9, 3), VERSIONED)])
def test_the_structure_says_what_the_array_is(queue, device, kind, version, name):
    array = bl.usm_empty((4, 6), "f4", queue, kind=kind)
    capsule = array.__dlpack__(max_version=version, stream=-1)
    assert name_of(capsule) == name
    managed = managed_of(capsule)
    assert layout(managed) == {
        "address": array.address,
        "device": place_of(device, kind),
        "type": (2, 32, 1),
        "shape": (4, 6),
        "strides": (6, 1),
    }
    assert array.__dlpack_device__() == place_of(device, kind)
    if name == VERSIONED:
        assert (managed.major, managed.flags) == (1, 0)


@pytest.mark.parametrize(
    "key", [np.s_[::2], np.s_[::-1], np.s_[:, 3], np.s_[..., None], np.s_[2:2], np.s_[1, 2]], ids=str
)
def test_views_are_exported_as_they_lie(queue, key):
    array = bl.usm_empty((4, 6), "i2", queue)
    expected = np.empty((4, 6), "i2")[key]
    view = array[key]
    found = described(view)
    assert found["shape"] == expected.shape and found["address"] == view.address
    assert found["strides"] == tuple(stride // 2 for stride in view.strides)
    if expected.size:
        assert found["strides"] == tuple(stride // 2 for stride in expected.strides)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_types_of_elements(queue, device, dtype):
    array = bl.usm_empty(3, dtype, queue, kind="host")
    kind = np.dtype(dtype)
    assert described(array)["type"] == (CODES[kind.kind], kind.itemsize * 8, 1)
    values = np.array([0, 1, 1], dtype)
    array.copy_from(values)
    found = numpy_view(array)
    assert found.dtype == kind
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("dtype", [">f4", "S4", "V8", [("x", "f4")], "M8[s]", "U2"])
def test_types_that_dlpack_does_not_have(queue, dtype):
    array = bl.usm_empty(3, dtype, queue)
    with pytest.raises(
        BufferError, match=r"DLPack has no elements of dtype .*: export the bytes, array.view\('uint8'\)"
    ):
        array.__dlpack__()
    assert described(array.view("u1"))["shape"] == (3 * array.itemsize,)


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_sees_the_memory_in_place(queue, device, kind):
    array = bl.usm_empty((3, 4), "f4", queue, kind=kind).copy_from(np.arange(12).reshape(3, 4))
    if not host_visible(device, kind):
        with pytest.raises((BufferError, RuntimeError)):
            np.from_dlpack(array)
        return
    seen = numpy_view(array)
    assert seen.ctypes.data == array.address
    np.testing.assert_array_equal(seen, np.arange(12).reshape(3, 4))
    seen[1, 2] = -5
    assert array.numpy()[1, 2] == -5
    queue.fill(array[2], 7.0).wait()
    np.testing.assert_array_equal(seen[2], [7] * 4)
    view = array.T[::-1, 1:]
    np.testing.assert_array_equal(numpy_view(view), seen.T[::-1, 1:])


def test_a_consumer_on_the_host_comes_after_the_work_submitted_so_far(queue, device):
    array = bl.usm_empty(1 << 22, "f4", queue, kind="host")
    event = None
    for value in range(9):
        event = queue.fill(array, float(value), depends_on=event or ())
    seen = numpy_view(array)
    assert seen[0] == seen[-1] == 8 and (seen == 8).all()
    event = queue.fill(array, 9.0)
    assert (np.asarray(array) == 9).all()
    queue.fill(array, 10.0)
    assert (array.numpy() == 10).all()


def test_in_order_queues_are_waited_for_too(device, context):
    with bl.Queue(device, context, in_order=True) as queue:
        array = bl.usm_empty(1 << 22, "f4", queue, kind="shared")
        for value in range(9):
            queue.fill(array, float(value))
        assert (numpy_view(array) == 8).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_host_as_the_wanted_device(queue, device, kind):
    array = bl.usm_empty(4, "i4", queue, kind=kind).copy_from([1, 2, 3, 4])
    capsule = array.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    managed = managed_of(capsule)
    assert layout(managed)["device"] == (1, 0)
    in_place = host_visible(device, kind)
    assert (layout(managed)["address"] == array.address) is in_place
    assert managed.flags == (0 if in_place else COPIED)
    np.testing.assert_array_equal(np.from_dlpack(array, device="cpu"), [1, 2, 3, 4])
    if not in_place:
        with pytest.raises(BufferError, match="copy=False forbids"):
            array.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_where_one_is_asked_for(queue, kind):
    array = bl.usm_empty((4, 4), "i4", queue, kind=kind).copy_from(np.arange(16).reshape(4, 4))
    capsule = array[::2, ::-1].__dlpack__(copy=True, max_version=(1, 1))
    managed = managed_of(capsule)
    assert managed.flags == COPIED and layout(managed)["address"] != array.address
    assert layout(managed)["strides"] == (4, 1)
    copy = array[::2, ::-1].copy()
    assert copy.is_contiguous and copy.kind == kind and copy.device == array.device
    np.testing.assert_array_equal(copy.numpy(), np.arange(16).reshape(4, 4)[::2, ::-1])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2, 5), ()])
def test_without_elements_and_without_dimensions(queue, shape):
    array = bl.usm_empty(shape, "f8", queue, kind="host")
    found = numpy_view(array)
    assert found.shape == shape and found.dtype == np.float64
    assert np.asarray(array).shape == shape


# ---------------------------------------------------------------------- refusals


def test_wrong_arguments(queue, device):
    array = bl.usm_empty(4, "f4", queue)
    for wrong in ((1, 2, 3), "cpu", 5, (1, 0.5)):
        with raises(bl.InvalidError, names=("dl_device=", "(type")):
            array.__dlpack__(dl_device=wrong)
    with pytest.raises(BufferError, match=r"dl_device=\(8, 0\): this array can be given at"):
        array.__dlpack__(dl_device=(8, 0))
    if device.backend == "cuda":
        for stream, message in (
            (0, None),
            (-2, "stream=-2"),
            ("x", "__cuda_stream__"),
            (True, "stream=True"),
        ):
            with raises(bl.InvalidError, match=message):
                array.__dlpack__(stream=stream)
    else:
        for stream in (1, 2, "x", True):
            with pytest.raises(BufferError, match="has no streams; it is None, or -1"):
                array.__dlpack__(stream=stream)


def test_strides_that_are_no_whole_elements(queue):
    array = bl.usm_empty(12, "u1", queue).reshape(2, 6)[:, :4].view("f4")
    assert array.strides == (6, 4)
    with pytest.raises(BufferError, match=r"strides \(6, 4\) are no multiples of 4 bytes"):
        array.__dlpack__()


def test_freed_memory_is_not_exported(queue):
    array = bl.usm_empty(4, "f4", queue, kind="host")
    array.close()
    for use in (array.__dlpack__, lambda: np.asarray(array)):
        with raises(bl.InvalidError):
            use()


# ---------------------------------------------------------------------- lifetimes


def resource_of(array):
    return weakref.ref(array._owner.resource)


def test_the_consumer_keeps_the_memory(queue):
    array = bl.usm_empty(1000, "u1", queue, kind="host").copy_from((np.arange(1000) % 251).astype("u1"))
    memory = resource_of(array)
    seen = numpy_view(array)
    del array
    gc.collect()
    assert memory() is not None
    np.testing.assert_array_equal(seen, np.arange(1000) % 251)
    del seen
    assert memory() is None


@pytest.mark.parametrize("look", [numpy_view, np.asarray])
@pytest.mark.parametrize("end", [lambda a: a.close(), bl.free, lambda a: a.__exit__()])
def test_freed_memory_stays_while_somebody_looks_at_it(queue, look, end):
    array = bl.usm_empty(1000, "u1", queue, kind="shared").copy_from(7)
    memory = resource_of(array)
    first, second = look(array), look(array[10:20])
    end(array)
    assert array.closed
    with raises(bl.InvalidError):
        array.numpy()
    with raises(bl.InvalidError):
        bl.free(array)
    assert (first == 7).all() and memory() is not None
    first[10] = 9
    assert second[0] == 9
    del first
    assert memory() is not None
    del second
    assert memory() is None


def test_memory_that_nobody_looks_at_any_more_is_freed_at_once(queue):
    array = bl.usm_empty(1000, "u1", queue, kind="host")
    memory = array._owner.resource
    seen = numpy_view(array)
    del seen
    array.close()
    assert memory.closed


def test_a_capsule_that_nobody_takes_gives_the_memory_back(queue, count_exports):
    array = bl.usm_empty(10, "u1", queue)
    memory = resource_of(array)
    capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]
    assert count_exports() >= 2
    del array
    gc.collect()
    assert memory() is not None
    capsules.clear()
    assert memory() is None


def test_a_taken_capsule_leaves_the_memory_to_the_deleter(queue):
    array = bl.usm_empty(10, "u1", queue)
    memory = resource_of(array)
    for version in (None, (1, 0)):
        capsule = array.__dlpack__(max_version=version)
        managed = take(capsule)
        del capsule
        assert layout(managed)["address"] == array.address
        delete(managed)
    managed = take(array.__dlpack__())
    del array
    gc.collect()
    assert memory() is not None
    delete(managed)
    assert memory() is None


def test_a_capsule_dies_while_an_exception_is_on_its_way(queue, count_exports):
    array = bl.usm_empty(10, "u1", queue)
    before = count_exports()
    for version in (None, (1, 0)):
        with pytest.raises(TypeError, match="unsupported operand"):
            array.__dlpack__(max_version=version) + 1  # operands are released with the error set
    assert count_exports() == before


def test_deleters_run_on_threads_that_python_does_not_know(queue):
    array = bl.usm_empty(10, "u1", queue)
    memory = resource_of(array)
    taken = [take(array.__dlpack__(max_version=(1, 0))) for _ in range(8)]
    del array
    library = ctypes.CDLL(None)
    threads = []
    for managed in taken:
        thread = ctypes.c_ulong()
        started = library.pthread_create(
            ctypes.byref(thread), None, ctypes.c_void_p(managed.deleter), ctypes.c_void_p(ctypes.addressof(managed))
        )
        assert started == 0
        threads.append(thread)
    for thread in threads:
        assert library.pthread_join(thread, None) == 0  # without the GIL
    assert memory() is None


def test_threads_export_and_drop_at_once(queue):
    array = bl.usm_empty(1000, "u1", queue, kind="host").copy_from(3)
    failures = []

    def work():
        try:
            for _ in range(200):
                assert numpy_view(array)[5] == 3
                array.__dlpack__(max_version=(1, 0))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_cycle_through_a_capsule_is_collected(queue):
    array = bl.usm_empty(10, "u1", queue)
    memory = resource_of(array)
    cycle = [array.__dlpack__()]
    cycle.append(cycle)
    del array, cycle
    gc.collect()
    assert memory() is None


@pytest.mark.parametrize("look", [numpy_view, np.asarray])
def test_many_exports_leave_nothing(queue, look):
    array = bl.usm_empty(100, "u1", queue, kind="host")
    memory = resource_of(array)
    for _ in range(1000):
        look(array)
    assert not array._owner._leases
    del array
    assert memory() is None
