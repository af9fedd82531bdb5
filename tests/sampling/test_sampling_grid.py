"""Every filter in every number of dimensions, with every boundary, type and precision, against the oracle.

Three entries have code of their own: the texture unit (``sample_image``), pictures (``resample``), and textures in
memory (``forward``, the values of torch, jax and gradients). Front ends translate names and arrays to these: their
tests have one row for each name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.model.channels import CHANNELS
from bindless.model.enums import Interpolation
from bindless.sampling.memory import forward
from tests.oracle.pictures import positions, stored
from tests.oracle.samples import sample, sample_pixels, sample_textures
from tests.oracle.unit_weights import linear
from tests.oracle.weights import DEGREES
from tests.support.filters import lookup
from tests.support.picture_rig import PICTURES, SIZES, Case, close, matrix_of, pixels_of
from tests.support.pixels import random_pixels, tolerance, upload, values_of

Array = npt.NDArray[Any]

# Each axis has its boundary; each boundary is that of each axis once.
BOUNDARIES = [
    ("edge", "repeat", "mirror"),
    ("mirrored_repeat", "wrap", "edge"),
    ("border", "mirror", "repeat"),
    ("constant", "constant", "constant"),
    ("wrap", "border", "mirrored_repeat"),
    ("mirror", "edge", "border"),
    ("repeat", "mirrored_repeat", "wrap"),
    ("extent", "extent", "extent"),
]
INTERPOLATIONS = [str(interpolation) for interpolation in Interpolation]
FORMATS = {"fp32": "f4", "fp16": "f2", "unorm_int8": "u1", "signed_int16": "i2"}  # and the type of pictures
UNIT_FORMATS = ("fp16", "unorm_int8", "fp32", "snorm_int16")
UNIT_SIZES = {1: (8,), 2: (16, 8), 3: (4, 8, 16)}  # powers of two, so that normalized coordinates are exact


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda given: given[0])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pictures(queue: bl.Queue, dims: int, interpolation: str, boundary: tuple[str, str, str]) -> None:
    shape, matrix = PICTURES[dims], matrix_of(PICTURES[dims], SIZES[dims])
    for channel_type, dtype in FORMATS.items():
        if interpolation in DEGREES and dtype == "i2":  # coefficients are floats
            continue
        channel = CHANNELS[bl.ImageChannelType(channel_type)]
        largest = float(np.iinfo(channel.storage).max) if channel.normalized else None
        pixels = pixels_of((*SIZES[dims], 1), channel.storage)
        fields = {"interpolation": interpolation, "boundary": boundary, "fill": 0.625 if dtype != "i2" else 7.0}
        got = Case(queue, pixels, channel_type).made(shape, dtype, matrix, **fields)
        texels = pixels.astype(np.float64) / (largest or 1)
        wanted = sample(texels, positions(shape, matrix.ravel()), **fields)
        close(got, stored(wanted, dtype) if got.dtype.kind == "f" else wanted, pixels, largest)
    if interpolation == "cubic" and boundary[0] == "edge":  # a sum of samples of the texture unit
        pixels = pixels_of((*SIZES[dims], 1), np.dtype(np.float32))
        got = Case(queue, pixels).made(shape, np.float32, matrix, precision="hardware", interpolation="cubic")
        wanted = sample(pixels, positions(shape, matrix.ravel()), interpolation="cubic")
        assert np.abs(got - wanted).max() <= 2.0**-7


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp_to_border", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_texture_unit(queue: bl.Queue, dims: int, filtering: str, addressing: str) -> None:
    rng, sizes = np.random.default_rng(dims), UNIT_SIZES[dims]
    places = np.stack([rng.integers(-2048 * n, 3072 * n, 400) // 4 * 4 + 1 for n in sizes], -1) / 1024.0
    formats = UNIT_FORMATS
    if queue.backend == "opencl":  # which compiles a kernel for each
        formats = formats[dims % 2 + 2 * (filtering == "linear") :][:1]
    for channel_type in formats:
        desc = bl.ImageDescriptor(*sizes, num_channels=4, channel_type=channel_type)
        memory = upload(queue, desc, pixels := random_pixels(desc))
        values = values_of(pixels, channel_type)
        periodic = "repeat" in addressing
        coordinate = "normalized" if periodic else "unnormalized"
        handle = bl.create_image(
            memory, desc, queue, sampler=bl.BindlessImageSampler(addressing, coordinate, filtering)
        )
        coords = (places / sizes if periodic else places).astype(np.float32)
        for precision in ("hardware", "reproducible", "exact"):
            got = bl.sample_image(queue, handle, coords, precision=precision)
            if filtering == "nearest" or precision == "exact":
                wanted, bound = sample_pixels(values, places, addressing, filtering, fold=False), 2e-6
            else:
                wanted = linear(values, places, addressing)
                bound = tolerance(queue.device) if precision == "hardware" else 2e-6
                bound += 2.0**-16 if "norm" in channel_type else 0  # such values are rounded to 16 bits
            bound += 2.0**-11 if got.dtype == np.float16 else 0  # half a step of values in 1..2
            np.testing.assert_allclose(got, wanted, rtol=0, atol=bound, err_msg=f"{channel_type} {precision}")
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("boundary", ["border", "edge", "repeat", "mirrored_repeat", "mirror", "extent"])
@pytest.mark.parametrize("interpolation", [name for name in INTERPOLATIONS if name not in DEGREES])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_textures_in_memory(dims: int, interpolation: str, boundary: str, dtype: str) -> None:
    rng = np.random.default_rng(dims)
    levels = [rng.standard_normal((2, *(max(n >> level, 1) for n in SIZES[dims]), 3)).astype(dtype) for level in (0, 1)]
    span = np.array(SIZES[dims][::-1])
    whole = np.floor(rng.uniform(-1.2 * span, 2.2 * span, (2, 60, dims)))
    coords = (whole + rng.uniform(0.1, 0.9, whole.shape)).astype("f8" if dtype == "f8" else "f4")
    level = rng.uniform(-0.5, 1.5, (2, 60)).astype(coords.dtype)
    for between in ("none", "nearest", "linear"):
        count = 1 if between == "none" else 2
        out = np.full((2, 60, 3), np.nan, dtype)
        filters = {"boundary": boundary, "fill": 0.75}
        chosen = lookup(dims, interpolation, between=between, **filters)
        forward(chosen, levels[:count], coords, level if count > 1 else None, out)
        given = [part.astype("f8") for part in levels[:count]]
        wanted = sample_textures(
            given, coords.astype("f8"), level.astype("f8"), between=between, interpolation=interpolation, **filters
        )
        bound = {"f8": 1e-12, "f4": 1e-4, "f2": 4e-3}[dtype]
        away = np.abs(out.astype("f8") - wanted)
        assert (away > bound * (1 + np.abs(wanted))).mean() <= (0.02 if interpolation == "nearest" else 0), between
