"""Filters of an ``Image``: cubic splines and convolutions, precision, fill value, NaN, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.pictures import expected_picture, map_of, random_pixels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

SHAPES = {1: (37,), 2: (19, 23), 3: (9, 11, 13)}
PICTURES = {1: (41,), 2: (17, 21), 3: (8, 10, 7)}
CUBIC = ["cubic", "catmull_rom", "bicubic"]


def within(found: Array, expected: Array, share: float, codes: float = 0.0) -> None:
    """Whether values differ by at most a share of their range, or integers by a number of codes."""
    bound = max(share * np.ptp(expected.astype(np.float64)), codes)
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("filtering", CUBIC)
def test_cubic_warps(queue: bl.Queue, filtering: str, dims: int, dtype: str) -> None:
    pixels, matrix = random_pixels(dtype, (*SHAPES[dims], 1)), map_of(dims)
    with bl.Image(pixels, dimensions=dims, filtering=filtering, precision="exact", queue=queue) as image:
        found = image.warp(matrix, PICTURES[dims])
        np.testing.assert_array_equal(image.numpy(), pixels)
        assert image.sampler.filtering is bl.FilteringMode.linear
    within(found, expected_picture(pixels, matrix, PICTURES[dims][::-1], filtering=filtering), 2e-6, 1)


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("filtering", CUBIC)
def test_cubic_warps_outside(queue: bl.Queue, filtering: str, coordinate: str, addressing: str) -> None:
    pixels, matrix = random_pixels("float32", (19, 23, 2)), map_of(2, projective=True)
    matrix[:2, 2] -= 8
    fill = -2.5 if addressing == "clamp" else 0.0
    given = np.diag([1 / 23, 1 / 19, 1]) @ matrix if coordinate == "normalized" else matrix
    options: dict[str, Any] = {"addressing": addressing, "coordinate": coordinate, "fill": fill}
    with bl.Image(pixels, filtering=filtering, precision="exact", queue=queue, **options) as image:
        found = image.warp(given, (30, 33))
    within(
        found, expected_picture(pixels, matrix, (33, 30), filtering=filtering, addressing=addressing, fill=fill), 2e-6
    )


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_splines_from_linear_samples(queue: bl.Queue, dims: int) -> None:
    """The texture unit's weights have 8 bits; with 2**dims samples a value is wrong by a few of them."""
    pixels, matrix = random_pixels("float32", (*SHAPES[dims], 1)), map_of(dims)
    with bl.Image(pixels, dimensions=dims, filtering="cubic", queue=queue) as image:
        found = image.warp(matrix, PICTURES[dims])
    within(found, expected_picture(pixels, matrix, PICTURES[dims][::-1], filtering="cubic"), 0.01 * dims)


def test_splines_are_scipy_s(queue: bl.Queue) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    volume, matrix, shape = random_pixels("int16", SHAPES[3]), map_of(3), PICTURES[3]
    field = np.random.default_rng(5).normal(0, 2, (*shape, 3)).astype(np.float32)
    centres = np.indices(shape).astype(np.float64)[::-1] + 0.5
    at = np.tensordot(matrix[:3, :3], centres, 1) + matrix[:3, 3, None, None, None] + np.moveaxis(field, -1, 0)
    modes = {"clamp_to_edge": "nearest", "mirrored_repeat": "reflect", "repeat": "grid-wrap", "clamp": "grid-constant"}
    for addressing, mode in modes.items():
        fill = -1000.0 if addressing == "clamp" else 0.0
        places = (at - 0.5)[::-1]
        expected = ndimage.map_coordinates(volume.astype(np.float64), places, order=3, mode=mode, cval=fill)
        expected = np.clip(np.rint(expected), -32767, 32767)
        options: dict[str, Any] = {"addressing": addressing, "fill": fill, "filtering": "cubic", "dimensions": 3}
        with bl.Image(volume, precision="exact", queue=queue, **options) as image:
            found = image.warp(matrix, shape, displacement=field)
        within(found, expected, 1e-5, 1)


