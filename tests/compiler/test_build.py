"""Kernels of users: one source, built once, run on the device of the tests and compared with numpy bit for bit."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.compiler.llvm.find_toolchain import kernels_available
from tests.support.error_checks import raises

_MISSING = not kernels_available()
# Kernels may have been compiled beforehand (tests/support/precompiled_kernels.py).
pytestmark = pytest.mark.skipif(
    _MISSING and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)
needs_libclc = pytest.mark.skipif(
    not Path("/usr/lib/clc/nvptx64--.bc").is_file() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs libclc for NVIDIA GPUs: apt install libclc-22",
)

TABLES = """
#include <bindless/device.h>

/* A texture atlas: tile i of image which[i]; handles lie in an array, and through a pointer to pointers. */
kernel void atlas(global const sampled_image_handle *images, global const uint *which, global uint4 *out, uint width)
{
    const uint i = (uint)bindless_global_id(0);
    const float2 at = (float2)((float)(i % width) + 0.5f, (float)(i / width) + 0.5f);
    out[i] = sample_image_uint4(images[which[i]], at);
}

kernel void copy_layers(global const ulong *const global *handles, uint layers)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    for (uint layer = 0; layer < layers; ++layer)
        write_image_array(handles[0][1], at, layer, fetch_image_array_uchar4(handles[0][0], at, layer));
}
"""

SOURCE = """
#include <bindless/device.h>

