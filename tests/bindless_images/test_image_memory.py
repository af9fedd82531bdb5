"""Image memory other than USM: allocation, ownership, queries (R13–R23)."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.kernel.arguments import pack_arguments
from tests.support.error_checks import raises
from tests.support.pixels import CHANNEL_TYPES, random_pixels, require, upload

DESCS = [
    bl.ImageDescriptor(9, num_channels=1),
    bl.ImageDescriptor(9, 5, num_channels=2, channel_type="unorm_int8"),
    bl.ImageDescriptor(9, 5, 3, num_channels=4, channel_type="fp16"),
    bl.ImageDescriptor(9, 5, type="mipmap", num_levels=4),
    bl.ImageDescriptor(9, type="array", array_size=3),
    bl.ImageDescriptor(9, 5, type="array", array_size=3, num_channels=2),
    bl.ImageDescriptor(7, 7, type="cubemap", array_size=6, channel_type="unsigned_int16"),
]
TYPE_ASPECTS = {
    "standard": bl.Aspect.ext_oneapi_bindless_images,
    "mipmap": bl.Aspect.ext_oneapi_mipmap,
    "array": bl.Aspect.ext_oneapi_image_array,
    "cubemap": bl.Aspect.ext_oneapi_cubemap,
}
MIPMAP = bl.ImageDescriptor(16, 8, type="mipmap", num_levels=5)


@pytest.fixture(params=["queue", "device and context"])
def where(request: pytest.FixtureRequest, queue: bl.Queue) -> tuple[object, ...]:
    """The two ways to name the device and context."""
    return (queue,) if request.param == "queue" else (queue.device, queue.context)


def test_default_owns_nothing() -> None:  # R13
    memory = bl.ImageMem()
    assert memory.closed and not memory
    for getter in (
        memory.get_handle,
        memory.get_descriptor,
        memory.get_device,
        memory.get_context,
        memory.get_range,
        memory.get_channel_type,
        memory.get_num_channels,
        memory.get_type,
        lambda: memory.get_mip_level_mem_handle(0),
    ):
        with raises(bl.InvalidError):
            getter()
    memory.close()
    assert bl.ImageMem() == memory


def test_copies_share_and_the_last_one_frees(queue: bl.Queue) -> None:  # R14
    desc = bl.ImageDescriptor(4, 4)
    pixels = random_pixels(desc)
    first = upload(queue, desc, pixels)
    other = bl.ImageMem(desc, queue)
    twins = [bl.ImageMem(first), copy.copy(first), copy.deepcopy(first)]
    handle = first.get_handle()
    assert all(twin == first and hash(twin) == hash(first) and twin.get_handle() == handle for twin in twins)
    assert other != first and len({first, other, *twins}) == 2
    allocation = weakref.ref(first._resource)  # type: ignore[type-var]
    first.close()
    first.close()
    assert first.closed and allocation() is not None
    with twins.pop():
        pass
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(twins[0], out).wait()
    np.testing.assert_array_equal(out, pixels)
    del twins[:]
    queue.wait()
    assert allocation() is None
    with pytest.raises(bl.InvalidError):
        queue.ext_oneapi_copy(handle, out, src_desc=desc)
    other.close()


def test_is_not_pickled(queue: bl.Queue) -> None:
    with bl.ImageMem(bl.ImageDescriptor(4), queue) as memory, raises(bl.InvalidError):
        pickle.dumps(memory)


def test_work_in_flight_keeps_memory(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(512, 512)
    pixels = random_pixels(desc)
    out = np.zeros_like(pixels)
    memory = upload(queue, desc, pixels)
    event = queue.ext_oneapi_copy(memory, out)
    memory.close()
    event.wait()
    np.testing.assert_array_equal(out, pixels)


def test_an_image_keeps_its_memory(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(4, 1, channel_type="unsigned_int32", num_channels=1)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue)
    del memory
    gc.collect()
    coords = np.array([[0, 0], [3, 0]], np.int32)
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, coords), pixels[0, [0, 3]])
    bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("size", [2**15 * 5, 2**40, 2**64 - 1])
def test_absurd_sizes(queue: bl.Queue, size: int) -> None:  # R15
    for desc in (
        bl.ImageDescriptor(size, size, num_channels=1),
        bl.ImageDescriptor(1, size),
        bl.ImageDescriptor(size, 1, 1),
    ):
        with raises(bl.MemoryAllocationError, names=size) as caught:
            bl.alloc_image_mem(desc, queue)
        assert caught.value.code is bl.Errc.memory_allocation
        with pytest.raises(bl.MemoryAllocationError):
            bl.ImageMem(desc, queue)


def test_more_than_there_is(queue: bl.Queue) -> None:  # R15
    desc = bl.ImageDescriptor(16384, 16384, 16384)
    with pytest.raises(bl.MemoryAllocationError):
        bl.alloc_image_mem(desc, queue)


def test_too_many_layers(queue: bl.Queue) -> None:  # R15
    require(queue.device, bl.Aspect.ext_oneapi_image_array)
    bound = queue.device.get_info("image_max_array_size")
    with raises(bl.MemoryAllocationError, names=(f"array_size={bound + 1}", bound)):
        bl.alloc_image_mem(bl.ImageDescriptor(4, 4, type="array", array_size=bound + 1), queue)


def test_invalid_descriptors_are_invalid(queue: bl.Queue) -> None:  # R3
    with raises(bl.MemoryAllocationError, names="width"):
        bl.alloc_image_mem(bl.ImageDescriptor(), queue)
    with raises(bl.MemoryAllocationError, names="array_size"):
        bl.ImageMem(bl.ImageDescriptor(4, 4, type="cubemap", array_size=5), queue)
    with raises(bl.InvalidError, names="ImageDescriptor"):
        bl.alloc_image_mem("4x4", queue)  # type: ignore[arg-type]


@pytest.mark.parametrize("desc", DESCS, ids=lambda d: f"{d.type}{d.dimensions}")
def test_free_honours_the_type(
    device: bl.Device, where: tuple[object, ...], desc: bl.ImageDescriptor
) -> None:  # R15 R16 R17
    require(device, TYPE_ASPECTS[desc.type])
    handle = bl.alloc_image_mem(desc, *where)
    for kind in bl.ImageType:
        if kind is not desc.type:
            with raises(bl.MemoryAllocationError, names=desc.type):
                bl.free_image_mem(handle, kind, *where)
    bl.free_image_mem(handle, str(desc.type), *where)
    with raises(bl.MemoryAllocationError):
        bl.free_image_mem(handle, desc.type, *where)


def test_free_refuses(queue: bl.Queue) -> None:  # R15 R16
    desc = bl.ImageDescriptor(4)
    for handle in (bl.ImageMemHandle(), bl.ImageMemHandle(12345)):
        with pytest.raises(bl.MemoryAllocationError) as caught:
            bl.free_image_mem(handle, "standard", queue)
        assert caught.value.code is bl.Errc.memory_allocation
    with bl.ImageMem(desc, queue) as memory:
        with raises(bl.MemoryAllocationError, names="ImageMem"):
            bl.free_image_mem(memory.get_handle(), "standard", queue)
        with pytest.raises(bl.MemoryAllocationError):
            bl.free_image_mem(memory, "standard", queue)  # type: ignore[arg-type]
        other = bl.Context(queue.device)
        with raises(bl.MemoryAllocationError):
            bl.free_image_mem(memory.get_handle(), "standard", queue.device, other)
        other.close()


@pytest.mark.parametrize("desc", DESCS, ids=lambda d: f"{d.type}{d.dimensions}")
def test_queries(queue: bl.Queue, where: tuple[object, ...], desc: bl.ImageDescriptor) -> None:  # R17 R19 R20 R21
    require(queue.device, TYPE_ASPECTS[desc.type])
    with bl.ImageMem(desc, *where) as memory:
        handle = memory.get_handle()
        sizes = (desc.width, desc.height, desc.depth)
        assert tuple(bl.get_image_range(handle, *where)) == sizes == tuple(memory.get_range())
        assert bl.get_image_channel_type(handle, *where) is desc.channel_type is memory.get_channel_type()
        assert bl.get_image_num_channels(handle, *where) == desc.num_channels == memory.get_num_channels()
        assert memory.get_type() is desc.type
        assert memory.get_descriptor() == desc
        assert memory.get_device() == queue.device
        assert memory.get_context() is queue.context
        for name in ("type", "context", "device", "descriptor"):
            assert not hasattr(handle, name)


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_the_allocated_type_is_reported(queue: bl.Queue, channel_type: str) -> None:  # R21
    handle = bl.alloc_image_mem(bl.ImageDescriptor(4, 4, num_channels=1, channel_type=channel_type), queue)
    assert bl.get_image_channel_type(handle, queue) == channel_type
    bl.free_image_mem(handle, "standard", queue)


def test_queries_of_unknown_handles(queue: bl.Queue) -> None:
    handle = bl.ImageMemHandle(4242)
    codes = {
        bl.get_image_range: bl.InvalidError,
        bl.get_image_channel_type: bl.InvalidError,
        bl.get_image_num_channels: bl.SyclRuntimeError,
    }
    for query, error in codes.items():
        with pytest.raises(error, match="0x1092"):
            query(handle, queue)  # type: ignore[operator]
    with pytest.raises(bl.SyclRuntimeError):
        bl.get_mip_level_mem_handle(handle, 0, queue)


def test_levels(queue: bl.Queue, where: tuple[object, ...]) -> None:  # R17 R18 R20
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    memory = bl.ImageMem(MIPMAP, queue)
    levels = []
    for index in range(MIPMAP.num_levels):
        level = memory.get_mip_level_mem_handle(index)
        desc = MIPMAP.get_mip_level_desc(index)
        assert tuple(bl.get_image_range(level, *where)) == (desc.width, desc.height, 0)
        assert bl.get_mip_level_mem_handle(memory.get_handle(), index, *where) == level
        with raises(bl.MemoryAllocationError, names="borrowed"):
            bl.free_image_mem(level, "standard", *where)
        levels.append(level)
    assert len(set(levels)) == MIPMAP.num_levels
    for bad in (5, 1000):
        with raises(bl.SyclRuntimeError, names=f"level={bad}") as caught:
            memory.get_mip_level_mem_handle(bad)
        assert caught.value.code is bl.Errc.runtime
    with raises(bl.SyclRuntimeError, names="mipmap"):
        bl.get_mip_level_mem_handle(levels[0], 0, *where)
    memory.close()
    for level in levels:  # invalid once its parent is freed
        with pytest.raises(bl.InvalidError):
            bl.get_image_range(level, *where)


def test_where_is_checked(queue: bl.Queue) -> None:  # R17
    desc = bl.ImageDescriptor(4)
    for where in ((), (queue.device,), (queue.context,), (queue.context, queue.device), (queue, queue.context), ("q",)):
        with raises(bl.InvalidError, names="Queue"):
            bl.alloc_image_mem(desc, *where)
        with pytest.raises(bl.InvalidError):
            bl.ImageMem(desc, *where)
    closed = bl.Queue(queue.device, queue.context)
    closed.close()
    with raises(bl.InvalidError):
        bl.ImageMem(desc, closed)


def test_the_first_call_on_a_device_is_checked(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:  # R13
    """The error is raised even before anyone has queried the device's aspects."""
    context = bl.Context(device)
    monkeypatch.setattr(context.devices[0], "_aspects", None)
    with raises(bl.MemoryAllocationError, names="width=0"):
        bl.alloc_image_mem(bl.ImageDescriptor(), context.devices[0], context)


