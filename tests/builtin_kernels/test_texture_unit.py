"""The kernels ``texture_unit`` and ``texture_exact`` over packed texels, with mipmaps and cubemaps: also on devices
that lack such images.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.bindless_images.computed_samples import _Source
from bindless.kernels.arguments import typed_arguments
from bindless.kernels.words import texture_unit_mode
from bindless.model.channels import ELEMENTS
from bindless.model.enums import Precision
from bindless.sycl.kernel.builtin import builtin_kernel
from tests.oracle.samples import sample

Array = npt.NDArray[Any]
ITEMS = 500
CASES = [
    ("mipmap", (9,), "fp16", "linear", "linear"),
    ("mipmap", (13, 6), "fp32", "linear", "linear"),
    ("mipmap", (5, 7), "unorm_int8", "linear", "nearest"),
    ("mipmap", (6, 5, 9), "fp32", "linear", "linear"),
    ("mipmap", (6, 5, 9), "snorm_int16", "nearest", "linear"),
    ("mipmap", (4, 4), "unsigned_int16", "nearest", "nearest"),
    ("seamless", (5, 5), "fp32", "linear", "nearest"),
    ("seamless", (1, 1), "snorm_int8", "linear", "nearest"),
    ("seamless", (4, 4), "unorm_int8", "nearest", "nearest"),
    ("disjointed", (4, 4), "fp16", "linear", "nearest"),
    ("disjointed", (3, 3), "signed_int32", "nearest", "nearest"),
]


def _texels(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def _made(
    rng: np.random.Generator, queue: bl.Queue, kind: str, extent: tuple[int, ...], channel_type: str, sampler: Any
) -> tuple[bl.ImageDescriptor, bl.SampledImageHandle, Array, list[object]]:
    """An image on a queue, and its packed texels."""
    mipmap = kind == "mipmap"
    levels = max(extent).bit_length() if mipmap else 1
    desc = bl.ImageDescriptor(
        *(*extent, 0, 0)[:3],
        num_channels=2,
        channel_type=channel_type,
        type="mipmap" if mipmap else "cubemap",
        num_levels=levels,
        array_size=1 if mipmap else 6,
    )
    memory = bl.ImageMem(desc, queue)
    packed = []
    for level in range(levels):
        part = desc.get_mip_level_desc(level) if mipmap else desc
        pixels = _texels(rng, (*(() if mipmap else (6,)), *part.shape[-len(extent) - 1 : -1], 2), desc.dtype)
        target: Any = memory.get_mip_level_mem_handle(level) if mipmap else memory
        queue.ext_oneapi_copy(pixels, target, dst_desc=part).wait()
        packed.append(pixels.reshape(-1).view(np.uint8))
    handle = bl.create_image(memory, desc, queue, sampler=sampler, precision="exact")
    return desc, handle, np.concatenate(packed), [memory]


def _computed(
    queue: bl.Queue,
    desc: bl.ImageDescriptor,
    sampler: bl.BindlessImageSampler,
    packed: Array,
    coords: Array,
    levels: Array | None,
    precision: Precision,
    name: str = "bindless_texture_unit",
) -> Array:
    """The samples, by a kernel."""
    name = "bindless_texture_exact" if precision is Precision.exact else name
    mode = texture_unit_mode(desc, sampler, levels is not None)
    word = ELEMENTS[desc.value_dtype] | 2 << 8 | desc.channel.index << 16 | 2 << 24
    there = {"texels": packed, "coords": coords, "level": levels}
    arguments: dict[str, Any] = {
        key: None if array is None else bl.usm_empty(array.shape, array.dtype, queue) for key, array in there.items()
    }
    for key, array in there.items():
        if array is not None:
            queue.memcpy(arguments[key], array).wait()
    values = bl.usm_empty((ITEMS, 2), desc.value_dtype, queue)
    arguments |= {
        "values": values,
        "layers": None,
        "layer": 0,
        "lod": 0.0,
        "count": ITEMS,
        "format": word,
        "mode": mode,
    }
    arguments |= _Source(desc, sampler, 0.0, None, 0, ()).arguments(precision)
    kernel = builtin_kernel(queue, name, format=word, mode=mode)
    queue.parallel_for(bl.NdRange(256, 128), kernel, *typed_arguments(name, arguments)).wait_and_throw()
    found = np.empty((ITEMS, 2), desc.value_dtype)
    queue.memcpy(found, values).wait()
    return found


@pytest.mark.parametrize("addressing", [None, "mirror", "extent"])
@pytest.mark.parametrize(("kind", "extent", "channel_type", "filtering", "levels_filtering"), CASES)
def test_levels_and_faces_equal_the_reference_device(
    queue: bl.Queue,
    kind: str,
    extent: tuple[int, ...],
    channel_type: str,
    filtering: str,
    levels_filtering: str,
    addressing: str | None,
) -> None:
    """``mirror`` and ``extent`` are exact alone."""
    rng = np.random.default_rng(len(extent))
    sampler = bl.BindlessImageSampler(
        addressing or ("mirrored_repeat" if kind == "mipmap" else "clamp_to_edge"),
        "normalized",
        filtering,
        mipmap_filtering=levels_filtering,
        max_mipmap_level_clamp=float("inf"),
        cubemap_filtering="seamless" if kind == "seamless" else "disjointed",
    )
    levels = None
    if kind == "mipmap":
        coords = (rng.random((ITEMS, len(extent))) * 3 - 1).astype(np.float32)
        levels = (rng.random(ITEMS) * 6 - 1).astype(np.float32)
        levels[:3] = np.nan, np.inf, -np.inf
    else:
        coords = rng.standard_normal((ITEMS, 3)).astype(np.float32)
        coords[::3] = np.round(coords[::3])  # edges, corners, and zeros
        coords[:2] = (np.nan, 1, 0.5), (np.inf, 1, 2)
    with bl.Queue("reference:*:*") as reference:
        desc, handle, packed, _ = _made(rng, reference, kind, extent, channel_type, sampler)
        for precision in (Precision.exact,) if addressing else (Precision.reproducible, Precision.exact):
            if levels is None:
                wanted = bl.sample_cubemap(reference, handle, coords, precision=precision)
            else:
                wanted = bl.sample_mipmap(reference, handle, coords, level=levels, precision=precision)
            found = _computed(queue, desc, sampler, packed, coords, levels, precision)
            if precision is Precision.exact:
                error = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
                assert error <= (1 if desc.value_dtype.kind != "f" else 1e-3 if channel_type == "fp16" else 4e-6)
                continue
            assert found.tobytes() == wanted.tobytes()
            if queue.backend == "opencl" and queue.device.has(bl.Aspect.fp64):
                again = _computed(queue, desc, sampler, packed, coords, levels, precision, "bindless_texture_unit_f64")
                assert again.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("boundary", "coordinate"),
    [("mirror", "normalized"), ("extent", "normalized"), ("extent", "unnormalized")],
)
@pytest.mark.parametrize("extent", [(7,), (5, 6), (4, 1, 3)], ids=str)
def test_exact_boundaries_that_texture_units_lack(
    queue: bl.Queue, extent: tuple[int, ...], boundary: str, coordinate: str, filtering: str
) -> None:
    """Sums in float64 are equal. Unnormalized coordinates have no periods."""
    rng = np.random.default_rng(len(extent))
    desc = bl.ImageDescriptor(*extent, num_channels=2, channel_type="fp32")
    sampler = bl.BindlessImageSampler(boundary, coordinate, filtering)
    texels = rng.standard_normal((*extent[::-1], 2)).astype(np.float32)
    coords = rng.uniform(-0.7, 1.7, (ITEMS, len(extent))).astype(np.float32)
    if boundary == "extent":
        coords[:50] = np.round(coords[:50])  # the outer borders themselves; nearest has no ties there
    size = np.array(extent, np.float32) if coordinate == "unnormalized" else np.ones(len(extent), np.float32)
    coords = coords * size
    packed = texels.reshape(-1).view(np.uint8)
    found = _computed(queue, desc, sampler, packed, coords, None, Precision.exact)
    places = coords.astype(np.float64) * (np.array(extent) / size) - 0.5
    wanted = sample(texels, places, interpolation=filtering, boundary=boundary)
    np.testing.assert_allclose(found, wanted, atol=4e-6)
    beyond = ((places < -0.5) | (places > np.array(extent) - 0.5)).any(1)
    assert beyond.any() and not beyond.all()
