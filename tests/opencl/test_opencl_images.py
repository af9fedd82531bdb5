"""Images and samplers as parameters, and the examples' arithmetic: one module on both devices.

Reads, writes, copies and nearest texels are bit-exact. An OpenCL CPU filters with full weights, a texture unit with
eight-bit weights: linear samples differ by at most 1/256 of the difference of neighbouring texels, in each dimension.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.opencl.peers import Picture, Sampler, Value

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
]

EXAMPLES = Path(__file__).parents[2] / "docs" / "gallery" / "programs"

SOURCE = """
#define COPY(name, type, at, letter) \\
    kernel void copy_##name##_##letter(read_only type in, write_only type out) \\
    { const int x = (int)get_global_id(0), y = (int)get_global_id(1), z = (int)get_global_id(2); (void)y; (void)z; \\
      write_image##letter(out, at, read_image##letter(in, at)); }
#define COPIES(name, type, at) COPY(name, type, at, f) COPY(name, type, at, i) COPY(name, type, at, ui)
COPIES(1, image1d_t, x)
COPIES(2, image2d_t, ((int2)(x, y)))
COPIES(3, image3d_t, ((int4)(x, y, z, 0)))
COPIES(layers, image2d_array_t, ((int4)(x, y, z, 0)))

kernel void sample1(read_only image1d_t image, sampler_t how, global const float4 *at, global float4 *out)
{ const size_t i = get_global_id(0); out[i] = read_imagef(image, how, at[i].x); }
kernel void sample2(read_only image2d_t image, sampler_t how, global const float4 *at, global float4 *out)
{ const size_t i = get_global_id(0); out[i] = read_imagef(image, how, at[i].xy); }
kernel void sample3(read_only image3d_t image, sampler_t how, global const float4 *at, global float4 *out)
{ const size_t i = get_global_id(0); out[i] = read_imagef(image, how, (float4)(at[i].xyz, 0)); }
kernel void whole2(read_only image2d_t image, sampler_t how, global const int4 *at, global uint4 *out)
{ const size_t i = get_global_id(0); out[i] = read_imageui(image, how, at[i].xy); }
kernel void sizes(read_only image3d_t a, read_only image2d_array_t b, global int *out)
{
    out[0] = get_image_width(a); out[1] = get_image_height(a); out[2] = get_image_depth(a);
    out[3] = get_image_width(b); out[4] = get_image_height(b); out[5] = (int)get_image_array_size(b);
}
kernel void blur(read_only image2d_t in, write_only image2d_t out)
{
    const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    uint4 sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += read_imageui(in, edge, at + (int2)(dx, dy));
    write_imageui(out, at, sum / 9u);
}
"""

FORMATS = {
    "unorm_int8": (np.uint8, "f"), "snorm_int16": (np.int16, "f"), "fp16": (np.float16, "f"), "fp32": (np.float32, "f"),
    "signed_int8": (np.int8, "i"), "signed_int16": (np.int16, "i"), "signed_int32": (np.int32, "i"),
    "unsigned_int8": (np.uint8, "ui"), "unsigned_int16": (np.uint16, "ui"), "unsigned_int32": (np.uint32, "ui"),
}  # fmt: skip
SHAPES = {"1": (37,), "2": (11, 13), "3": (5, 7, 9), "layers": (3, 7, 9)}


@pytest.fixture(scope="module")
def modules() -> dict[str, bytes]:
    """The SPIR-V module of each kernel."""
    sections = bl.build(SOURCE, targets="spirv").sections
    return {kernel: section.data for section in sections for kernel in section.kernels}


def _pixels(shape: tuple[int, ...], dtype: Any) -> Any:
    rng = np.random.default_rng(9)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("channel_type", FORMATS)
@pytest.mark.parametrize("geometry", SHAPES)
def test_copies(geometry: str, channel_type: str, modules: dict[str, bytes], both: Any) -> None:
    dtype, letter = FORMATS[channel_type]
    shape = (*SHAPES[geometry], 4)
    pixels, kernel = _pixels(shape, dtype), f"copy_{geometry}_{letter}"
    if channel_type == "snorm_int16":
        pixels = np.maximum(pixels, -32767)  # -1 is written as -32767
    layered = geometry == "layers"
    pictures = [Picture(content, channel_type, layered) for content in (pixels, np.zeros_like(pixels))]
    here, there = both(modules[kernel], kernel, shape[-2::-1], *pictures)
    for found in (here[1], there[1]):
        np.testing.assert_array_equal(found, pixels)


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "ext_oneapi_clamp_to_border", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_samples(dimensions: int, filtering: str, addressing: str, modules: dict[str, bytes], both: Any) -> None:
    shape = (16, 8, 32)[-dimensions:]
    pixels = np.random.default_rng(10).random((*shape, 4), np.float32)
    at = np.zeros((2000, 4), np.float32)
    # Multiples of 1/1024 off the texel edges: no coordinate depends on the last bit of a product.
    at[:, :dimensions] = (np.random.default_rng(11).integers(-1500, 2500, (2000, dimensions)) + 0.5) / 1024
    kernel = f"sample{dimensions}"
    sampler = Sampler(addressing, "normalized", filtering)
    out = np.zeros((2000, 4), np.float32)
    here, there = both(modules[kernel], kernel, 2000, Picture(pixels, "fp32"), sampler, at, out)
    if filtering == "nearest":
        np.testing.assert_array_equal(here[-1], there[-1])
    else:
        assert np.abs(here[-1] - there[-1]).max() <= dimensions / 256
        assert np.abs(here[-1] - there[-1]).mean() <= 0.25 * dimensions / 256


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "ext_oneapi_clamp_to_border"])
def test_whole_coordinates(addressing: str, modules: dict[str, bytes], both: Any) -> None:
    pixels = _pixels((9, 14, 4), np.uint16)
    at = np.random.default_rng(12).integers(-5, 20, (500, 4)).astype(np.int32)
    arguments = Picture(pixels, "unsigned_int16"), Sampler(addressing, "unnormalized", "nearest"), at
    here, there = both(modules["whole2"], "whole2", 500, *arguments, np.zeros((500, 4), np.uint32))
    np.testing.assert_array_equal(here[-1], there[-1])
    assert np.count_nonzero(here[-1]) > 300


def test_queries_and_samplers_in_the_source(modules: dict[str, bytes], both: Any) -> None:
    pictures = (
        Picture(np.zeros((2, 3, 5, 4), np.float32), "fp32"),
        Picture(np.zeros((6, 3, 7, 4), np.float32), "fp32", layered=True),
    )
    here, there = both(modules["sizes"], "sizes", 1, *pictures, np.zeros(6, np.int32))
    assert here[-1].tolist() == there[-1].tolist() == [5, 3, 2, 7, 3, 6]
    pixels = _pixels((12, 10, 4), np.uint8)
    given = [Picture(content, "unsigned_int8") for content in (pixels, np.zeros_like(pixels))]
    here, there = both(modules["blur"], "blur", (10, 12), *given)
    edge = np.pad(pixels.astype(int), ((1, 1), (1, 1), (0, 0)), "edge")
    wanted = sum(edge[dy : dy + 12, dx : dx + 10] for dy in range(3) for dx in range(3)) // 9
    for found in (here[1], there[1]):
        np.testing.assert_array_equal(found, wanted)


# ------------------------------------------------------------------ the examples

LENS = """
kernel void map(lens_t lens, global float2 *out)
{
    const float2 wanted = (pixel_centre() - lens.principal_point) / lens.focal_length;
    float2 p = wanted;
    for (int i = 0; i < 20; i++) p += wanted - distorted(p, &lens);
    out[2 * place()] = distorted(wanted, &lens) * lens.focal_length + lens.principal_point;
    out[2 * place() + 1] = p;
}
"""
ATLAS = """
kernel void cover(global const print_t *prints, uint count, global float4 *out)
{
    const size_t y = get_global_id(1), x = get_global_id(0), w = get_global_size(0), h = get_global_size(1);
    const float2 point = (float2)((float)x + 0.5f - 0.5f * (float)w, (float)y + 0.5f - 0.5f * (float)h) / (float)h;
    float4 sum = 0;
    for (uint i = 0; i < count; ++i) {
        const float2 at = within(point, prints + i);
        const float edge = outside(at, prints[i].half_size);
        sum += (float4)(at / prints[i].half_size, edge, smoothstep(0.02f, -0.02f, edge));
    }
    out[y * w + x] = sum;
}
"""


def _without_images(name: str) -> str:
    """An example's source without its image kernels: OpenCL accepts no module that contains one."""
    text = (EXAMPLES / name).read_text()
    for kernel in re.findall(r"^kernel void .*?^}\n", text, re.MULTILINE | re.DOTALL):
        if re.search(r"image_handle|(?:sample|fetch|write)_\w+\(", kernel):
            text = text.replace(kernel, "")
    return text


def _sections(text: str) -> dict[str, bytes]:
    sections = bl.build(text, targets="spirv", includes=[EXAMPLES]).sections
    return {kernel: section.data for section in sections for kernel in section.kernels}


def _close(results: tuple[list[Any], list[Any]], largest: float) -> None:
    here, there = results
    assert np.isfinite(here[-1]).all() and here[-1].std() > 0.01
    np.testing.assert_allclose(here[-1], there[-1], rtol=largest, atol=largest)


def test_the_lens(both: Any) -> None:
    lens = np.array([0.62 * 64, 0.62 * 64, 0.51 * 64, 0.49 * 64, -0.28, 0.075, -0.008, 0.002, -0.001, 0], np.float32)
    _close(
        both(
            _sections(_without_images("undistort.cl") + LENS)["map"],
            "map",
            (64, 48),
            Value(lens),
            np.zeros((48, 64, 2, 2), np.float32),
        ),
        2e-6,
    )


def test_the_atlas(both: Any) -> None:
    prints = np.zeros(
        6, [("photo", "u8"), *((name, "2f4") for name in ("centre", "axis", "half_size")), ("rest", "2f4")]
    )
    rng = np.random.default_rng(13)
    angle = rng.uniform(0, 6, 6)
    prints["centre"], prints["half_size"] = rng.uniform(-0.5, 0.5, (6, 2)), rng.uniform(0.1, 0.3, (6, 2))
    prints["axis"] = np.stack([np.cos(angle), np.sin(angle)], 1)
    out = np.zeros((40, 50, 4), np.float32)
    _close(
        both(
            _sections(_without_images("texture_atlas.cl") + ATLAS)["cover"],
            "cover",
            (50, 40),
            prints,
            np.uint32(6),
            out,
        ),
        1e-5,
    )


def test_the_sphere(both: Any) -> None:
    """The two kernels of the example that use no image, unchanged."""
    modules = _sections(_without_images("environment_sphere.cl"))
    scene = np.array([0, 0, 4, 0, 0.9, 0.8, 0.7, 0, 2.4, 1.5, 0, 0], np.float32)
    directions, mirrored = np.zeros((24 * 32 * 4, 3), np.float32), np.zeros(24 * 32 * 4, np.float32)
    _close(both(modules["trace"], "trace", (4, 32, 24), Value(scene), directions, mirrored), 1e-5)
    light = np.random.default_rng(14).random((24 * 32 * 4, 4), np.float32)
    seen = np.random.default_rng(15).random(24 * 32 * 4, np.float32) - 0.5
    picture = np.zeros((24, 32, 4), np.float32)
    _close(both(modules["develop"], "develop", (32, 24), Value(scene), light, seen, picture), 1e-5)


def test_the_ground_plane(both: Any) -> None:
    """The ground plane as colours that encode the position and footprint of each pixel."""
    text = (EXAMPLES / "ground_plane.cl").read_text()
    text = text.replace("sampled_image_handle trilinear, sampled_image_handle anisotropic, ", "")
    text = text.replace("unsampled_image_handle picture", "global float4 *picture").replace(
        "picture, (int2)(x, y), ", ""
    )
    text = text.replace("const sampled_image_handle floor = x < width / 2 ? trilinear : anisotropic;", "")
    text = text.replace(
        "sample_mipmap_float4(floor, at, dx, dy).xyz", "(float3)(at - floor(at), length(dx) + length(dy))"
    )
    text = text.replace("write_image(", "picture[y * width + x] = (")
    scene = np.array([1, 0, 0, 0, 0, 0.95, 0.3, 0, 0, -0.3, 0.95, 0, 1.5, 0.7, 0.05, 0], np.float32)
    results = both(_sections(text)["draw"], "draw", (48, 32), Value(scene), np.zeros((32, 48, 4), np.float32))
    # The last bit of a coordinate may move a tile's edge to the next pixel.
    here, there = results[0][0], results[1][0]
    assert here.std() > 0.1
    assert np.mean(np.abs(here - there).max(axis=-1) > 1e-4) < 0.005


def test_the_ray_caster(both: Any) -> None:
    """The ray caster with image and sampler parameters instead of handles."""
    text = (EXAMPLES / "volume_raycaster.cl").read_text()
    text = text.replace("sampled_image_handle volume, sampled_image_handle transfer,",
                        "read_only image3d_t volume, read_only image1d_t transfer, sampler_t how,")  # fmt: skip
    text = text.replace("sampled_image_handle volume", "read_only image3d_t volume, sampler_t how")
    text = text.replace("value_at(volume", "value_at(volume, how").replace(
        "gradient_at(volume", "gradient_at(volume, how"
    )
    text = text.replace("sample_image_float(volume, point * 0.5f + 0.5f)",
                        "read_imagef(volume, how, (float4)(point * 0.5f + 0.5f, 0)).x")  # fmt: skip
    text = text.replace("sample_image_float4(transfer,", "read_imagef(transfer, how,")
    axis = np.linspace(-1, 1, 24, dtype=np.float32)
    z, y, x = np.meshgrid(axis, axis, axis, indexing="ij")
    volume = (np.cos(4 * x) * np.cos(3 * y) * np.cos(5 * z)).astype(np.float32)[..., None]
    transfer = np.random.default_rng(16).random((32, 4), np.float32) * np.float32([1, 1, 1, 3])
    view = np.array([[1.5, 1.2, 3.2, 0], [0.9, 0, -0.43, 0], [-0.1, 0.97, -0.2, 0], [-0.8, -0.64, -1.7, 0]], np.float32)
    march = np.zeros((), [("steps", "u4"), ("density", "f4")])
    march["steps"], march["density"] = 48, 2
    given = Picture(volume, "fp32"), Picture(transfer, "fp32"), Sampler("clamp_to_edge", "normalized", "linear")
    picture = np.zeros((32, 32, 4), np.float32)
    results = both(
        _sections(text)["raycast"], "raycast", (32, 32), *given, Value(view), march, np.float32(2 / 24), picture
    )
    here, there = results[0][-1], results[1][-1]
    assert here.std() > 0.05
    assert np.abs(here - there).mean() < 2e-3 and np.abs(here - there).max() < 0.05  # eight-bit filter weights
