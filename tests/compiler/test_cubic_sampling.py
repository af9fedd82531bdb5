"""Cubic B-splines in kernels, from linear samples, compared with sums over four pixels an axis in float64."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.image.spline_filter import spline_coefficients
from tests.oracle.samples import sample_pixels

pytestmark = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)

Array = npt.NDArray[Any]

COUNT = 400
SIZES = (13, 9, 7)
LAYERS = 3
GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "1d_array": (1, True), "2d_array": (2, True)}
TYPES = {"float": 1, "float2": 2, "float3": 3, "float4": 4}


def _kernel(geometry: str, result: str) -> str:
    """Return a kernel that samples at item i of a list of float4 (x, y, z, layer), in pixels and normalized."""
    dims, layered = GEOMETRIES[geometry]
    point = ("p.x", "p.xy", "p.xyz")[dims - 1]
    size = ("size.x", "size.xy", "size.xyz")[dims - 1]
    name, layer = ("sample_image_cubic_array", ", (uint)p.w") if layered else ("sample_image_cubic", "")
    stored = {"float": "v", "float2": "v.x, v.y", "float3": "v.x, v.y, v.z", "float4": "v.x, v.y, v.z, v.w"}[result]
    puts = "".join(f"{{0}}[{TYPES[result]} * i + {c}] = {part}; " for c, part in enumerate(stored.split(", ")))
    return (
        f"kernel void cubic_{geometry}_{result}(sampled_image_handle image, sampled_image_handle normalized,\n"
        "    global const float4 *places, float4 size, global float *out, global float *out_normalized)\n"
        "{\n    const size_t i = get_global_id(0);\n    const float4 p = places[i];\n"
        f"    {result} v = {name}_{result}(image, {point}{layer});\n    {puts.format('out')}\n"
        f"    v = {name}_{result}(normalized, {point} / {size}{layer}, {size});\n"
        f"    {puts.format('out_normalized')}\n}}\n"
    )


SOURCE = "#include <bindless/device.h>\n" + "".join(_kernel(*pair) for pair in itertools.product(GEOMETRIES, TYPES))


@pytest.fixture(scope="module")
def kernels(device: bl.Device, context: bl.Context) -> Any:
    """All kernels, built once for the device."""
    return bl.load_kernel_bundle(bl.build(SOURCE), device, context)


def tolerance(pixels: Array, dims: int) -> float:
    """Linear samples have weights of 8 bits, rounded to nearest, so along an axis the error is at most 1/512 of the
    difference of two neighbours; the border is 0.
    """
    bordered = np.pad(pixels, [(1, 1)] * dims + [(0, 0)])
    largest = max(float(np.abs(np.diff(bordered, axis=axis)).max()) for axis in range(dims))
    return dims * largest * (1 / 512 + 1e-4)


def sampled(
    queue: bl.Queue, kernels: Any, pixels: Array, geometry: str, result: str, places: Array, addressing: str
) -> list[Array]:
    """The results in pixels, if the sampler has such coordinates, and with normalized coordinates."""
    dims, layered = GEOMETRIES[geometry]
    form = {"type": "array", "array_size": LAYERS} if layered else {}
    shape = pixels.shape[1:] if layered else pixels.shape
    desc = bl.ImageDescriptor(*shape[-2::-1], num_channels=shape[-1], channel_type="fp32", **form)
    size = np.ones(4, np.float32)
    size[:dims] = shape[-2::-1]
    kernel = kernels.get_kernel(f"cubic_{geometry}_{result}")
    given = bl.usm_empty(places.shape, np.float32, queue)
    given.copy_from(places)
    outs = [bl.usm_empty((len(places), TYPES[result]), np.float32, queue) for _ in range(2)]
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels.reshape(desc.shape), memory).wait()
        periodic = addressing in ("repeat", "mirrored_repeat")  # which need normalized coordinates
        samplers = [
            bl.BindlessImageSampler("clamp_to_edge" if periodic else addressing, "unnormalized", "linear"),
            bl.BindlessImageSampler(addressing, "normalized", "linear"),
        ]
        handles = [bl.create_image(memory, desc, queue, sampler=sampler) for sampler in samplers]
        queue.parallel_for(len(places), kernel, *handles, given, size, *outs).wait_and_throw()
        for handle in handles:
            bl.destroy_image_handle(handle, queue)
    return [out.numpy(queue) for out in (outs[1:] if periodic else outs)]


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("result", TYPES)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_kernels_sample_splines(queue: bl.Queue, kernels: Any, geometry: str, result: str, addressing: str) -> None:
    dims, layered = GEOMETRIES[geometry]
    rng = np.random.default_rng(dims)
    channels = {1: 1, 2: 2}.get(TYPES[result], 4)
    sizes = SIZES[:dims][::-1]
    pixels = rng.uniform(-1, 1, (*((LAYERS,) if layered else ()), *sizes, channels)).astype(np.float32)
    places = rng.uniform(-4, 17, (COUNT, 4)).astype(np.float32)
    places[:, 3] = rng.integers(0, LAYERS, COUNT)
    at, layers = places[:, :dims], places[:, 3].astype(int)
    if layered:
        expected = np.zeros((COUNT, channels))
        for layer in range(LAYERS):
            expected[layers == layer] = sample_pixels(pixels[layer], at[layers == layer], addressing, "cubic")
    else:
        expected = sample_pixels(pixels, at, addressing, "cubic")
    bound = max(tolerance(part, dims) for part in (pixels if layered else [pixels]))
    for made in sampled(queue, kernels, pixels, geometry, result, places, addressing):
        np.testing.assert_allclose(made, expected[:, : TYPES[result]], rtol=0, atol=bound)


@pytest.mark.parametrize(("geometry", "addressing"), [("2d", "mirrored_repeat"), ("3d", "repeat")])
def test_splines_of_coefficients_pass_through_the_pixels(
    queue: bl.Queue, kernels: Any, geometry: str, addressing: str
) -> None:
    dims = GEOMETRIES[geometry][0]
    sizes = SIZES[:dims][::-1]
    pixels = np.random.default_rng(9).uniform(0, 1, (*sizes, 1)).astype(np.float32)
    coefficients, _ = spline_coefficients(queue, pixels, dims, addressing)
    assert isinstance(coefficients, np.ndarray)
    places = np.zeros((pixels.size, 4), np.float32)
    places[:, :dims] = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, dims)[:, ::-1] + 0.5
    made = sampled(queue, kernels, coefficients, geometry, "float", places, addressing)[0]
    np.testing.assert_allclose(made.reshape(pixels.shape), pixels, rtol=0, atol=tolerance(coefficients, dims))
