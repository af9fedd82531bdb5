"""Images, views, samplers and copies, compared with numpy."""

from __future__ import annotations

import warnings

import numpy as np

import bindless as bl
from bindless.model.errors import SamplerWarning
from tests.level_zero_driver.formats import PACKED, PLAIN, decoded, random_pixels, required, swizzled, ze_format
from tests.level_zero_driver.rig import Rig, ffi, lib

FETCH = """
kernel void fetch_f(read_only image2d_t image, global float4 *out)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    out[at.y * get_image_width(image) + at.x] = read_imagef(image, at);
}
kernel void fetch_i(read_only image2d_t image, global int4 *out)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    out[at.y * get_image_width(image) + at.x] = read_imagei(image, at);
}
kernel void fetch_u(read_only image2d_t image, global uint4 *out)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    out[at.y * get_image_width(image) + at.x] = read_imageui(image, at);
}
kernel void write_f(write_only image2d_t image, global const float4 *in)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    write_imagef(image, at, in[at.y * get_image_width(image) + at.x]);
}
kernel void write_i(write_only image2d_t image, global const int4 *in)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    write_imagei(image, at, in[at.y * get_image_width(image) + at.x]);
}
kernel void write_u(write_only image2d_t image, global const uint4 *in)
{
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    write_imageui(image, at, in[at.y * get_image_width(image) + at.x]);
}
kernel void sample(read_only image2d_t image, sampler_t sampler, global const float2 *at, global float4 *out)
{
    out[get_global_id(0)] = read_imagef(image, sampler, at[get_global_id(0)]);
}
"""
W, H = 7, 5
LETTER = {"UINT": "u", "SINT": "i", "UNORM": "f", "SNORM": "f", "FLOAT": "f"}
DTYPE = {"u": np.uint32, "i": np.int32, "f": np.float32}


def check_every_format_is_read_and_written(rig: Rig) -> None:
    """Every format of the table: copied in, read by a kernel, written by a kernel, copied out."""
    generator = np.random.default_rng(1)
    kernels = {
        f"{what}_{letter}": rig.compiled(FETCH, f"{what}_{letter}") for what in ("fetch", "write") for letter in "fiu"
    }
    for number, (layout, kind) in enumerate(required()):
        swizzle = ("RGBA", "BGRA", "R001", "GARX", "1XB0")[number % 5]
        letter = LETTER[kind]
        image = rig.image(rig.image_desc(ze_format(layout, kind, swizzle), W, H))
        pixels = random_pixels(layout, kind, W * H, generator)
        rig.upload(image, pixels)
        assert np.array_equal(rig.download(image, pixels), pixels), (layout, kind)
        pointer, out = rig.array(np.zeros((W * H, 4), DTYPE[letter]))
        rig.launch(kernels[f"fetch_{letter}"], (W, H), image, pointer)
        expected = swizzled(decoded(layout, kind, pixels), swizzle)
        if letter == "f":
            np.testing.assert_allclose(out, expected, rtol=2e-7, atol=1e-30, err_msg=f"{layout} {kind} {swizzle}")
        else:
            assert np.array_equal(out.astype(np.int64), expected), (layout, kind, swizzle)
        plain = rig.image(rig.image_desc(ze_format(layout, kind), W, H))
        pointer, _ = rig.array(swizzled(decoded(layout, kind, pixels), "RGBA").astype(DTYPE[letter]))
        rig.launch(kernels[f"write_{letter}"], (W, H), plain, pointer)
        found = decoded(layout, kind, rig.download(plain, pixels))
        np.testing.assert_allclose(
            found, decoded(layout, kind, pixels), rtol=2e-7, atol=1e-9, err_msg=f"{layout} {kind}"
        )


def check_integers_out_of_range_are_saturated(rig: Rig) -> None:
    """An integer outside a channel's range becomes the nearest value in range."""
    generator = np.random.default_rng(3)
    edges = {"UINT": [0, 1, 3, 4, 255, 256, 1023, 1024, 65535, 65536, 2**31, 2**32 - 1]}
    edges["SINT"] = [s * e + d for e in (0, 2, 128, 512, 32768, 2**31 - 2) for s in (-1, 1) for d in (-1, 0, 1)]
    for layout, kind in required():
        if kind not in edges:
            continue
        letter = LETTER[kind]
        values = generator.choice(np.array(edges[kind], np.int64), (W * H, 4))
        image = rig.image(rig.image_desc(ze_format(layout, kind), W, H))
        pointer, _ = rig.array(values.astype(DTYPE[letter]))
        rig.launch(rig.compiled(FETCH, f"write_{letter}"), (W, H), image, pointer)
        found = decoded(layout, kind, rig.download(image, random_pixels(layout, kind, W * H, generator)))
        bits = np.array([width for _, width in PACKED[layout][1]] if layout in PACKED else PLAIN[layout])
        low, high = (0 * bits, 2**bits - 1) if kind == "UINT" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        assert np.array_equal(found, np.clip(values[:, : len(bits)], low, high)), (layout, kind)


