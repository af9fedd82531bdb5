"""The array interfaces of numpy, CUDA and SYCL, and ``as_usm_array`` over all of them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import bindless as bl
from tests.support.dlpack_peer import Producer
from tests.support.error_checks import raises


@pytest.fixture
def host_queue(queue, device):
    """A queue whose device accesses pageable host memory."""
    if device.has("usm_system_allocations"):
        yield queue
    else:
        with bl.Queue("reference:*:*") as made:
            yield made


class Exporter:
    """An object with one interface."""

    def __init__(self, name, interface):
        setattr(self, name, interface)


def suai(array, queue, **changes):
    """``__sycl_usm_array_interface__`` for a UsmArray's memory, written by the test."""
    interface = {
        "version": 1,
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (array.address, False),
        "strides": None,
        "offset": 0,
        "syclobj": queue,
    }
    return Exporter("__sycl_usm_array_interface__", interface | changes)


# ---------------------------------------------------------------------- numpy


def test_numpy_arrays_in_place(host_queue):
    values = np.zeros((4, 6), [("x", "f4"), ("n", "i4")])  # DLPack has no such elements
    array = bl.as_usm_array(values[::2, ::-1], host_queue)
    assert array.dtype == values.dtype and array.shape == (2, 6)
    array[1, 0].copy_from(np.array((2.5, 7), values.dtype))
    assert values[2, 5]["n"] == 7
    values["x"] = 3
    assert (array.numpy()["x"] == 3).all()
    kept = weakref.ref(values)
    del values
    gc.collect()
    assert kept() is not None
    del array
    gc.collect()
    assert kept() is None


def test_read_only_numpy_arrays(host_queue):
    values = np.arange(3.0)
    values.flags.writeable = False
    for take in (bl.as_usm_array, bl.from_dlpack):
        array = take(values, host_queue)
        assert array.read_only
        with raises(bl.InvalidError):
            array.copy_from(1)


def test_structured_memory_seen_by_numpy(queue):
    dtype = np.dtype([("x", "f4"), ("n", "i2"), ("pad", "u1", 2)])
    array = bl.usm_empty(3, dtype, queue, kind="host")
    seen = np.asarray(array)
    assert seen.dtype == dtype and seen.ctypes.data == array.address
    seen["n"] = [1, 2, 3]
    assert array.numpy()["n"].tolist() == [1, 2, 3]


def test_numpy_converts_only_in_a_copy(queue):
    array = bl.usm_empty(3, "i4", queue, kind="shared").copy_from([1, 2, 3])
    assert np.shares_memory(np.asarray(array), np.array(array, copy=None))
    assert not np.shares_memory(np.asarray(array), np.array(array))
    converted = np.asarray(array, dtype="f8")
    assert converted.dtype == np.float64 and converted.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="int32 elements are seen as float64 only in a copy"):
        array.__array__(np.float64, copy=False)


def test_arrays_of_this_package_are_returned_as_they_are(queue):
    array = bl.usm_empty(3, "f4", queue).copy_from(1)
    assert bl.as_usm_array(array) is array and bl.as_usm_array(array, queue) is array
    copy = bl.as_usm_array(array, queue, copy=True)
    assert copy.address != array.address and copy.numpy().tolist() == [1, 1, 1]


def test_dlpack_where_there_is_nothing_else(host_queue):
    producer = Producer(np.arange(3.0))
    array = bl.as_usm_array(producer, host_queue)
    assert array.address == producer.array.ctypes.data
    del array
    gc.collect()
    assert producer.deleted == 1


@pytest.mark.parametrize("x", [3, "text", b"bytes", [1, 2], None, Exporter("__cuda_array_interface__", 5)])
def test_objects_that_export_nothing(queue, x):
    with raises(bl.InvalidError, names="__dlpack__"):
        bl.as_usm_array(x, queue)


# ---------------------------------------------------------------------- SYCL


def test_the_interface_of_sycl_arrays(queue):
    array = bl.usm_empty((4, 6), "i2", queue)
    interface = array[::-2, 1::2].__sycl_usm_array_interface__
    syclobj = interface.pop("syclobj")
    assert isinstance(syclobj, bl.Queue) and syclobj.context is queue.context
    assert interface == {
        "version": 1,
        "shape": (2, 3),
        "typestr": "<i2",
        "data": (array.address + 2 * (3 * 6 + 1), False),
        "strides": (-12, 2),
        "offset": 0,
    }
    assert array.__sycl_usm_array_interface__["strides"] is None


