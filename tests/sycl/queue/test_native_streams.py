"""Streams of other libraries: order is requested from the driver, and the host never waits."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

import bindless as bl
from bindless.submission.event import Event
from bindless.submission.foreign_stream import place_stream_after
from tests.support.dlpack_peer import Producer
from tests.support.error_checks import raises


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


class Stream:
    """Another library's stream."""

    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


def hold(fake, queue, gate, array):
    """Submit a command that uses an array until the gate opens."""
    return queue._enqueue(fake.gate(queue._native, gate), (), (array,))


def waits(fake):
    """Waits that foreign streams received: (stream, number of events)."""
    return [(stream, len(events)) for name, (stream, events) in asked(fake) if name == "make_stream_wait"]


def asked(fake):
    return [call for call in fake.calls if call[0] == "make_stream_wait"]


# ---------------------------------------------------------------------- out


def test_the_parts_of_an_event_are_waited_for_by_the_stream(fake, gate):
    """An event at the ends of several native queues has no native event of its own."""
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue)
    parts = hold(fake, queue, gate, array), hold(fake, queue, gate, array)
    place_stream_after(queue.context, queue.device, 7, (Event._of_all(queue._stream, parts),))
    assert waits(fake) == [(7, 2)]
    gate.set()


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("stream, handle", [(7, 7), (None, 1), (2, 2), (Stream((0, 99)), 99), (Stream((0, 0)), 1)])
def test_the_consumers_stream_waits_and_the_host_does_not(fake, gate, in_order, stream, handle):
    queue = bl.Queue(in_order=in_order)
    array, other = (bl.usm_empty(16, "u1", queue) for _ in range(2))
    hold(fake, queue, gate, array)
    hold(fake, queue, gate, array[3:])
    hold(fake, queue, gate, other)
    capsule = array[8:].__dlpack__(stream=stream)
    assert waits(fake) == [(handle, 1 if in_order else 2)]
    del capsule
    gate.set()
    queue.wait()


def test_work_of_several_queues_is_waited_for(fake, gate):
    queues = [bl.Queue(), bl.Queue(in_order=True)]
    array = bl.usm_empty(16, "u1", queues[0])
    for queue in queues:
        hold(fake, queue, gate, array)
    array.__dlpack__(stream=7)
    assert waits(fake) == [(7, 2)]
    gate.set()
    for queue in queues:
        queue.wait()


def test_nothing_is_asked_where_nothing_is_to_be_ordered(fake, gate):
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue)
    array.__dlpack__(stream=7)
    hold(fake, queue, gate, array)
    array.__dlpack__(stream=-1)
    assert not asked(fake)
    gate.set()
    queue.wait()
    array.__dlpack__(stream=7)
    assert not asked(fake)


@pytest.mark.parametrize("kind", ["host", "shared"])
def test_a_consumer_on_the_host_waits(fake, gate, kind):
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue, kind=kind)
    event = hold(fake, queue, gate, array)
    array.__dlpack__(stream=5)
    assert waits(fake) == [(5, 1)]
    threading.Timer(0.05, gate.set).start()
    array.__dlpack__()
    assert event.status == "complete"


@pytest.mark.parametrize("kind, number", [("device", 2), ("host", 3), ("shared", 13)])
def test_device_types(fake, kind, number):
    queue = bl.Queue(bl.get_devices("cuda:gpu:1")[0])
    assert bl.usm_empty(4, "f4", queue, kind=kind).__dlpack_device__() == (number, 1 if kind == "device" else 0)


def test_device_types_of_one_api(fakes):
    for selector, number in (("level_zero:gpu:0", 0), ("opencl:gpu:0", 1)):
        queue = bl.Queue(selector)
        array = bl.usm_empty(4, "f4", queue, kind="shared")
        assert array.__dlpack_device__() == (14, number)
        with pytest.raises(BufferError, match="has no streams"):
            array.__dlpack__(stream=3)
        array.__dlpack__(dl_device=(1, 0))


def test_the_stream_of_the_cuda_array_interface(fake, gate):
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue)
    assert array.__cuda_array_interface__["stream"] is None
    hold(fake, queue, gate, array)
    stream = array.__cuda_array_interface__["stream"]
    assert waits(fake) == [(stream, 1)]
    assert stream == id(queue.context._transfer[queue.device]._native)
    gate.set()
    queue.wait()


