"""User kernels with three components, user structures, and normalized images as floats, compared with numpy."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.builtin_kernels.host_kernels import REASON, RUNS, compile_library, surface_of

_MISSING = not bl.kernels_available()
needs_llvm = pytest.mark.skipif(
    _MISSING and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs clang-22 and llc-22: apt install clang-22 llvm-22",
)

Array = npt.NDArray[Any]
LARGEST = {"unorm_int8": 255, "unorm_int16": 65535, "snorm_int8": 127, "snorm_int16": 32767}
STORAGE = {"unorm_int8": "u1", "unorm_int16": "u2", "snorm_int8": "i1", "snorm_int16": "i2"}
SIZES = {1: "", 2: "2", 3: "3", 4: "4"}


def value_of(codes: Array, kind: str) -> Array:
    """Return the numbers that codes represent, computed in float64 and rounded once."""
    return np.maximum(codes.astype(np.float64) / LARGEST[kind], -1).astype(np.float32)


def code_of(values: Array, kind: str) -> Array:
    """Return the nearest code, ties to even, of clamped values."""
    lowest = 0.0 if kind.startswith("u") else -1.0
    inside = np.clip(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=2.0, neginf=-2.0), lowest, 1.0)
    return np.rint(inside * LARGEST[kind]).astype(STORAGE[kind])


# ---------------------------------------------------------------------- the arithmetic for PTX, on this processor

HOST = """
#include <bindless/device.h>
#define KERNELS(T, KIND) \\
    void read_##T##_##KIND(ulong image, global T *out, int count) \\
    { for (int x = 0; x < count; ++x) out[x] = fetch_image_##T(image, x, bindless_##KIND); } \\
    void write_##T##_##KIND(ulong image, global const T *in, int count) \\
    { for (int x = 0; x < count; ++x) write_image(image, x, in[x], bindless_##KIND); }
#define TYPES(KIND) KERNELS(float, KIND) KERNELS(float2, KIND) KERNELS(float3, KIND) KERNELS(float4, KIND)
TYPES(unorm_int8) TYPES(unorm_int16) TYPES(snorm_int8) TYPES(snorm_int16)
void everywhere(ulong flat, ulong deep, global float4 *out)
{
    out[0] = fetch_image_float4(flat, (int2)(1, 2), bindless_unorm_int8);
    out[1] = fetch_image_float4(deep, (int3)(1, 2, 3), bindless_unorm_int8);
    out[2] = fetch_image_array_float4(deep, (int2)(1, 2), 3, bindless_unorm_int8);
    out[3] = fetch_image_array_float4(deep, 1, 3, bindless_unorm_int8);
    out[4] = fetch_cubemap_float4(deep, (int2)(1, 2), 3, bindless_unorm_int8);
    write_image(flat, (int2)(0, 0), (float4)(0.2f), bindless_unorm_int8);
    write_image(deep, (int3)(0, 0, 0), (float4)(0.4f), bindless_unorm_int8);
    write_image_array(deep, (int2)(0, 0), 1, (float4)(0.6f), bindless_unorm_int8);
    write_image_array(deep, 0, 2, (float4)(0.8f), bindless_unorm_int8);
    write_cubemap(deep, (int2)(0, 0), 3, (float4)(1.0f), bindless_unorm_int8);
}
void threes(ulong image, ulong to, global float3 *out)
{
    out[0] = fetch_image_float3(image, 1);
    write_image(to, 2, (float3)(5, 6, 7));
}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if not RUNS:
        pytest.skip(REASON)
    folder = tmp_path_factory.mktemp("host")
    (folder / "user.cl").write_text(HOST)
    sources = (folder / "user.cl", Path(__file__).parents[1] / "builtin_kernels" / "host_prelude.cl")
    library = folder / "user.so"
    compile_library({source.stem: (source, []) for source in sources}, folder, library)
    return ctypes.CDLL(str(library))


def line_of(texels: Array) -> tuple[Array, ctypes.c_uint64, Any]:
    """Return a surface of one line of pixels, its handle, and the objects that must outlive it."""
    whole = np.ascontiguousarray(texels[np.newaxis, np.newaxis])
    surface = surface_of(whole)
    return whole, ctypes.c_uint64(ctypes.addressof(surface)), surface


def address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("kind", LARGEST)
@pytest.mark.parametrize("components", SIZES)
def test_every_code_on_ptx(host: ctypes.CDLL, kind: str, components: int) -> None:
    lanes = 4 if components == 3 else components  # a pixel of three channels is stored as four
    codes = np.arange(2 ** (8 * np.dtype(STORAGE[kind]).itemsize)).astype(STORAGE[kind]).reshape(-1, lanes)
    texels, handle, _keep = line_of(codes)
    out = np.zeros((len(codes), lanes), np.float32)
    name = f"float{SIZES[components]}_{kind}"
    getattr(host, f"read_{name}")(handle, address(out), len(codes))
    wanted = value_of(codes, kind)
    np.testing.assert_array_equal(out[:, :components].view("u4"), wanted[:, :components].view("u4"))
    texels[:] = 77
    getattr(host, f"write_{name}")(handle, address(out), len(codes))
    np.testing.assert_array_equal(texels[0, 0, :, :components], code_of(wanted, kind)[:, :components])
    assert (texels[0, 0, :, components:] == 0).all()


@pytest.mark.parametrize("kind", LARGEST)
def test_values_between_codes_and_outside_on_ptx(host: ctypes.CDLL, kind: str) -> None:
    rng = np.random.default_rng(5)
    ties = ((np.arange(-300, 300) + 0.5) / LARGEST[kind]).astype(np.float32)
    near = np.concatenate([ties, np.nextafter(ties, 9, dtype=np.float32), np.nextafter(ties, -9, dtype=np.float32)])
    odd = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0, 1.0, -1.0], np.float32)
    values = np.concatenate([near, rng.uniform(-1.5, 1.5, 20000).astype(np.float32), odd])
    texels, handle, _keep = line_of(np.zeros((len(values), 1), STORAGE[kind]))
    getattr(host, f"write_float_{kind}")(handle, address(values), len(values))
    np.testing.assert_array_equal(texels[0, 0, :, 0], code_of(values, kind))


def test_every_geometry_on_ptx(host: ctypes.CDLL) -> None:
    rng = np.random.default_rng(6)
    flat = rng.integers(0, 256, (1, 4, 5, 4)).astype(np.uint8)
    deep = rng.integers(0, 256, (6, 4, 5, 4)).astype(np.uint8)
    before = value_of(flat, "unorm_int8"), value_of(deep, "unorm_int8")
    surfaces = surface_of(flat), surface_of(deep)
    handles = [ctypes.c_uint64(ctypes.addressof(surface)) for surface in surfaces]
    out = np.zeros((5, 4), np.float32)
    host.everywhere(*handles, address(out))
    wanted = [before[0][0, 2, 1], before[1][3, 2, 1], before[1][3, 2, 1], before[1][3, 0, 1], before[1][3, 2, 1]]
    np.testing.assert_array_equal(out, wanted)
    assert (flat[0, 0, 0] == 51).all()
    assert [list(deep[layer, 0, 0]) for layer in range(4)] == [[code] * 4 for code in (102, 153, 204, 255)]


def test_three_components_on_ptx(host: ctypes.CDLL) -> None:
    texels, handle, _keep = line_of(np.arange(12, dtype=np.float32).reshape(3, 4))
    other, to, _kept = line_of(np.full((3, 4), 9, np.float32))
    out = np.full((1, 4), -1, np.float32)
    host.threes(handle, to, address(out))
    np.testing.assert_array_equal(out[0, :3], texels[0, 0, 1, :3])
    np.testing.assert_array_equal(other[0, 0, 2], [5, 6, 7, 0])


# ---------------------------------------------------------------------- on the device of the tests

USER = """
#include <bindless/device.h>
struct color { float r, g, b, a; };
struct code { short s[4]; };

kernel void structures(unsampled_image_handle from, sampled_image_handle same, unsampled_image_handle to,
                       global struct color *fetched, global struct color *sampled)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    const struct color c = bindless_as(struct color, float4, fetch_image_float4(from, at));
    fetched[i] = c;
    sampled[i] = bindless_as(struct color, float4, sample_image_float4(same, convert_float2(at) + 0.5f));
    struct color turned; turned.r = c.a; turned.g = c.b; turned.b = c.g; turned.a = c.r;
    write_image(to, at, bindless_as(float4, struct color, turned));
}

kernel void codes(unsampled_image_handle from, global struct code *out)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    out[i] = bindless_as(struct code, short4, fetch_image_short4(from, at));
}

kernel void threes(unsampled_image_handle from, sampled_image_handle same, unsampled_image_handle to,
                   global float3 *fetched, global float3 *sampled)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    fetched[i] = fetch_image_float3(from, at);
    sampled[i] = sample_image_float3(same, convert_float2(at) + 0.5f);
    write_image(to, at, fetched[i] + (float3)(1, 2, 3));
}

#define NORMALIZED(KIND) \\
    kernel void as_floats_##KIND(unsampled_image_handle from, unsampled_image_handle to, global float4 *out) \\
    { \\
        const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1)); \\
        const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1); \\
        out[i] = fetch_image_float4(from, at, bindless_##KIND); \\
        write_image(to, at, -out[i].wzyx, bindless_##KIND); \\
    }
NORMALIZED(unorm_int8) NORMALIZED(unorm_int16) NORMALIZED(snorm_int8) NORMALIZED(snorm_int16)
"""


@pytest.fixture(scope="module")
def built() -> bl.KernelFile:
    return bl.build(USER)


class Images:
    """An image with its pixels, as sampled and unsampled handles, and a second image for writes."""

    def __init__(self, queue: bl.Queue, channel_type: str, dtype: str, seed: int) -> None:
        self.desc = bl.ImageDescriptor(7, 5, num_channels=4, channel_type=channel_type)
        rng = np.random.default_rng(seed)
        if dtype.startswith("f"):
            self.pixels = rng.random((5, 7, 4), np.float32)
        else:
            limits = np.iinfo(dtype)
            self.pixels = rng.integers(limits.min, limits.max, (5, 7, 4), dtype, endpoint=True)
        self.memories = [bl.ImageMem(self.desc, queue) for _ in range(2)]
        queue.ext_oneapi_copy(self.pixels, self.memories[0]).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge")
        self.unsampled = bl.create_image(self.memories[0], self.desc, queue)
        self.sampled = bl.create_image(self.memories[0], self.desc, queue, sampler=sampler)
        self.target = bl.create_image(self.memories[1], self.desc, queue)

    def written(self, queue: bl.Queue) -> Array:
        found = np.zeros_like(self.pixels)
        queue.ext_oneapi_copy(self.memories[1], found).wait()
        return found

    def close(self, queue: bl.Queue) -> None:
        for handle in (self.unsampled, self.sampled, self.target):
            bl.destroy_image_handle(handle, queue)
        for memory in self.memories:
            memory.close()


@needs_llvm
def test_structures_of_the_user(built: bl.KernelFile, queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(built, queue)
    images = Images(queue, "fp32", "f4", 1)
    fetched, sampled = (bl.usm_empty((5, 7, 4), np.float32, queue) for _ in range(2))
    kernel = bundle.get_kernel("structures")
    queue.parallel_for((5, 7), kernel, images.unsampled, images.sampled, images.target, fetched, sampled).wait()
    np.testing.assert_array_equal(fetched.numpy(queue), images.pixels)
    np.testing.assert_array_equal(sampled.numpy(queue), images.pixels)
    np.testing.assert_array_equal(images.written(queue), images.pixels[..., ::-1])
    images.close(queue)


@needs_llvm
def test_structures_of_integers(built: bl.KernelFile, queue: bl.Queue) -> None:
    images = Images(queue, "signed_int16", "i2", 2)
    out = bl.usm_empty((5, 7, 4), np.int16, queue)
    queue.parallel_for((5, 7), bl.load_kernel_bundle(built, queue).get_kernel("codes"), images.unsampled, out).wait()
    np.testing.assert_array_equal(out.numpy(queue), images.pixels)
    images.close(queue)


@needs_llvm
def test_three_components(built: bl.KernelFile, queue: bl.Queue) -> None:
    images = Images(queue, "fp32", "f4", 3)
    fetched, sampled = (bl.usm_empty((5, 7, 4), np.float32, queue) for _ in range(2))
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("threes")
    queue.parallel_for((5, 7), kernel, images.unsampled, images.sampled, images.target, fetched, sampled).wait()
    np.testing.assert_array_equal(fetched.numpy(queue)[..., :3], images.pixels[..., :3])
    np.testing.assert_array_equal(sampled.numpy(queue)[..., :3], images.pixels[..., :3])
    written = images.written(queue)
    np.testing.assert_array_equal(written[..., :3], images.pixels[..., :3] + np.float32([1, 2, 3]))
    assert (written[..., 3] == 0).all()
    images.close(queue)


@needs_llvm
@pytest.mark.parametrize("kind", LARGEST)
def test_normalized_images_as_floats(built: bl.KernelFile, queue: bl.Queue, kind: str) -> None:
    images = Images(queue, kind, STORAGE[kind], 4)
    out = bl.usm_empty((5, 7, 4), np.float32, queue)
    kernel = bl.load_kernel_bundle(built, queue).get_kernel(f"as_floats_{kind}")
    queue.parallel_for((5, 7), kernel, images.unsampled, images.target, out).wait()
    wanted = value_of(images.pixels, kind)
    found = out.numpy(queue)
    if queue.device.backend is bl.Backend.opencl:  # its conversions may err by 1.5 ULP
        np.testing.assert_allclose(found, wanted, rtol=1.8e-7, atol=0)
    else:
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(images.written(queue), code_of(-wanted[..., ::-1], kind))
    images.close(queue)


@needs_llvm
@pytest.mark.skipif(_MISSING, reason="needs a kernel compiler: pip install 'bindless[kernels]'")
def test_sizes_that_differ_do_not_compile() -> None:
    source = USER[: USER.index("kernel void")] + (
        "kernel void f(unsampled_image_handle image, global struct color *out)\n"
        "{ out[0] = bindless_as(struct color, float2, fetch_image_float2(image, 0)); }\n"
    )
    with pytest.raises(bl.BuildError):
        bl.build(source, targets="spirv")
