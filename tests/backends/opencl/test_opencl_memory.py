"""Memory of every kind in OpenCL drivers: unified, shared virtual, and buffers with emulated addresses."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import memory
from bindless.backends.opencl.context import Context
from bindless.backends.opencl.copy import copy_image
from bindless.backends.opencl.image_memory import allocate_image, free_image
from bindless.backends.opencl.kernel import Kernel, get_kernel
from bindless.backends.opencl.launch import launch
from bindless.backends.opencl.module import load_module
from bindless.backends.opencl.queue import Queue
from bindless.drivers.opencl import ffi, lib
from bindless.model.copy_region import CopyRegion, HostMemory, ImageMemory, UsmMemory
from bindless.model.enums import ImageType, UsmKind
from bindless.model.image_descriptor import ImageDescriptor
from tests.support.error_checks import raises

pytestmark = pytest.mark.opencl

SUM = b"""
kernel void sum(global const int *a, global int *b, int c) { size_t i = get_global_id(0); b[i] = a[i] + b[i] * c; }
"""


class Rig:
    """A context with a queue, and its memory."""

    def __init__(self, device: Any, in_order: bool) -> None:
        self.context = Context([device])
        self.queue = Queue(self.context, device, in_order, False)
        self.device = device

    def new(self, data: np.ndarray[Any, Any], kind: UsmKind = UsmKind.device) -> int:
        address = memory.allocate(self.context, self.device, kind, data.nbytes)
        memory.copy(self.queue, address, data.ctypes.data, data.nbytes).wait()
        return address

    def read(self, address: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        out = np.empty_like(like)
        memory.copy(self.queue, out.ctypes.data, address, out.nbytes).wait()
        return out

    def close(self) -> None:
        self.queue.close()
        for base in tuple(self.context.allocations):
            memory.free(self.context, base)
        self.context.close()


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def rig(request: pytest.FixtureRequest, cl: bl.Device, means: str) -> Iterator[Rig]:
    made = Rig(cl._record.native, request.param)
    yield made
    made.close()


def test_bytes_travel_between_all_kinds(rig: Rig, kinds: frozenset[UsmKind]) -> None:
    data = np.random.default_rng(1).integers(0, 255, 5000, "uint8")
    places = {kind: rig.new(data, kind) for kind in kinds}
    for address in places.values():
        out = np.zeros(100, "uint8")
        memory.copy(rig.queue, out.ctypes.data, address + 321, 100).wait()
        assert np.array_equal(out, data[321:421])
    first = places[UsmKind.device]
    second = rig.new(np.zeros_like(data))
    event = memory.copy(rig.queue, second + 7, first + 1000, 500)
    event = memory.copy(rig.queue, second + 2000, second + 7, 500, [event])
    event.wait()
    expected = np.zeros_like(data)
    expected[7:507] = expected[2000:2500] = data[1000:1500]
    assert np.array_equal(rig.read(second, data), expected)


def test_the_host_copies_to_itself_in_the_queue(rig: Rig) -> None:
    source, target = np.arange(3000, dtype="int32"), np.zeros(3000, "int32")
    memory.copy(rig.queue, target.ctypes.data, source.ctypes.data, source.nbytes).wait()
    assert np.array_equal(source, target)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("offset", [0, 1, 3, 8])
def test_fills_of_every_pattern_and_place(rig: Rig, size: int, offset: int) -> None:
    before = np.full(1000, 9, "uint8")
    address = rig.new(before)
    pattern = bytes(range(1, size + 1))
    memory.fill(rig.queue, address + offset, pattern, 37).wait()
    before[offset : offset + 37 * size] = np.frombuffer(pattern * 37, "uint8")
    assert np.array_equal(rig.read(address, before), before)


def test_what_addresses_belong_to(rig: Rig) -> None:
    address = rig.new(np.zeros(100, "uint8"))
    for place in (address, address + 50, address + 99):
        found = memory.pointer_info(rig.context, place)
        assert (found.kind, found.base, found.size, found.device) == (UsmKind.device, address, 100, rig.device)
    host = np.zeros(64, "uint8")
    assert memory.pointer_info(rig.context, host.ctypes.data).kind is UsmKind.unknown
    memory.free(rig.context, address)
    assert memory.pointer_info(rig.context, address).kind is UsmKind.unknown
    with raises(bl.MemoryAllocationError):
        memory.free(rig.context, address)


def test_kernels_take_addresses(rig: Rig, means: str) -> None:
    a, b = np.arange(600, dtype="int32"), np.arange(600, dtype="int32")[::-1].copy()
    first, second = rig.new(a), rig.new(b)
    module = load_module(rig.context, rig.device, SUM)
    kernel = get_kernel(module, "sum")
    assert [argument.kind for argument in kernel.record().arguments or ()] == ["pointer", "pointer", "value"]
    step = rig.device.sub_buffer_alignment
    for offset in (0, step):
        values = [np.uint64(first + offset).tobytes(), np.uint64(second).tobytes(), np.int32(3).tobytes()]
        launch(rig.queue, kernel, (64,), None, values).wait()
        b[:64] = a[offset // 4 : offset // 4 + 64] + b[:64] * 3
        assert np.array_equal(rig.read(second, b), b)
    if means == "buffers":
        values[0] = np.uint64(first + 4).tobytes()
        with raises(bl.InvalidError, names=step):
            launch(rig.queue, kernel, (64,), None, values)
        values[0] = np.uint64(12345678).tobytes()
        with raises(bl.InvalidError):
            launch(rig.queue, kernel, (64,), None, values)
        memory.free(rig.context, first)
        with raises(bl.InvalidError):
            memory.copy(rig.queue, second, first, 8)
    module.close()


def test_a_null_pointer_comes_after_another(rig: Rig) -> None:
    source = b"kernel void first(global const int *a, global int *out) { out[0] = a ? a[0] : -1; }"
    kernel = get_kernel(load_module(rig.context, rig.device, source), "first")
    there, out = rig.new(np.int32([7])), rig.new(np.int32([0]))
    for address, expected in ((there, 7), (0, -1), (there, 7), (0, -1)):
        launch(rig.queue, kernel, (1,), None, [np.uint64(address).tobytes(), np.uint64(out).tobytes()]).wait()
        assert rig.read(out, np.int32([0]))[0] == expected
    kernel.module.close()


def test_kernels_find_addresses_in_memory(rig: Rig, means: str) -> None:
    """Allocations made after the kernel are visible, freed ones are not."""
    if means == "buffers":
        pytest.skip("addresses of buffers mean nothing in a kernel")
    source = b"kernel void through(global const ulong *table) { ((global int *)table[0])[get_global_id(0)] += 1; }"
    kernel = get_kernel(load_module(rig.context, rig.device, source), "through")
    for _ in range(3):
        target = rig.new(np.arange(16, dtype="int32"))
        table = rig.new(np.uint64([target]))
        launch(rig.queue, kernel, (16,), None, [np.uint64(table).tobytes()]).wait()
        assert np.array_equal(rig.read(target, np.empty(16, "int32")), np.arange(1, 17))
        memory.free(rig.context, target)
        memory.free(rig.context, table)
    kernel.module.close()


def test_memory_comes_and_goes_beside_launches(rig: Rig) -> None:
    """Several threads launch kernels while others allocate and free memory."""
    module = load_module(rig.context, rig.device, SUM)
    shared = get_kernel(module, "sum")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            queue = Queue(rig.context, rig.device, True, False)
            kernel = shared if number % 2 else Kernel(module, "sum")
            a, b = np.full(64, number, "int32"), np.ones(64, "int32")
            for _ in range(25):
                places = [memory.allocate(rig.context, rig.device, UsmKind.device, 256) for _ in range(2)]
                for address, data in zip(places, (a, b)):
                    memory.copy(queue, address, data.ctypes.data, 256).wait()
                values = [np.uint64(address).tobytes() for address in places] + [np.int32(1).tobytes()]
                for _ in range(4):
                    event = launch(queue, kernel, (64,), None, values)
                event.wait()
                out = np.empty(64, "int32")
                memory.copy(queue, out.ctypes.data, places[1], 256).wait()
                assert np.array_equal(out, b + 4 * a)
                for address in places:
                    memory.free(rig.context, address)
            if kernel is not shared:
                kernel.close()
            queue.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    module.close()
    assert failures == []


def test_images_and_pitched_memory(rig: Rig) -> None:
    """Rows with gaps on one side and without; part of an image."""
    desc = ImageDescriptor(13, 9, num_channels=4, channel_type="unsigned_int8")
    pixels = np.random.default_rng(2).integers(0, 255, desc.shape, "uint8")
    image = allocate_image(rig.context, rig.device, desc)
    address, pitch = memory.allocate_pitched(rig.context, rig.device, desc.row_size, desc.height, desc.pixel_size)
    assert pitch >= desc.row_size and pitch % memory.pitch_align(rig.device) == 0
    host = HostMemory(pixels.ctypes.data, desc.extent, 4, pixels.nbytes)
    out = np.zeros_like(pixels)
    back = HostMemory(out.ctypes.data, desc.extent, 4, out.nbytes)
    linear = UsmMemory(address, pitch, desc)
    event = copy_image(rig.queue, CopyRegion(host, linear, desc.extent))
    event = copy_image(rig.queue, CopyRegion(linear, ImageMemory(image, desc), desc.extent), [event])
    copy_image(rig.queue, CopyRegion(ImageMemory(image, desc), back, desc.extent), [event]).wait()
    assert np.array_equal(out, pixels)
    part = CopyRegion(ImageMemory(image, desc, (2, 3, 0)), linear._replace(offset=(5, 1, 0)), (6, 4, 1), part=True)
    event = copy_image(rig.queue, part)
    copy_image(rig.queue, CopyRegion(linear, back, desc.extent), [event]).wait()
    expected = pixels.copy()
    expected[1:5, 5:11] = pixels[3:7, 2:8]
    assert np.array_equal(out, expected)
    free_image(rig.context, image, desc)


def test_layers_that_are_rows(rig: Rig) -> None:
    """All layers and some, to and from device memory, and pixels of another size."""
    desc = ImageDescriptor(20, type=ImageType.array, array_size=5, num_channels=4, channel_type="unsigned_int8")
    pixels = np.random.default_rng(3).integers(0, 255, desc.shape, "uint8")
    image = allocate_image(rig.context, rig.device, desc)
    address = memory.allocate(rig.context, rig.device, UsmKind.device, pixels.nbytes)
    host = HostMemory(pixels.ctypes.data, desc.extent, 4, pixels.nbytes)
    out = np.zeros_like(pixels)
    back = HostMemory(out.ctypes.data, desc.extent, 4, out.nbytes)
    linear = UsmMemory(address, desc.row_size, desc)
    event = copy_image(rig.queue, CopyRegion(host, linear, desc.extent))
    event = copy_image(rig.queue, CopyRegion(linear, ImageMemory(image, desc), desc.extent), [event])
    copy_image(rig.queue, CopyRegion(ImageMemory(image, desc), back, desc.extent), [event]).wait()
    assert np.array_equal(out, pixels)
    part = CopyRegion(ImageMemory(image, desc, (3, 0, 1)), linear._replace(offset=(1, 0, 2)), (6, 1, 3), part=True)
    event = copy_image(rig.queue, part)
    copy_image(rig.queue, CopyRegion(linear, back, desc.extent), [event]).wait()
    expected = pixels.copy()
    expected[2:5, 1:7] = pixels[1:4, 3:9]
    assert np.array_equal(out, expected)
    wide = ImageDescriptor(20, type=ImageType.array, array_size=5, num_channels=1, channel_type="unsigned_int32")
    other = allocate_image(rig.context, rig.device, wide)
    event = copy_image(rig.queue, CopyRegion(ImageMemory(image, desc), ImageMemory(other, wide), desc.extent))
    copy_image(rig.queue, CopyRegion(ImageMemory(other, wide), back, desc.extent), [event]).wait()
    assert np.array_equal(out, pixels)
    free_image(rig.context, image, desc)
    free_image(rig.context, other, wide)
    memory.free(rig.context, address)


def test_a_driver_that_aligns_as_it_likes(cl: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like PoCL 5, whose unified memory starts at any address."""
    from bindless.backends.opencl import memory_usm

    if not cl._record.native.has_usm:
        pytest.skip("the driver has no cl_intel_unified_shared_memory")
    freed: list[int] = []

    class Careless:
        def __getattr__(self, name: str) -> Any:
            return getattr(lib, name)

        def clDeviceMemAllocINTEL(self, *arguments: Any) -> Any:
            *others, nbytes, _, slot = arguments
            found = lib.clDeviceMemAllocINTEL(*others, nbytes + 64, 0, slot)
            return found + 64 if int(ffi.cast("uintptr_t", found)) % 128 == 0 else found  # nothing is aligned to 128

        def clMemFreeINTEL(self, context: Any, pointer: Any) -> int:
            freed.append(int(ffi.cast("uintptr_t", pointer)))
            return 0

    monkeypatch.setattr(memory_usm, "lib", Careless())
    with bl.Context(cl) as context:
        native = context._native
        address = memory.allocate(native, cl._record.native, UsmKind.device, 100, 4096)
        assert address % 4096 == 0
        record = memory.pointer_info(native, address + 99)
        assert (record.base, record.size) == (address, 100)
        memory.free(native, address)
    assert len(freed) == 2 and all(address % 128 for address in freed)