# ---------------------------------------------------------------------- in


def foreign(fake, queue, nbytes=16):
    """A producer over memory of the fake driver; the returned array keeps it alive."""
    memory = bl.usm_empty(nbytes, "u1", queue)
    values = np.ctypeslib.as_array((ctypes.c_ubyte * nbytes).from_address(memory.address))
    return Producer(values, device=(2, 0)), memory


@pytest.mark.parametrize("in_order", [False, True])
def test_the_exporter_is_told_the_queues_stream(fake, gate, in_order):
    queue = bl.Queue(in_order=in_order)
    producer, memory = foreign(fake, queue)
    earlier = hold(fake, queue, gate, memory)
    array = bl.from_dlpack(producer, queue)
    assert producer.asked == [{"stream": id(queue._native), "max_version": (1, 1)}]
    assert array.address == memory.address and array.kind == "device"
    assert earlier.status != "complete"  # the host did not wait
    gate.set()
    queue.wait()


@pytest.mark.parametrize("selector, number", [("level_zero:gpu:0", 0), ("opencl:gpu:0", 1)])
def test_memory_of_one_api(fakes, selector, number):
    queue = bl.Queue(selector)
    memory = bl.usm_empty(16, "u1", queue, kind="shared")
    values = np.ctypeslib.as_array((ctypes.c_ubyte * 16).from_address(memory.address))
    producer = Producer(values, device=(14, number))
    array = bl.from_dlpack(producer, queue)
    assert producer.asked == [{"max_version": (1, 1)}]
    assert array.address == memory.address and array.kind == "shared"
    assert array.__dlpack_device__() == (14, number)
    del array
    assert producer.deleted == 1


def test_without_a_queue_the_exporters_work_is_waited_for(fake):
    producer, memory = foreign(fake, bl.Queue())
    array = bl.from_dlpack(producer)
    transfer = memory.context._transfer[memory.device]
    assert producer.asked == [{"stream": id(transfer._native), "max_version": (1, 1)}]
    assert array.context is memory.context


def test_a_capsule_comes_after_the_legacy_default_stream(fake):
    queue = bl.Queue()
    producer, memory = foreign(fake, queue)
    array = bl.from_dlpack(producer.__dlpack__(), queue)
    assert ("wait_for_stream", 1) in fake.calls and array.address == memory.address


@pytest.mark.parametrize("stream, handle", [(1, 1), (12345, 12345), (Stream((0, 7)), 7), (None, None)])
def test_the_stream_of_another_librarys_cuda_array_interface(fake, stream, handle):
    queue = bl.Queue()
    memory = bl.usm_empty((4, 6), "i2", queue)

    interface = {
        "version": 3,
        "shape": (2, 3),
        "typestr": "<i2",
        "data": (memory.address + 2, False),
        "strides": (24, 4),
        "stream": stream,
    }
    exporter = type("Exporter", (), {"__cuda_array_interface__": interface})()
    array = bl.as_usm_array(exporter, queue)
    assert array.address == memory.address + 2 and array.strides == (24, 4) and array.shape == (2, 3)
    assert [call[1] for call in fake.calls if call[0] == "wait_for_stream"] == ([] if handle is None else [handle])
    array.copy_from(5)
    assert (memory[::2, 1::2].numpy() == 5).all()


def test_cuda_arrays_that_cannot_be(fakes):
    queue = bl.Queue()
    memory = bl.usm_empty(4, "i4", queue)
    good = {"version": 3, "shape": (4,), "typestr": "<i4", "data": (memory.address, False)}

    def taken(where=queue, **changes):
        exporter = type("Exporter", (), {"__cuda_array_interface__": good | changes})()
        return bl.as_usm_array(exporter, where)

    assert taken().address == memory.address and taken(version=2, strides=None).shape == (4,)
    assert taken(data=(memory.address, True)).read_only
    for changes, message in (
        ({"mask": object()}, None),
        ({"version": 4}, "4.*1.*3"),
        ({"version": None}, "of version None"),
        ({"stream": 0}, None),
        ({"stream": "x"}, "a str has no __cuda_stream__, cuda_stream or ptr; pass the address of the CUstream"),
        ({"data": (64, False)}, None),
        ({"typestr": "|O"}, None),
    ):
        with raises(bl.InvalidError, match=message):
            taken(**changes)
    with raises(bl.InvalidError, names="CUDA"):
        taken(bl.Queue("reference:*:*"))