def check_every_format_is_sampled(rig: Rig) -> None:
    """Linear filtering at the common corner of four texels returns their mean."""
    generator = np.random.default_rng(2)
    kernel = rig.compiled(FETCH, "sample")
    sampler = rig.sampler("CLAMP", "LINEAR", False)
    grid = np.stack(np.meshgrid(np.arange(1.0, W), np.arange(1.0, H)), -1).reshape(-1, 2).astype(np.float32)
    at, _ = rig.array(grid)
    for layout, kind in required():
        if kind in ("UINT", "SINT"):
            continue
        image = rig.image(rig.image_desc(ze_format(layout, kind), W, H))
        pixels = random_pixels(layout, kind, W * H, generator)
        rig.upload(image, pixels)
        pointer, out = rig.array(np.zeros((len(grid), 4), np.float32))
        rig.launch(kernel, (len(grid),), image, sampler, at, pointer)
        values = swizzled(decoded(layout, kind, pixels).astype(np.float64), "RGBA").reshape(H, W, 4)
        mean = (values[:-1, :-1] + values[1:, :-1] + values[:-1, 1:] + values[1:, 1:]).reshape(-1, 4) / 4
        # The lowest SNORM code counts as one below -1 until the sum is clamped; halves have eleven bits.
        near = {
            "SNORM": 4e-3,
            "UNORM": 1e-4,
            "FLOAT": (2e-3 if layout.startswith("16") else 1e-6) * np.abs(values).max(),
        }
        np.testing.assert_allclose(out, mean, atol=near[kind], err_msg=f"{layout} {kind}")


def check_properties(rig: Rig) -> None:
    """zeImageGetProperties reports supported formats and filtering."""
    offered = set(required())
    for layout in (*PLAIN, *PACKED, "NV12", "P216"):
        for kind in ("UINT", "SINT", "UNORM", "SNORM", "FLOAT"):
            support = rig.struct("ze_image_format_support_ext_properties_t")
            properties = rig.struct("ze_image_properties_t", support)
            desc = rig.image_desc(ze_format(layout, kind), 4, 4)
            rig.call("zeImageGetProperties", rig.device, desc, properties)
            assert bool(support.supported) == ((layout, kind) in offered), (layout, kind)
            linear = bool(properties.samplerFilterFlags & lib.ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR)
            assert linear == ((layout, kind) in offered), (layout, kind)
            if (layout, kind) not in offered:
                plain = rig.struct("ze_image_properties_t")
                rig.fails("UNSUPPORTED_IMAGE_FORMAT", "layout", "zeImageGetProperties", rig.device, desc, plain)
    pitched = rig.struct("ze_device_pitched_alloc_exp_properties_t")
    limits = rig.struct("ze_device_image_properties_t", pitched)
    rig.call("zeDeviceGetImageProperties", rig.device, limits)
    assert limits.maxImageDims1D == 131072 and limits.maxImageDims2D == 65536 and limits.maxImageDims3D == 16384
    properties = rig.struct("ze_image_properties_t")
    for kind, *extents in (
        ("1D", limits.maxImageDims1D),
        ("1DARRAY", limits.maxImageDims1D),
        ("2D", limits.maxImageDims2D, limits.maxImageDims2D),
        ("2DARRAY", limits.maxImageDims2D, limits.maxImageDims2D),
        ("3D", *[limits.maxImageDims3D] * 3),
        ("BUFFER", limits.maxImageBufferSize),
    ):
        desc = rig.image_desc(
            ze_format("8", "UINT"), *extents, type=getattr(lib, f"ZE_IMAGE_TYPE_{kind}"), arraylevels=2
        )
        rig.call("zeImageGetProperties", rig.device, desc, properties)  # the reported maximum size of every type
    assert (
        limits.maxImageArraySlices == 2048
        and pitched.maxImageLinearWidth == 131072
        and pitched.maxImageLinearHeight == 65000
    )


