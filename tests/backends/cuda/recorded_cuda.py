"""What the CUDA backend asks of its driver, on the driver of ``fake_cuda.c``: run by ``test_cuda_recording.py``."""

from __future__ import annotations

import ctypes
import gc
import os
import struct

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.backends.cuda.object_cache import end_rest
from bindless.drivers import cuda as driver
from bindless.model.enums import EventStatus, UsmKind
from bindless.model.errors import (
    InvalidError,
    KernelError,
    MemoryAllocationError,
    PlatformError,
    SyclRuntimeError,
)
from bindless.model.image_call import ImageCall
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler
from tests.backends.contract.contract_rig import Rig, pixels_of
from tests.backends.cuda.fake_cuda import PTX, Fake, launch
from tests.support.error_checks import raises

# ---------------------------------------------------------------------- discovery


def test_discovery_and_questions_make_no_context(device: bl.Device, fake: Fake) -> None:
    fake.clear()
    for found in bl.get_devices():
        for descriptor in bl.info.device:
            found.get_info(descriptor)
        assert found.aspects
    assert [platform.get_devices() for platform in bl.get_platforms()]
    assert not [line for line in fake.lines("cu") if not line.startswith("cuDevice") or "Ctx" in line]


# ---------------------------------------------------------------------- launches


def test_arguments_arrive_byte_by_byte(rig: Rig, fake: Fake) -> None:
    fake.parameters(8, 4, 24)
    blob = bytes(range(24))
    launch(rig, "f", [struct.pack("<Q", 0x1122334455667788), struct.pack("<f", 1.0), blob], (1000,), (250,))
    line = fake.lines("cuLaunchKernel")[-1]
    assert line == f"cuLaunchKernel f 4 1 1 250 1 1 shared 0: 8877665544332211 0000803f {blob.hex()}"


def test_local_memory_becomes_offsets(rig: Rig, fake: Fake) -> None:
    fake.parameters(8, 4, 8)
    launch(rig, "pieces", [bytes(8), 100, 50])
    assert fake.lines("cuLaunchKernel")[-1].endswith("shared 162: 0000000000000000 00000000 7000000000000000")
    fake.parameters(8)
    launch(rig, "plain", [bytes(8), 100, 50])
    assert fake.lines("cuLaunchKernel")[-1].endswith("shared 162: 0000000000000000")


