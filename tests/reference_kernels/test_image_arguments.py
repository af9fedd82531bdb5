"""Images and samplers of OpenCL C: kernel parameters, samplers in the source, queries."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.error_checks import raises

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
    """The sampler of a sampled image, used with another image."""
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


MORE = """
kernel void buffers(read_only image1d_buffer_t in, write_only image1d_buffer_t out, global int *width)
{
    const int i = (int)get_global_id(0);
    write_imagef(out, i, read_imagef(in, get_image_width(in) - 1 - i) * 2.0f);
    *width = get_image_width(out);
}
kernel void depths(read_only image2d_depth_t in, write_only image2d_depth_t out, sampler_t sampler,
                   global float *sampled)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1)), size = get_image_dim(in);
    write_imagef(out, at, read_imagef(in, at) + 1.0f);
    sampled[at.y * size.x + at.x] = read_imagef(in, sampler, convert_float2(at) + 0.75f);
}
kernel void layers(read_only image2d_array_depth_t in, global float *out, global int *sizes)
{
    const int4 at = (int4)((int)get_global_id(0), (int)get_global_id(1), (int)get_global_id(2), 0);
    const int width = get_image_width(in), height = get_image_height(in);
    out[(at.z * height + at.y) * width + at.x] = read_imagef(in, at);
    sizes[0] = width; sizes[1] = height; sizes[2] = (int)get_image_array_size(in);
}
"""


def _more(queue: bl.Queue, name: str) -> bl.Kernel:
    return bl.load_kernel_bundle(compiled_text(MORE, "spirv", name), queue).get_kernel(name)


def test_buffers(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(70, num_channels=4)
    source, target = (bl.ImageMem(desc, queue) for _ in range(2))
    pixels = np.random.default_rng(5).random((70, 4), np.float32)
    queue.ext_oneapi_copy(pixels, source).wait()
    handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
    width = bl.usm_empty((1,), np.int32, queue)
    queue.parallel_for(70, _more(queue, "buffers"), *handles, width).wait_and_throw()
    found = np.empty_like(pixels)
    queue.ext_oneapi_copy(target, found).wait()
    np.testing.assert_array_equal(found, pixels[::-1] * 2)
    assert width.numpy(queue)[0] == 70
    for handle in handles:
        bl.destroy_image_handle(handle, queue)


def test_images_of_depths(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(12, 7, num_channels=1)
    source, target = (bl.ImageMem(desc, queue) for _ in range(2))
    pixels = np.random.default_rng(6).integers(0, 256, (7, 12)).astype(np.float32)
    queue.ext_oneapi_copy(pixels, source).wait()
    unsampled = [bl.create_image(memory, desc, queue) for memory in (source, target)]
    sampler = bl.create_image(
        source, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    )
    out = bl.usm_empty((7, 12), np.float32, queue)
    queue.parallel_for((7, 12), _more(queue, "depths"), *unsampled, sampler, out).wait_and_throw()
    found = np.empty_like(pixels)
    queue.ext_oneapi_copy(target, found).wait()
    np.testing.assert_array_equal(found, pixels + 1)
    across = np.concatenate([pixels, pixels[:, -1:]], 1)
    across = across[:, :-1] * 0.75 + across[:, 1:] * 0.25
    down = np.concatenate([across, across[-1:]])
    np.testing.assert_allclose(out.numpy(queue), down[:-1] * 0.75 + down[1:] * 0.25, rtol=1e-6)
    two = bl.ImageDescriptor(12, 7, num_channels=2)
    wrong = bl.create_image(bl.ImageMem(two, queue), two, queue)
    with raises(bl.KernelError, names=("2 channels", "depth image")):
        queue.parallel_for((7, 12), _more(queue, "depths"), unsampled[0], wrong, sampler, out).wait_and_throw()
    for handle in (*unsampled, sampler, wrong):
        bl.destroy_image_handle(handle, queue)


def test_layers_of_depths(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(5, 4, num_channels=1, type="array", array_size=3)
    memory = bl.ImageMem(desc, queue)
    pixels = np.random.default_rng(7).random((3, 4, 5), np.float32)
    queue.ext_oneapi_copy(pixels, memory).wait()
    image = bl.create_image(memory, desc, queue)
    out, sizes = bl.usm_empty((3, 4, 5), np.float32, queue), bl.usm_empty((3,), np.int32, queue)
    queue.parallel_for((3, 4, 5), _more(queue, "layers"), image, out, sizes).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue), pixels)
    assert list(sizes.numpy(queue)) == [5, 4, 3]
    bl.destroy_image_handle(image, queue)


QUERIES = """
OpCapability Addresses
OpCapability Kernel
OpCapability ImageBasic
OpCapability ImageMipmap
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %ask "ask"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%v2uint = OpTypeVector %uint 2
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c2 = OpConstant %uint 2
%c3 = OpConstant %uint 3
%c4 = OpConstant %uint 4
%image = OpTypeImage %void 2D DEPTH 0 0 0 Unknown ReadOnly
%pointer = OpTypePointer CrossWorkgroup %uint
%function = OpTypeFunction %void %image %pointer
%ask = OpFunction %void None %function
%i = OpFunctionParameter %image
%out = OpFunctionParameter %pointer
%start = OpLabel
%format = OpImageQueryFormat %uint %i
%order = OpImageQueryOrder %uint %i
%levels = OpImageQueryLevels %uint %i
%size = OpImageQuerySizeLod %v2uint %i %c1
%width = OpCompositeExtract %uint %size 0
%height = OpCompositeExtract %uint %size 1
OpStore %out %format
%p1 = OpInBoundsPtrAccessChain %pointer %out %c1
OpStore %p1 %order
%p2 = OpInBoundsPtrAccessChain %pointer %out %c2
OpStore %p2 %levels
%p3 = OpInBoundsPtrAccessChain %pointer %out %c3
OpStore %p3 %width
%p4 = OpInBoundsPtrAccessChain %pointer %out %c4
OpStore %p4 %height
OpReturn
OpFunctionEnd"""


@pytest.mark.parametrize(
    ("channel_type", "channels", "depth", "wanted"),
    [
        ("snorm_int8", 1, 0, (0, 0)), ("unorm_int8", 4, 0, (2, 5)), ("signed_int16", 2, 0, (8, 2)),
        ("unsigned_int32", 4, 0, (12, 5)), ("fp16", 2, 0, (13, 2)), ("fp32", 1, 1, (14, 13)),
    ],
)  # fmt: skip
def test_queries_of_formats(
    queue: bl.Queue, channel_type: str, channels: int, depth: int, wanted: tuple[int, int]
) -> None:
    """SPIR-V's numbers of channel types and orders, and the size of one level."""
    desc = bl.ImageDescriptor(13, 6, num_channels=channels, channel_type=channel_type, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "nearest", max_mipmap_level_clamp=float("inf"))
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    module = assembled(QUERIES.replace("DEPTH", str(depth)))
    out = bl.usm_empty((5,), np.uint32, queue)
    kernel = bl.load_kernel_bundle(module, queue).get_kernel("ask")
    queue.parallel_for(1, kernel, handle, out).wait_and_throw()
    assert list(out.numpy(queue)) == [*wanted, 3, 6, 3]
    bl.destroy_image_handle(handle, queue)
