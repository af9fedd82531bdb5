"""Throughput of the texture unit: handwritten kernels in CUDA C that compute their coordinates.

They access the same images through the same handles as the built-in kernels and store as much, but read no coordinates;
each work-item does one item, and the 32 items of a warp lie in a square-like block of the picture, which suits texture
units. NVRTC compiles them for the measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["unit_kernel"]

_SOURCE = r"""
template <int N> struct vector;
template <> struct vector<1> { float x; float v[1]; };

#if TEXEL_BYTES == 16
typedef uint4 texel;
#elif TEXEL_BYTES == 8
typedef uint2 texel;
#elif TEXEL_BYTES == 4
typedef unsigned texel;
#elif TEXEL_BYTES == 2
typedef unsigned short texel;
#else
typedef unsigned char texel;
#endif

__device__ float4 words(uint4 t) { return make_float4(t.x, t.y, t.z, t.w); }
__device__ float4 words(uint2 t) { return make_float4(t.x & 0xffff, t.x >> 16, t.y & 0xffff, t.y >> 16); }
__device__ float4 words(unsigned t) { return make_float4(t & 0xff, t >> 8 & 0xff, t >> 16 & 0xff, t >> 24); }
__device__ float4 words(unsigned short t) { return make_float4(t, 0, 0, 0); }
__device__ float4 words(unsigned char t) { return make_float4(t, 0, 0, 0); }

__device__ void fill(uint4 &t, unsigned i) { t = make_uint4(i, i, i, i); }
__device__ void fill(uint2 &t, unsigned i) { t = make_uint2(i, i); }
template <typename T> __device__ void fill(T &t, unsigned i) { t = i; }

__device__ unsigned short half_of(float v)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
    return h;
}

__device__ void store(void *out, size_t i, float4 v)
{
#if VALUE_BYTES == 2
    const unsigned x = half_of(v.x) | half_of(v.y) << 16, z = half_of(v.z) | half_of(v.w) << 16;
#if VALUES == 4
    ((uint2 *)out)[i] = make_uint2(x, z);
#elif VALUES == 2
    ((unsigned *)out)[i] = x;
#else
    ((unsigned short *)out)[i] = x;
#endif
#elif VALUES == 4
    ((float4 *)out)[i] = v;
#elif VALUES == 3
    float *to = (float *)out + 3 * i;
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
#elif VALUES == 2
    ((float2 *)out)[i] = make_float2(v.x, v.y);
#else
    ((float *)out)[i] = v.x;
#endif
}