def test_much_local_memory_is_asked_for_once(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    kernel = rig.backend.get_kernel(module, "plain")
    for _ in range(3):
        rig.backend.launch(rig.queue, kernel, (8,), None, [bytes(8), 100_000])
    assert len(fake.lines("cuFuncSetAttribute plain")) == 1


def test_wrong_arguments_never_reach_the_driver(rig: Rig, fake: Fake) -> None:
    for arguments in ([], [bytes(8)], [bytes(8), bytes(8), bytes(24)], [bytes(8), bytes(4), bytes(24), bytes(4)]):
        with raises(InvalidError, names=("'f'", "[8, 4, 24]")):
            launch(rig, "f", arguments)
    assert not fake.lines("cuLaunchKernel")


def test_work_groups_divide_the_range(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    kernel = rig.backend.get_kernel(module, "plain")
    expected = {
        (1024,): "4 1 1 256 1 1",
        (1000,): "4 1 1 250 1 1",
        (10_007,): "10007 1 1 1 1 1",  # a small prime number; recorded_guarded.py has large ones
        (640, 480): "20 60 1 32 8 1",
        (64, 64, 8): "2 8 8 32 8 1",
        (7, 6): "1 1 1 7 6 1",
    }
    for size, shape in expected.items():
        rig.backend.launch(rig.queue, kernel, size, None, [bytes(8)])
        assert fake.lines("cuLaunchKernel")[-1].startswith(f"cuLaunchKernel plain {shape} ")
    with raises(bl.NdRangeError, names=65535):
        rig.backend.launch(rig.queue, kernel, (1, 65_537 * 2), (1, 1), [bytes(8)])


def test_device_functions_choose_their_kernel(rig: Rig, fake: Fake) -> None:
    desc = ImageDescriptor(8, 8, num_channels=2, channel_type="snorm_int16", type="array", array_size=3)
    call = ImageCall(
        "sample_grad",
        0x55,
        True,
        desc,
        1025,
        0x1000,
        0x2000,
        np.dtype("float16"),
        2,
        layers=0x3000,
        layer=7,
        dx=0x4000,
        dy=0x5000,
    )
    name = "bindless_sample_grad_2d_array_f"
    values = {
        "image": 0x55,
        "coords": 0x1000,
        "layers": 0x3000,
        "layer": 7,
        "dx": 0x4000,
        "dy": 0x5000,
        "values": 0x2000,
        "count": 1025,
        "format": 6 | 2 << 8 | 1 << 16 | 2 << 24,
    }
    declared = [text.split() for text in kernels.manifest()["modules"][kernels.module_of(name)]["kernels"][name]]
    fake.parameters(*(4 if words[0] == "uint" else 8 for words in declared))
    rig.backend.image_call(rig.queue, call)
    line = fake.lines("cuLaunchKernel")[-1]
    assert line.split()[1] == name
    arrived = [int.from_bytes(bytes.fromhex(text), "little") for text in line.split(":")[1].split()]
    found = {words[-1]: value for words, value in zip(declared, arrived)}
    found["format"] &= (1 << 28) - 1  # beyond are hints
    assert {key: found[key] for key in values} == values


# ---------------------------------------------------------------------- events


def test_events_that_nobody_keeps_cost_nothing(rig: Rig, fake: Fake) -> None:
    address = rig.allocate(64)
    fake.clear()
    for _ in range(100):
        rig.backend.fill(rig.queue, address, b"\x01", 64)
    rig.backend.wait_queue(rig.queue)
    assert not fake.lines("cuEventRecord")


def test_an_event_that_is_kept_is_recorded_at_its_place(rig: Rig, fake: Fake) -> None:
    first, second = rig.allocate(64), rig.allocate(64)
    event = rig.backend.fill(rig.queue, first, b"\x01", 64)
    assert not fake.lines("cuEventRecord")
    later = [rig.backend.fill(rig.queue, second, b"\x02", 64) for _ in range(30)][-1]
    assert fake.lines("cuMemsetD8Async") == ["cuMemsetD8Async"] * 31
    rig.wait(event)
    assert ctypes.string_at(first, 64) == b"\x01" * 64
    assert not rig.backend.queue_is_idle(rig.queue), "waiting for the first command has waited for the others"
    rig.wait(later)
    assert ctypes.string_at(second, 64) == b"\x02" * 64


def test_one_answer_completes_all_events_before(rig: Rig, fake: Fake) -> None:
    address = rig.allocate(64)
    events = [rig.backend.fill(rig.queue, address, b"\x01", 64) for _ in range(50)]
    rig.wait(events[-1])
    fake.sticky(700)  # any further question would be answered by an error
    assert {rig.backend.event_status(event) for event in events} == {EventStatus.complete}
    for event in events:
        rig.wait(event)
    fake.clear()


def test_native_events_are_used_again(rig: Rig, fake: Fake) -> None:
    address = rig.allocate(64)
    for _ in range(200):
        rig.wait(rig.backend.fill(rig.queue, address, b"\x01", 64))
    assert len(fake.lines("cuEventCreate")) <= 2


def test_a_chain_stays_in_one_stream(rig: Rig, fake: Fake) -> None:
    queue = rig.make_queue(in_order=False)
    address = rig.allocate(64)
    fake.clear()
    event = rig.backend.fill(queue, address, b"\x01", 64)
    for value in range(2, 20):
        event = rig.backend.fill(queue, address, bytes([value]), 64, [event])
    rig.wait(event)
    assert not fake.lines("cuStreamWaitEvent")
    assert ctypes.string_at(address, 64) == bytes([19]) * 64


def test_independent_commands_overlap(rig: Rig) -> None:
    """In one stream the first would have to complete before the second does."""
    queue = rig.make_queue(in_order=False)
    blocker = rig.make_queue()
    address = rig.allocate(64)
    event = rig.backend.fill(blocker, address, b"\x01", 64)
    for _ in range(50):
        event = rig.backend.fill(blocker, address, b"\x01", 64)
    slow = rig.backend.fill(queue, address, b"\x02", 64, [event])
    quick = rig.backend.fill(queue, rig.allocate(64), b"\x03", 64)
    rig.wait(quick)
    for _ in range(20):  # each question runs one command somewhere, and 50 come before
        assert rig.backend.event_status(slow) is not EventStatus.complete
    rig.wait(slow)


def test_an_event_outlives_its_queue(rig: Rig) -> None:
    queue = rig.backend.create_queue(rig.context, rig.device, in_order=True, profiling=False)
    address = rig.allocate(64)
    event = rig.backend.fill(queue, address, b"\x09", 64)
    rig.backend.release_queue(queue)
    assert ctypes.string_at(address, 64) == b"\x09" * 64
    assert rig.backend.event_status(event) is EventStatus.complete
    rig.wait(event)
    rig.wait(rig.backend.fill(rig.queue, address, b"\x0a", 64, [event]))
    with raises(InvalidError):
        rig.backend.fill(queue, address, b"\x01", 64)
    rig.backend.release_queue(queue)


def test_failed_work_is_reported_where_it_is_waited_for(rig: Rig, fake: Fake) -> None:
    queue = rig.backend.create_queue(rig.context, rig.device, in_order=True, profiling=False)
    event = rig.backend.fill(queue, rig.allocate(64), b"\x01", 64)
    fake.sticky(700)
    for ask in (
        lambda: rig.wait(event),
        lambda: rig.backend.wait_queue(queue),
        lambda: rig.backend.event_status(event),
    ):
        with raises(KernelError, names="ILLEGAL_ADDRESS") as caught:
            ask()
        assert caught.value.native_code == 700 and caught.value.backend == "cuda"
    memory = rig.backend.allocate
    with pytest.raises(KernelError):
        memory(rig.context, rig.device, UsmKind.device, 64)
    fake.sticky(0)
    fake.fail("cuStreamQuery", 700)
    rig.backend.release_queue(queue)
    with pytest.raises(KernelError):
        rig.wait(event)


# ---------------------------------------------------------------------- memory


def test_out_of_memory_says_how_much_there_is(rig: Rig, fake: Fake) -> None:
    for kind, call in (
        (UsmKind.device, "cuMemAlloc"),
        (UsmKind.host, "cuMemHostAlloc"),
        (UsmKind.shared, "cuMemAllocManaged"),
    ):
        fake.fail(call, 2)
        with raises(MemoryAllocationError, names=(1234, 7516192768, 8589934592)):
            rig.backend.allocate(rig.context, rig.device, kind, 1234)


def test_everything_is_given_back(device: bl.Device, fake: Fake) -> None:
    rig = Rig(device._backend, device._record.native)
    primary = rig.context.primary(None)

    def alive() -> tuple[int, int, int]:
        end_rest(primary)
        library = fake.library
        return library.fake_live_allocations(), library.fake_live_arrays(), library.fake_live_objects()

    before = alive()
    for kind in UsmKind.device, UsmKind.host, UsmKind.shared:
        rig.allocate(100, kind, 1 << 14)
    for desc in (ImageDescriptor(8, 8), ImageDescriptor(8, 8, type="mipmap", num_levels=2)):
        memory = rig.image(desc)
        rig.sampled(memory, desc, BindlessImageSampler("clamp_to_edge", "normalized"))
    assert alive() != before
    rig.close()
    gc.collect()
    assert alive() == before


def test_hints_reach_shared_memory_only(rig: Rig, fake: Fake) -> None:
    for kind in UsmKind.device, UsmKind.host:
        address = rig.allocate(4096, kind)
        rig.wait(rig.backend.prefetch(rig.queue, address, 4096))
        rig.wait(rig.backend.advise(rig.queue, address, 4096, 1))
    assert not fake.lines("cuMemPrefetch") and not fake.lines("cuMemAdvise")
    address = rig.allocate(4096, UsmKind.shared)
    rig.wait(rig.backend.prefetch(rig.queue, address, 4096))
    rig.wait(rig.backend.advise(rig.queue, address, 4096, 3))
    rig.wait(rig.backend.advise(rig.queue, address, 4096, 0))
    assert fake.lines("cuMemPrefetch") == ["cuMemPrefetchAsync location 1 0 managed 1"]
    assert fake.lines("cuMemAdvise") == [f"cuMemAdvise {advice} location 0" for advice in (3, 2, 4, 6)]
    with raises(InvalidError, names="advice=9"):
        rig.backend.advise(rig.queue, address, 4096, 9)


# ---------------------------------------------------------------------- contexts


def test_numbers_of_images_are_unique_over_devices(device: bl.Device, fake: Fake) -> None:
    backend = device._backend
    devices = [record.native for record in backend.devices()]
    assert len(devices) == 2
    context = backend.create_context(devices)
    desc = ImageDescriptor(8, 8)
    sampler = BindlessImageSampler("clamp_to_edge")
    for native in devices:
        end_rest(native.context())
    memories = [backend.allocate_image(context, native, desc) for native in devices]
    live = fake.library.fake_live_objects()
    images = [
        backend.create_sampled_image(context, native, memory, desc, sampler)
        for _ in range(5)
        for native, memory in zip(devices, memories)
    ]
    assert len(set(images)) == 10
    assert fake.library.fake_live_objects() == live + 10
    with pytest.raises(SyclRuntimeError):
        backend.create_sampled_image(context, devices[1], memories[0], desc, sampler)
    for image in images:
        backend.destroy_image(context, image, sampled=True)
    assert fake.library.fake_live_objects() == live + 2  # one of each memory rests
    # What rests has a number that may be an image of the other device by now.
    again = [
        backend.create_sampled_image(context, devices[turn], memories[turn], desc, sampler) for turn in (0, 1, 1, 0)
    ]
    assert len(set(again)) == 4
    for image in again:
        backend.destroy_image(context, image, sampled=True)
    for native in devices:
        end_rest(native.context())
    assert fake.library.fake_live_objects() == live
    for memory in memories:
        backend.free_image(context, memory, desc)


def test_the_context_of_others_is_respected(rig: Rig) -> None:
    """Another library makes another context current; ours still works, and releasing leaves theirs current."""
    other = rig.backend.devices()[1].native.context()
    slot = driver.ffi.new("CUcontext *")
    desc = ImageDescriptor(8, 8)
    memory = rig.backend.allocate_image(rig.context, rig.device, desc)
    image = rig.backend.create_unsampled_image(rig.context, rig.device, memory, desc)
    address = rig.allocate(64)
    driver.check(driver.lib.cuCtxSetCurrent(other.handle), "cuCtxSetCurrent")
    rig.backend.destroy_image(rig.context, image, sampled=False)
    rig.backend.free_image(rig.context, memory, desc)
    driver.lib.cuCtxGetCurrent(slot)
    assert slot[0] == other.handle
    rig.wait(rig.backend.fill(rig.queue, address, b"\x01", 64))
    assert ctypes.string_at(address, 64) == b"\x01" * 64
    driver.lib.cuCtxSetCurrent(driver.ffi.NULL)
    pixels = pixels_of(desc)
    again = rig.image(desc, pixels)
    assert np.array_equal(rig.read(again, desc), pixels)


def test_a_fork_is_told_what_it_is(rig: Rig) -> None:
    address = rig.allocate(64)
    event = rig.backend.fill(rig.queue, address, b"\x01", 64)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answers = []
        for work in (
            lambda: rig.backend.fill(rig.queue, address, b"\x02", 64),
            lambda: rig.wait(event),
            lambda: rig.backend.allocate(rig.context, rig.device, UsmKind.device, 64),
            lambda: rig.backend.devices(),
            lambda: rig.backend.create_queue(rig.context, rig.device, in_order=True, profiling=False),
        ):
            try:
                work()
                answers.append("worked")
            except PlatformError as error:
                answers.append("spawn" if "spawn" in str(error) else str(error))
            except BaseException as error:
                answers.append(repr(error))
        try:
            rig.backend.free(rig.context, address)
            rig.backend.release_queue(rig.queue)
            answers.append("released")
        except BaseException as error:
            answers.append(repr(error))
        os.write(write, " ".join(answers).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert os.read(read, 10_000).decode() == "spawn spawn spawn spawn spawn released"
    os.close(read)
    rig.wait(event)


def test_the_driver_says_its_version() -> None:
    from bindless.backends.cuda.device import driver_release

    closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\nGCC version:\n"
    opened = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x)\n"
    assert driver_release(closed) == "535.54.03"
    assert driver_release(opened) == "580.159.04"
    assert driver_release("") == "13.0"
