"""Handwritten CUDA C kernels, compared with the built-in kernels by ``bindless bench``.

Each does the work of a built-in kernel: it reads coordinates from memory, uses the same handles, and stores the
results. CuPy compiles the kernels.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..sycl.usm import UsmArray
from .measure import Peer
from .peer_libraries import available

__all__ = ["by_hand"]

_THREADS = 256
_SOURCE = r"""
typedef unsigned long long image_t;
typedef unsigned long long count_t;

__device__ float number(unsigned short bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
__device__ unsigned short half(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__device__ void take(float4 v, float4 *out) { *out = v; }
__device__ void take(float4 v, float *out) { *out = v.x; }

__device__ float4 read(image_t image, int2 p, float4) { return surf2Dread<float4>(image, p.x * 16, p.y); }
__device__ float4 read(image_t image, int2 p, uchar4)
{
    const uchar4 c = surf2Dread<uchar4>(image, p.x * 4, p.y);
    return make_float4(c.x / 255.0f, c.y / 255.0f, c.z / 255.0f, c.w / 255.0f);
}
__device__ float4 read(image_t image, int2 p, ushort4)
{
    const ushort4 h = surf2Dread<ushort4>(image, p.x * 8, p.y);
    return make_float4(number(h.x), number(h.y), number(h.z), number(h.w));
}

__device__ unsigned char code(float v) { return (unsigned char)__float2int_rn(__saturatef(v) * 255.0f); }
__device__ void write(image_t image, int2 p, float4 v, float4) { surf2Dwrite(v, image, p.x * 16, p.y); }
__device__ void write(image_t image, int2 p, float4 v, uchar4)
{
    surf2Dwrite(make_uchar4(code(v.x), code(v.y), code(v.z), code(v.w)), image, p.x * 4, p.y);
}
__device__ void write(image_t image, int2 p, float4 v, ushort4)
{
    surf2Dwrite(make_ushort4(half(v.x), half(v.y), half(v.z), half(v.w)), image, p.x * 8, p.y);
}

extern "C" __global__ void work(image_t image, const PLACE *places, VALUE *values, count_t count)
{
    const count_t i = blockIdx.x * (count_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    const PLACE p = places[i];
    DO;
}
"""
_DOES = {
    "sample": ("float2", "take(tex2D<float4>(image, p.x, p.y), values + i)"),
    "fetch": ("int2", "values[i] = read(image, p, TEXEL())"),
    "write": ("int2", "write(image, p, values[i], TEXEL())"),
}
_TEXELS = {"fp32": "float4", "unorm_int8": "uchar4", "fp16": "ushort4"}


def by_hand(
    operation: str,
    handle: SampledImageHandle | UnsampledImageHandle,
    desc: ImageDescriptor,
    coords: Array | UsmArray,
    values: Array | UsmArray,
    times: int,
    goal: float,
) -> dict[str, Peer]:
    """Return the handwritten peer of a series of calls on two-dimensional images; empty without CuPy or for other
    formats.

    Parameters
    ----------
    operation : str
        ``sample``, ``fetch`` or ``write``.
    coords, values : Array | UsmArray
        Device arrays, as passed to the built-in kernel.
    goal : float
        Target ratio.
    """
    cupy, texel = available("cupy"), _TEXELS.get(str(desc.channel_type))
    has_kernel = desc.num_channels == 4 or (operation == "sample" and desc.num_channels == 1)
    if (
        cupy is None
        or not isinstance(coords, UsmArray)
        or not isinstance(values, UsmArray)
        or not has_kernel
        or (texel is None and operation != "sample")
    ):
        return {}
    place, does = _DOES[operation]
    value = "float4" if desc.num_channels == 4 else "float"
    words = {"PLACE": place, "VALUE": value, "TEXEL": texel or "float4", "DO": does}
    text = "".join(f"#define {name} {word}\n" for name, word in words.items()) + _SOURCE
    kernel = cupy.RawModule(code=text).get_function("work")
    count = coords.shape[0]
    arguments = (np.uint64(handle.raw_handle), np.uint64(coords.address), np.uint64(values.address), np.uint64(count))
    grid = (-(-count // _THREADS),)

    def work() -> None:
        for _ in range(times):
            kernel(grid, (_THREADS,), arguments)
        cupy.cuda.Device().synchronize()

    return {"kernel by hand": Peer(work, goal=goal)}