def test_an_aspect_that_is_missing_is_named(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    aspects = queue.device.aspects
    for desc in DESCS:
        missing = TYPE_ASPECTS[desc.type]
        monkeypatch.setattr(queue.device, "_aspects", aspects - {missing})
        with raises(bl.FeatureNotSupportedError, names=missing.name):
            bl.ImageMem(desc, queue)


def test_three_channels_or_a_clear_no(queue: bl.Queue) -> None:  # R5
    for channel_type in CHANNEL_TYPES:
        desc = bl.ImageDescriptor(4, 4, num_channels=3, channel_type=channel_type)
        native = queue.device._record.native
        if queue.device._backend.supports_format(native, desc.channel_type, 3):
            pixels = random_pixels(desc)
            memory = upload(queue, desc, pixels)
            out = np.empty_like(pixels)
            queue.ext_oneapi_copy(memory, out).wait()
            np.testing.assert_array_equal(out, pixels)
            memory.close()
        else:
            with raises(bl.FeatureNotSupportedError, match=r"4 of them|use another channel type"):
                bl.ImageMem(desc, queue)


def test_is_no_kernel_argument(queue: bl.Queue) -> None:  # R23
    from bindless.backends.contract import KernelArgument

    with bl.ImageMem(bl.ImageDescriptor(4), queue) as memory:
        for value in (memory, memory.get_handle()):
            with raises(bl.InvalidError):
                pack_arguments("k", [KernelArgument(0, "image", "value", 8)], [value], queue)
        with raises(bl.InvalidError, names="ImageMem"):
            bl.fetch_image(queue, memory, np.zeros((1, 1), np.int32))  # type: ignore[call-overload]
        with pytest.raises(TypeError):
            int(memory)  # type: ignore[call-overload]


def test_nothing_is_left_behind(device: bl.Device) -> None:  # R14
    if device.backend is not bl.Backend.reference:
        pytest.skip("only the reference driver counts its objects")
    from bindless.drivers import reference as driver

    def count() -> int:
        found = driver.ffi.new("uint64_t *")
        driver.check(driver.lib.blrGetObjectCount(found), "blrGetObjectCount")
        return int(found[0])

    gc.collect()
    before = count()
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        desc = bl.ImageDescriptor(8, 8)
        kept = bl.alloc_image_mem(desc, queue)  # never freed explicitly: released with its context
        memory = upload(queue, desc, random_pixels(desc))
        handles = [bl.create_image(memory, desc, queue), bl.create_image(kept, desc, queue)]
        bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler())
        bl.destroy_image_handle(handles[0], queue)
        assert count() > before
    del context, queue, memory
    gc.collect()
    assert count() == before