@pytest.mark.parametrize("filtering", ["nearest", "linear", *CUBIC])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_samples_are_those_of_warps(queue: bl.Queue, dtype: str, filtering: str) -> None:
    pixels, rng = random_pixels(dtype, (9, 12, 4)), np.random.default_rng(3)
    at = (rng.random((5, 6, 2)) * [14, 11] - 1).astype(np.float32)
    with bl.Image(pixels, filtering=filtering, precision="exact", queue=queue) as image:
        values, pictures = image.sample(at), image.remap(at)
        assert values.dtype == ("float16" if dtype == "float16" else "float32")
        largest = 1 if dtype.startswith("float") else np.iinfo(dtype).max
        low = 0 if dtype == "uint8" else -largest - (filtering == "cubic")  # coefficients are numbers, not codes
        clamped = values if largest == 1 else np.clip(values * np.float32(largest), low, largest)
        within(pictures, clamped, 2e-6, 0.0 if largest == 1 else 0.51)
        there = bl.usm_empty(at.shape, at.dtype, queue).copy_from(at)
        found = image.sample(there)
        assert isinstance(found, bl.UsmArray)
        np.testing.assert_array_equal(found.numpy(), values)


def test_samples_of_layers(queue: bl.Queue) -> None:
    stack, rng = random_pixels("float32", (3, 9, 12)), np.random.default_rng(3)
    at, numbers = (rng.random((50, 2)) * [12, 9]).astype(np.float32), rng.integers(0, 3, 50)
    for filtering in ("linear", "cubic"):
        with bl.Image(stack, layers=True, filtering=filtering, precision="exact", queue=queue) as image:
            every = image.sample(at)
            assert every.shape == (3, 50)
            np.testing.assert_array_equal(image.sample(at, layers=1), every[1])
            np.testing.assert_array_equal(image.sample(at, layers=numbers), every[numbers, range(50)])
            there = bl.usm_empty(at.shape, at.dtype, queue).copy_from(at)
            np.testing.assert_array_equal(image.sample(there, layers=numbers).numpy(), every[numbers, range(50)])
            out = bl.usm_empty((3, 50), np.float32, queue)
            assert image.sample(at, out=out) is out
            np.testing.assert_array_equal(out.numpy(), every)
        for number, layer in enumerate(stack):
            with bl.Image(layer, filtering=filtering, precision="exact", queue=queue) as single:
                np.testing.assert_array_equal(every[number], single.sample(at))


def test_the_fill_value_needs_no_precision(queue: bl.Queue) -> None:
    """Texture units have zero outside: any other value is computed."""
    pixels = np.full((4, 5), 100, np.int16)
    with bl.Image(pixels, addressing="clamp", fill=-1000, queue=queue) as image:
        assert image.fill == -1000
        np.testing.assert_array_equal(image.remap([[-5.0, 2.0], [0.0, 2.0], [2.0, 2.0]]), [-1000, -450, 100])
        np.testing.assert_allclose(image.sample([[-5.0, 2.0]]), -1000 / 32767, rtol=1e-6)
        shift = [[1, 0, -10], [0, 1, 0]]
        np.testing.assert_array_equal(image.warp(shift, (4, 5)), np.full((4, 5), -1000))
    with bl.Image(pixels.astype(np.float32), addressing="clamp", fill=np.nan, queue=queue) as image:
        assert np.isnan(image.sample([[-5.0, 2.0]])).all()
        assert image.sample([[2.0, 2.0]]).tolist() == [100.0]


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nan_that_is_ignored(queue: bl.Queue, dtype: str, filtering: str) -> None:
    pixels, matrix = random_pixels(dtype, (19, 23, 2)), map_of(2)
    holes = np.random.default_rng(4).random(pixels.shape) < 0.1
    holes[4:9, 5:11] = True
    pixels[holes] = np.nan
    for ignored in (True, False):
        nan = "ignore" if ignored else "propagate"
        with bl.Image(pixels, filtering=filtering, precision="exact", nan=nan, queue=queue) as image:
            found = image.warp(matrix, (17, 21)).astype(np.float64)
        options: dict[str, Any] = {"filtering": filtering, "ignore_nan": ignored, "dtype": np.float64}
        expected = expected_picture(pixels, matrix, (21, 17), **options)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        relative, least = (2e-3, 1e-4) if dtype == "float16" else (1e-5, 1e-5)
        np.testing.assert_allclose(found, expected, rtol=relative, atol=least)