/* Rows of width items, height rows, depth slices, layers or faces; one-dimensional images see the items of a row. */
extern "C" __global__ void unit(unsigned long long image, void *out, unsigned width, unsigned height, float lod)
{
#if ROWS == 1
    const unsigned x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
#else
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned x = blockIdx.x * 16 + warp % 2 * 8 + (lane & 1 | lane >> 1 & 2 | lane >> 2 & 4);
    const unsigned y = blockIdx.y * 16 + warp / 2 * 4 + (lane >> 1 & 1 | lane >> 2 & 2);
#endif
    const unsigned z = blockIdx.z;
    const size_t i = ((size_t)z * height + y) * width + x;
    const float u = x + 0.37f, v = y + 0.37f, w = z + 0.37f;
    float4 value;
    (void)u, (void)v, (void)w, (void)lod;
#ifdef FETCH
    texel read;
    FETCH;
    value = words(read);
    store(out, i, value);
#elif defined(WRITE)
    texel written;
    fill(written, x ^ y);
    WRITE;
#else
#ifdef CUBE
    const float s = 2 * u / width - 1, t = 2 * v / height - 1, m = z & 1 ? -1.0f : 1.0f;
    const float a = z < 2 ? m : s, b = z >> 1 == 1 ? m : t, c = z > 3 ? m : z < 2 ? s : t;
#endif
    value = SAMPLE;
    store(out, i, value);
#endif
}
"""

# How CUDA C names the access of each kind of image.
_SAMPLES = {
    "sample_1d": "tex1D<float4>(image, u)",
    "sample_2d": "tex2D<float4>(image, u, v)",
    "sample_3d": "tex3D<float4>(image, u, v, w)",
    "sample_1d_array": "tex1DLayered<float4>(image, u, y)",
    "sample_2d_array": "tex2DLayered<float4>(image, u, v, z)",
    "sample_cube": "texCubemap<float4>(image, a, b, c)",
    "sample_lod_1d": "tex1DLod<float4>(image, u / width, lod)",
    "sample_lod_2d": "tex2DLod<float4>(image, u / width, v / height, lod)",
    "sample_lod_3d": "tex3DLod<float4>(image, u / width, v / height, w / gridDim.z, lod)",
    "sample_lod_1d_array": "tex1DLayeredLod<float4>(image, u, y, lod)",
    "sample_lod_2d_array": "tex2DLayeredLod<float4>(image, u, v, z, lod)",
    "sample_lod_cube": "texCubemapLod<float4>(image, a, b, c, lod)",
    "sample_grad_1d": "tex1DGrad<float4>(image, u / width, lod / width, lod / width)",
    "sample_grad_2d": "tex2DGrad<float4>(image, u / width, v / height, make_float2(lod / width, 0), "
    "make_float2(0, lod / height))",
    "sample_grad_3d": "tex3DGrad<float4>(image, u / width, v / height, w / gridDim.z, "
    "make_float4(lod / width, 0, 0, 0), make_float4(0, lod / height, 0, 0))",
    "sample_grad_1d_array": "tex1DLayeredGrad<float4>(image, u, y, lod, lod)",
    "sample_grad_2d_array": "tex2DLayeredGrad<float4>(image, u, v, z, make_float2(lod, 0), make_float2(0, lod))",
    "fetch_sampled_1d": "tex2D<float4>(image, u, 0.5f)",
    "fetch_sampled_1d_linear": "tex1Dfetch<float4>(image, (int)x)",
    "fetch_sampled_2d": "tex2D<float4>(image, u, v)",
    "fetch_sampled_3d": "tex3D<float4>(image, u, v, w)",
    "fetch_sampled_1d_array": "tex1DLayered<float4>(image, u, y)",
    "fetch_sampled_2d_array": "tex2DLayered<float4>(image, u, v, z)",
}
_BYTES = "x * (unsigned)sizeof(texel)"
_PLACES = {
    "1d": ("1D", _BYTES),
    "2d": ("2D", f"{_BYTES}, y"),
    "3d": ("3D", f"{_BYTES}, y, z"),
    "1d_array": ("1DLayered", f"{_BYTES}, y"),
    "2d_array": ("2DLayered", f"{_BYTES}, y, z"),
}


def source(name: str, *, one_row: bool, texel_bytes: int, channels: int, value_bytes: int) -> str:
    """The CUDA C of the peer of a built-in kernel, ``sample_2d`` and so on."""
    operation, geometry = name.split("_", 1)
    defines = {"ROWS": 1 if one_row else 2, "TEXEL_BYTES": texel_bytes, "VALUES": channels, "VALUE_BYTES": value_bytes}
    if name in _SAMPLES:
        defines["SAMPLE"] = _SAMPLES[name]
        if geometry.endswith("cube"):
            defines["CUBE"] = 1
    else:
        form, place = _PLACES[geometry]
        if operation == "fetch":
            defines["FETCH"] = f"surf{form}read(&read, image, {place}, cudaBoundaryModeZero)"
        else:
            defines["WRITE"] = f"surf{form}write(written, image, {place}, cudaBoundaryModeZero)"
    return "".join(f"#define {key} {value}\n" for key, value in defines.items()) + _SOURCE


def unit_kernel(
    name: str,
    handle: int,
    out: int,
    shape: tuple[int, int, int],
    *,
    texel_bytes: int,
    channels: int,
    value_bytes: int = 4,
    lod: float = 0.0,
) -> Callable[[], None]:
    """Return a launch over all items of (slices, rows, items of a row), on CuPy's stream.

    Parameters
    ----------
    name
        The corresponding built-in kernel, without prefix and class.
    handle
        Handle of the image.
    out
        Address of space for the values of every item; unused by writes.
    shape
        Rows and items are multiples of 16, or of 1 and 256 for one-dimensional images.
    texel_bytes
        Bytes of a pixel of the image.
    channels
        Values of an item.
    value_bytes
        Bytes of one value, 4 for float32 and 2 for float16.
    lod
        Level, or length of the gradients in pixels.
    """
    import cupy
    import numpy as np

    one_row = name.split("_array")[0].endswith(("1d", "1d_linear"))
    text = source(name, one_row=one_row, texel_bytes=texel_bytes, channels=channels, value_bytes=value_bytes)
    kernel = cupy.RawModule(code=text).get_function("unit")
    depth, height, width = shape
    grid = (width // 256, height, depth) if one_row else (width // 16, height // 16, depth)
    arguments: tuple[Any, ...] = (
        np.uint64(handle),
        np.uint64(out),
        np.uint32(width),
        np.uint32(height),
        np.float32(lod),
    )
    return lambda: kernel(grid, (256,), arguments)
