"""Vulkan's buffers and images of linear tiling as the package's memory: pointers, arrays, pitched images."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.interop.vulkan.sharing_checks import imported, mapped_bytes, open_descriptors
from tests.interop.vulkan.vulkan_rig import Staging
from tests.support.error_checks import raises
from tests.support.pixels import every_coordinate, random_pixels

pytestmark = pytest.mark.vulkan

COUNT = 5000
ADD = """
kernel void scale(global float *values, float factor) { values[get_global_id(0)] *= factor; }
"""


def fill(rig, buffer, values):
    """Write a Vulkan buffer by Vulkan commands."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    with Staging(rig, data.nbytes) as staging:
        staging.bytes[:] = data
        rig.copy_buffer(staging.buffer, buffer.buffer, data.nbytes)


def read(rig, buffer, dtype):
    with Staging(rig, buffer.nbytes) as staging:
        rig.copy_buffer(buffer.buffer, staging.buffer, buffer.nbytes)
        return staging.bytes.copy().view(dtype)


@pytest.fixture
def buffer(rig, exporter):
    with exporter.buffer(COUNT * 4) as made:
        yield made


def test_both_ways(rig, queue, buffer):
    theirs, ours = np.arange(COUNT, dtype=np.float32), np.linspace(-1, 1, COUNT, dtype=np.float32)
    fill(rig, buffer, theirs)
    with mapped_bytes(buffer, queue, buffer.nbytes) as pointer:
        found = np.zeros(COUNT, np.float32)
        queue.memcpy(found, pointer, found.nbytes).wait_and_throw()
        np.testing.assert_array_equal(found, theirs)
        queue.memcpy(pointer, ours, ours.nbytes).wait_and_throw()
        np.testing.assert_array_equal(read(rig, buffer, np.float32), ours)
        assert pointer.kind == "device"  # R73