def test_exact_pictures_in_another_size(queue: bl.Queue) -> None:
    pixels = random_pixels("float32", (9, 12))
    for filtering in ("linear", *CUBIC):
        with bl.Image(pixels, filtering=filtering, precision="exact", queue=queue) as image:
            found = image.resize((22, 31))
            steps = np.diag([12 / 31, 9 / 22, 1.0])
            expected = expected_picture(pixels[..., None], steps, (31, 22), filtering=filtering)[..., 0]
            within(found, expected, 2e-6)
            means = pixels.reshape(9, 4, 3).astype(np.float64).mean(-1).astype(np.float32)
            expected = expected_picture(
                means[..., None], np.diag([1.0, 0.5, 1.0]), (4, 18), filtering=filtering
            )[..., 0]  # fmt: skip
            within(image.resize((18, 4)), expected, 2e-6)


def test_copies_have_the_filter(queue: bl.Queue) -> None:
    pixels = random_pixels("float32", (9, 12))
    options: dict[str, Any] = {"filtering": "catmull_rom", "precision": "exact", "fill": 2.5}
    with bl.Image(pixels, addressing="clamp", queue=queue, **options) as image:
        expected = image.sample([[3.3, 4.4], [-5, 2]])
        for made in (copy.copy(image), pickle.loads(pickle.dumps(image))):
            assert (made.filtering, made.precision, made.fill) == (image.filtering, image.precision, 2.5)
            if made.queue.device == image.queue.device:
                np.testing.assert_array_equal(made.sample([[3.3, 4.4], [-5, 2]]), expected)
            made.close()


GREY = np.zeros((4, 5), np.float32)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (GREY, {"filtering": "lanczos"}, "filtering='lanczos'.*'cubic', 'catmull_rom', 'bicubic'"),
        (GREY, {"precision": "double"}, "precision='double'.*'reproducible'"),
        (GREY, {"nan": "skip"}, "nan='skip'.*'ignore'"),
        (GREY, {"nan": "ignore"}, '"exact".*hardware'),
        (GREY, {"nan": "ignore", "precision": "reproducible"}, '"exact".*reproducible'),
        (GREY, {"nan": "ignore", "precision": "exact", "filtering": "bicubic"}, "'bicubic'.*linear"),
        (GREY.astype(np.uint8), {"nan": "ignore", "precision": "exact"}, "uint8"),
        (GREY, {"fill": "white", "addressing": "clamp"}, "fill='white'"),
        (GREY, {"fill": 1.0}, 'fill=1.*"border".*clamp_to_edge'),
        (GREY.astype(np.uint8), {"fill": 256, "addressing": "clamp"}, "fill=256.*0 to 255"),
        (GREY.astype(np.int16), {"fill": np.nan, "addressing": "clamp"}, "fill=nan"),
        (GREY, {"fill": 1.0, "addressing": "clamp", "precision": "reproducible"}, '"exact"'),
        (GREY, {"filtering": "bicubic", "precision": "reproducible"}, '"exact"'),
        (GREY, {"filtering": "cubic", "mipmaps": True}, "mipmaps.*'cubic'|'cubic'.*mipmaps"),
        (GREY, {"fill": 2.0, "addressing": "clamp", "mipmaps": True}, "mipmaps"),
        (np.zeros((6, 4, 4), np.float32), {"filtering": "cubic", "cubemap": True}, "cubemaps"),
        (GREY.astype(np.int32), {"filtering": "cubic"}, "nearest"),
        (GREY, {"filtering": "cubic", "addressing": ("clamp", "clamp_to_edge", "clamp")}, "clamp_to_edge"),
        (GREY, {"filtering": "cubic", "addressing": "clamp", "fill": np.nan}, "fill=nan.*catmull_rom"),
    ],
)
def test_options_that_are_refused(queue: bl.Queue, array: Array, options: dict[str, Any], message: str) -> None:
    with raises(bl.InvalidError, match=message):
        bl.Image(array, queue=queue, **options)


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"filtering": "cubic"}, ("fill", "nan")),
        ({"filtering": "bicubic", "precision": "exact"}, ("fill", "nan")),
        ({"fill": 3, "addressing": "clamp"}, ("filtering=", "nan")),
        ({"nan": "ignore", "precision": "exact"}, ("filtering=", "fill")),
    ],
)
def test_an_error_about_mipmaps_names_the_options_that_were_given(
    queue: bl.Queue, options: dict[str, Any], others: tuple[str, ...]
) -> None:
    with raises(bl.InvalidError) as caught:
        bl.Image(GREY, mipmaps=True, queue=queue, **options)
    text = str(caught.value).partition(":")[0]
    assert next(iter(options)) in text
    assert not any(name in text for name in others)