# Type, extents (x, y, z), layers, and the shape of its pixels.
SHAPES = (
    ("1D", (9,), 0, (9,)),
    ("1DARRAY", (9,), 4, (4, 9)),
    ("2D", (9, 6), 0, (6, 9)),
    ("2DARRAY", (9, 6), 3, (3, 6, 9)),
    ("3D", (9, 6, 4), 0, (4, 6, 9)),
    ("BUFFER", (300000,), 0, (300000,)),
)


def _region(x: int, y: int, z: int, width: int, height: int, depth: int) -> object:
    return ffi.new("ze_image_region_t *", [x, y, z, width, height, depth])


def check_copies_of_every_type(rig: Rig) -> None:
    """Whole images and regions, to and from pitched memory, and between images."""
    generator = np.random.default_rng(3)
    for name, extents, layers, shape in SHAPES:
        kind = getattr(lib, f"ZE_IMAGE_TYPE_{name}")
        desc = rig.image_desc(ze_format("16_16", "UINT"), *extents, type=kind, arraylevels=layers)
        image, other = rig.image(desc), rig.image(desc)
        pixels = generator.integers(0, 2**32, shape, dtype=np.uint32)
        rig.upload(image, pixels)
        assert np.array_equal(rig.download(image, pixels), pixels), name
        rig.append("zeCommandListAppendImageCopy", other, image)
        assert np.array_equal(rig.download(other, pixels), pixels), name
        # A region in the middle, in the order (z, y, x); the layers of 1D arrays are in y.
        cut = tuple(slice(1, size - 1) for size in shape)
        part = [*(size - 2 for size in reversed(shape)), 1, 1][:3]
        start = [*([1] * len(shape)), 0, 0][:3]
        region = _region(*start, *part)
        fresh = generator.integers(0, 2**32, pixels[cut].shape, dtype=np.uint32)
        rig.upload(image, fresh, region)
        pixels[cut] = fresh
        assert np.array_equal(rig.download(image, pixels), pixels), name
        assert np.array_equal(rig.download(image, fresh, region), fresh), name
        # To another position in the other image, one pixel to the left.
        target = _region(0, *start[1:], *part)
        rig.append("zeCommandListAppendImageCopyRegion", other, image, target, region)
        assert np.array_equal(rig.download(other, fresh, target), fresh), name
        _check_pitches(rig, image, pixels, cut, region)


def _check_pitches(rig: Rig, image: object, pixels: np.ndarray, cut: tuple[slice, ...], region: object) -> None:
    """Rows padded by 3 pixels and slices by 5; copies leave the padding unchanged."""
    part = pixels[cut]
    rows, slices = (part.shape[-2] if part.ndim > 1 else 1), (part.shape[0] if part.ndim > 2 else 1)
    row = part.shape[-1] + 3
    depth = row * rows + 5
    padded = np.full(depth * slices, 0xABCDEF01, np.uint32)
    places = (
        np.arange(slices)[:, None, None] * depth + np.arange(rows)[:, None] * row + np.arange(part.shape[-1])
    ).ravel()
    pitches = (4 * row, 4 * depth)
    if part.ndim == 2:
        pitches = (4 * row, 0)
    rig.append("zeCommandListAppendImageCopyToMemoryExt", ffi.from_buffer(padded), image, region, *pitches)
    expected = np.full_like(padded, 0xABCDEF01)
    expected[places] = part.ravel()
    assert np.array_equal(padded, expected)
    padded[places] ^= np.uint32(0xFFFF)
    rig.append("zeCommandListAppendImageCopyFromMemoryExt", image, ffi.from_buffer(padded), region, *pitches)
    pixels[cut] ^= np.uint32(0xFFFF)
    assert np.array_equal(rig.download(image, pixels), pixels)


