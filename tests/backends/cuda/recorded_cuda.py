"""What the CUDA backend asks of its driver, on the driver of ``fake_cuda.c``: run by ``test_cuda_recording.py``."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.backends.cuda.object_cache import end_rest
from bindless.drivers import cuda as driver
from bindless.model.enums import EventStatus, UsmKind
from bindless.model.errors import (
    FeatureNotSupportedError,
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
from tests.support.error_checks import raises

PTX = b"""
.target sm_75
.visible .entry f(.param .u64 .ptr .global .align 4 a, .param .f32 b, .param .align 8 .b8 c[24]) { ret; }
.visible .entry pieces(.param .u64 a, .param .u32 one, .param .u64 two) { ret; }
.visible .entry plain(.param .u64 a) { ret; }
.visible .entry nothing() .reqntid 64, 2, 1 { ret; }
"""


class Fake:
    """The log and the switches of the fake driver."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["BINDLESS_LIBCUDA"])
        self.library.fake_log.restype = ctypes.c_char_p

    def lines(self, beginning: str = "") -> list[str]:
        text = self.library.fake_log().decode()
        return [line for line in text.splitlines() if line.startswith(beginning)]

    def clear(self) -> None:
        self.library.fake_clear()

    def fail(self, call: str, result: int, after: int = 0) -> None:
        self.library.fake_fail(call.encode(), result, after)

    def sticky(self, result: int) -> None:
        self.library.fake_sticky(result)

    def parameters(self, *sizes: int) -> None:
        self.library.fake_parameters(len(sizes), (ctypes.c_size_t * len(sizes))(*sizes))


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    made.clear()
    yield made
    made.clear()


def launch(rig: Rig, name: str, arguments: list[Any], size: tuple[int, ...] = (8,), local: Any = None) -> Any:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    return rig.backend.launch(rig.queue, rig.backend.get_kernel(module, name), size, local, arguments)