@pytest.mark.parametrize("precision", ["exact", "reproducible"])
def test_levels_and_faces_have_a_precision(queue: bl.Queue, precision: str) -> None:
    """They are those of the reference device, whose texture unit is the reproducible one."""
    pixels, rng = random_pixels("uint8", (16, 24, 4)), np.random.default_rng(6)
    at, level = (rng.random((40, 2)) * [24, 16]).astype(np.float32), rng.random(40).astype(np.float32) * 3
    matrix = [[1.7, 0.1, 0.3], [-0.2, 1.9, 1.1]]
    with bl.Queue("reference") as reference:
        with bl.Image(pixels, mipmaps=True, precision=precision, queue=reference) as image:
            expected, picture = image.sample(at, level=level), image.warp(matrix, (8, 11))
        other = "exact" if precision == "reproducible" else "reproducible"
        with bl.Image(pixels, mipmaps=True, precision=other, queue=reference) as image:
            assert 0 < np.abs(image.sample(at, level=level) - expected).max() < 0.02
    if queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        with bl.Image(pixels, mipmaps=True, precision=precision, queue=queue) as image:
            within(image.sample(at, level=level), expected, 2e-6 if precision == "exact" else 0.0)
            within(image.warp(matrix, (8, 11)), picture, 0.0, 1.0 if precision == "exact" else 0.0)
    if queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        faces, directions = random_pixels("uint8", (6, 8, 8, 4)), rng.standard_normal((40, 3)).astype(np.float32)
        with bl.Image(faces, cubemap=True, precision=precision, queue=bl.Queue("reference")) as image:
            expected = image.sample(directions)
        with bl.Image(faces, cubemap=True, precision=precision, queue=queue) as image:
            within(image.sample(directions), expected, 2e-6 if precision == "exact" else 0.0)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_reproducible_pictures_have_the_reference_s_bits(queue: bl.Queue, filtering: str, dims: int) -> None:
    pixels, matrix, shape = random_pixels("float32", (*SHAPES[dims], 1)), map_of(dims, projective=True), PICTURES[dims]
    field = np.random.default_rng(5).normal(0, 3, (*shape, dims)).astype(np.float32)
    options: dict[str, Any] = {"dimensions": dims, "filtering": filtering}
    options["precision"] = "reproducible"  # where OpenCL is tested, the reference's texture unit is an exact one
    with bl.Queue("reference") as reference, bl.Image(pixels, queue=reference, **options) as image:
        expected = image.warp(matrix, shape), image.warp(matrix, shape, displacement=field), image.sample(field)
        moved = image.remap(field, relative=True)
    with bl.Image(pixels, queue=queue, **options) as image:
        np.testing.assert_array_equal(image.warp(matrix, shape), expected[0])
        np.testing.assert_array_equal(image.warp(matrix, shape, displacement=field), expected[1])
        np.testing.assert_array_equal(image.sample(field), expected[2])
        np.testing.assert_array_equal(image.remap(field, relative=True), moved)
