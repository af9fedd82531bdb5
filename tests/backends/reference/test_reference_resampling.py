"""The reference driver's pictures at computed coordinates.

Exact values are compared with float64 in numpy; those of the texture unit with ``sample`` at the same coordinates, bit
for bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.model.enums import Boundary, ImageChannelType, Interpolation, Precision
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.resampling import Strategy
from bindless.model.sampler import BindlessImageSampler
from tests.backends.contract.contract_rig import Rig
from tests.oracle.pictures import positions, stored
from tests.oracle.samples import sample
from tests.support.filters import resampling

Array = npt.NDArray[Any]

NEAREST = BindlessImageSampler("clamp_to_edge")
LINEAR = BindlessImageSampler("clamp_to_edge", filtering="linear")
IDENTITY = tuple(np.eye(4).ravel().tolist())

# Integer formats and the dtype of their texels.
CODES = {
    "snorm_int8": "int8",
    "unorm_int8": "uint8",
    "snorm_int16": "int16",
    "unorm_int16": "uint16",
    "signed_int8": "int8",
    "unsigned_int8": "uint8",
    "signed_int16": "int16",
    "unsigned_int16": "uint16",
    "signed_int32": "int32",
    "unsigned_int32": "uint32",
}


@pytest.fixture
def rig() -> Iterator[Rig]:
    device = bl.Device("reference:*:*")
    made = Rig(device._backend, device._record.native)
    yield made
    made.close()


def descriptor(size: tuple[int, ...], channel_type: str, channels: int, layers: int = 0) -> ImageDescriptor:
    options: dict[str, Any] = {"type": "array", "array_size": layers} if layers else {}
    return ImageDescriptor(*size, num_channels=channels, channel_type=ImageChannelType(channel_type), **options)


def pixels_of(desc: ImageDescriptor, seed: int = 0) -> Array:
    """Random pixels, shape (z, y, x, channels) as long as the image has these axes."""
    rng = np.random.default_rng(seed)
    shape = (*(extent for extent in desc.extent[::-1]), desc.num_channels)
    if desc.dtype.kind == "f":
        return rng.uniform(-1, 1, shape).astype(desc.dtype)
    limits = np.iinfo(desc.dtype.name)
    return rng.integers(limits.min, limits.max, shape, desc.dtype, endpoint=True)


def numbers(desc: ImageDescriptor, pixels: Array) -> Array:
    """Values of texels in float64, in the shape that the oracle takes."""
    values = pixels.astype(np.float64)
    if desc.channel.normalized:
        values = np.maximum(values / np.iinfo(pixels.dtype).max, -1.0)
    return values.reshape(*desc.extent[: desc.dimensions][::-1], desc.num_channels)


def resample(
    rig: Rig,
    desc: ImageDescriptor,
    pixels: Array,
    shape: tuple[int, int, int],
    *,
    sampler: BindlessImageSampler = LINEAR,
    dtype: str = "float32",
    channels: int | None = None,
    coords: Array | None = None,
    **options: Any,
) -> Array:
    """The picture, shape (depth, height, width, channels). ``coords`` is of shape (items, components)."""
    if options.get("precision") is Precision.exact:
        sampler = NEAREST  # which does not apply
    handle = rig.sampled(rig.image(desc, pixels), desc, sampler)
    channels = channels or desc.num_channels
    values = np.full((*shape[::-1], channels), 77, dtype)
    if coords is not None:
        strides = tuple(stride // coords.itemsize for stride in coords.strides)
        options |= {"coords": coords.ctypes.data, "coords_dtype": coords.dtype, "coords_strides": strides}
    options.setdefault("matrix", IDENTITY)
    picture = resampling(
        handle, desc, shape, values=values.ctypes.data, value_dtype=values.dtype, value_channels=channels, **options
    )
    rig.wait(rig.backend.resampling.resample(rig.queue, picture, Strategy.resampling))
    return values


def rotation(dimensions: int) -> tuple[float, ...]:
    """A matrix that turns, scales and moves."""
    rows = np.eye(4)
    rows[:3, :3] = [[0.83, -0.41, 0.11], [0.37, 0.79, -0.23], [-0.05, 0.19, 0.91]]
    rows[:3, 3] = [1.7, -2.3, 0.6]
    rows[dimensions:3] = np.eye(4)[dimensions:3]
    return tuple(rows.ravel().tolist())


SIZES = ((61,), (41, 37), (29, 23, 19))
PICTURES = ((301, 1, 1), (53, 47, 1), (37, 21, 18))
EXACT: dict[str, Any] = {"precision": Precision.exact}


@pytest.mark.parametrize("interpolation", list(Interpolation))
@pytest.mark.parametrize("dimensions", (1, 2, 3))
@pytest.mark.parametrize("boundary", list(Boundary))
def test_exact_values_are_those_of_float64(
    rig: Rig, boundary: Boundary, dimensions: int, interpolation: Interpolation
) -> None:
    desc = descriptor(SIZES[dimensions - 1], "fp32", 1)
    pixels, shape = pixels_of(desc), PICTURES[dimensions - 1]
    for centre in (0.5, 0.0):
        options: dict[str, Any] = {"interpolation": interpolation, "boundary": (boundary,) * 3, "fill": 0.25}
        found = resample(rig, desc, pixels, shape, centre=centre, matrix=rotation(dimensions), **options, **EXACT)
        places = positions(shape, rotation(dimensions), centre=centre)
        options["boundary"] = options["boundary"][:dimensions]
        np.testing.assert_allclose(found, sample(numbers(desc, pixels), places, **options), rtol=0, atol=2e-6)


@pytest.mark.parametrize("interpolation", ["nearest", "linear", "bicubic"])
@pytest.mark.parametrize("channel_type", [*CODES, "fp16", "fp32"])
def test_exact_values_of_every_type(rig: Rig, channel_type: str, interpolation: str) -> None:
    for channels, size, shape in zip((1, 2, 3, 4), (*SIZES, SIZES[1]), (*PICTURES, PICTURES[1])):
        desc = descriptor(size, channel_type, channels)
        pixels = pixels_of(desc, channels)
        options: dict[str, Any] = {"interpolation": Interpolation(interpolation), "boundary": (Boundary.mirror,) * 3}
        matrix = rotation(desc.dimensions)
        expected = sample(numbers(desc, pixels), positions(shape, matrix), **options)
        kept = max(1, channels - 1)
        found = resample(rig, desc, pixels, shape, channels=kept, matrix=matrix, **options, **EXACT)
        span = np.abs(numbers(desc, pixels)).max()
        np.testing.assert_allclose(found, expected[..., :kept], rtol=0, atol=2e-6 * span)
        if channel_type not in CODES:
            continue
        largest = float(np.iinfo(desc.dtype.name).max) if desc.channel.normalized else None
        for rounding in ("even", "away"):
            found = resample(
                rig,
                desc,
                pixels,
                shape,
                dtype=CODES[channel_type],
                matrix=matrix,
                rounding=rounding,
                **options,
                **EXACT,
            )
            wanted = stored(expected, CODES[channel_type], largest=largest, rounding=rounding)
            if interpolation == "nearest":
                np.testing.assert_array_equal(found, wanted)
            assert np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max() <= 1


@pytest.mark.parametrize("mode", list(Boundary))
@pytest.mark.parametrize("size", (1, 2, 3))
def test_places_far_outside_of_tiny_images(rig: Rig, mode: Boundary, size: int) -> None:
    desc = descriptor((size,), "fp32", 1)
    pixels = pixels_of(desc, size)
    coords = np.concatenate([np.linspace(-17, 17, 3001), [np.nan, np.inf, -np.inf, 1e300, -1e300]])[:, None]
    matrix = (0.0,) * 15 + (1.0,)
    shape = (len(coords), 1, 1)
    for interpolation in ("linear", "cubic", "catmull_rom"):
        options: dict[str, Any] = {"interpolation": Interpolation(interpolation), "boundary": (mode,) * 3, "fill": -3.0}
        found = resample(rig, desc, pixels, shape, coords=coords, matrix=matrix, centre=0.0, **options, **EXACT)
        options["boundary"] = options["boundary"][:1]
        places = positions(shape, matrix, coords.reshape(1, 1, -1, 1), centre=0.0)
        expected = sample(numbers(desc, pixels), places, **options)
        usual = np.abs(coords) < 1e200
        np.testing.assert_allclose(found.ravel()[usual[:, 0]], expected.ravel()[usual[:, 0]], rtol=0, atol=3e-6)
        assert np.isfinite(found).all()
        assert (found.ravel()[~np.isfinite(coords[:, 0])] == -3).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vectors_of_any_layout_are_added(rig: Rig, dtype: str) -> None:
    desc = descriptor(SIZES[2], "fp32", 1)
    pixels, shape, matrix = pixels_of(desc), PICTURES[2], rotation(3)
    field = np.random.default_rng(4).normal(0, 2, (*shape[::-1], 3)).astype(dtype)
    expected = sample(numbers(desc, pixels), positions(shape, matrix, field))
    planar = np.moveaxis(np.ascontiguousarray(np.moveaxis(field, -1, 0)[::-1])[::-1], 0, -1)  # components z, y, x
    for coords in (field.reshape(-1, 3), planar.reshape(-1, 3) if dtype == "float32" else field.reshape(-1, 3)):
        found = resample(rig, desc, pixels, shape, coords=coords, matrix=matrix, **EXACT)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def test_projective_matrices_divide(rig: Rig) -> None:
    desc = descriptor(SIZES[2], "fp32", 2)
    pixels, shape = pixels_of(desc), PICTURES[2]
    matrix = (*rotation(3)[:12], 0.003, -0.002, 0.004, 1.1)
    found = resample(rig, desc, pixels, shape, matrix=matrix, **EXACT)
    np.testing.assert_allclose(found, sample(numbers(desc, pixels), positions(shape, matrix)), rtol=0, atol=2e-6)


@pytest.mark.parametrize("interpolation", ["nearest", "linear", "bicubic"])
def test_texels_that_are_no_numbers_can_have_no_weight(rig: Rig, interpolation: str) -> None:
    desc = descriptor(SIZES[1], "fp32", 2)
    pixels, shape, matrix = pixels_of(desc), PICTURES[1], rotation(2)
    pixels[np.random.default_rng(5).random(pixels.shape) < 0.4] = np.nan
    for ignore_nan in (False, True):
        options: dict[str, Any] = {"interpolation": Interpolation(interpolation), "ignore_nan": ignore_nan}
        found = resample(rig, desc, pixels, shape, matrix=matrix, **options, **EXACT)
        expected = sample(numbers(desc, pixels), positions(shape, matrix), **options)
        assert np.isnan(expected).any() and not np.isnan(expected).all()
        near = ~(np.abs(expected) > 1.5)  # the sum of the weights of cubic convolutions may be almost 0
        np.testing.assert_allclose(
            found[near], expected[near], rtol=0, atol=1e-3 if interpolation == "bicubic" else 2e-6
        )


def test_fill_may_be_no_number(rig: Rig) -> None:
    desc = descriptor((8, 8), "unorm_int8", 1)
    shift = (1.0, 0, 0, 0.25, *IDENTITY[4:])
    for mode in (Boundary.border, Boundary.constant):
        found = resample(
            rig, desc, pixels_of(desc), (12, 8, 1), matrix=shift, boundary=(mode,) * 3, fill=float("nan"), **EXACT
        )
        assert np.isnan(found[0, :, 8:]).all() and np.isfinite(found[0, :4, :6]).all()
        codes = resample(
            rig,
            desc,
            pixels_of(desc),
            (12, 8, 1),
            matrix=shift,
            dtype="uint8",
            boundary=(mode,) * 3,
            fill=float("nan"),
            **EXACT,
        )
        assert (codes[0, :, 8:] == 0).all()


@pytest.mark.parametrize("layer", (0, 2))
def test_layers_of_arrays(rig: Rig, layer: int) -> None:
    desc = descriptor(SIZES[1], "fp32", 1, layers=3)
    pixels, shape, matrix = pixels_of(desc), PICTURES[1], rotation(2)
    found = resample(rig, desc, pixels, shape, layer=layer, matrix=matrix, **EXACT)
    expected = sample(pixels[layer].astype(np.float64), positions(shape, matrix))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


# ---------------------------------------------------------------- the texture unit


@pytest.mark.parametrize("precision", [Precision.hardware, Precision.reproducible])
@pytest.mark.parametrize("normalized", (False, True))
@pytest.mark.parametrize("channel_type", [*CODES, "fp16", "fp32"])
def test_samples_are_those_of_the_texture_unit(
    rig: Rig, channel_type: str, normalized: bool, precision: Precision
) -> None:
    filtering = "nearest" if channel_type.endswith("32") and channel_type != "fp32" else "linear"
    sampler = BindlessImageSampler(
        "mirrored_repeat" if normalized else "clamp", "normalized" if normalized else "unnormalized", filtering
    )
    for channels, size, shape in zip((1, 2, 4), SIZES, PICTURES):
        desc = descriptor(size, channel_type, channels)
        pixels, matrix = pixels_of(desc), rotation(desc.dimensions)
        scale = (*(float(n) if normalized else 1.0 for n in size), 1.0, 1.0)[:3]
        for centre in (0.5, 0.0):
            options: dict[str, Any] = {"centre": centre, "scale": scale, "precision": precision, "matrix": matrix}
            places = positions(shape, matrix, centre=centre) + centre + (0.5 - centre)
            at = places[..., : desc.dimensions].reshape(-1, desc.dimensions).astype(np.float32)
            at /= np.array(scale[: desc.dimensions], np.float32)
            handle = rig.sampled(rig.image(desc, pixels), desc, sampler)
            expected = rig.call("sample", handle, desc, at, sampled=True)
            found = resample(rig, desc, pixels, shape, sampler=sampler, dtype=expected.dtype.name, **options)
            np.testing.assert_array_equal(found.reshape(expected.shape), expected)
            if channel_type not in CODES:
                continue
            largest = np.float32(np.iinfo(desc.dtype.name).max if desc.channel.normalized else 1)
            codes = resample(rig, desc, pixels, shape, sampler=sampler, dtype=CODES[channel_type], **options)
            wanted = np.rint(expected * largest) if desc.channel.normalized else expected
            np.testing.assert_array_equal(codes.reshape(expected.shape), wanted.astype(codes.dtype))


@pytest.mark.parametrize("dimensions", (1, 2, 3))
def test_sums_of_linear_samples_are_splines(rig: Rig, dimensions: int) -> None:
    desc = descriptor(SIZES[dimensions - 1], "fp32", 2)
    pixels, shape, matrix = pixels_of(desc), PICTURES[dimensions - 1], rotation(dimensions)
    found = resample(rig, desc, pixels, shape, matrix=matrix, interpolation=Interpolation.cubic)
    expected = sample(numbers(desc, pixels), positions(shape, matrix), interpolation="cubic")
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "options",
    [
        {"layer": 1},
        {"precision": Precision.hardware, "ignore_nan": True},
        {"precision": Precision.hardware, "interpolation": Interpolation.bicubic},
        {"precision": Precision.hardware, "interpolation": Interpolation.cubic, "sampler": NEAREST},
        {"precision": Precision.hardware, "scale": (0.0, 1.0, 1.0)},
        {"centre": 0.25},
        {"channels": 2},
    ],
)
def test_descriptions_that_mean_nothing_are_refused(rig: Rig, options: dict[str, Any]) -> None:
    desc = descriptor((8, 8), "fp32", 1)
    with pytest.raises(bl.Error) as refusal:
        resample(rig, desc, pixels_of(desc), (4, 4, 1), **({"precision": Precision.exact} | options))
    assert refusal.value.code in (bl.Errc.invalid, bl.Errc.feature_not_supported)


def test_every_combination_of_boundaries(rig: Rig) -> None:
    desc = descriptor((5, 4, 3), "fp32", 1)
    pixels, shape, matrix = pixels_of(desc), (19, 17, 5), rotation(3)
    for boundary in itertools.product((Boundary.border, Boundary.constant, Boundary.repeat, Boundary.mirror), repeat=3):
        found = resample(rig, desc, pixels, shape, matrix=matrix, boundary=boundary, fill=0.5, **EXACT)
        expected = sample(numbers(desc, pixels), positions(shape, matrix), boundary=boundary, fill=0.5)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