@pytest.mark.parametrize(("offset", "size"), [(0, 64), (256, 1024), (4096, 8192), (1024, COUNT * 4 - 1024)])
def test_offsets(rig, queue, buffer, offset, size):
    """A write to a mapped range leaves the bytes around it unchanged."""
    values = np.arange(COUNT, dtype=np.uint32)
    fill(rig, buffer, values)
    with mapped_bytes(buffer, queue, size, offset) as pointer:
        found = np.zeros(size // 4, np.uint32)
        queue.memcpy(found, pointer, size).wait_and_throw()
        np.testing.assert_array_equal(found, values[offset // 4 : (offset + size) // 4])
        queue.fill(pointer, np.uint32(7), size // 4).wait_and_throw()
    values[offset // 4 : (offset + size) // 4] = 7
    np.testing.assert_array_equal(read(rig, buffer, np.uint32), values)


def test_several_maps_of_one_import(rig, queue, buffer):
    fill(rig, buffer, np.zeros(COUNT, np.uint32))
    with imported(buffer, queue) as memory:
        pointers = [bl.map_external_linear_memory(memory, queue, size=512, offset=512 * i) for i in range(4)]
        for index, pointer in enumerate(pointers):
            queue.fill(pointer, np.uint32(index + 1), 128).wait_and_throw()
        for pointer in pointers:
            bl.unmap_external_linear_memory(pointer, queue)
    found = read(rig, buffer, np.uint32)
    np.testing.assert_array_equal(found[:512], np.repeat([1, 2, 3, 4], 128))
    assert not found[512:].any()


def test_kernels(rig, queue, buffer):
    """A user's kernel works on Vulkan's memory."""
    fill(rig, buffer, np.arange(COUNT, dtype=np.float32))
    kernel = bl.load_kernel_bundle(bl.build(ADD), queue).get_kernel("scale")
    with mapped_bytes(buffer, queue, buffer.nbytes) as pointer:
        queue.parallel_for(COUNT, kernel, pointer, np.float32(2.5)).wait_and_throw()
    np.testing.assert_array_equal(read(rig, buffer, np.float32), np.arange(COUNT, dtype=np.float32) * np.float32(2.5))


def test_linear_images(rig, queue, exporter):
    """An image of linear tiling is memory with a pitch, which copies and sampled images accept."""
    desc = bl.ImageDescriptor(64, 23, num_channels=4, channel_type="unorm_int8")
    pixels, ours = (random_pixels(desc, seed) for seed in (11, 12))
    with exporter.image(desc, tiling="linear") as image:
        rig.start(image)
        rig.write(image, [pixels])
        layout = image.layout()
        with mapped_bytes(image, queue, image.size - layout.offset, layout.offset) as pointer:
            found = np.zeros_like(pixels)
            queue.ext_oneapi_copy(pointer, found, src_desc=desc, src_pitch=layout.row_pitch).wait_and_throw()
            np.testing.assert_array_equal(found, pixels)
            sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
            view = bl.create_image(pointer, desc, queue, sampler=sampler, pitch=layout.row_pitch)
            sampled = bl.sample_image(queue, view, every_coordinate(64, 23).astype(np.float32) + 0.5)
            np.testing.assert_allclose(sampled, pixels.reshape(-1, 4) / 255, rtol=0, atol=1e-6)
            bl.destroy_image_handle(view, queue)
            queue.ext_oneapi_copy(ours, pointer, dst_desc=desc, dst_pitch=layout.row_pitch).wait_and_throw()
            np.testing.assert_array_equal(rig.read(image)[0], ours)


def test_ranges_beyond_the_memory_are_refused(queue, buffer):
    with imported(buffer, queue) as memory:
        for size, offset in ((buffer.size + 1, 0), (64, buffer.size), (buffer.size, 4096)):
            with pytest.raises(bl.InvalidError):
                bl.map_external_linear_memory(memory, queue, size=size, offset=offset)
        pointer = bl.map_external_linear_memory(memory, queue, size=64)
        with raises(bl.InvalidError, names="unmap_external_linear_memory"):  # R74
            bl.free(pointer, queue)
        bl.unmap_external_linear_memory(pointer, queue)


def test_descriptors_are_counted(queue, exporter):
    def once():
        with exporter.buffer(4096) as made, mapped_bytes(made, queue, 4096):
            pass

    once()
    before = open_descriptors()
    for _ in range(10):
        once()
    assert open_descriptors() == before


# ---------------------------------------------------------------------- arrays, also of other libraries on the same GPU


def test_array(rig, queue, buffer):
    """Mapped memory as an array, which device functions and DLPack accept."""
    fill(rig, buffer, np.arange(COUNT, dtype=np.float32))
    with mapped_bytes(buffer, queue, COUNT * 2, COUNT * 2) as pointer:
        array = bl.as_usm_array(pointer, queue).view(np.float32).reshape(50, COUNT // 100)
        upper = np.arange(COUNT // 2, COUNT, dtype=np.float32).reshape(50, -1)
        np.testing.assert_array_equal(array.numpy(queue), upper)
        array.copy_from(-upper, queue)
        del array
    found = read(rig, buffer, np.float32)
    np.testing.assert_array_equal(found[COUNT // 2 :], -upper.reshape(-1))
    np.testing.assert_array_equal(found[: COUNT // 2], np.arange(COUNT // 2))


@pytest.mark.cuda
@pytest.mark.cupy
def test_cupy_works_on_vulkans_memory(rig, queue, buffer):
    import cupy

    fill(rig, buffer, np.arange(COUNT, dtype=np.float32))
    with cupy.cuda.Device(queue.device.index), mapped_bytes(buffer, queue, buffer.nbytes) as pointer:
        array = bl.as_usm_array(pointer, queue).view(np.float32).reshape(50, COUNT // 50)
        theirs = cupy.from_dlpack(array)
        assert theirs.data.ptr == int(pointer)
        theirs *= 3
        cupy.cuda.Device().synchronize()
        np.testing.assert_array_equal(read(rig, buffer, np.float32), np.arange(COUNT, dtype=np.float32) * 3)
        del theirs, array


@pytest.mark.cuda
@pytest.mark.torch
def test_torch_works_on_vulkans_memory(rig, queue, buffer):
    import torch

    fill(rig, buffer, np.arange(COUNT, dtype=np.float32))
    with torch.cuda.device(queue.device.index), mapped_bytes(buffer, queue, buffer.nbytes) as pointer:
        array = bl.as_usm_array(pointer, queue).view(np.float32)
        theirs = torch.from_dlpack(array)
        assert theirs.data_ptr() == int(pointer)
        theirs.add_(0.5)
        torch.cuda.synchronize()
        np.testing.assert_array_equal(read(rig, buffer, np.float32), np.arange(COUNT, dtype=np.float32) + 0.5)
        del theirs, array
