"""Contract of every backend: discovery, contexts, queues, events and unified memory."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import bindless as bl
from bindless.model import info
from bindless.model.aspects import Aspect
from bindless.model.enums import Backend, DeviceType, EventStatus, ImageChannelType, UsmKind
from bindless.model.errors import (
    Error,
    FeatureNotSupportedError,
    MemoryAllocationError,
    ProfilingError,
)
from tests.backends.contract.contract_rig import Rig
from tests.support.channel_kinds import PLAIN
from tests.support.error_checks import raises

KINDS = (UsmKind.device, UsmKind.host, UsmKind.shared)
BIG = 16 << 20


# ---------------------------------------------------------------------- discovery


def test_devices_say_who_they_are(device: bl.Device) -> None:
    records = device._backend.devices()
    assert device._record in records
    assert [record.index for record in records] == list(range(len(records)))
    for record in records:
        assert record.name and record.vendor and record.driver_version and record.version
        assert len(record.uuid) == 16
        assert record.platform.name and record.platform.vendor and record.platform.version
        assert isinstance(record.type, DeviceType)
    assert len({record.uuid for record in records}) == len(records)
    assert isinstance(device._backend.backend, Backend)


def test_every_information_has_its_type(rig: Rig) -> None:
    numbers = {
        info.device.max_compute_units,
        info.device.max_work_group_size,
        info.device.global_mem_size,
        info.device.max_mem_alloc_size,
        info.device.image1d_max_width,
        info.device.image2d_max_width,
        info.device.image2d_max_height,
        info.device.image3d_max_width,
        info.device.image_max_array_size,
        info.device.image_row_pitch_align,
        info.device.max_image_linear_width,
        info.device.max_image_linear_height,
        info.device.max_image_linear_row_pitch,
        info.device.max_samplers,
        info.device.address_bits,
    }
    for name in set(info.device) - info.DERIVED:
        value = rig.backend.device_info(rig.device, name)
        if name in numbers:
            assert type(value) is int and value > 0, name
        assert value is not None, name
    assert type(rig.backend.device_info(rig.device, "mipmap_max_anisotropy")) is float
    assert type(rig.backend.device_info(rig.device, "uuid")) is bytes
    assert len(rig.backend.device_info(rig.device, "max_work_item_sizes")) == 3
    with raises(FeatureNotSupportedError, names="colour_of_the_box"):
        rig.backend.device_info(rig.device, "colour_of_the_box")


def test_aspects_are_those_of_the_enumeration(rig: Rig) -> None:
    aspects = rig.backend.aspects(rig.device)
    assert all(isinstance(aspect, Aspect) for aspect in aspects)
    assert Aspect.ext_oneapi_bindless_images in aspects
    assert Aspect.usm_device_allocations in aspects
    assert len({Aspect.cpu, Aspect.gpu} & aspects) == 1


def test_formats_that_are_supported_can_be_made(rig: Rig) -> None:
    for channel_type in map(ImageChannelType, PLAIN):
        for channels in (1, 2, 3, 4):
            desc = bl.ImageDescriptor(4, 4, num_channels=channels, channel_type=channel_type)
            if rig.backend.supports_format(rig.device, channel_type, channels):
                rig.image(desc)
            else:
                with raises(FeatureNotSupportedError, names=f"num_channels={channels}"):
                    rig.backend.allocate_image(rig.context, rig.device, desc)
        assert not rig.backend.supports_format(rig.device, channel_type, 5)


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("kind", KINDS)
def test_memory_keeps_what_is_copied(rig: Rig, kind: UsmKind) -> None:
    data = np.random.default_rng(0).integers(0, 256, 100_003, "uint8")
    address = rig.upload(data, kind)
    assert np.array_equal(rig.download(address, data), data)
    record = rig.backend.pointer_info(rig.context, address + 5)
    assert record.kind is kind
    assert record.base <= address + 5 < record.base + record.size
    assert record.device is rig.device or kind is not UsmKind.device
    other = rig.allocate(data.nbytes, UsmKind.device)
    rig.wait(rig.backend.copy(rig.queue, other, address, data.nbytes))
    assert np.array_equal(rig.download(other, data), data)


def test_memory_that_the_driver_does_not_know(rig: Rig) -> None:
    array = np.zeros(100)
    assert rig.backend.pointer_info(rig.context, array.ctypes.data).kind is UsmKind.unknown


@pytest.mark.parametrize("alignment", [1, 64, 4096, 1 << 16])
@pytest.mark.parametrize("kind", KINDS)
def test_alignment(rig: Rig, kind: UsmKind, alignment: int) -> None:
    addresses = [rig.allocate(100, kind, alignment) for _ in range(4)]
    assert all(address % alignment == 0 for address in addresses)
    assert len(set(addresses)) == 4


def test_allocations_beyond_memory_say_how_much(rig: Rig) -> None:
    size = rig.backend.device_info(rig.device, "global_mem_size") * 64
    with raises(MemoryAllocationError, names=size):
        rig.backend.allocate(rig.context, rig.device, UsmKind.device, size)
    with pytest.raises(MemoryAllocationError):
        rig.backend.allocate(rig.context, rig.device, UsmKind.device, 2**64 - 1)
    rig.allocate(16)


def test_freeing_twice_or_inside_is_refused(rig: Rig) -> None:
    address = rig.backend.allocate(rig.context, rig.device, UsmKind.device, 4096)
    with pytest.raises(Error, match=hex(address + 1024)):
        rig.backend.free(rig.context, address + 1024)
    rig.backend.free(rig.context, address)
    with pytest.raises(Error, match=hex(address)):
        rig.backend.free(rig.context, address)


def test_pitched_memory(rig: Rig) -> None:  # R24, R26
    unit = rig.backend.device_info(rig.device, "image_row_pitch_align")
    for width, height, element in ((1, 1, 1), (100, 7, 4), (1000, 3, 16), (4096, 5, 8), (6, 2, 2)):
        address, pitch = rig.backend.allocate_pitched(rig.context, rig.device, width, height, element)
        assert pitch >= width and pitch % unit == 0 and address
        rig.backend.free(rig.context, address)
    for width, height in ((0, 4), (4, 0), (0, 0)):
        with pytest.raises(Error, match=f"{width} bytes"):
            rig.backend.allocate_pitched(rig.context, rig.device, width, height, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 16])
def test_fill(rig: Rig, kind: UsmKind, size: int, offset: int) -> None:
    random = np.random.default_rng(size * 17 + offset)
    for count in (1, 3, 1000, 10_007):
        pattern = random.integers(0, 256, size, "uint8").tobytes()
        before = random.integers(0, 256, size * count + 64, "uint8")
        address = rig.upload(before, kind)
        rig.wait(rig.backend.fill(rig.queue, address + offset, pattern, count))
        expected = before.copy()
        expected[offset : offset + size * count] = np.frombuffer(pattern * count, "uint8")
        assert np.array_equal(rig.download(address, before), expected)


def test_fill_of_nothing_and_of_odd_patterns(rig: Rig) -> None:
    address = rig.upload(np.arange(8, dtype="uint8"))
    rig.wait(rig.backend.fill(rig.queue, address, b"xyzw", 0))
    assert rig.download(address, np.zeros(8, "uint8")).tolist() == list(range(8))


def test_hints_change_nothing(rig: Rig) -> None:
    data = np.arange(5000, dtype="int32")
    for kind in KINDS:
        address = rig.upload(data, kind)
        rig.wait(rig.backend.prefetch(rig.queue, address, data.nbytes))
        rig.wait(rig.backend.advise(rig.queue, address, data.nbytes, 0))
        assert np.array_equal(rig.download(address, data), data)


def test_host_to_host_copies_come_in_order(rig: Rig) -> None:
    """The copy to the second array reads the writes of earlier commands in the queue."""
    staging = rig.allocate(BIG, UsmKind.host)
    device = rig.allocate(BIG)
    out = np.zeros(BIG, "uint8")
    rig.backend.fill(rig.queue, device, b"\x07", BIG)
    rig.backend.copy(rig.queue, staging, device, BIG)
    rig.wait(rig.backend.copy(rig.queue, out.ctypes.data, staging, BIG))
    assert out.min() == out.max() == 7
    again = np.zeros_like(out)
    rig.wait(rig.backend.copy(rig.queue, again.ctypes.data, out.ctypes.data, BIG))
    assert again.min() == again.max() == 7


# ---------------------------------------------------------------------- queues and events


@pytest.mark.parametrize("in_order", [True, False])
def test_queues_wait_for_their_work(rig: Rig, in_order: bool) -> None:
    queue = rig.make_queue(in_order=in_order)
    address = rig.allocate(BIG)
    rig.backend.fill(queue, address, b"\x05", BIG)
    rig.backend.wait_queue(queue)
    assert rig.backend.queue_is_idle(queue)
    tail = rig.download(address + BIG - 64, np.empty(64, "uint8"))
    assert set(tail.tolist()) == {5}


def test_an_event_completes_and_stays_complete(rig: Rig) -> None:
    address = rig.allocate(BIG)
    event = rig.backend.fill(rig.queue, address, b"\x01", BIG)
    later = rig.backend.fill(rig.queue, address, b"\x02", BIG)
    assert rig.backend.event_status(event) in EventStatus
    rig.wait(event)
    assert rig.backend.event_status(event) is EventStatus.complete
    rig.wait(later)
    rig.wait(event)
    assert rig.backend.event_status(later) is EventStatus.complete
    rig.backend.release_event(event)
    rig.backend.release_event(later)


def test_order_of_an_in_order_queue(rig: Rig) -> None:
    address = rig.allocate(BIG)
    for value in range(20):
        rig.backend.fill(rig.queue, address, bytes([value]), BIG)
    out = np.empty(BIG, "uint8")
    rig.wait(rig.backend.copy(rig.queue, out.ctypes.data, address, BIG))
    assert out.min() == out.max() == 19


@pytest.mark.parametrize("rounds", [12])
def test_dependencies_between_queues(rig: Rig, rounds: int) -> None:
    """Each command depends on the previous one, in another queue: only events order them."""
    queues = [rig.make_queue(in_order=order) for order in (True, False, True, False)]
    address = rig.allocate(BIG)
    waits: list[object] = []
    for value in range(rounds):
        waits = [rig.backend.fill(queues[value % 4], address, bytes([value]), BIG, waits)]
    out = np.empty(BIG, "uint8")
    rig.wait(rig.backend.copy(queues[1], out.ctypes.data, address, BIG, waits))
    assert out.min() == out.max() == rounds - 1


def test_an_event_of_several_dependencies(rig: Rig) -> None:
    queue = rig.make_queue(in_order=False)
    parts = [rig.allocate(BIG // 8) for _ in range(8)]
    whole = rig.allocate(BIG)
    fills = [rig.backend.fill(queue, part, bytes([index + 1]), BIG // 8) for index, part in enumerate(parts)]
    copies = [
        rig.backend.copy(queue, whole + index * (BIG // 8), part, BIG // 8, [fills[index]])
        for index, part in enumerate(parts)
    ]
    out = np.empty(BIG, "uint8")
    rig.wait(rig.backend.copy(queue, out.ctypes.data, whole, BIG, copies))
    expected = np.repeat(np.arange(1, 9, dtype="uint8"), BIG // 8)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("in_order", [True, False])
def test_barriers(rig: Rig, in_order: bool) -> None:
    queue, other = rig.make_queue(in_order=in_order), rig.make_queue()
    parts = [rig.allocate(BIG // 4) for _ in range(6)]
    for index, part in enumerate(parts[:5]):
        rig.backend.fill(queue, part, bytes([index + 1]), BIG // 4)
    foreign = rig.backend.fill(other, parts[5], b"\x06", BIG // 4)
    barrier = rig.backend.barrier(queue, [foreign])
    rig.wait(barrier)
    out = np.empty(BIG // 4, "uint8")
    for index, part in enumerate(parts):
        rig.wait(rig.backend.copy(other, out.ctypes.data, part, out.nbytes))
        assert out.min() == out.max() == index + 1


def test_dropped_events_do_no_harm(rig: Rig) -> None:
    address = rig.allocate(1 << 16)
    for value in range(300):
        rig.backend.fill(rig.queue, address, bytes([value % 256]), 1 << 16)
    rig.backend.wait_queue(rig.queue)
    assert set(rig.download(address, np.empty(1 << 16, "uint8")).tolist()) == {299 % 256}


def test_times_of_a_profiling_queue(rig: Rig) -> None:
    assert Aspect.queue_profiling in rig.backend.aspects(rig.device)
    for in_order in (True, False):
        queue = rig.make_queue(in_order=in_order, profiling=True)
        address = rig.allocate(BIG)
        first = rig.backend.fill(queue, address, b"\x01", BIG)
        second = rig.backend.fill(queue, address, b"\x02", BIG, [first])
        submitted, started, ended = rig.backend.event_times(first)
        later = rig.backend.event_times(second)
        assert submitted <= started <= ended
        assert later[0] <= later[1] <= later[2]
        assert submitted <= later[0]
        assert ended <= later[1] + 2000  # resolution of two clocks
        assert 0 < ended - started < 10_000_000_000
        assert rig.backend.event_status(second) is EventStatus.complete


def test_times_without_profiling_are_refused(rig: Rig) -> None:
    event = rig.backend.fill(rig.queue, rig.allocate(64), b"\x01", 64)
    with raises(ProfilingError, names="profiling"):
        rig.backend.event_times(event)


def test_several_threads_submit_to_one_queue(rig: Rig) -> None:
    queues = [rig.queue, rig.make_queue(in_order=False)]
    addresses = [rig.allocate(1 << 14) for _ in range(6)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            queue, other = queues[number % 2], queues[(number + 1) % 2]
            for value in range(60):
                event = rig.backend.fill(queue, addresses[number], bytes([value]), 1 << 14)
                event = rig.backend.fill(other, addresses[number], bytes([value + 100]), 1 << 14, [event])
                rig.backend.wait_event(event)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for address in addresses:
        assert set(rig.download(address, np.empty(1 << 14, "uint8")).tolist()) == {159}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX interval timers")
def test_a_wait_can_be_interrupted(rig: Rig) -> None:
    class Stop(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise Stop

    address = rig.allocate(BIG)
    previous = signal.signal(signal.SIGALRM, stop)
    try:
        event = None
        deadline = time.monotonic() + 1.0
        queue = rig.make_queue()
        for _ in range(200):
            event = rig.backend.fill(queue, address, b"\x01\x02\x03\x04\x05\x06\x07\x08", BIG // 8)
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        try:
            while time.monotonic() < deadline:
                rig.backend.wait_event(event)
        except Stop:
            pass
        else:
            pytest.fail("the signal was not handled during the wait")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        rig.backend.wait_event(event)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert rig.backend.event_status(event) is EventStatus.complete


def test_native_handles_are_numbers(rig: Rig) -> None:
    event = rig.backend.fill(rig.queue, rig.allocate(64), b"\x01", 64)
    for native in (rig.context, rig.queue, event):
        assert rig.backend.native_handle(native) > 0
    with raises(bl.BackendMismatchError):
        rig.backend.native_handle(type("Foreign", (), {"handle": 1})())
    rig.wait(event)
