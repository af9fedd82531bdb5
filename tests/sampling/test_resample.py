"""``resample``: the values of pictures, compared with sums in float64 (``tests/oracle``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.model.channels import CHANNELS
from bindless.model.enums import Precision
from bindless.sampling.host import HostPlan
from bindless.sampling.prepare import resample
from tests.oracle.pictures import positions, stored
from tests.oracle.samples import sample
from tests.support.filters import resampling
from tests.support.picture_rig import PICTURES, SIZES, Case, close, matrix_of, pixels_of

Array = npt.NDArray[Any]


FORMATS = [
    ("unorm_int8", 4, "u1", {}), ("unorm_int8", 4, "f4", {}), ("unorm_int16", 1, "u2", {"interpolation": "cubic"}),
    ("snorm_int8", 1, "i1", {"boundary": ("border",) * 3}), ("snorm_int16", 4, "i2", {"rounding": "away"}),
    ("signed_int16", 1, "i2", {"rounding": "away", "fill": -7.0}), ("signed_int16", 1, "f4", {}),
    ("signed_int8", 4, "i2", {"interpolation": "bicubic"}), ("unsigned_int8", 1, "u1", {"interpolation": "nearest"}),
    ("unsigned_int16", 4, "u1", {"interpolation": "cubic"}),
    ("signed_int32", 1, "i4", {"interpolation": "catmull_rom"}),
    ("unsigned_int32", 1, "u4", {"interpolation": "nearest", "boundary": ("border",) * 3, "fill": 4294967295.0}),
    ("signed_int32", 1, "i4", {"interpolation": "nearest", "boundary": ("constant",) * 3, "fill": 2147483647.0}),
    ("fp16", 4, "f2", {}), ("fp16", 1, "f4", {"interpolation": "cubic"}), ("fp32", 4, "f4", {"channels": 3}),
    ("fp32", 4, "f4", {"channels": 2, "interpolation": "catmull_rom"}), ("fp32", 1, "i2", {"rounding": "away"}),
]  # fmt: skip


@pytest.mark.parametrize(("channel_type", "channels", "out", "fields"), FORMATS)
def test_formats(queue: bl.Queue, channel_type: str, channels: int, out: str, fields: dict[str, Any]) -> None:
    channel = CHANNELS[bl.ImageChannelType(channel_type)]
    pixels = pixels_of((*SIZES[2], channels), channel.storage)
    if channel_type == "fp32" and out == "i2":
        pixels *= 40000.0  # some beyond the type
    case = Case(queue, pixels, channel_type)
    shape, matrix = (23, 12, 1), matrix_of((23, 12, 1), SIZES[2])
    got = case.made(shape, out, matrix, **fields)
    kept = fields.get("channels", channels)
    options = {"rounding": fields.get("rounding", "even")}
    given = {key: value for key, value in fields.items() if key in ("interpolation", "boundary", "fill")}
    largest = float(np.iinfo(channel.storage).max) if channel.normalized else None
    texels = pixels.astype(np.float64) if largest is None else np.maximum(pixels / largest, -1)
    wanted = sample(texels, positions(shape, matrix.ravel()), **given)[..., :kept]
    close(got, wanted if np.dtype(out).kind != "f" else stored(wanted, out), pixels, largest)
    if given.get("interpolation") == "nearest":
        np.testing.assert_array_equal(got, stored(wanted, out, largest=largest, **options))


def test_positions_of_32_bit_integers_are_exact(queue: bl.Queue) -> None:
    """Their means lie far beyond the precision of float32."""
    pixels = np.array([[2**31 - 1], [2**31 - 5], [-(2**31)]], np.int32)
    matrix = np.eye(4)
    matrix[0, :] = (0.5, 0, 0, 0.25)
    got = Case(queue, pixels, "signed_int32").made((4, 1, 1), np.int32, matrix, rounding="away")
    np.testing.assert_array_equal(got.ravel(), [2**31 - 1, 2**31 - 3, 2**31 - 5, -3])


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("interpolation", ["nearest", "linear", "bicubic"])
def test_layers_of_arrays(queue: bl.Queue, dims: int, interpolation: str) -> None:
    pixels = pixels_of((3, *SIZES[dims], 1), np.dtype(np.float32))
    shape, matrix = PICTURES[dims], matrix_of(PICTURES[dims], SIZES[dims])
    fields = {"interpolation": interpolation, "boundary": ("mirror", "repeat", "edge")}
    got = Case(queue, pixels, layers=3).made(shape, np.float32, matrix, layer=1, **fields)
    close(got, sample(pixels[1], positions(shape, matrix.ravel()), **fields), pixels)


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("boundary", ["edge", "border"])
def test_nan_texels_without_weight(queue: bl.Queue, boundary: str, interpolation: str) -> None:
    pixels = pixels_of((*SIZES[2], 4), np.dtype(np.float32))
    pixels[np.random.default_rng(7).random(pixels.shape) < 0.05] = np.nan
    pixels[:5, :6, 1] = np.nan
    shape, matrix = PICTURES[2], matrix_of(PICTURES[2], SIZES[2])
    for fill in (0.25, np.nan):
        for ignore in (False, True):
            fields = {"interpolation": interpolation, "boundary": (boundary,) * 3, "fill": fill, "ignore_nan": ignore}
            got = Case(queue, pixels).made(shape, np.float32, matrix, **fields)
            wanted = sample(pixels, positions(shape, matrix.ravel()), **fields)
            assert np.isnan(wanted).any() and not np.isnan(wanted).all()
            # Weights may nearly cancel each other: their quotient is as wrong as their sum is small.
            np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("centre", [0.0, 0.5])
@pytest.mark.parametrize("layout", ["packed", "planes", "reversed planes", "gaps"])
def test_vectors_are_added(queue: bl.Queue, layout: str, centre: float, dtype: str) -> None:
    pixels = pixels_of((*SIZES[3], 1), np.dtype(np.float32))
    shape, matrix = PICTURES[3], matrix_of(PICTURES[3], SIZES[3])
    count = shape[0] * shape[1] * shape[2]
    vectors = (np.random.default_rng(3).random((count, 3)) * 4 - 2).astype(dtype)
    if layout == "packed":
        coords, strides = vectors, (3, 1)
    elif layout == "planes":
        coords, strides = np.ascontiguousarray(vectors.T), (1, count)
    elif layout == "reversed planes":  # scipy's order of components
        coords, strides = np.ascontiguousarray(vectors.T[::-1])[::-1], (1, -count)
    else:
        wide = np.full((count, 5), np.nan, dtype)
        wide[:, :3] = vectors
        coords, strides = wide, (5, 1)
    got = Case(queue, pixels).made(shape, np.float32, matrix, coords, coords_strides=strides, centre=centre)
    places = positions(shape, matrix.ravel(), vectors.reshape(*shape[::-1], 3), centre=centre)
    close(got, sample(pixels, places), pixels)


def test_projective_matrices(queue: bl.Queue) -> None:
    pixels = pixels_of((*SIZES[2], 1), np.dtype(np.float32))
    shape, matrix = PICTURES[2], matrix_of(PICTURES[2], SIZES[2])
    matrix[3] = (0.02, -0.01, 0, 1.1)
    got = Case(queue, pixels).made(shape, np.float32, matrix)
    close(got, sample(pixels, positions(shape, matrix.ravel())), pixels)


def test_positions_that_are_no_numbers_have_the_fill_value(queue: bl.Queue) -> None:
    pixels = pixels_of((*SIZES[2], 1), np.dtype(np.float32))
    coords = np.array([[np.nan, 1], [1, np.inf], [-np.inf, np.nan], [2.5, 2.5], [1e30, 3.5]], np.float32)
    matrix = np.diag([0.0, 0.0, 0.0, 1.0])
    for interpolation in ("nearest", "linear", "cubic"):
        fields = {"interpolation": interpolation, "fill": 9.0}
        got = Case(queue, pixels).made((5, 1, 1), np.float32, matrix, coords, coords_strides=(2, 1), **fields)
        wanted = sample(pixels, positions((5, 1, 1), matrix.ravel(), np.pad(coords, ((0, 0), (0, 1)))), **fields)
        assert (wanted.ravel() == 9).sum() == 3
        close(got, wanted, pixels)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_hardware_pictures_are_samples(queue: bl.Queue, dims: int) -> None:
    """A picture has the bits of ``sample_image`` at its positions."""
    pixels = pixels_of((*SIZES[dims], 4), np.dtype(np.float32))
    case, shape, matrix = Case(queue, pixels), PICTURES[dims], matrix_of(PICTURES[dims], SIZES[dims])
    got = case.made(shape, np.float32, matrix, precision="hardware")
    places = (positions(shape, matrix.ravel()) + 0.5)[..., :dims].reshape(-1, dims).astype(np.float32)
    memory = bl.ImageMem(case.desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    handle = bl.create_image(memory, case.desc, queue, sampler=sampler)
    samples = bl.sample_image(queue, handle, places)
    bl.destroy_image_handle(handle, queue)
    # The oracle subtracts and adds the centre, so that some positions differ in their last bit.
    assert (got.reshape(-1, 4) == samples).all(1).mean() >= 0.95
    np.testing.assert_allclose(got.reshape(-1, 4), samples, atol=0.02)


def test_arrays_in_usm(queue: bl.Queue) -> None:
    pixels = pixels_of((*SIZES[2], 1), np.dtype(np.float32))
    shape, matrix = (40, 30, 1), matrix_of((40, 30, 1), SIZES[2])
    vectors = np.random.default_rng(4).random((30, 40, 2)).astype(np.float32)
    desc = Case(queue, pixels).desc
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    handle = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized"))
    out = bl.usm_empty((30, 40, 1), np.float32, queue)
    coords = bl.usm_empty(vectors.shape, np.float32, queue)
    copied = queue.memcpy(coords, vectors)
    picture = resampling(
        handle=0, descriptor=desc, shape=shape, matrix=tuple(matrix.ravel().tolist()), values=0,
        value_dtype=out.dtype, value_channels=1, coords_strides=(2, 1), precision=Precision.exact,
    )  # fmt: skip
    event = resample(queue, handle, picture, out, coords=coords, depends_on=copied)
    assert event is not None
    wanted = sample(pixels, positions(shape, matrix.ravel(), np.pad(vectors[None], ((0, 0),) * 3 + ((0, 1),))))
    event.wait()
    close(out.numpy()[None], wanted, pixels)
    bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("in_usm", [False, True])
@pytest.mark.parametrize("layers", [0, 3])
def test_devices_without_double_precision_leave_it_to_the_host(queue: bl.Queue, layers: int, in_usm: bool) -> None:
    pixels = pixels_of(((layers,) if layers else ()) + (*SIZES[2], 4), np.dtype(np.uint8))
    case = Case(queue, pixels, "unorm_int8", layers)
    shape, matrix = PICTURES[2], matrix_of(PICTURES[2], SIZES[2])
    planes = np.random.default_rng(4).random((2, shape[0] * shape[1])).astype(np.float32)
    memory = bl.ImageMem(case.desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    handle = bl.create_image(memory, case.desc, queue, sampler=bl.BindlessImageSampler("repeat", "normalized"))
    out: Any = np.empty((*shape[::-1], 4), np.uint8)
    coords: Any = planes[::-1]
    if in_usm:
        out = bl.usm_empty(out.shape, out.dtype, queue)
        whole = bl.usm_empty(planes.shape, planes.dtype, queue)
        queue.memcpy(whole, planes).wait()
        coords = whole[::-1]
    picture = resampling(
        handle=0, descriptor=case.desc, shape=shape, matrix=tuple(matrix.ravel().tolist()), values=0, layer=layers // 2,
        value_dtype=out.dtype, value_channels=4, coords_dtype=planes.dtype, coords_strides=(1, -planes.shape[1]),
        precision=Precision.exact,
    )  # fmt: skip
    event = HostPlan(queue, handle, picture, resample).submit(picture.map, out, coords)
    if in_usm:
        assert event is not None
        event.wait()
        out = out.numpy()
    vectors = np.zeros((*shape[::-1], 3))
    vectors[..., :2] = planes[::-1].T.reshape(*shape[::-1], 2)
    wanted = sample((pixels[1] if layers else pixels) / 255, positions(shape, matrix.ravel(), vectors))
    close(out, wanted, pixels, 255.0)
    bl.destroy_image_handle(handle, queue)


def test_empty_pictures(queue: bl.Queue) -> None:
    case = Case(queue, pixels_of((*SIZES[2], 1), np.dtype(np.float32)))
    assert case.made((0, 5, 1), np.float32, np.eye(4)).size == 0
