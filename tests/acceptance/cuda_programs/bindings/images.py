"""Textures and surfaces: filters, boundaries, formats, layers, volumes, levels, gathers, writes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from cuda.bindings import driver

from .bindings_rig import Array, Module, call, same, upload

SOURCE = r"""
typedef unsigned long long u64;
#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
extern "C" __global__ void plane(u64 t, const float *x, const float *y, float4 *o, int n)
{ PLACE o[i] = tex2D<float4>(t, x[i], y[i]); }
extern "C" __global__ void line(u64 t, const float *x, float *o, int n) { PLACE o[i] = tex1D<float>(t, x[i]); }
extern "C" __global__ void fetch(u64 t, const int *x, int *o, int n) { PLACE o[i] = tex1Dfetch<int>(t, x[i]); }
extern "C" __global__ void volume(u64 t, const float *x, const float *y, const float *z, float *o, int n) {
    PLACE o[i] = tex3D<float>(t, x[i], y[i], z[i]);
}
extern "C" __global__ void layers(u64 t, const float *x, const float *y, float *o, int n) {
    PLACE for (int k = 0; k < 4; k++) o[k * n + i] = tex2DLayered<float>(t, x[i], y[i], k);
}
extern "C" __global__ void levels(u64 t, const float *x, const float *y, float *o, int n) {
    PLACE for (int k = 0; k < 3; k++) o[k * n + i] = tex2DLod<float>(t, x[i], y[i], k);
}
extern "C" __global__ void gather(u64 t, const float *x, const float *y, float4 *o, int n)
{ PLACE o[i] = tex2Dgather<float4>(t, x[i], y[i], 2); }
extern "C" __global__ void numbers(u64 t, const float *x, const float *y, uint4 *o, int n)
{ PLACE o[i] = tex2D<uint4>(t, x[i], y[i]); }
extern "C" __global__ void turn(u64 from, u64 to, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 p = surf2Dread<uchar4>(from, x * 4, y);
    surf2Dwrite(make_uchar4(p.w, p.z, p.y, p.x), to, (w - 1 - x) * 4, h - 1 - y);
}
extern "C" __global__ void outside(u64 s, float *o, int w) {
    int x = threadIdx.x;
    o[x] = surf2Dread<float>(s, (x - 4) * 4, 1, cudaBoundaryModeZero);
    surf2Dwrite(1.0f, s, (x - 4) * 4, 99, cudaBoundaryModeZero);
}
extern "C" __global__ void raise(u64 s, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite(2 * surf3Dread<int>(s, x * 4, y, z) + z, s, x * 4, y, z);
}
"""

FORMATS = {
    np.dtype(np.uint8): driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8,
    np.dtype(np.int16): driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT16,
    np.dtype(np.float16): driver.CUarray_format.CU_AD_FORMAT_HALF,
    np.dtype(np.float32): driver.CUarray_format.CU_AD_FORMAT_FLOAT,
    np.dtype(np.int32): driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32,
    np.dtype(np.uint32): driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32,
}
MODES = driver.CUaddress_mode
WRAP, CLAMP, MIRROR, BORDER = (
    getattr(MODES, f"CU_TR_ADDRESS_MODE_{name}") for name in ("WRAP", "CLAMP", "MIRROR", "BORDER")
)
READ_AS_INTEGER, NORMALIZED = driver.CU_TRSF_READ_AS_INTEGER, driver.CU_TRSF_NORMALIZED_COORDINATES
LAYERED, SURFACE, GATHER = (
    driver.CUDA_ARRAY3D_LAYERED,
    driver.CUDA_ARRAY3D_SURFACE_LDST,
    driver.CUDA_ARRAY3D_TEXTURE_GATHER,
)


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def copy(array: Any, values: Array, back: bool = False) -> None:
    """Copy values of shape (depth, height, width, channels) to an array, or back."""
    depth, height, width, channels = values.shape
    job = driver.CUDA_MEMCPY3D()
    row = width * channels * values.itemsize
    job.WidthInBytes, job.Height, job.Depth = row, height, depth
    host, device = driver.CUmemorytype.CU_MEMORYTYPE_HOST, driver.CUmemorytype.CU_MEMORYTYPE_ARRAY
    if back:
        job.srcMemoryType, job.srcArray = device, array
        job.dstMemoryType, job.dstHost, job.dstPitch, job.dstHeight = host, values.ctypes.data, row, height
    else:
        job.dstMemoryType, job.dstArray = device, array
        job.srcMemoryType, job.srcHost, job.srcPitch, job.srcHeight = host, values.ctypes.data, row, height
    call(driver.cuMemcpy3D, job)


def descriptor(values: Array, axes: int, flags: int = 0) -> Any:
    result = driver.CUDA_ARRAY3D_DESCRIPTOR()
    depth, height, width, channels = values.shape
    result.Width, result.Height, result.Depth = (
        width,
        height if axes > 1 else 0,
        depth if axes > 2 or flags & LAYERED else 0,
    )
    result.Format, result.NumChannels, result.Flags = FORMATS[values.dtype], channels, flags
    return result


@contextmanager
def array_of(values: Array, axes: int, flags: int = 0) -> Iterator[Any]:
    """An array with values of shape (depth, height, width, channels)."""
    values = np.ascontiguousarray(values)
    array = call(driver.cuArray3DCreate, descriptor(values, axes, flags))
    copy(array, values)
    yield array
    call(driver.cuArrayDestroy, array)


@contextmanager
def texture_of(
    array: Any, mode: Any = CLAMP, linear: bool = False, flags: int = 0, mipmapped: bool = False
) -> Iterator[Any]:
    resource, sampler = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
    kinds = driver.CUresourcetype
    if mipmapped:
        resource.resType, resource.res.mipmap.hMipmappedArray = kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, array
        sampler.maxMipmapLevelClamp = 16.0
    else:
        resource.resType, resource.res.array.hArray = kinds.CU_RESOURCE_TYPE_ARRAY, array
    sampler.addressMode = [mode] * 3
    filters = driver.CUfilter_mode
    sampler.filterMode = filters.CU_TR_FILTER_MODE_LINEAR if linear else filters.CU_TR_FILTER_MODE_POINT
    sampler.flags = flags
    texture = call(driver.cuTexObjectCreate, resource, sampler, None)
    yield np.uint64(int(texture))
    call(driver.cuTexObjectDestroy, texture)


@contextmanager
def surface_of(array: Any) -> Iterator[Any]:
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType, resource.res.array.hArray = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY, array
    surface = call(driver.cuSurfObjectCreate, resource)
    yield np.uint64(int(surface))
    call(driver.cuSurfObjectDestroy, surface)


def place(index: Array, size: int, mode: Any) -> tuple[Array, Array]:
    """The texels at indices, and whether they are inside."""
    inside = (index >= 0) & (index < size)
    if mode == WRAP:
        return index % size, inside | True
    if mode == MIRROR:
        turn = index % (2 * size)
        return np.where(turn < size, turn, 2 * size - 1 - turn), inside | True
    return np.clip(index, 0, size - 1), inside if mode == BORDER else inside | True


def texel(values: Array, x: Array, y: Array, mode: Any) -> Array:
    """values[y, x] with the boundary's rule."""
    (column, in_x), (row, in_y) = place(x, values.shape[1], mode), place(y, values.shape[0], mode)
    return np.where((in_x & in_y)[:, None], values[row, column], values.dtype.type(0))


