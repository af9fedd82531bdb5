"""``bindless.level_zero`` on the CUDA backend, on ``fake_cuda.c``; ``test_cuda_recording.py`` runs this file."""

from __future__ import annotations

import ctypes
import gc
import pickle

import numpy as np
import pytest

import bindless as bl
from bindless import level_zero as ze
from bindless.drivers import cuda as driver
from tests.backends.cuda.fake_cuda import PTX, Fake
from tests.support.error_checks import raises

PAGE = 2 << 20
lib, ffi = driver.lib, driver.ffi


def test_an_array_grows_where_it_is(queue: bl.Queue, fake: Fake) -> None:
    assert ze.get_page_size(1, queue) == PAGE
    growing = ze.GrowableArray(np.int32, queue, capacity=10 * PAGE // 4)
    assert fake.lines("cuMemCreate") == [] and fake.lines("cuMemAddressReserve") == [
        f"cuMemAddressReserve {10 * PAGE} 0"
    ]
    address = growing.address
    data = np.arange(3 * PAGE // 4, dtype=np.int32)
    growing.append(data[:100], queue)
    growing.append(data[100:], queue)
    assert growing.address == address and np.array_equal(growing.array.numpy(queue), data)
    assert fake.lines("cuMemCreate") == [f"cuMemCreate {PAGE} 0", f"cuMemCreate {2 * PAGE} 0"]
    assert fake.lines("cuMemMap") == [f"cuMemMap {PAGE} 0", f"cuMemMap {2 * PAGE} 0"]
    assert fake.lines("cuMemSetAccess") == [f"cuMemSetAccess {PAGE} 3", f"cuMemSetAccess {2 * PAGE} 3"]
    growing.close()
    assert sorted(fake.lines("cuMemUnmap")) == [f"cuMemUnmap {PAGE} 0", f"cuMemUnmap {2 * PAGE} 0"]
    assert len(fake.lines("cuMemRelease")) == 2 and fake.lines("cuMemAddressFree") == [
        f"cuMemAddressFree {10 * PAGE} 0"
    ]


@pytest.mark.parametrize("call", ["cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemAddressReserve"])
def test_a_call_that_fails_leaves_nothing(queue: bl.Queue, fake: Fake, call: str) -> None:
    fake.fail(call, 2)
    with pytest.raises(bl.Error):
        ze.GrowableArray(np.int32, queue, capacity=PAGE).resize(5)
    counts = {name: len(fake.lines(name)) for name in ("cuMemAddressReserve", "cuMemAddressFree", "cuMemCreate")}
    assert counts["cuMemAddressReserve"] == counts["cuMemAddressFree"]
    assert counts["cuMemCreate"] == len(fake.lines("cuMemRelease"))
    assert len(fake.lines("cuMemMap")) == len(fake.lines("cuMemUnmap"))


def test_one_memory_at_two_addresses(queue: bl.Queue) -> None:
    memory = ze.PhysicalMemory(5, queue)
    with ze.VirtualRange(2 * PAGE, queue) as addresses:
        first, second = addresses.map(memory), addresses.map(memory, PAGE)
        backend, native = queue._backend, queue._native
        written, read = np.arange(1000, dtype=np.uint8), np.zeros(1000, np.uint8)
        backend.wait_event(backend.copy(native, first, written.ctypes.data, 1000))
        backend.wait_event(backend.copy(native, read.ctypes.data, second, 1000))
        assert np.array_equal(read, written)
        addresses.set_access(0, PAGE, "read")
    with raises(bl.MemoryAllocationError, names="cuMemCreate"):
        ze.PhysicalMemory(2**40, queue)


def test_memory_travels_as_bytes(queue: bl.Queue, fake: Fake) -> None:
    array = bl.usm_empty(100, np.int32, queue)
    array.copy_from(np.arange(100, dtype=np.int32), queue)
    handle = pickle.loads(pickle.dumps(ze.export_memory(array[10:])))
    assert len(handle.data) == 64 and handle.offset % 512 == 40 and handle.descriptor is None
    opened = ze.open_memory(handle, queue)
    assert np.array_equal(opened.numpy(queue), np.arange(10, 100))
    opened.close()
    assert len(fake.lines("cuIpcOpenMemHandle")) == len(fake.lines("cuIpcCloseMemHandle")) == 1
    del array
    with raises(bl.InvalidError):
        ze.open_memory(handle, queue)


def test_cooperative_launches(queue: bl.Queue, fake: Fake) -> None:
    kernel = bl.load_kernel_bundle(PTX, queue.context).get_kernel("plain")
    fake.parameters(8)
    units = queue.device.get_info("max_compute_units")
    most = ze.max_cooperative_groups(kernel, 512)
    assert most == 4 * units
    assert ze.max_cooperative_groups(kernel, (2, 256), 2048) == 2 * units
    array = bl.usm_empty(10, np.int32, queue)
    ze.launch_cooperative(queue, bl.NdRange(512 * most, 512), kernel, array).wait()
    (line,) = fake.lines("cuLaunchKernel plain")
    assert line == f"cuLaunchKernel plain {most} 1 1 512 1 1 shared 0: {array.address.to_bytes(8, 'little').hex()}"
    assert len(fake.lines("cuLaunchCooperativeKernel")) == 1
    with raises(bl.NdRangeError, names=most):
        ze.launch_cooperative(queue, bl.NdRange(512 * (most + 1), 512), kernel, array)
    for number, preference in enumerate(("default", "local_memory", "data")):
        ze.prefer_cache(kernel, preference)
        assert fake.lines("plain") == [f"plain {place} 0" for place in range(number + 1)]


def test_peers(device: bl.Device) -> None:
    assert ze.can_access_peer(device, device)
    others = [other for other in bl.get_devices() if other.backend == "cuda" and other != device]
    for other in others:
        assert ze.can_access_peer(device, other)
        assert ze.get_peer_properties(device, other) == ze.PeerProperties(access=True, atomics=False)
    assert others


def test_what_cuda_has_not_is_named(queue: bl.Queue) -> None:
    for call, what in (
        (lambda: ze.get_queue_groups(queue.device), "queue groups"),
        (lambda: ze.Fence(queue), None),
        (lambda: ze.EventPool(1, queue), "event pools"),
        (lambda: ze.memory_ranges_barrier(queue, bl.usm_empty(1, "u1", queue)), "barriers for ranges"),
        (lambda: ze.make_resident(bl.usm_empty(1, "u1", queue)), "residency"),
    ):
        with raises(bl.FeatureNotSupportedError, names=what):
            call()


@pytest.mark.parametrize("ownership", ["transfer", "keep"])
def test_native_objects_end_once_or_not_at_all(fake: Fake, device: bl.Device, ownership: str) -> None:
    slots = {name: ffi.new(f"{name} *") for name in ("CUcontext", "CUstream", "CUevent", "CUmodule", "CUfunction")}
    assert lib.cuDevicePrimaryCtxRetain(slots["CUcontext"], device.index) == 0
    context = bl.make_context("cuda", slots["CUcontext"][0], ownership=ownership)
    memory = ffi.new("CUdeviceptr *")
    with context._native.primary(None):
        lib.cuStreamCreate(slots["CUstream"], lib.CU_STREAM_NON_BLOCKING)
        lib.cuEventCreate(slots["CUevent"], 0)
        lib.cuModuleLoadData(slots["CUmodule"], ffi.from_buffer(b".entry first(\0"))
        lib.cuModuleGetFunction(slots["CUfunction"], slots["CUmodule"][0], b"first")
        lib.cuMemAlloc(memory, 64)
    before = fake.library.fake_live_allocations()
    fake.clear()
    made = [
        bl.make_queue("cuda", slots["CUstream"][0], context, ownership=ownership),
        bl.make_event("cuda", slots["CUevent"][0], context, ownership=ownership),
        bl.make_kernel_bundle("cuda", slots["CUmodule"][0], context, ownership=ownership),
        bl.make_buffer("cuda", memory[0], context, "int32", ownership=ownership),
    ]
    made.append(bl.make_kernel("cuda", slots["CUfunction"][0], made[2], ownership=ownership))
    made[0].close()
    del made, context
    gc.collect()
    count = int(ownership == "transfer")
    for call in ("cuStreamDestroy", "cuEventDestroy", "cuModuleUnload", "cuDevicePrimaryCtxRelease"):
        assert len(fake.lines(call)) == count, (call, fake.lines())
    assert fake.library.fake_live_allocations() == before - count


def test_a_stream_that_captures_is_no_queue(fake: Fake, device: bl.Device) -> None:
    context, slot = bl.Context(device), ffi.new("CUstream *")
    with context._native.primary(None):
        lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING)
    fake.library.fake_capture(ctypes.c_void_p(int(ffi.cast("uintptr_t", slot[0]))))
    try:
        with raises(bl.InvalidError, match="captures a graph"):
            bl.make_queue("cuda", slot[0], context)
    finally:
        fake.library.fake_capture(None)


# ---------------------------------------------------------------------- images


def test_arrays_for_gathers(queue: bl.Queue, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.backends.cuda import image_memory

    native = queue.device._record.native
    width, height = (
        getattr(driver.lib, f"CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_{name}") for name in ("WIDTH", "HEIGHT")
    )
    monkeypatch.setitem(native._attributes, width, 64)
    monkeypatch.setitem(native._attributes, height, 32)
    image_memory._gathers_and_writes.cache_clear()
    writes, gathers = driver.lib.CUDA_ARRAY3D_SURFACE_LDST, driver.lib.CUDA_ARRAY3D_TEXTURE_GATHER
    fake.clear()
    for desc in (
        bl.ImageDescriptor(64, 32, num_channels=2),
        bl.ImageDescriptor(65, 32, num_channels=2),
        bl.ImageDescriptor(64, num_channels=2),
        bl.ImageDescriptor(64, 32, 2, num_channels=2),
        bl.ImageDescriptor(64, 32, num_channels=2, type="array", array_size=2),
    ):
        bl.ImageMem(desc, queue).close()
    flags = [int(line.split(" flags ")[1].split()[0]) for line in fake.lines("cuArray3DCreate")]
    layered = driver.lib.CUDA_ARRAY3D_LAYERED
    assert flags == [writes | gathers, writes | gathers, writes, writes, writes, writes | layered]  # the first asks
    for attribute in (width, height):
        monkeypatch.setitem(native._attributes, attribute, 32768)
    fake.clear()
    for size in ((16384, 1), (16385, 1), (1, 16385)):  # larger ones would have other coordinates than without the flag
        bl.ImageMem(bl.ImageDescriptor(*size), queue).close()
    flags = [int(line.split(" flags ")[1].split()[0]) for line in fake.lines("cuArray3DCreate")]
    assert flags == [writes | gathers, writes, writes]
    image_memory._gathers_and_writes.cache_clear()


def test_what_images_can_be(queue: bl.Queue) -> None:
    both = ["opaque_handle", "usm_pointer"]
    flat = bl.ImageDescriptor(64, 32)
    assert bl.get_image_memory_support(flat, queue) == both
    assert bl.is_image_handle_supported(bl.SampledImageHandle, flat, "usm_pointer", queue)
    assert not bl.is_image_handle_supported(bl.UnsampledImageHandle, flat, "usm_pointer", queue)
    line = bl.ImageDescriptor(100_000)  # within a texture's limit, above a surface's
    assert bl.is_image_handle_supported(bl.SampledImageHandle, line, "opaque_handle", queue)
    assert not bl.is_image_handle_supported(bl.UnsampledImageHandle, line, "opaque_handle", queue)
    pointer, pitch = bl.pitched_alloc_device(flat, queue)
    with pytest.raises(bl.SyclRuntimeError):
        bl.create_image(pointer, flat, queue, pitch=pitch)
    bl.free(pointer)


def test_no_launch_has_an_offset(queue: bl.Queue, fake: Fake) -> None:
    fake.parameters(8)
    kernel = bl.load_kernel_bundle(PTX, queue.context).get_kernel("plain")
    array = bl.usm_empty(64, np.float32, queue)
    fake.clear()
    with pytest.raises(bl.FeatureNotSupportedError):
        queue.parallel_for(bl.NdRange(64, 32, 1), kernel, array)
    assert not fake.lines("cuLaunchKernel")