def check_copies_of_nothing(rig: Rig) -> None:
    """Regions without pixels: the copy signals its event and changes neither pixel nor byte."""
    image = rig.image(rig.image_desc(ze_format("32", "UINT"), 8, 8))
    other = rig.image(rig.image_desc(ze_format("32", "UINT"), 8, 8))
    pixels = np.arange(64, dtype=np.uint32).reshape(8, 8)
    rig.upload(image, pixels)
    rig.upload(other, pixels + 100)
    memory = np.full(64, 0xABCDEF01, np.uint32)
    data = ffi.from_buffer(memory)
    for extent in ((0, 0, 0), (0, 8, 1), (8, 0, 1)):
        region = _region(3, 2, 0, *extent)
        rig.append("zeCommandListAppendImageCopyToMemory", data, image, region)
        rig.append("zeCommandListAppendImageCopyFromMemoryExt", image, data, region, 32, 0)
        rig.append("zeCommandListAppendImageCopyRegion", other, image, region, region)
        rig.append("zeCommandListAppendImageCopyRegion", image, image, region, region)
    assert (memory == 0xABCDEF01).all()
    assert np.array_equal(rig.download(image, pixels), pixels)
    assert np.array_equal(rig.download(other, pixels), pixels + 100)
    nothing = _region(0, 0, 0, 0, 0, 0)
    end = (ffi.NULL, 0, ffi.NULL)
    rig.fails(
        "INVALID_NULL_POINTER", "", "zeCommandListAppendImageCopyToMemory", rig.list, ffi.NULL, image, nothing, *end
    )
    rig.fails(
        "INVALID_SIZE", "equal", "zeCommandListAppendImageCopyRegion", rig.list, other, image, nothing, ffi.NULL, *end
    )


def check_copies_refused(rig: Rig) -> None:
    image = rig.image(rig.image_desc(ze_format("32", "FLOAT"), 8, 8))
    wide = rig.image(rig.image_desc(ze_format("32_32", "FLOAT"), 8, 8))
    data = ffi.new("char[4096]")
    end = (ffi.NULL, 0, ffi.NULL)
    into, out = "zeCommandListAppendImageCopyFromMemoryExt", "zeCommandListAppendImageCopyToMemory"
    rig.fails("INVALID_SIZE", "exceeds the image of 8 x 8", out, rig.list, data, image, _region(1, 0, 0, 8, 8, 1), *end)
    rig.fails("INVALID_SIZE", "exceeds the image", out, rig.list, data, image, _region(0, 0, 2**32 - 1, 1, 1, 2), *end)
    rig.fails("INVALID_SIZE", "32 bytes of a row", into, rig.list, image, data, ffi.NULL, 28, 0, *end)
    region = "zeCommandListAppendImageCopyRegion"
    rig.fails(
        "OVERLAPPING_REGIONS",
        "overlap",
        region,
        rig.list,
        image,
        image,
        _region(0, 0, 0, 4, 4, 1),
        _region(3, 3, 0, 4, 4, 1),
        *end,
    )
    rig.append(region, image, image, _region(0, 0, 0, 4, 4, 1), _region(4, 0, 0, 4, 4, 1))
    rig.fails("INVALID_ARGUMENT", "equal size", region, rig.list, wide, image, ffi.NULL, ffi.NULL, *end)
    rig.fails(
        "INVALID_SIZE",
        "both must be equal",
        region,
        rig.list,
        image,
        image,
        _region(0, 0, 0, 4, 4, 1),
        _region(4, 4, 0, 4, 3, 1),
        *end,
    )
    small = rig.memory(256)
    rig.fails(
        "INVALID_SIZE", "leaves its allocation", out, rig.list, ffi.cast("char *", small) + 4, image, ffi.NULL, *end
    )


def check_views_read_other_formats(rig: Rig) -> None:
    """The same bytes read as floats and as bytes, also after the image is destroyed."""
    desc = rig.image_desc(ze_format("32", "FLOAT"), W, H)
    image = rig.image(desc)
    rig.forget()
    values = np.random.default_rng(4).normal(size=(H, W)).astype(np.float32)
    rig.upload(image, values)
    view = rig.view(rig.image_desc(ze_format("8_8_8_8", "UINT"), W, H), image)
    rig.call("zeImageDestroy", image)
    pointer, out = rig.array(np.zeros((H, W, 4), np.uint32))
    rig.launch(rig.compiled(FETCH, "fetch_u"), (W, H), view, pointer)
    assert np.array_equal(out, values.view(np.uint8).reshape(H, W, 4))
    assert np.array_equal(rig.download(view, values), values)
    again = rig.handle("ze_image_handle_t")
    make = ("zeImageViewCreateExt", rig.context, rig.device)
    rig.fails("UNSUPPORTED_IMAGE_FORMAT", "same size", *make, rig.image_desc(ze_format("8", "UINT"), W, H), view, again)
    rig.fails(
        "INVALID_ARGUMENT",
        "both must be the same",
        *make,
        rig.image_desc(ze_format("32", "UINT"), W + 1, H),
        view,
        again,
    )
    planar = rig.struct("ze_image_view_planar_ext_desc_t", planeIndex=0)
    rig.fails(
        "UNSUPPORTED_ENUMERATION",
        "stype",
        *make,
        rig.image_desc(ze_format("32", "UINT"), W, H, next=planar),
        view,
        again,
    )