def weight(position: Array) -> tuple[Array, Array]:
    """The index below a position, and the weight of the next texel in 8 bits."""
    fixed = np.floor((position - 0.5) * 256 + 0.5)
    return (fixed // 256).astype(int), fixed % 256 / 256


def linear(values: Array, x: Array, y: Array, mode: Any) -> Array:
    (left, a), (top, b) = weight(x), weight(y)
    a, b = a[:, None], b[:, None]
    upper = (1 - a) * texel(values, left, top, mode) + a * texel(values, left + 1, top, mode)
    lower = (1 - a) * texel(values, left, top + 1, mode) + a * texel(values, left + 1, top + 1, mode)
    return np.asarray((1 - b) * upper + b * lower)


def coordinates(seed: int, *sizes: int, count: int = 512) -> list[Array]:
    """Positions around an image, on a grid of 1/32 texel: none is between two weights."""
    generator = np.random.default_rng(seed)
    return [(generator.integers(-size * 16, size * 48, count) / 32 + 1 / 128).astype(np.float32) for size in sizes]


def near(actual: Array, expected: Array, tolerance: float) -> None:
    worst = float(np.abs(actual.astype(np.float64) - expected).max())
    assert worst <= tolerance, f"{worst} is more than {tolerance}"


def check_nearest_texels_with_each_boundary() -> None:
    values = np.random.default_rng(0).normal(size=(1, 6, 9, 4)).astype(np.float32)
    x, y = coordinates(1, 9, 6)
    with array_of(values, 2) as array:
        for mode, normalized in ((CLAMP, False), (BORDER, False), (WRAP, True), (MIRROR, True)):
            scale = (np.float32(1 / 16), np.float32(1 / 8)) if normalized else (1, 1)
            if normalized:  # sizes that are powers of two keep the positions exact
                wide = np.random.default_rng(2).normal(size=(1, 8, 16, 4)).astype(np.float32)
                with array_of(wide, 2) as other, texture_of(other, mode, flags=NORMALIZED) as texture:
                    u, v = coordinates(3, 16, 8)
                    o = module().run(
                        "plane",
                        8,
                        64,
                        texture,
                        u * scale[0],
                        v * scale[1],
                        np.zeros((512, 4), np.float32),
                        np.int32(512),
                    )[2]
                    same(o, texel(wide[0], np.floor(u).astype(int), np.floor(v).astype(int), mode), str(mode))
                continue
            with texture_of(array, mode) as texture:
                o = module().run("plane", 8, 64, texture, x, y, np.zeros((512, 4), np.float32), np.int32(512))[2]
                same(o, texel(values[0], np.floor(x).astype(int), np.floor(y).astype(int), mode), str(mode))


def check_linear_filtering() -> None:
    values = np.random.default_rng(4).uniform(-1, 1, size=(1, 6, 9, 4)).astype(np.float32)
    x, y = coordinates(5, 9, 6)
    with array_of(values, 2) as array:
        for mode in (CLAMP, BORDER):
            with texture_of(array, mode, linear=True) as texture:
                o = module().run("plane", 8, 64, texture, x, y, np.zeros((512, 4), np.float32), np.int32(512))[2]
                near(o, linear(values[0].astype(np.float64), x.astype(np.float64), y.astype(np.float64), mode), 2**-7)


def check_bytes_as_fractions_and_as_numbers() -> None:
    values = np.random.default_rng(6).integers(0, 256, (1, 5, 7, 4)).astype(np.uint8)
    x, y = coordinates(7, 7, 5)
    expected = texel(values[0], np.floor(x).astype(int), np.floor(y).astype(int), CLAMP)
    with array_of(values, 2) as array:
        with texture_of(array) as texture:
            o = module().run("plane", 8, 64, texture, x, y, np.zeros((512, 4), np.float32), np.int32(512))[2]
            near(o, expected / 255, 2**-24)
        with texture_of(array, flags=READ_AS_INTEGER) as texture:
            o = module().run("numbers", 8, 64, texture, x, y, np.zeros((512, 4), np.uint32), np.int32(512))[2]
            same(o, expected)


def check_halves_in_a_line() -> None:
    values = np.random.default_rng(8).normal(size=(1, 1, 40, 1)).astype(np.float16)
    (x,) = coordinates(9, 40)
    with array_of(values, 1) as array, texture_of(array) as texture:
        o = module().run("line", 8, 64, texture, x, np.zeros(512, np.float32), np.int32(512))[1]
        same(o, values[0, 0, np.clip(np.floor(x).astype(int), 0, 39), 0])


def check_linear_memory() -> None:
    values = np.random.default_rng(10).integers(-(2**31), 2**31, 100).astype(np.int32)
    resource, sampler = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
    resource.resType, memory = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR, upload(values)
    resource.res.linear.devPtr, resource.res.linear.sizeInBytes = memory, values.nbytes
    resource.res.linear.format, resource.res.linear.numChannels = FORMATS[values.dtype], 1
    sampler.flags = READ_AS_INTEGER
    texture = call(driver.cuTexObjectCreate, resource, sampler, None)
    x = np.arange(128, dtype=np.int32) % 100
    same(module().run("fetch", 2, 64, np.uint64(int(texture)), x, np.zeros(128, np.int32), np.int32(128))[1], values[x])
    call(driver.cuTexObjectDestroy, texture)
    call(driver.cuMemFree, memory)


def check_volumes() -> None:
    values = np.random.default_rng(11).normal(size=(4, 5, 6, 1)).astype(np.float32)
    x, y, z = coordinates(12, 6, 5, 4)
    with array_of(values, 3) as array, texture_of(array) as texture:
        o = module().run("volume", 8, 64, texture, x, y, z, np.zeros(512, np.float32), np.int32(512))[3]
        index = [np.clip(np.floor(p).astype(int), 0, size - 1) for p, size in ((z, 4), (y, 5), (x, 6))]
        same(o, values[(*index, 0)])


def check_layers() -> None:
    values = np.random.default_rng(13).normal(size=(4, 5, 6, 1)).astype(np.float32)
    x, y = coordinates(14, 6, 5)
    with array_of(values, 2, LAYERED) as array, texture_of(array) as texture:
        o = module().run("layers", 8, 64, texture, x, y, np.zeros((4, 512), np.float32), np.int32(512))[2]
        same(o, values[:, np.clip(np.floor(y).astype(int), 0, 4), np.clip(np.floor(x).astype(int), 0, 5), 0])


def check_levels() -> None:
    generator = np.random.default_rng(15)
    images = [generator.normal(size=(1, 8 >> level, 16 >> level, 1)).astype(np.float32) for level in range(3)]
    pyramid = call(driver.cuMipmappedArrayCreate, descriptor(images[0], 2), 3)
    for level, values in enumerate(images):
        copy(call(driver.cuMipmappedArrayGetLevel, pyramid, level), values)
    x, y = ((generator.integers(0, 64, 256) / 64 + 1 / 256).astype(np.float32) for _ in range(2))
    with texture_of(pyramid, flags=NORMALIZED, mipmapped=True) as texture:
        o = module().run("levels", 4, 64, texture, x, y, np.zeros((3, 256), np.float32), np.int32(256))[2]
    for level, values in enumerate(images):
        _, height, width, _ = values.shape
        same(
            o[level], values[0, np.floor(y * height).astype(int), np.floor(x * width).astype(int), 0], f"level {level}"
        )
    call(driver.cuMipmappedArrayDestroy, pyramid)


def check_gathers() -> None:
    values = np.random.default_rng(16).normal(size=(1, 6, 9, 4)).astype(np.float32)
    x, y = coordinates(17, 9, 6)
    with array_of(values, 2, GATHER) as array, texture_of(array) as texture:
        o = module().run("gather", 8, 64, texture, x, y, np.zeros((512, 4), np.float32), np.int32(512))[2]
    left, top = np.floor(x - 0.5).astype(int), np.floor(y - 0.5).astype(int)
    corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
    same(o, np.stack([texel(values[0], left + dx, top + dy, CLAMP)[:, 2] for dx, dy in corners], 1))


def check_surfaces() -> None:
    values = np.random.default_rng(18).integers(0, 256, (1, 11, 20, 4)).astype(np.uint8)
    result = np.zeros_like(values)
    with (
        array_of(values, 2, SURFACE) as one,
        array_of(result, 2, SURFACE) as two,
        surface_of(one) as source,
        surface_of(two) as target,
    ):
        module().run("turn", (2, 2), (16, 8), source, target, np.int32(20), np.int32(11))
        copy(two, result, back=True)
    same(result, values[:, ::-1, ::-1, ::-1])


def check_surfaces_outside() -> None:
    values = np.random.default_rng(19).normal(size=(1, 3, 8, 1)).astype(np.float32)
    after = np.zeros_like(values)
    with array_of(values, 2, SURFACE) as array:
        with surface_of(array) as surface:
            o = module().run("outside", 1, 16, surface, np.zeros(16, np.float32), np.int32(8))[0]
        copy(array, after, back=True)
    same(o, np.concatenate([np.zeros(4), values[0, 1, :, 0], np.zeros(4)]).astype(np.float32))
    same(after, values)


def check_surfaces_of_volumes() -> None:
    values = np.random.default_rng(20).integers(-99, 99, (3, 4, 8, 1)).astype(np.int32)
    after = np.zeros_like(values)
    with array_of(values, 3, SURFACE) as array:
        with surface_of(array) as surface:
            module().run("raise", 3, (8, 4), surface, np.int32(8), np.int32(4))
        copy(array, after, back=True)
    same(after, 2 * values + np.arange(3).reshape(3, 1, 1, 1))
