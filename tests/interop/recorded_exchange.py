"""Arrays and streams exchanged with another library of the same driver, on ``fake_cuda.c``.

``tests/backends/cuda/test_cuda_recording.py`` runs this file. The fake driver runs commands one by one and alternates
between streams, so that a missing dependency shows.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_size_t, c_uint64, c_void_p

import numpy as np
import pytest

import bindless as bl
from tests.support.dlpack_peer import Producer, delete, layout, take
from tests.support.error_checks import raises

COUNT = 64


class Library:
    """Another library: it allocates, copies and waits through the driver itself."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL(os.environ["BINDLESS_LIBCUDA"])
        self.memory: list[int] = []
        self.streams: list[int] = []

    def call(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        assert result == 0, (name, result)

    def stream(self) -> int:
        made = c_void_p()
        self.call("cuStreamCreate", byref(made), 1)
        self.streams.append(made.value)
        return made.value

    def allocate(self, nbytes: int) -> int:
        made = c_uint64()
        self.call("cuMemAlloc_v2", byref(made), c_size_t(nbytes))
        self.memory.append(made.value)
        return made.value

    def copy(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self.call("cuMemcpyAsync", c_uint64(dst), c_uint64(src), c_size_t(nbytes), c_void_p(stream))

    def finish(self, stream: int) -> None:
        while self.driver.cuStreamQuery(c_void_p(stream)):
            pass

    def close(self) -> None:
        for stream in self.streams:
            self.call("cuStreamDestroy_v2", c_void_p(stream))
        for address in self.memory:
            self.call("cuMemFree_v2", c_uint64(address))


@pytest.fixture
def library(queue):
    made = Library()
    with queue.context._native.primary(None):
        yield made
        made.close()


def values_at(address):
    """Contents of the fake driver's memory, which is host memory."""
    return np.ctypeslib.as_array((ctypes.c_float * COUNT).from_address(address))


def busy(queue, array, last):
    """Work that writes many intermediate values to an array before the last one."""
    event = queue.fill(array, 0.0)
    for value in range(1, 9):
        event = queue.fill(array, float(value), depends_on=event)
    return queue.fill(array, last, depends_on=event)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("how", ["dlpack", "interface", "events", "nothing"])
def test_the_other_library_comes_after_us(device, context, library, in_order, how):
    with bl.Queue(device, context, in_order=in_order) as queue:
        array = bl.usm_empty(COUNT, "f4", queue).copy_from(-1)
        result, stream = library.allocate(4 * COUNT), library.stream()
        library.call("cuMemsetD8Async", c_uint64(result), 0, c_size_t(4 * COUNT), c_void_p(stream))
        library.finish(stream)
        event = busy(queue, array, 42.0)
        if how == "interface":
            stream = array.__cuda_array_interface__["stream"]
        elif how == "events":
            bl.order_stream_after(stream, event)
        else:
            managed = take(array.__dlpack__(stream=stream if how == "dlpack" else -1, max_version=(1, 0)))
            assert layout(managed)["device"] == (2, device.index)
            delete(managed)
        assert event.status != "complete"  # the host has not waited
        library.copy(result, array.address, 4 * COUNT, stream)
        library.finish(stream)
        right = (values_at(result) == 42).all()
        assert right == (how != "nothing")  # without a dependency the copy overtakes
        queue.wait()


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("how", ["dlpack", "interface", "stream", "nothing"])
def test_we_come_after_the_other_library(device, context, library, in_order, how):
    with bl.Queue(device, context, in_order=in_order) as queue:
        results = [bl.usm_empty(COUNT, "f4", queue).copy_from(0) for _ in range(6)]
        address, stream = library.allocate(4 * COUNT), library.stream()
        for value in (1.0, 2.0, 3.0, 4.0, 42.0):
            word = int(np.float32(value).view(np.uint32))
            library.call("cuMemsetD32Async", c_uint64(address), word, c_size_t(COUNT), c_void_p(stream))

        class Exporter(Producer):
            def __dlpack__(self, **options):
                consumer = options["stream"]
                event = c_void_p()
                library.call("cuEventCreate", byref(event), 2)
                library.call("cuEventRecord", event, c_void_p(stream))
                library.call("cuStreamWaitEvent", c_void_p(consumer), event, 0)
                return super().__dlpack__(**options)

        class Interface:
            def __init__(self, stream):
                self.__cuda_array_interface__ = {
                    "version": 3,
                    "shape": (COUNT,),
                    "typestr": "<f4",
                    "data": (address, False),
                    "stream": stream,
                }

        if how == "dlpack":
            array = bl.from_dlpack(Exporter(values_at(address), device=(2, device.index)), queue)
        else:
            array = bl.as_usm_array(Interface(stream if how == "interface" else None), queue)
        if how == "stream":
            bl.order_after_stream(queue, stream)
        assert array.address == address and array.kind == "device"
        assert library.driver.cuStreamQuery(c_void_p(stream)) != 0  # the host has not waited
        events = [queue.memcpy(result, array) for result in results]  # on every stream of the queue
        for event in events:
            event.wait()
        right = [bool((values_at(result.address) == 42).all()) for result in results]
        assert all(right) if how != "nothing" else not all(right)


@pytest.mark.parametrize("stream", [1, 2])
def test_default_streams(device, context, library, stream):
    with bl.Queue(device, context) as queue:
        array = bl.usm_empty(COUNT, "f4", queue).copy_from(-1)
        busy(queue, array, 42.0)
        result = library.allocate(4 * COUNT)
        capsule = array.__dlpack__(stream=stream)
        library.copy(result, array.address, 4 * COUNT, stream)
        bl.order_after_stream(queue, stream)
        queue.memcpy(array, np.zeros(COUNT, "f4")).wait()
        assert (values_at(result) == 42).all()
        del capsule


def test_another_librarys_work_in_an_in_order_queue(device, context, library):
    with bl.Queue(device, context, in_order=True) as queue:
        array = bl.usm_empty(COUNT, "f4", queue).copy_from(-1)
        result = library.allocate(4 * COUNT)
        busy(queue, array, 42.0)
        version, handle = queue.__cuda_stream__()
        library.copy(result, array.address, 4 * COUNT, handle)
        queue.fill(array, 7.0)
        queue.wait()
        assert version == 0 and (values_at(result) == 42).all()


def test_memory_that_is_not_ours_is_not_freed(queue, library):
    address = library.allocate(4 * COUNT)
    producer = Producer(values_at(address), device=(2, 0))
    array = bl.as_usm_array(producer, queue)
    with raises(bl.InvalidError):
        bl.free(array)
    array.close()
    assert producer.deleted == 1
    assert bl.get_pointer_type(address, queue) == "device"  # the driver still holds it


def test_host_memory_needs_a_copy(queue):
    with raises(bl.InvalidError, names="usm_empty"):
        bl.from_dlpack(np.arange(4.0), queue)


class Pinned:
    """Pinned memory as PyTorch exports it: on the host, which has no streams."""

    def __init__(self, array: bl.UsmArray) -> None:
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream is None
        return self.array.__dlpack__(max_version=max_version)

    def __array_namespace__(self):
        return PinnedLibrary


class PinnedLibrary:
    """As PyTorch's: it takes arrays of the host, but not what says that it is pinned."""

    @staticmethod
    def from_dlpack(array):
        if array.__dlpack_device__()[0] == 3:
            raise BufferError("Unsupported device_type: 3")
        return np.from_dlpack(array)


def test_pinned_memory_has_no_stream(device: bl.Device):
    """Large frames and results in pinned memory of another library: nothing is asked to come after a stream."""
    with bl.Queue(device, in_order=True) as queue:
        frame, out = (bl.usm_empty((700, 800, 3), np.uint8, queue, kind="host") for _ in range(2))
        frame.copy_from(np.uint8(7))
        assert frame.__dlpack_device__() == (3, 0)
        assert bl.from_dlpack(Pinned(frame), queue).address == frame.address
        with bl.Image(np.zeros(frame.shape, np.uint8), queue=queue) as image:
            for _ in range(3):
                image.update(Pinned(frame)).wait()
                given = Pinned(out)
                assert image.warp(np.eye(3), frame.shape[:2], out=given) is given


def test_pinned_memory_is_complete_at_the_return(device: bl.Device):
    """Its library reads and writes it on the host at once, in all calls that take it; results without ``out`` are the
    host's too. The streams of this driver run nothing until they are asked."""
    shape = (700, 800, 4)
    with bl.Queue(device, in_order=True) as queue:
        frame, out = (bl.usm_empty(shape, np.uint8, queue, kind="host") for _ in range(2))
        pixels, picture = np.asarray(frame), np.asarray(out)
        pixels[:] = 1
        with bl.Image(Pinned(frame), queue=queue) as image:
            pixels[:] = 99
            assert (image.numpy() == 1).all()
            for value in range(2, 7):
                pixels[:], picture[:] = value, 99
                image.update(Pinned(frame))
                pixels[:] = 99
                given = Pinned(out)
                assert image.warp(np.eye(3), shape[:2], out=given) is given
                returned = picture.copy()
                queue.wait()
                assert (picture == returned).all() and not (picture == 99).all()
                assert (image.numpy() == value).all()
            assert type(image.warp(np.eye(3), shape[:2])) is np.ndarray