def check_images_refused(rig: Rig) -> None:
    slot = rig.handle("ze_image_handle_t")
    make = ("zeImageCreate", rig.context, rig.device)
    good = ze_format("32", "FLOAT")
    rig.fails("UNSUPPORTED_IMAGE_FORMAT", "video", *make, rig.image_desc(ze_format("NV12", "UNORM"), 4, 4), slot)
    rig.fails(
        "UNSUPPORTED_IMAGE_FORMAT", "no such combination", *make, rig.image_desc(ze_format("8", "FLOAT"), 4, 4), slot
    )
    rig.fails("UNSUPPORTED_IMAGE_FORMAT", "depth", *make, rig.image_desc(ze_format("8", "UINT", "DGBA"), 4, 4), slot)
    rig.fails("UNSUPPORTED_SIZE", "width is 0", *make, rig.image_desc(good, 0, 4), slot)
    rig.fails("UNSUPPORTED_SIZE", "height is 65537", *make, rig.image_desc(good, 1, 65537), slot)
    rig.fails("UNSUPPORTED_SIZE", "1 to 131072", *make, rig.image_desc(good, 2**64 - 1, 1), slot)
    rig.fails("UNSUPPORTED_SIZE", "depth is 4294967295", *make, rig.image_desc(good, 1, 1, 2**32 - 1), slot)
    rig.fails(
        "UNSUPPORTED_SIZE", "bytes", *make, rig.image_desc(ze_format("32_32_32_32", "UINT"), 16384, 16384, 16384), slot
    )
    layers = rig.image_desc(good, 4, 4, type=lib.ZE_IMAGE_TYPE_2DARRAY, arraylevels=2049)
    rig.fails("UNSUPPORTED_SIZE", "arraylevels is 2049", *make, layers, slot)
    rig.fails("UNSUPPORTED_FEATURE", "mipmaps", *make, rig.image_desc(good, 4, 4, miplevels=2), slot)
    unknown = rig.struct("ze_fence_desc_t")
    rig.fails("UNSUPPORTED_ENUMERATION", "stype", *make, rig.image_desc(good, 4, 4, next=unknown), slot)
    sampled = rig.struct("ze_image_bindless_exp_desc_t", flags=3)
    rig.fails("INVALID_ARGUMENT", "without a sampler", *make, rig.image_desc(good, 4, 4, next=sampled), slot)
    twice = rig.struct("ze_image_bindless_exp_desc_t", rig.struct("ze_image_bindless_exp_desc_t", flags=1), flags=1)
    rig.fails("INVALID_ARGUMENT", "two structs", *make, rig.image_desc(good, 4, 4, next=twice), slot)
    image = rig.image(rig.image_desc(good, 4, 4))
    rig.fails("INVALID_ARGUMENT", "not bindless", "zeImageGetDeviceOffsetExp", image, ffi.new("uint64_t *"))
    rig.forget()
    rig.call("zeImageDestroy", image)
    rig.fails("INVALID_ARGUMENT", "", "zeImageDestroy", image)
    rig.fails("INVALID_ARGUMENT", "", "zeImageDestroy", ffi.cast("ze_image_handle_t", 0x1234000))
    rig.fails("INVALID_ARGUMENT", "", "zeImageDestroy", ffi.cast("ze_image_handle_t", rig.context))


def check_memory_properties(rig: Rig) -> None:
    image = rig.image(rig.image_desc(ze_format("16_16_16", "FLOAT"), 10, 4, 3))
    properties = rig.struct("ze_image_memory_properties_exp_t")
    rig.call("zeImageGetMemoryPropertiesExp", image, properties)
    assert (properties.rowPitch, properties.slicePitch, properties.size) == (60, 240, 720)
    allocation = rig.struct("ze_image_allocation_ext_properties_t")
    rig.call("zeImageGetAllocPropertiesExt", rig.context, image, allocation)
    assert allocation.id != 0