def test_another_librarys_array_as_a_kernel_argument(fake):
    queue = bl.Queue()
    kernel = bl.load_kernel_bundle(b"source", queue).get_kernel("scale")
    producer, memory = foreign(fake, queue)
    event = queue.parallel_for(16, kernel, producer, np.float32(2), np.int64(16))
    name, _, _, arguments = fake.calls[-1][1]
    assert name == "scale" and arguments[0] == memory.address.to_bytes(8, "little")
    event.wait()
    assert producer.deleted == 1  # with the last command that used it
    with raises(bl.InvalidError, match="another library's array on the device"):
        queue.parallel_for(16, kernel, [1, 2], np.float32(2), np.int64(16))


def test_native_memory_ends_with_the_last_who_looks_at_it(fake):
    queue = bl.Queue()
    for _ in range(50):
        array = bl.usm_empty(16, "u1", queue)
        views = [array.__dlpack__(stream=-1), array[4:].__dlpack__(stream=-1, max_version=(1, 0))]
        bl.free(array)
        assert fake.alive["memory"] == 1
        del views[0]
        assert fake.alive["memory"] == 1
        views.clear()
        assert fake.alive["memory"] == 0
    assert fake.created["memory"] == 50


# ---------------------------------------------------------------------- queues as streams


def test_an_in_order_queue_is_a_cuda_stream(fake):
    queue = bl.Queue(in_order=True)
    assert queue.__cuda_stream__() == (0, id(queue._native))
    protocol = queue.__cuda_stream__
    queue.close()
    with raises(bl.InvalidError):
        protocol()


def test_an_out_of_order_queue_is_none(fake):
    with raises(bl.InvalidError, names=("in_order=True", "order_after_stream")):
        bl.Queue().__cuda_stream__()


def test_queues_of_other_backends_do_not_have_the_attribute(fakes):
    for selector in ("reference:*:*", "level_zero:gpu:0"):
        queue = bl.Queue(selector, in_order=True)
        assert not hasattr(queue, "__cuda_stream__")
        with raises(bl.FeatureNotSupportedError, names="CUDA"):
            bl.order_after_stream(queue, 1)


@pytest.mark.parametrize("in_order", [False, True])
def test_a_queue_after_a_stream(fake, in_order):
    queue = bl.Queue(in_order=in_order)
    event = bl.order_after_stream(queue, Stream((0, 77)))
    assert fake.calls == [("wait_for_stream", 77)]
    event.wait()
    bl.order_after_stream(queue, bl.Queue(in_order=True))  # a queue of this package is a stream too


def test_a_stream_after_events(fake, gate):
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue)
    events = [hold(fake, queue, gate, array) for _ in range(3)]
    bl.order_stream_after(9, events[0])
    bl.order_stream_after(Stream([0, 8]), events)
    assert waits(fake) == [(9, 1)] + [(8, 1)] * 3
    bl.order_stream_after(9, ())
    ran = []
    task = queue.submit(lambda handler: handler.host_task(lambda: ran.append(1)))
    bl.order_stream_after(9, task)  # a driver cannot wait for a host task: the call waits for it
    assert ran == [1] and len(waits(fake)) == 4
    gate.set()
    queue.wait()


@pytest.mark.parametrize(
    "stream, message",
    [
        (0, None),
        (-1, ("stream=-1", "1")),
        (1.5, "a float has no __cuda_stream__"),
        (True, "stream=True"),
        (None, ("NoneType", "__cuda_stream__")),
        (Stream((1, 5)), ("(1, 5)", "0")),
        (Stream(5), ("5", "(version")),
        (Stream((0, "x")), "(version"),
        (Stream((0, -4)), "(0, -4)"),
    ],
    ids=lambda value: repr(value) if isinstance(value, (int, float, str)) else type(value).__name__,
)
def test_streams_that_are_none(fake, stream, message):
    queue = bl.Queue()
    for use in (lambda: bl.order_after_stream(queue, stream), lambda: bl.order_stream_after(stream, ())):
        with raises(bl.InvalidError, names=message):
            use()


def test_events_that_are_none(fake):
    with raises(bl.InvalidError, names=(5, "Event")):
        bl.order_stream_after(1, [5])