def test_more_memory_than_there_is(rig: Rig) -> None:
    with raises(bl.MemoryAllocationError, names="max_mem_alloc_size"):
        memory.allocate(rig.context, rig.device, UsmKind.device, 1 << 60)
    for nbytes in (0, 1 << 63):
        with raises(bl.MemoryAllocationError):
            memory.allocate(rig.context, rig.device, UsmKind.device, nbytes)


def test_kinds_that_a_means_lacks_name_the_aspect(rig: Rig, kinds: frozenset[UsmKind]) -> None:
    assert kinds
    for kind in kinds:
        memory.free(rig.context, memory.allocate(rig.context, rig.device, kind, 64))
    for kind in {UsmKind.device, UsmKind.host, UsmKind.shared} - kinds:
        with raises(bl.FeatureNotSupportedError, names=f"usm_{kind}_allocations"):
            memory.allocate(rig.context, rig.device, kind, 64)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory a process has")
def test_what_was_freed_is_gone(cl: bl.Device) -> None:
    """Memory is released although queues keep events of commands that used it: rusticl's events hold the memory."""
    if cl.type != "cpu":
        pytest.skip("memory of a processor's device is the process's")
    data = np.ones(16 << 20, np.uint8)
    with bl.Context(cl) as context, bl.Queue(cl, context) as queue:
        for turn in range(48):
            array = bl.usm_empty(data.shape, data.dtype, queue).copy_from(data, queue)
            queue.memset(array, 2).wait()
            assert array.numpy(queue)[-1] == 2
            array.close()
            if turn == 8:
                before = _resident()
        assert _resident() - before < 256 << 20


def _resident() -> int:
    """Resident memory of the process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