# ---------------------------------------------------------------------- bindless images


BINDLESS = """
#include <bindless/device.h>
kernel void gather(sampled_image_handle image, global const float2 *at, global float4 *out)
{
    out[bindless_global_id(0)] = sample_image_float4(image, at[bindless_global_id(0)]);
}
kernel void store(unsampled_image_handle image, global const float4 *in)
{
    const int i = (int)bindless_global_id(0);
    write_image(image, (int2)(i % 7, i / 7), in[i]);
}
kernel void line(sampled_image_handle image, global const float *at, global float4 *out)
{
    out[bindless_global_id(0)] = sample_image_float4(image, at[bindless_global_id(0)]);
}
"""
MODES = {
    "NONE": "none",
    "REPEAT": "repeat",
    "CLAMP": "clamp_to_edge",
    "CLAMP_TO_BORDER": "clamp",
    "MIRROR": "mirrored_repeat",
}


def _points(count: int, *sizes: int) -> np.ndarray:
    """Random coordinates in and around an image."""
    return np.random.default_rng(5).uniform(-1.5, 2.5, (count, len(sizes))).astype(np.float32) * np.array(
        sizes, np.float32
    )


def check_samplers_as_the_reference(rig: Rig) -> None:
    """Every mode through a sampler argument, a bindless view and a pitched image equals the reference bit for bit."""
    pixels = np.random.default_rng(6).normal(size=(H, W, 4)).astype(np.float32)
    desc = rig.image_desc(ze_format("32_32_32_32", "FLOAT"), W, H)
    plain = rig.image(desc)
    rig.upload(plain, pixels)
    pitch = ffi.new("size_t *")
    rig.call("zeMemGetPitchFor2dImage", rig.context, rig.device, W, H, 16, pitch)
    usm = rig.memory(pitch[0] * H, "Device")
    rows = ffi.new("ze_copy_region_t *", [0, 0, 0, W * 16, H, 0])
    source = ffi.from_buffer(pixels)
    rig.append("zeCommandListAppendMemoryCopyRegion", usm, rows, pitch[0], 0, source, rows, W * 16, 0)
    classic, bindless = rig.compiled(FETCH, "sample"), rig.compiled(BINDLESS, "gather")
    for normalized in (False, True):
        at, points = rig.array(_points(500, *((1, 1) if normalized else (W, H))))
        for mode, name in MODES.items():
            for filter in ("NEAREST", "LINEAR"):
                expected = _reference(pixels, points, name, filter == "LINEAR", normalized)
                chain = rig.sampler_desc(mode, filter, normalized)
                flags = rig.struct("ze_image_bindless_exp_desc_t", chain, flags=3)
                view = rig.view(rig.image_desc(ze_format("32_32_32_32", "FLOAT"), W, H, next=flags), plain)
                end = rig.struct("ze_image_pitched_exp_desc_t", ptr=usm)
                chain = rig.struct("ze_image_bindless_exp_desc_t", _copy(rig, chain, end), flags=3)
                pitched = rig.image(rig.image_desc(ze_format("32_32_32_32", "FLOAT"), W, H, next=chain))
                sampler = rig.sampler(mode, filter, normalized)
                for kernel, arguments in (
                    (classic, (plain, sampler)),
                    (bindless, (np.uint64(rig.offset(view)),)),
                    (bindless, (np.uint64(rig.offset(pitched)),)),
                ):
                    pointer, out = rig.array(np.zeros((500, 4), np.float32))
                    rig.launch(kernel, (500,), *arguments, at, pointer)
                    assert np.array_equal(out, expected), (mode, filter, normalized)


def _copy(rig: Rig, sampler: object, next: object) -> object:
    """The same sampler description with another struct chained to it."""
    members = {name: getattr(sampler, name) for name in ("addressMode", "filterMode", "isNormalized")}
    return rig.struct("ze_sampler_desc_t", next, **members)


