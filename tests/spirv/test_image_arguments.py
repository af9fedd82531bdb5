"""Images and samplers as OpenCL C has them: parameters of kernels, samplers in the source, queries."""

from __future__ import annotations

import numpy as np
import pytest
from compile import compiled_text

import bindless as bl

TEXT = """
constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void sample(read_only image2d_t image, global const float2 *at, global float4 *out)
{
    const size_t i = get_global_id(0);
    out[2 * i] = read_imagef(image, linear, at[i]);
    out[2 * i + 1] = read_imagef(image, nearest, convert_int2(at[i] * 20.0f));
}
kernel void with(read_only image2d_t image, sampler_t sampler, global const float2 *at, global float4 *out)
{
    const size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}
kernel void move(read_only image2d_array_t in, write_only image2d_array_t out)
{
    const int4 at = (int4)((int)get_global_id(0), (int)get_global_id(1), (int)get_global_id(2), 0);
    write_imagei(out, at, read_imagei(in, at) * 2);
}
kernel void sizes(read_only image3d_t image, read_only image1d_array_t array, global int *out)
{
    out[0] = get_image_width(image); out[1] = get_image_height(image); out[2] = get_image_depth(image);
    out[3] = get_image_width(array); out[4] = (int)get_image_array_size(array);
}
"""


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("CUDA has no image parameters")


def _kernel(queue: bl.Queue, name: str) -> bl.Kernel:
    return bl.load_kernel_bundle(compiled_text(TEXT, "spirv", name), queue).get_kernel(name)


def _picture(queue: bl.Queue) -> tuple[bl.ImageMem, bl.ImageDescriptor]:
    desc = bl.ImageDescriptor(13, 9, num_channels=4)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(np.random.default_rng(1).random((9, 13, 4), np.float32), memory).wait()
    return memory, desc


def test_samplers_in_the_source(queue: bl.Queue) -> None:
    memory, desc = _picture(queue)
    image = bl.create_image(memory, desc, queue)
    linear = bl.BindlessImageSampler("mirrored_repeat", "normalized", "linear")
    nearest = bl.BindlessImageSampler("ext_oneapi_clamp_to_border", "unnormalized", "nearest")
    at = np.random.default_rng(2).uniform(-1, 2, (200, 2)).astype(np.float32)
    places, out = bl.usm_empty((200, 2), np.float32, queue), bl.usm_empty((200, 2, 4), np.float32, queue)
    places.copy_from(at)
    kernel = _kernel(queue, "sample")
    assert [argument.kind for argument in kernel.arguments or ()] == ["image", "pointer", "pointer"]
    queue.parallel_for(200, kernel, image, places, out).wait_and_throw()
    whole = np.trunc(at * np.float32(20)).astype(np.int32)
    for number, (sampler, coords) in enumerate(((linear, at), (nearest, whole.astype(np.float32)))):
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        wanted = bl.sample_image(queue, handle, coords)
        np.testing.assert_array_equal(out.numpy(queue)[:, number], wanted)
        bl.destroy_image_handle(handle, queue)
    bl.destroy_image_handle(image, queue)


def test_samplers_as_arguments(queue: bl.Queue) -> None:
    """The sampler of a sampled image, with another image."""
    memory, desc = _picture(queue)
    own = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("repeat", "normalized", "nearest"))
    wanted_sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    other = bl.create_image(memory, desc, queue, sampler=wanted_sampler)
    at = np.random.default_rng(3).uniform(-1, 2, (100, 2)).astype(np.float32)
    places, out = bl.usm_empty((100, 2), np.float32, queue), bl.usm_empty((100, 4), np.float32, queue)
    places.copy_from(at)
    kernel = _kernel(queue, "with")
    assert [argument.kind for argument in kernel.arguments or ()] == ["image", "sampler", "pointer", "pointer"]
    queue.parallel_for(100, kernel, own, other, places, out).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue), bl.sample_image(queue, other, at))
    for handle in (own, other):
        bl.destroy_image_handle(handle, queue)


def test_reads_and_writes_of_layers(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=2, channel_type="signed_int16", type="array", array_size=3)
    pixels = np.random.default_rng(4).integers(-9999, 9999, (3, 5, 7, 2)).astype(np.int16)
    source, target = bl.ImageMem(desc, queue), bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, source).wait()
    handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
    queue.parallel_for((3, 5, 7), _kernel(queue, "move"), *handles).wait_and_throw()
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(target, out).wait()
    np.testing.assert_array_equal(out, pixels * 2)
    for handle in handles:
        bl.destroy_image_handle(handle, queue)


def test_sizes(queue: bl.Queue) -> None:
    descs = bl.ImageDescriptor(7, 5, 3), bl.ImageDescriptor(11, type="array", array_size=6)
    memories = [bl.ImageMem(desc, queue) for desc in descs]
    handles = [bl.create_image(memory, desc, queue) for memory, desc in zip(memories, descs)]
    out = bl.usm_empty((5,), np.int32, queue)
    queue.parallel_for(1, _kernel(queue, "sizes"), *handles, out).wait_and_throw()
    assert out.numpy(queue).tolist() == [7, 5, 3, 11, 6]
    for handle in handles:
        bl.destroy_image_handle(handle, queue)