def test_the_interface_of_sycl_arrays_comes_after_the_work(queue):
    array = bl.usm_empty(1 << 22, "f4", queue, kind="host")
    event = None
    for value in range(9):
        event = queue.fill(array, float(value), depends_on=event or ())
    _ = array.__sycl_usm_array_interface__
    assert event.status == "complete"


@pytest.mark.parametrize("kind", ["device", "host", "shared"])
def test_sycl_arrays_of_others(queue, device, kind):
    memory = bl.usm_empty((4, 6), "i4", queue, kind=kind).copy_from(np.arange(24).reshape(4, 6))
    if device.backend == "cuda":  # these devices use the other interface
        with raises(bl.InvalidError):
            bl.as_usm_array(suai(memory, queue), queue)
        return
    foreign = suai(memory, object())
    array = bl.as_usm_array(foreign, queue)
    assert array.address == memory.address and array.kind == kind and array.shape == (4, 6)
    np.testing.assert_array_equal(array.numpy(), memory.numpy())
    array[1].copy_from(-1)
    assert (memory[1].numpy() == -1).all()
    part = bl.as_usm_array(suai(memory, queue, shape=(2, 2), strides=(12, -2), offset=5), None)
    np.testing.assert_array_equal(part.numpy(), memory.numpy()[::2, 5:1:-2])
    kept = weakref.ref(foreign)
    del foreign
    gc.collect()
    assert kept() is not None
    array.close()
    gc.collect()
    assert kept() is None and not memory.closed


def test_sycl_arrays_that_cannot_be(queue, device):
    memory = bl.usm_empty(4, "i4", queue)
    for changes, message in (
        ({"version": 2}, ("2", "1")),
        ({"shape": 4}, None),
        ({"shape": (2.5,)}, None),
        ({"data": None}, None),
        ({"strides": (1, 1)}, ("shape (4,)", "strides (4, 4)")),
        ({"typestr": "banana"}, "dtype='banana'"),
        ({"data": (0, False)}, None),
        ({"data": (memory.address + 1, False)}, None),
        ({"data": (4096, False)}, "does not reach the memory at 0x1000: it was freed, or belongs to another"),
    ):
        if device.backend == "cuda":  # these devices use the other interface
            message = "__dlpack__"
        with raises(bl.InvalidError, names=message):
            bl.as_usm_array(suai(memory, queue, **changes), queue)
    with raises(bl.InvalidError, names=("Queue", "queue=")):
        bl.as_usm_array(suai(memory, "level_zero:gpu"))


# ---------------------------------------------------------------------- arguments of the package


def test_arguments_of_other_libraries(host_queue):
    """Every array parameter accepts another library's host array as a numpy array."""
    picture = np.arange(12, dtype=np.float32).reshape(3, 4)
    desc = bl.ImageDescriptor(4, 3, num_channels=1)
    image = bl.ImageMem(desc, host_queue)
    host_queue.ext_oneapi_copy(Producer(picture), image).wait()
    back = Producer(np.zeros_like(picture))
    host_queue.ext_oneapi_copy(image, back).wait()
    np.testing.assert_array_equal(back.array, picture)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
    handle = bl.create_image(image, desc, host_queue, sampler=sampler)
    coords = np.array([[0.5, 0.5], [3.5, 2.5], [1.5, 1.5]], np.float32)
    expected = picture[[0, 2, 1], [0, 3, 1]]
    np.testing.assert_array_equal(bl.sample_image(host_queue, handle, Producer(coords))[:, 0], expected)
    out = Producer(np.zeros((3, 1), np.float32))
    assert bl.sample_image(host_queue, handle, coords, out=out) is out
    np.testing.assert_array_equal(out.array[:, 0], expected)
    memory = bl.usm_empty((3, 4), "f4", host_queue)
    host_queue.memcpy(memory, Producer(picture)).wait()
    np.testing.assert_array_equal(memory.numpy(), picture)