# ---------------------------------------------------------------------- the cache of binaries


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a cache that is on."""
    monkeypatch.delenv("BINDLESS_CACHE", raising=False)
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_ptx_is_compiled_once(rig: Rig, fake: Fake, kept: Path) -> None:
    for turn in range(3):
        fake.clear()
        module = rig.backend.load_module(rig.context, rig.device, PTX)
        assert rig.backend.kernel_names(module) == ("f", "nothing", "pieces", "plain")
        assert rig.backend.kernel_info(rig.backend.get_kernel(module, "f")).arguments is not None
        assert len(fake.lines("cuLinkAddData")) == len(fake.lines("cuLinkComplete")) == (turn == 0)
        rig.backend.release_module(module)
    assert len(list(kept.iterdir())) == 1


def test_options_and_source_choose_the_binary(rig: Rig, fake: Fake, kept: Path) -> None:
    text = b".target sm_75\n" + PTX
    for source, options in ((text, ""), (text, "-O2"), (text + b"//", ""), (text, "")):
        rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, source, options=options))
    assert len(fake.lines("cuLinkComplete")) == 3 == len(list(kept.iterdir()))


def test_a_damaged_binary_is_made_anew(rig: Rig, fake: Fake, kept: Path) -> None:
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    (path,) = kept.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    fake.clear()
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert len(fake.lines("cuLinkComplete")) == 1
    fake.clear()
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert not fake.lines("cuLinkComplete")


def test_large_modules_are_linked_whole(rig: Rig, fake: Fake, kept: Path) -> None:
    source = b"//" + b"x" * 200_000 + b"\n" + PTX
    for _ in range(2):
        module = rig.backend.load_module(rig.context, rig.device, source)
        rig.backend.get_kernel(module, "nothing")
        rig.backend.release_module(module)
    (path,) = kept.iterdir()
    assert source in path.read_bytes()
    assert len(fake.lines("cuLinkComplete")) == 1 and fake.library.fake_live_links() == 0


def test_errors_are_the_same_with_the_cache(rig: Rig, fake: Fake, kept: Path) -> None:
    with raises(bl.BuildError, match="what is this") as caught:
        rig.backend.load_module(rig.context, rig.device, b".target sm_75\n.entry f() { syntax error }")
    assert "line 7" in caught.value.log and not list(kept.iterdir())
    assert fake.library.fake_live_links() == 0


def test_without_the_cache_nothing_is_linked(rig: Rig, fake: Fake, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert not fake.lines("cuLink") and not list(kept.iterdir())


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
        with raises(InvalidError, match=r"'f'.*\[8, 4, 24\]"):
            launch(rig, "f", arguments)
    assert not fake.lines("cuLaunchKernel")


def test_work_groups_divide_the_range(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    kernel = rig.backend.get_kernel(module, "plain")
    expected = {
        (1024,): "2 1 1 512 1 1",
        (1000,): "2 1 1 500 1 1",
        (1_000_003,): "1000003 1 1 1 1 1",
        (640, 480): "20 30 1 32 16 1",
        (64, 64, 8): "2 4 8 32 16 1",
        (7, 6): "1 1 1 7 6 1",
    }
    for size, shape in expected.items():
        rig.backend.launch(rig.queue, kernel, size, None, [bytes(8)])
        assert fake.lines("cuLaunchKernel")[-1].startswith(f"cuLaunchKernel plain {shape} ")
    with raises(bl.NdRangeError, match="65535"):
        rig.backend.launch(rig.queue, kernel, (1, 65_537 * 2), (1, 1), [bytes(8)])


def test_reflection(rig: Rig) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    assert rig.backend.kernel_names(module) == ("f", "nothing", "pieces", "plain")
    record = rig.backend.kernel_info(rig.backend.get_kernel(module, "f"))
    assert record.arguments is not None
    assert [(a.name, a.kind, a.size) for a in record.arguments] == [
        ("a", "pointer", 8),
        ("b", "value", 4),
        ("c", "value", 24),
    ]
    assert record.max_work_group_size == 768 and record.required_work_group_size is None
    record = rig.backend.kernel_info(rig.backend.get_kernel(module, "nothing"))
    assert record.arguments == () and record.required_work_group_size == (64, 2, 1)


def test_a_binary_module_on_an_old_driver(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, b"\x7fELF .entry f\0rest")
    assert not driver.has("cuFuncGetParamInfo")
    assert rig.backend.kernel_info(rig.backend.get_kernel(module, "f")).arguments is None
    with raises(FeatureNotSupportedError, match=r"CUDA 12\.4"):
        rig.backend.kernel_names(module)
    kernel = rig.backend.get_kernel(module, "f")
    for sizes in ((8, 4), (4, 1, 2), (4, 1, 2)):
        fake.parameters(*sizes)
        arguments = [bytes([index + 1]) * size for index, size in enumerate(sizes)]
        rig.backend.launch(rig.queue, kernel, (8,), None, arguments)
        assert fake.lines("cuLaunchKernel")[-1].endswith(": " + " ".join(argument.hex() for argument in arguments))


def test_build_errors_and_options(rig: Rig, fake: Fake) -> None:
    with raises(bl.BuildError, match="line 7") as caught:
        rig.backend.load_module(rig.context, rig.device, b".entry f() { syntax error }")
    assert caught.value.log == "ptxas fatal: line 7: what is this?"
    fake.clear()
    rig.backend.load_module(rig.context, rig.device, PTX, options="-O3 -lineinfo --maxrregcount 40")
    assert [int(line.split()[-1]) for line in fake.lines("jit option")][4:] == [7, 13, 0]
    with raises(bl.BuildError, match="SPIR-V"):
        rig.backend.load_module(rig.context, rig.device, b"\x03\x02\x23\x07rest")


def test_modules_are_linked(rig: Rig, fake: Fake) -> None:
    caller = b".extern .func g; .visible .entry calling(.param .u64 a) { call g; }"
    callee = b".visible .func g { ret; }"
    links = fake.library.fake_live_links
    first, log = rig.backend.compile_module(rig.context, rig.device, caller, options="-O2")
    second, _ = rig.backend.compile_module(rig.context, rig.device, callee, options="-O2")
    assert log == "" and not fake.lines("cuLinkComplete") and links() == 0
    fake.clear()
    module = rig.backend.link_modules(rig.context, rig.device, [first, second], options="-lineinfo")
    assert fake.lines("cuLink") == [f"cuLinkAddData 1 {len(text) + 1}" for text in (caller, callee)] + [
        "cuLinkComplete"
    ]
    assert rig.backend.kernel_names(module) == ("calling",) and links() == 0
    fake.parameters(8)
    rig.backend.launch(rig.queue, rig.backend.get_kernel(module, "calling"), (8,), None, [bytes(8)])
    with raises(bl.BuildError, match="undefined reference") as caught:
        rig.backend.link_modules(rig.context, rig.device, [first])
    assert caught.value.log == "error: undefined reference" and caught.value.native_code == 500
    with raises(bl.BuildError, match="line 7"):
        rig.backend.compile_module(rig.context, rig.device, b".entry f() { syntax error }")
    with raises(FeatureNotSupportedError, match="specialization"):
        rig.backend.compile_module(rig.context, rig.device, PTX, specialization={1: b"1234"})
    assert links() == 0
    elf, _ = rig.backend.compile_module(rig.context, rig.device, b"\x7fELF .entry f")
    fat, _ = rig.backend.compile_module(rig.context, rig.device, b"\x50\xed\x55\xba .entry f")
    assert (elf.kind, fat.kind, first.kind) == (0, 2, 1)
    rig.backend.release_module(module)


def test_a_released_module_is_not_launched(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    kernel = rig.backend.get_kernel(module, "plain")
    rig.backend.release_module(module)
    rig.backend.release_module(module)
    assert len(fake.lines("cuModuleUnload")) == 1
    with raises(InvalidError):
        rig.backend.launch(rig.queue, kernel, (8,), None, [bytes(8)])


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
        with raises(KernelError, match=r"ILLEGAL_ADDRESS.*new process") as caught:
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
        with raises(MemoryAllocationError, match="1234.*7516192768.*8589934592"):
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
    with raises(InvalidError, match="advice=9"):
        rig.backend.advise(rig.queue, address, 4096, 9)


# ---------------------------------------------------------------------- images


def test_every_image_type_has_its_array(rig: Rig, fake: Fake) -> None:
    def made(desc: ImageDescriptor) -> str:
        rig.image(desc)
        return fake.lines("cu")[-1]

    rig.image(ImageDescriptor(2, 2))
    form = {"num_channels": 4, "channel_type": "unorm_int8"}
    assert made(ImageDescriptor(7, **form)) == "cuArray3DCreate 7x0x0 format 1 channels 4 flags 2 levels 1"
    assert made(ImageDescriptor(7, 5, **form)) == "cuArray3DCreate 7x5x0 format 1 channels 4 flags 2 levels 1"
    assert made(ImageDescriptor(7, 5, 3, **form)) == "cuArray3DCreate 7x5x3 format 1 channels 4 flags 2 levels 1"
    layered = ImageDescriptor(7, type="array", array_size=9, **form)
    assert made(layered) == "cuArray3DCreate 7x0x9 format 1 channels 4 flags 3 levels 1"
    layered = ImageDescriptor(7, 5, type="array", array_size=9, **form)
    assert made(layered) == "cuArray3DCreate 7x5x9 format 1 channels 4 flags 3 levels 1"
    cube = ImageDescriptor(8, 8, type="cubemap", array_size=6, **form)
    assert made(cube) == "cuArray3DCreate 8x8x6 format 1 channels 4 flags 6 levels 1"
    mipmap = ImageDescriptor(8, 8, type="mipmap", num_levels=4, **form)
    assert made(mipmap) == "cuMipmappedArrayCreate 8x8x0 format 1 channels 4 flags 2 levels 4"


def test_a_small_array_is_used_again(rig: Rig, fake: Fake) -> None:
    """A few of each kind, of which the driver hears nothing; an array of a twin descriptor, and no other, takes one."""
    form: dict[str, Any] = {"num_channels": 2, "channel_type": "fp32"}

    def made(desc: ImageDescriptor, count: int = 1) -> list[int]:
        return [rig.backend.allocate_image(rig.context, rig.device, desc) for _ in range(count)]

    def freed(desc: ImageDescriptor, handles: list[int]) -> None:
        for handle in handles:
            rig.backend.free_image(rig.context, handle, desc)

    small, twin = ImageDescriptor(31, 3, **form), ImageDescriptor(31, 3, **form)
    others = ImageDescriptor(3, 31, **form), ImageDescriptor(31, 3, num_channels=1), ImageDescriptor(31, 3, 1, **form)
    first = made(small, 3)
    live = fake.library.fake_live_arrays()
    freed(small, first)
    fake.clear()
    assert set(made(twin, 3)) == set(first) and not fake.lines("cuArray")
    for other in others:
        freed(other, made(other))
    assert len(fake.lines("cuArray3DCreate")) == 3
    freed(twin, first)
    many = made(small, 40)
    assert len(set(many)) == 40
    freed(small, many)
    assert fake.library.fake_live_arrays() <= live + 3 + 8
    large = ImageDescriptor(1024, 1024, num_channels=4, channel_type="fp32")
    handles = made(large)
    live = fake.library.fake_live_arrays()
    freed(large, handles)
    assert fake.library.fake_live_arrays() == live - 1
    for width in range(200, 260):  # no more than some kinds
        kind = ImageDescriptor(width, **form)
        freed(kind, made(kind))
    assert fake.library.fake_live_arrays() <= live + 16
    # Where there is no memory left those at rest go first.
    freed(small, made(small))
    fake.clear()
    fake.fail("cuArray3DCreate", lib_out_of_memory())
    freed(large, made(large))
    assert len(fake.lines("cuArray3DCreate")) == 1
    fake.clear()
    freed(small, made(small))
    assert len(fake.lines("cuArray3DCreate")) == 1
    with raises(MemoryAllocationError):
        freed(small, first[:1])


def test_a_texture_or_surface_is_used_again(rig: Rig, fake: Fake) -> None:
    """One of each kind over a memory, of which the driver hears nothing; over no other memory, by no other sampler."""
    backend, context = rig.backend, rig.context
    primary = context.primary(None)
    end_rest(primary)
    desc = ImageDescriptor(33, 5, num_channels=4, channel_type="unorm_int8")
    codes = ImageDescriptor(33, 5, num_channels=4, channel_type="unsigned_int8")
    samplers = [BindlessImageSampler("clamp_to_edge", filtering=mode) for mode in ("linear", "nearest")]

    def allocated(of: ImageDescriptor = desc) -> int:
        return backend.allocate_image(context, rig.device, of)

    def made(memory: int, sampler: BindlessImageSampler | None, of: ImageDescriptor = desc) -> int:
        if sampler is None:
            return backend.create_unsampled_image(context, rig.device, memory, of)
        return backend.create_sampled_image(context, rig.device, memory, of, sampler)

    def calls() -> int:
        count = len(fake.lines("cuTexObjectCreate")) + len(fake.lines("cuSurfObjectCreate"))
        fake.clear()
        return count

    memory, other = allocated(), allocated()
    live = fake.library.fake_live_objects()
    fake.clear()
    for sampler in (None, *samplers):
        first = made(memory, sampler)
        assert calls() == 1
        twin = made(memory, sampler)
        assert twin != first and calls() == 1  # the other one is in use
        for image in (first, twin):
            backend.destroy_image(context, image, sampler is not None)
            with raises(SyclRuntimeError):
                backend.destroy_image(context, image, sampler is not None)
        assert made(memory, sampler) == first and calls() == 0
        backend.destroy_image(context, first, sampler is not None)
    assert fake.library.fake_live_objects() == live + 3
    backend.destroy_image(context, made(other, samplers[0]), True)
    assert calls() == 1 and fake.library.fake_live_objects() == live + 4
    # Those of an array that rests do, too, and serve what is made of it next, if that reads it alike.
    backend.free_image(context, memory, desc)
    assert allocated() == memory
    for sampler, asked in ((samplers[1], 0), (None, 0)):
        backend.destroy_image(context, made(memory, sampler), sampler is not None)
        assert calls() == asked
    backend.free_image(context, memory, desc)
    assert allocated(codes) == memory
    backend.destroy_image(context, made(memory, samplers[1], codes), True)
    assert calls() == 1
    backend.free_image(context, memory, codes)
    # An array that ends takes them along; so does a level of a mipmap.
    end_rest(primary)
    assert fake.library.fake_live_objects() == live
    for big in (
        ImageDescriptor(1024, 1024, num_channels=4, channel_type="fp32"),
        ImageDescriptor(8, 8, type="mipmap", num_levels=2),
    ):
        memory = allocated(big)
        level = backend.image_level(context, memory, 1) if big.num_levels > 1 else memory
        backend.destroy_image(
            context, made(level, None, big.get_mip_level_desc(1) if big.num_levels > 1 else big), False
        )
        assert fake.library.fake_live_objects() == live + 1
        backend.free_image(context, memory, big)
        assert fake.library.fake_live_objects() == live
    # There are a few of a memory, and of some memories.
    for filtering in ("linear", "nearest"):
        for mode in ("clamp_to_edge", "ext_oneapi_clamp_to_border", "none"):
            backend.destroy_image(context, made(other, BindlessImageSampler(mode, filtering=filtering)), True)
    assert fake.library.fake_live_objects() == live + 4
    many = [allocated() for _ in range(100)]
    for memory in many:
        backend.destroy_image(context, made(memory, None), False)
    assert fake.library.fake_live_objects() <= live + 64 + 4
    for memory in (*many, other):
        backend.free_image(context, memory, desc)
    end_rest(primary)
    assert fake.library.fake_live_objects() == live


def lib_out_of_memory() -> int:
    return int(driver.lib.CUDA_ERROR_OUT_OF_MEMORY)


def test_an_image_beyond_surfaces_is_still_sampled(rig: Rig, fake: Fake) -> None:
    desc = ImageDescriptor(100_000, num_channels=1)
    memory = rig.image(desc)
    assert fake.lines("cuArray3DCreate")[-1].endswith("flags 0 levels 1")
    rig.sampled(memory, desc, BindlessImageSampler("clamp_to_edge"))
    with raises(SyclRuntimeError):
        rig.backend.create_unsampled_image(rig.context, rig.device, memory, desc)


@pytest.mark.parametrize(
    ("desc", "sampler", "expected"),
    [
        (
            ImageDescriptor(8, 8, channel_type="fp32"),
            BindlessImageSampler(),
            "array address 0 0 1 filter 0 mip 0 flags 32 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, channel_type="unorm_int8"),
            BindlessImageSampler("ext_oneapi_clamp_to_border", "normalized", "linear"),
            "array address 3 1 1 filter 1 mip 0 flags 34 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, 8, channel_type="unsigned_int8"),
            BindlessImageSampler(("repeat", "mirrored_repeat", "clamp_to_edge"), "normalized"),
            "array address 0 2 1 filter 0 mip 0 flags 35 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="array", array_size=3, channel_type="fp16"),
            BindlessImageSampler("mirrored_repeat"),
            "array address 2 2 1 filter 0 mip 0 flags 32 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="cubemap", array_size=6, channel_type="fp16"),
            BindlessImageSampler("clamp_to_edge", filtering="linear", cubemap_filtering="seamless"),
            "array address 1 1 1 filter 1 mip 0 flags 98 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="mipmap", num_levels=4, channel_type="fp16"),
            BindlessImageSampler(
                "clamp_to_edge", "normalized", mipmap_filtering="linear",
                min_mipmap_level_clamp=0.5, max_mipmap_level_clamp=2.5, max_anisotropy=99.0,
            ),
            "mipmap address 1 1 1 filter 0 mip 1 flags 34 aniso 16 clamp 0.5 2.5 border 0",
        ),
    ],
)  # fmt: skip
def test_samplers_become_texture_descriptors(
    rig: Rig, fake: Fake, desc: ImageDescriptor, sampler: BindlessImageSampler, expected: str
) -> None:
    rig.sampled(rig.image(desc), desc, sampler)
    assert fake.lines("cuTexObjectCreate") == [f"cuTexObjectCreate {expected}"]


def test_linear_memory_becomes_textures(rig: Rig, fake: Fake) -> None:
    flat = ImageDescriptor(100, num_channels=2, channel_type="fp16")
    rig.sampled_usm(rig.allocate(flat.nbytes), 7, flat, BindlessImageSampler("clamp_to_edge", "normalized"))
    pitched = ImageDescriptor(100, 20, num_channels=2, channel_type="fp16")
    address, pitch = rig.pitched(pitched)
    rig.sampled_usm(address, pitch, pitched, BindlessImageSampler("clamp_to_edge", "normalized"))
    rest = "filter 0 mip 0 flags {} aniso 0 clamp 0 0 border 0"
    assert fake.lines("cuTexObjectCreate") == [
        f"cuTexObjectCreate linear format 16 channels 2 bytes 400 address 1 1 1 {rest.format(32)}",
        f"cuTexObjectCreate pitch2d 100x20 pitch 512 address 1 1 1 {rest.format(34)}",
    ]


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