def check_unsampled_bindless_writes(rig: Rig) -> None:
    """Writes through the handle of a bindless image, of a view of it, and of a pitched image with a user's pitch."""
    flags = rig.struct("ze_image_bindless_exp_desc_t", flags=1)
    desc = rig.image_desc(ze_format("16_16_16_16", "FLOAT"), W, H, next=flags)
    image = rig.image(desc)
    rig.call("zeContextMakeImageResident", rig.context, rig.device, image)
    pitch = 8 * W + 24
    usm = rig.memory(pitch * H)
    custom = rig.struct("ze_custom_pitch_exp_desc_t", rowPitch=pitch, slicePitch=0)
    chain = rig.struct(
        "ze_image_bindless_exp_desc_t", rig.struct("ze_image_pitched_exp_desc_t", custom, ptr=usm), flags=1
    )
    pitched = rig.image(rig.image_desc(ze_format("16_16_16_16", "FLOAT"), W, H, next=chain))
    kernel = rig.compiled(BINDLESS, "store")
    for target in (image, rig.view(desc, image), pitched):
        values = np.random.default_rng(7).normal(size=(H * W, 4)).astype(np.float16)
        pointer, _ = rig.array(values.astype(np.float32))
        rig.launch(kernel, (W * H,), np.uint64(rig.offset(target)), pointer)
        assert np.array_equal(rig.download(target, values), values)
    rows = np.frombuffer(ffi.buffer(usm, pitch * H), np.float16).reshape(H, pitch // 2)
    assert np.array_equal(rows[:, : 4 * W], values.reshape(H, 4 * W)) and not rows[:, 4 * W :].any()
    rig.call("zeContextEvictImage", rig.context, rig.device, image)


def check_pitched_images_refused(rig: Rig) -> None:
    slot = rig.handle("ze_image_handle_t")
    usm = ffi.cast("char *", rig.memory(4096, "Device"))
    host = ffi.new("char[8192]")

    def desc(pointer: object, row: int = 0, **members: object) -> object:
        custom = rig.struct("ze_custom_pitch_exp_desc_t", rowPitch=row, slicePitch=0)
        pitched = rig.struct("ze_image_pitched_exp_desc_t", custom, ptr=pointer)
        return rig.image_desc(ze_format("32", "FLOAT"), 16, 8, next=pitched, **members)

    make = ("zeImageCreate", rig.context, rig.device)
    rig.fails("INVALID_NULL_POINTER", "ptr", *make, desc(ffi.NULL), slot)
    rig.fails("UNSUPPORTED_ALIGNMENT", "multiple of 64", *make, desc(usm + 4), slot)
    rig.fails("INVALID_SIZE", "remain in the allocation", *make, desc(usm + 3648), slot)
    rig.fails("UNSUPPORTED_SIZE", "row pitch of 60", *make, desc(usm, 60), slot)
    rig.fails("INVALID_ARGUMENT", "multiple of 4", *make, desc(usm, 66), slot)
    rig.fails("INVALID_ARGUMENT", "no allocation", *make, desc(host + 64 - int(ffi.cast("uintptr_t", host)) % 64), slot)
    rig.fails("UNSUPPORTED_FEATURE", "1D and 2D images", *make, desc(usm, depth=1, type=lib.ZE_IMAGE_TYPE_3D), slot)
    rig.image(desc(usm + 3584))
    pitch = ffi.new("size_t *")
    rig.fails("UNSUPPORTED_SIZE", "0 x 4", "zeMemGetPitchFor2dImage", rig.context, rig.device, 0, 4, 4, pitch)
    rig.fails("INVALID_SIZE", "1 to 16", "zeMemGetPitchFor2dImage", rig.context, rig.device, 4, 4, 17, pitch)
    for mode in (5, -1):
        wrong = rig.struct("ze_sampler_desc_t", addressMode=mode)
        rig.fails(
            "INVALID_ENUMERATION",
            "",
            "zeSamplerCreate",
            rig.context,
            rig.device,
            wrong,
            rig.handle("ze_sampler_handle_t"),
        )


def _reference(image: np.ndarray, at: np.ndarray, addressing: str, linear: bool, normalized: bool) -> np.ndarray:
    """The same samples computed by the reference driver."""
    queue = bl.Queue(bl.Device("reference:*:*"))
    desc = bl.ImageDescriptor.from_array(image)
    kind, filtering = "normalized" if normalized else "unnormalized", "linear" if linear else "nearest"
    sampler = bl.BindlessImageSampler(addressing, kind, filtering)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(image, memory).wait()
        with warnings.catch_warnings():  # the warning that unnormalized coordinates do not repeat
            warnings.simplefilter("ignore", SamplerWarning)
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
        values = bl.sample_image(queue, handle, at, num_channels=4)
        bl.destroy_image_handle(handle, queue)
    return np.asarray(values)