/* Sums of a work-group by way of two pieces of local memory, beside some of the kernel's own. */
__attribute__((reqd_work_group_size(32, 1, 1)))
kernel void sums(global const uint *in, global uint *out, local uint *piece, local uint *total)
{
    local uint own[32];
    const uint i = (uint)get_local_id(0);
    own[i] = 1;
    piece[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        total[0] = 0;
        for (uint k = 0; k < 32; ++k) total[0] += piece[k] * own[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_group_id(0)] = total[0];
}

struct line { int factor; float unused; long offset; };

kernel void affine(global const int *in, global long *out, struct line line, short2 more)
{
    const size_t i = bindless_item_id(0, 2) * bindless_item_range(1, 2) + bindless_item_id(1, 2);
    out[i] = (long)in[i] * line.factor + line.offset + more.x - more.y;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for every device."""
    path = tmp_path_factory.mktemp("build") / "user.blk"
    bl.build(SOURCE, path)
    return path


@pytest.fixture
def bundle(built: Path, queue: bl.Queue) -> bl.KernelBundle:
    return bl.load_kernel_bundle(built, queue)


@pytest.fixture(scope="module")
def tables() -> bl.KernelFile:
    """Kernels that find handles in memory."""
    return bl.build(TABLES)


@pytest.fixture
def finders(tables: bl.KernelFile, queue: bl.Queue) -> bl.KernelBundle:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("OpenCL devices have no handles in memory")
    return bl.load_kernel_bundle(tables, queue)


def test_opencl_devices_have_no_handles_in_memory(tables: bl.KernelFile, queue: bl.Queue) -> None:
    assert tables.languages == ("spirv", "ptx")
    if queue.device.backend is not bl.Backend.opencl:
        pytest.skip("other devices have")
    with pytest.raises((bl.BuildError, bl.FeatureNotSupportedError), match="bindless build --target opencl_c"):
        bl.load_kernel_bundle(tables, queue)
    with pytest.raises((bl.BuildError, bl.FeatureNotSupportedError), match="bindless build --target opencl_c"):
        bl.load_kernel_bundle(tables, queue, state="input").compile()


def _usm(queue: bl.Queue, array: npt.NDArray[Any]) -> bl.UsmArray:
    memory = bl.usm_empty(array.shape, array.dtype, queue)
    memory.copy_from(array)
    return memory


def test_an_atlas_of_handles_in_an_array(finders: bl.KernelBundle, queue: bl.Queue) -> None:  # R33
    rng = np.random.default_rng(3)
    tiles = rng.integers(0, 2**32, (5, 16, 16, 4), dtype=np.uint32)
    desc = bl.ImageDescriptor(16, 16, num_channels=4, channel_type="unsigned_int32")
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
    memories = [bl.ImageMem(desc, queue) for _ in tiles]
    for memory, tile in zip(memories, tiles):
        queue.ext_oneapi_copy(tile, memory).wait()
    handles = [bl.create_image(memory, desc, queue, sampler=sampler) for memory in memories]
    which = rng.integers(0, 5, 256).astype(np.uint32)
    out = bl.usm_empty((256, 4), np.uint32, queue)
    table = _usm(queue, np.array([handle.raw_handle for handle in handles], np.uint64))
    queue.parallel_for(256, finders.get_kernel("atlas"), table, _usm(queue, which), out, np.uint32(16)).wait()
    place = np.arange(256)
    np.testing.assert_array_equal(out.numpy(queue), tiles[which, place // 16, place % 16])
    for handle, memory in zip(handles, memories):
        bl.destroy_image_handle(handle, queue)
        memory.close()


def test_layers_are_copied_through_pointers_to_handles(finders: bl.KernelBundle, queue: bl.Queue) -> None:  # R33
    desc = bl.ImageDescriptor(9, 6, num_channels=4, channel_type="unsigned_int8", type="array", array_size=3)
    pixels = np.random.default_rng(4).integers(0, 256, desc.shape, dtype=np.uint8)
    source, target = bl.ImageMem(desc, queue), bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, source).wait()
    handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
    table = _usm(queue, np.array([handle.raw_handle for handle in handles], np.uint64))
    pointers = _usm(queue, np.array([int(table.pointer)], np.uint64))
    queue.parallel_for((6, 9), finders.get_kernel("copy_layers"), pointers, np.uint32(3)).wait()
    after = np.zeros_like(pixels)
    queue.ext_oneapi_copy(target, after).wait()
    np.testing.assert_array_equal(after, pixels)
    for handle, memory in zip(handles, (source, target)):
        bl.destroy_image_handle(handle, queue)
        memory.close()


def test_local_memory_beside_the_kernel_s_own(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    values = np.random.default_rng(5).integers(0, 1000, 256).astype(np.uint32)
    out = bl.usm_empty((8,), np.uint32, queue)
    kernel = bundle.get_kernel("sums")
    local = (bl.LocalAccessor(32 * 4), bl.LocalAccessor(4))
    queue.parallel_for(bl.NdRange(256, 32), kernel, _usm(queue, values), out, *local).wait()
    np.testing.assert_array_equal(out.numpy(queue), values.reshape(8, 32).sum(axis=1))


def test_structures_vectors_and_sycl_s_order_of_dimensions(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    values = np.random.default_rng(6).integers(-(2**31), 2**31, (5, 7)).astype(np.int32)
    out = bl.usm_empty((5, 7), np.int64, queue)
    line = np.zeros((), [("factor", "i4"), ("unused", "f4"), ("offset", "i8")])
    line["factor"], line["offset"] = -3, 10**12
    more = np.array([(4, 9)], [("x", "i2"), ("y", "i2")])[0]
    queue.parallel_for((5, 7), bundle.get_kernel("affine"), _usm(queue, values), out, line, more).wait()
    np.testing.assert_array_equal(out.numpy(queue), values.astype(np.int64) * -3 + 10**12 - 5)


def test_the_signature_is_the_source_s(bundle: bl.KernelBundle) -> None:  # R33
    arguments = bundle.get_kernel("affine").arguments
    assert arguments is not None
    assert [(a.name, a.kind, a.size) for a in arguments] == [
        ("in", "pointer", 8), ("out", "pointer", 8), ("line", "value", 16), ("more", "value", 4),
    ]  # fmt: skip
    sums = bundle.get_kernel("sums")
    assert [a.kind for a in sums.arguments or ()] == ["pointer", "pointer", "local", "local"]
    assert sums.get_info("compile_work_group_size") == (1, 1, 32)
    assert sums.get_info("attributes") == "reqd_work_group_size(32, 1, 1)"
    assert sums.get_info("num_args") == 4
    assert sums.get_info("work_group_size") >= 32
    assert bundle.kernel_names == ("affine", "sums")


def test_errors_name_the_argument(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    out = bl.malloc_device(32, queue)
    kernel = bundle.get_kernel("affine")
    with raises(bl.InvalidError, names=("argument 3 ('more')", "4 bytes")):
        queue.parallel_for((2, 2), kernel, out, out, np.zeros(16, np.uint8).tobytes(), np.int64(1))
    with raises(bl.InvalidError, names=("4 arguments", "in: pointer", "line: value of 16")):
        queue.parallel_for((2, 2), kernel, out, out)
    with raises(bl.NdRangeError):
        queue.parallel_for(bl.NdRange(64, 16), bundle.get_kernel("sums"), out, out)


def test_what_build_returns_loads_as_it_is_and_by_its_bytes(built: Path, queue: bl.Queue) -> None:
    file = bl.KernelFile.load(built)
    assert file.languages == ("spirv", "ptx", "opencl_c") and "sums(uint* in" in file.describe()
    for source in (file, file.to_bytes(), str(built)):
        with bl.load_kernel_bundle(source, queue) as loaded:
            assert loaded.has_kernel("sums") and not loaded.has_kernel("sum")


def test_a_bundle_of_several_modules_goes_through_all_states(built: Path, queue: bl.Queue) -> None:
    given = bl.load_kernel_bundle(built, queue, state="input")
    assert sorted(given.kernel_names) == ["affine", "sums"]
    linked = given.compile().link()
    values = np.arange(32, dtype=np.uint32)
    out = bl.usm_empty((1,), np.uint32, queue)
    local = (bl.LocalAccessor(32 * 4), bl.LocalAccessor(4))
    queue.parallel_for(bl.NdRange(32, 32), linked.get_kernel("sums"), _usm(queue, values), out, *local).wait()
    assert out.numpy(queue)[0] == values.sum()


SHARED = """
#include <bindless/device.h>
global int total = 40;
constant float weights[3] = {0.5f, 2, 4};
kernel void sample(sampled_image_handle image, global float *out)
{
    out[0] = sample_image_float(image, (float2)(1.5f, 0.5f)) * weights[1];
    out[1] = sample_mipmap_float(image, (float2)(2.5f, 1.5f), 0.0f) * weights[2];
    total += 1;
}
kernel void fetch(sampled_image_handle image, unsampled_image_handle target, global float *out)
{
    out[0] = fetch_image_float(image, (int2)(1, 0)) + fetch_image_float(target, (int2)(2, 1)) * weights[0];
    write_image(target, (int2)(0, 1), 7.0f);
    total += 100;
}
kernel void read(global int *out) { *out = total; }
"""


def test_several_kernels_with_images_share_variables(queue: bl.Queue) -> None:
    """They are one module. PTX has constants of the program, and no variables."""
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("clang has no variables of the program for NVIDIA GPUs")
    file = bl.build(SHARED, targets="spirv")
    assert [section.kernels for section in file.sections] == [("fetch", "read", "sample")]
    if queue.device.backend is bl.Backend.opencl:  # images in SPIR-V are handles
        with pytest.raises((bl.BuildError, bl.FeatureNotSupportedError), match="bindless build --target opencl_c"):
            bl.load_kernel_bundle(file, queue)
        return
    bundle = bl.load_kernel_bundle(file, queue)
    pixels = np.random.default_rng(12).random((4, 5, 1), np.float32)
    desc = bl.ImageDescriptor(5, 4, num_channels=1)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    image = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler())
    target = bl.create_image(memory, desc, queue)
    out, total = bl.usm_empty((2,), np.float32, queue), bl.usm_empty((1,), np.int32, queue)
    queue.single_task(bundle.get_kernel("sample"), image, out).wait()
    np.testing.assert_array_equal(out.numpy(queue), [pixels[0, 1, 0] * 2, pixels[1, 2, 0] * 4])
    queue.single_task(bundle.get_kernel("fetch"), image, target, out).wait()
    np.testing.assert_array_equal(out.numpy(queue)[0], pixels[0, 1, 0] + pixels[1, 2, 0] * np.float32(0.5))
    queue.single_task(bundle.get_kernel("read"), total).wait()
    assert total.numpy(queue)[0] == 141
    queue.ext_oneapi_copy(memory, pixels).wait()
    assert pixels[1, 0, 0] == 7
    for handle in (image, target):
        bl.destroy_image_handle(handle, queue)
    memory.close()


@needs_libclc
def test_functions_of_opencl_c_give_numpy_s_results(queue: bl.Queue) -> None:
    """Those that are exact; sums of exact products are too."""
    file = bl.build(
        """
kernel void maths(global const float *in, global float *out, global uint *bits)
{
    const size_t i = get_global_id(0);
    out[i] = sqrt(fabs(in[i])) + floor(in[i]) * clamp(in[i], -1.0f, 1.0f) - fmin(trunc(in[i]), rint(in[i]));
    bits[i] = popcount(as_uint(in[i])) + clz(convert_uint(fabs(in[i]))) + convert_uchar_sat(in[i]);
    atomic_add(bits + get_global_size(0), 1u);
}
"""
    )
    values = (np.random.default_rng(7).standard_normal(1000) * 300).astype(np.float32)
    out, bits = bl.usm_empty((1000,), np.float32, queue), _usm(queue, np.zeros(1001, np.uint32))
    kernel = bl.load_kernel_bundle(file, queue).get_kernel("maths")
    queue.parallel_for(1000, kernel, _usm(queue, values), out, bits).wait()
    one = np.sqrt(np.abs(values)) + np.floor(values) * np.clip(values, np.float32(-1), np.float32(1))
    np.testing.assert_array_equal(out.numpy(queue), one - np.fmin(np.trunc(values), np.rint(values)))
    ones = np.unpackbits(values.view(np.uint8).reshape(-1, 4), axis=1).sum(axis=1)
    zeros = [32 - int(abs(value)).bit_length() for value in values]
    counted = ones + zeros + np.clip(np.trunc(values), 0, 255).astype(np.int64)
    np.testing.assert_array_equal(bits.numpy(queue), [*counted, 1000])


GRADIENTS = """
#include <bindless/device.h>
kernel void slopes(sampled_image_handle image, global const float2 *at, global const float2 *d, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = i % 2 ? sample_mipmap_float(image, at[i], d[2 * i], d[2 * i + 1])
                   : sample_mipmap_float(image, at[i], d[i].x);
}
"""


def test_gradients_are_the_device_function_s(queue: bl.Queue) -> None:  # R68
    rng = np.random.default_rng(8)
    desc = bl.ImageDescriptor(64, 32, num_channels=1, type="mipmap", num_levels=4)
    memory = bl.ImageMem(desc, queue)
    for level in range(4):
        part = desc.get_mip_level_desc(level)
        pixels = rng.random(part.shape, np.float32)
        queue.ext_oneapi_copy(pixels, memory.get_mip_level_mem_handle(level), dst_desc=part).wait()
    sampler = bl.BindlessImageSampler(
        "mirrored_repeat", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=3, max_anisotropy=8
    )
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    at, slopes = rng.uniform(-1, 2, (400, 2)).astype(np.float32), rng.uniform(-0.2, 0.2, (800, 2)).astype(np.float32)
    out = bl.usm_empty((400,), np.float32, queue)
    kernel = bl.load_kernel_bundle(bl.build(GRADIENTS), queue).get_kernel("slopes")
    queue.parallel_for(400, kernel, handle, _usm(queue, at), _usm(queue, slopes), out).wait()
    by_level = bl.sample_mipmap(queue, handle, at, level=slopes[:400, 0].copy())
    by_slope = bl.sample_mipmap(queue, handle, at, dx=slopes[0::2].copy(), dy=slopes[1::2].copy())
    wanted = np.where(np.arange(400) % 2 == 1, by_slope.ravel(), by_level.ravel())
    np.testing.assert_array_equal(out.numpy(queue), wanted)
    bl.destroy_image_handle(handle, queue)
    memory.close()


CUBE = """
#include <bindless/device.h>
kernel void look(sampled_image_handle cube, global const float *directions, global float4 *out,
                 unsampled_image_handle faces, global float4 *pixels)
{
    const size_t i = get_global_id(0);
    out[i] = sample_cubemap_float4(cube, (float3)(directions[3 * i], directions[3 * i + 1], directions[3 * i + 2]));
    pixels[i] = fetch_cubemap_float4(faces, (int2)(i % 8, i / 8 % 8), (uint)(i % 6));
}
"""


@pytest.mark.parametrize("seams", ["disjointed", "seamless"])
def test_cubemaps_are_the_device_function_s(seams: str, queue: bl.Queue) -> None:  # R69
    rng = np.random.default_rng(9)
    desc = bl.ImageDescriptor(8, 8, num_channels=4, type="cubemap", array_size=6)
    faces = rng.random((6, 8, 8, 4), np.float32)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(faces, memory).wait()
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", cubemap_filtering=seams)
    cube, unsampled = bl.create_image(memory, desc, queue, sampler=sampler), bl.create_image(memory, desc, queue)
    directions = rng.standard_normal((1000, 3)).astype(np.float32) * 5
    out, pixels = (bl.usm_empty((1000, 4), np.float32, queue) for _ in range(2))
    kernel = bl.load_kernel_bundle(bl.build(CUBE), queue).get_kernel("look")
    queue.parallel_for(1000, kernel, cube, _usm(queue, directions), out, unsampled, pixels).wait()
    np.testing.assert_array_equal(out.numpy(queue), bl.sample_cubemap(queue, cube, directions))
    place = np.arange(1000)
    np.testing.assert_array_equal(pixels.numpy(queue), faces[place % 6, place // 8 % 8, place % 8])
    for handle in (cube, unsampled):
        bl.destroy_image_handle(handle, queue)
    memory.close()


def test_a_flat_image_is_no_cube() -> None:
    queue = bl.Queue("reference")
    with bl.ImageMem(bl.ImageDescriptor(8, 8), queue) as memory:
        handle = bl.create_image(memory, memory.get_descriptor(), queue, sampler=bl.BindlessImageSampler())
        out = bl.usm_empty((4,), np.float32, queue)
        kernel = bl.load_kernel_bundle(bl.build(CUBE), queue).get_kernel("look")
        with raises(bl.KernelError, names=("2D image", "cube image")):
            queue.parallel_for(1, kernel, handle, out, out, handle, out).wait_and_throw()
        bl.destroy_image_handle(handle, queue)


CONSTANTS = """
#include <bindless/device.h>
kernel void constants(global int *out)
{
    out[0] = bindless_constant_int(3, 40) + 2;
    out[1] = (int)(bindless_constant_float(9, 1.5f) * 2);
}
"""


def test_specialization_constants(queue: bl.Queue) -> None:
    file = bl.build(CONSTANTS)
    out = bl.usm_empty((2,), np.int32, queue)
    bundle = bl.load_kernel_bundle(file, queue)
    queue.single_task(bundle.get_kernel("constants"), out).wait()
    assert out.numpy(queue).tolist() == [42, 3]
    if queue.device.backend is bl.Backend.cuda:
        with raises(bl.FeatureNotSupportedError, names="PTX"):
            bl.load_kernel_bundle(file, queue, specialization={3: 1})
        return
    assert bundle.specialization_constants == {3: 40, 9: 1.5}
    bundle = bl.load_kernel_bundle(file, queue, specialization={3: 5, 9: 0.5})
    queue.single_task(bundle.get_kernel("constants"), out).wait()
    assert out.numpy(queue).tolist() == [7, 1]


def _named(module: bytes, number: int, name: str) -> bytes:
    """SPIR-V with an OpName for the specialization constant of a number."""
    words = list(struct.unpack(f"<{len(module) // 4}I", module))
    at, first = 5, 0
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if code == 71:  # OpDecorate, the first of which names go before
            first = first or at
            if words[at + 2] == 1 and words[at + 3] == number:  # SpecId
                text = name.encode() + bytes(4 - len(name) % 4)
                line = [words[at + 1], *struct.unpack(f"<{len(text) // 4}I", text)]
                words[first:first] = [(len(line) + 1) << 16 | 5, *line]
                return struct.pack(f"<{len(words)}I", *words)
        at += length
    raise AssertionError("no such constant")


def test_specialization_constants_by_name() -> None:
    queue = bl.Queue("reference")
    module = _named(bl.build(CONSTANTS, targets="spirv").sections[0].data, 3, "answer")
    out = bl.usm_empty((2,), np.int32, queue)
    bundle = bl.load_kernel_bundle(module, queue, state="input")
    assert bundle.has_specialization_constant("answer") and not bundle.has_specialization_constant("question")
    assert bundle.get_specialization_constant("answer") == 40
    bundle.set_specialization_constant("answer", 10)
    queue.single_task(bundle.build().get_kernel("constants"), out).wait()
    assert out.numpy(queue).tolist() == [12, 3]
    with raises(bl.InvalidError, names=("question", "answer", "3, 9")):
        bl.load_kernel_bundle(module, queue, specialization={"question": 1})


def test_the_wrong_language_is_named() -> None:
    queue = bl.Queue("reference")
    file = bl.build(CONSTANTS, targets="ptx")
    with raises(bl.BuildError, names=("PTX", "SPIR-V")):
        bl.load_kernel_bundle(file.sections[0].data, queue)
    with raises(bl.BuildError, names="cubin"):
        bl.load_kernel_bundle(b"\x7fELF and so on", queue)
