"""Images of the planes of video frames, beside the computation in float64 of filters and matrices of colours."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.boundary import BOUNDARIES
from tests.oracle.cameras import places_in
from tests.oracle.samples import sample
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

SIZES = [(38, 54), (37, 53)]
SHARES = {"bt601": (0.299, 0.587, 0.114), "bt709": (0.2126, 0.7152, 0.0722), "bt2020": (0.2627, 0.678, 0.0593)}
# Columns and rows of the colours as brightness has them: between which pixels the first of them lies.
FIRST = {"left": (0.0, 0.5), "center": (0.5, 0.5), "topleft": (0.0, 0.0)}
DTYPES: list[Any] = [np.uint8, np.uint16]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)


def planes(
    rng: np.random.Generator, shape: tuple[int, int], dtype: Any = np.uint8, shift: int = 6
) -> tuple[Array, Array]:
    """Any codes, also those that give colours beyond red, green and blue."""
    half = (shape[0] + 1) // 2, (shape[1] + 1) // 2, 2
    bits = 8 if dtype is np.uint8 else 10
    y, uv = (rng.integers(0, 1 << bits, size).astype(dtype) for size in (shape, half))
    return (y, uv) if bits == 8 else (y << shift, uv << shift)


def codes(plane: Array, shift: int = 6) -> Array:
    """Codes of eight bits, those of ten with a fraction."""
    return plane.astype(float) if plane.dtype == np.uint8 else (plane >> shift) / 4


def colours(
    y: Array,
    uv: Array,
    places: Array,
    standard: str = "bt709",
    full_range: bool = False,
    siting: str = "left",
    boundary: Any = "edge",
    fill: float = 0.0,
    shift: int = 6,
    **options: Any,
) -> Array:
    """Red, green and blue, 0 to 1, at places (..., 2) from the centre of the first pixel."""
    between = (places - np.array(FIRST[siting])) / 2
    along = [boundary] * 2 if isinstance(boundary, str) else list(boundary)
    inner = ["edge" if mode in ("border", "extent") else mode for mode in along]
    light = sample(codes(y, shift)[..., None], places, boundary=inner, **options)[..., 0]
    u, v = np.moveaxis(sample(codes(uv, shift), between, boundary=inner, **options), -1, 0)
    least, most = (0, 255) if y.dtype == np.uint8 else (0, 1023 / 4)
    low, high, swing = (least, most, most) if full_range else (16, 235, 224)
    light, u, v = (light - low) / (high - low), (u - 128) / swing, (v - 128) / swing
    kr, kg, kb = SHARES[standard]
    red, blue = light + 2 * (1 - kr) * v, light + 2 * (1 - kb) * u
    values = np.clip(np.stack([red, (light - kr * red - kb * blue) / kg, blue], -1), 0, 1)
    share = sample(np.ones((*y.shape, 1)), places, boundary=along, fill=0.0, **options)
    return np.where(np.isfinite(places).all(-1)[..., None], values * share + (1 - share) * fill, fill)


def pixels(shape: tuple[int, int], matrix: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1))) -> Array:
    """Places that a picture's pixels see, from the centre of the first pixel."""
    row, column = np.indices(shape) + 0.5
    x, y, w = np.einsum("ij,jyx->iyx", np.array(matrix, float), np.stack([column, row, np.ones(shape)]))
    return np.stack([x / w, y / w], -1) - 0.5


def check(picture: Array, expected: Array) -> None:
    """Integers are values of the whole range, rounded."""
    largest = np.iinfo(picture.dtype).max
    assert picture.shape == expected.shape
    assert np.abs(picture - expected * largest).max() < 0.5 + 2e-6 * largest


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize(("standard", "full_range", "siting"), list(itertools.product(SHARES, (False, True), FIRST)))
def test_every_kind(
    rng: np.random.Generator, queue: bl.Queue, dtype: Any, shape: tuple[int, int], standard: str, full_range: bool,
    siting: str,
) -> None:  # fmt: skip
    (y, uv), kind = planes(rng, shape, dtype), {"standard": standard, "full_range": full_range, "siting": siting}
    coords = rng.uniform(-3, 58, (300, 2))
    with bl.Image.from_nv12(y, uv, queue=queue, **kind) as image:
        assert image.shape == (*shape, 3) and image.dtype == dtype and image.num_channels == 3
        values = image.sample(coords)
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, colours(y, uv, coords - 0.5, **kind), rtol=0, atol=2e-6)
        check(image.numpy(), colours(y, uv, pixels(shape), **kind))


@pytest.mark.parametrize(
    ("standard", "full_range", "code", "rgb"),
    [
        ("bt709", False, (63, 102, 240), (255, 0, 0)),
        ("bt709", False, (173, 42, 26), (0, 255, 0)),
        ("bt709", False, (32, 240, 118), (0, 0, 255)),
        ("bt601", False, (81, 90, 240), (255, 0, 0)),
        ("bt601", False, (145, 54, 34), (0, 255, 0)),
        ("bt601", True, (76, 85, 255), (255, 0, 0)),
        ("bt601", True, (29, 255, 107), (0, 0, 255)),
        ("bt2020", False, (74, 97, 240), (255, 0, 0)),
    ],
)
def test_bars(queue: bl.Queue, standard: str, full_range: bool, code: tuple[int, ...], rgb: tuple[int, ...]) -> None:
    """Codes of full red, green and blue as they are printed, which are rounded."""
    y, u, v = (np.full(shape, one, np.uint8) for shape, one in zip([(4, 6), (2, 3), (2, 3)], code))
    kind: dict[str, Any] = {"standard": standard, "full_range": full_range, "queue": queue}
    with bl.Image.from_yuv420(y, u, v, **kind) as image, bl.Image.from_nv12(y, np.stack([u, v], -1), **kind) as other:
        assert np.abs(image.numpy() - np.array(rgb, float)).max() <= 2
        np.testing.assert_array_equal(image.numpy(), other.numpy())


def test_three_planes(rng: np.random.Generator, queue: bl.Queue) -> None:
    """Ten bits are the lower ones of an integer."""
    for dtype, shape in itertools.product(DTYPES, SIZES):
        y, uv = planes(rng, shape, dtype, 0)
        with bl.Image.from_yuv420(y, uv[..., 0], uv[..., 1], queue=queue) as image:
            check(image.numpy(), colours(y, uv, pixels(shape), shift=0))
            y, uv = planes(rng, shape, dtype, 0)
            assert image.update_yuv420(y, uv[..., 0], uv[..., 1]) is None
            check(image.numpy(), colours(y, uv, pixels(shape), shift=0))


@pytest.mark.parametrize("matrix", [((0.7, 0.2, 3), (-0.1, 0.9, 1)), ((0.7, 0.2, 3), (-0.1, 0.9, 1), (1e-3, 2e-3, 1))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_warp(rng: np.random.Generator, queue: bl.Queue, dtype: Any, matrix: Any) -> None:
    (y, uv), shape = planes(rng, SIZES[1], dtype), (41, 70)
    places = pixels(shape, [*matrix, (0, 0, 1)][:3])
    moves = rng.uniform(-4, 4, (*shape, 2)).astype(np.float32)
    with bl.Image.from_nv12(y, uv, queue=queue) as image:
        for _ in range(4):  # the later ones are repeated
            check(image.warp(matrix, shape), colours(y, uv, places))
        out = bl.usm_empty((*shape, 3), dtype, queue)
        for _ in range(4):
            assert image.warp(matrix, shape, out=out) is out
            check(out.numpy(), colours(y, uv, places))
        for kind in (np.float32, np.float64):
            check(image.warp(matrix, shape, displacement=moves.astype(kind)), colours(y, uv, places + moves))
        planar = np.ascontiguousarray(moves.transpose(2, 0, 1)).transpose(1, 2, 0)
        check(image.warp(matrix, shape, displacement=planar), colours(y, uv, places + moves))


def test_coordinates_on_the_device(rng: np.random.Generator, queue: bl.Queue) -> None:
    y, uv = planes(rng, SIZES[0])
    coords = rng.uniform(-3, 58, (9, 40, 2)).astype(np.float32)
    there = bl.usm_empty(coords.shape, np.float32, queue).copy_from(coords)
    expected = colours(y, uv, coords.astype(float) - 0.5)
    with bl.Image.from_nv12(y, uv, queue=queue) as image:
        for array in (coords, there):
            for _ in range(3):
                values, picture = image.sample(array), image.remap(array)
                assert type(values) is type(picture) is type(array)
                np.testing.assert_allclose(np.asarray(copied(values)), expected, rtol=0, atol=2e-6)
                check(copied(picture), expected)
        check(image.remap(coords, relative=True), colours(y, uv, pixels((9, 40)) + coords))


def copied(array: Any) -> Array:
    return array if isinstance(array, np.ndarray) else array.numpy()


def test_reproject(rng: np.random.Generator, queue: bl.Queue) -> None:
    (y, uv), shape = planes(rng, SIZES[1]), (31, 43)
    lens = ([[38, 0, 26], [0, 40, 18], [0, 0, 1]], (-0.2, 0.03, 0.003, -0.002), "opencv")
    ideal = ([[36, 0, 21], [0, 36, 15], [0, 0, 1]], (), "opencv")
    turn = np.linalg.qr(np.eye(3) + 0.05 * np.array([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]))[0]
    turn = turn * np.sign(np.diag(turn))
    places = places_in(lens, ideal, turn, shape)
    with bl.Image.from_nv12(y, uv, addressing="border", fill=51.0, queue=queue) as image:
        picture = image.reproject(bl.Camera(*lens), to=bl.Camera(*ideal), rotation=turn, shape=shape)
    check(picture, colours(y, uv, places, boundary="border", fill=0.2))


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize(
    "addressing",
    [
        "clamp_to_edge",
        "repeat",
        "mirrored_repeat",
        "mirror",
        "border",
        "extent",
        ("repeat", "border"),
        ("extent", "mirror"),
    ],
)
def test_outside(rng: np.random.Generator, queue: bl.Queue, addressing: Any, filtering: str) -> None:
    y, uv = planes(rng, SIZES[0])
    coords = rng.uniform(-60, 110, (400, 2))
    modes = [addressing] * 2 if isinstance(addressing, str) else addressing
    boundary = [BOUNDARIES.get(mode, mode) for mode in modes]
    coords[:40] = rng.uniform(-1.5, 1.5, (40, 2))  # the border is blended here
    coords[40:80] = rng.uniform(-1.5, 1.5, (40, 2)) + SIZES[0][::-1]
    coords[-1] = np.nan
    fill = 102.0 if {"border", "extent"} & set(boundary) else 0.0
    places = coords.astype(np.float32).astype(float) - 0.5
    expected = colours(y, uv, places, boundary=boundary, fill=fill / 255, interpolation=filtering)
    options: dict[str, Any] = {"addressing": addressing, "fill": fill, "filtering": filtering, "queue": queue}
    with bl.Image.from_nv12(y, uv, **options) as image:
        values = image.sample(coords.astype(np.float32))
    with bl.Image.from_nv12(y, uv, coordinate="normalized", **options) as image:
        shares = image.sample(coords / SIZES[0][::-1])
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)
    if filtering == "linear":
        np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-3)


def test_resize(rng: np.random.Generator, queue: bl.Queue) -> None:
    (y, uv), shape = planes(rng, (36, 60)), (50, 90)
    with bl.Image.from_nv12(y, uv, addressing="repeat", queue=queue) as image:
        places = pixels(shape, np.diag([60 / 90, 36 / 50, 1]))
        for _ in range(3):
            check(image.resize(shape), colours(y, uv, places))
        for turn in range(3):
            means = image.numpy().reshape(12, 3, 20, 3, 3).mean((1, 3))
            picture, out = image.resize((12, 20)), np.empty((12, 20, 3), np.uint8)
            assert np.abs(picture - means).max() <= 0.5
            assert image.resize((12, 20), out=out) is out
            np.testing.assert_array_equal(out, picture)
            y, uv = planes(rng, (36, 60))
            image.update_nv12(y, uv)
            assert turn == 2 or not np.array_equal(image.resize((12, 20)), picture)
        assert image.resize((12, 90)).shape == (12, 90, 3)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("shape", [(8, 12), (270, 480)])
def test_a_loop_of_frames(rng: np.random.Generator, queue: bl.Queue, in_order: bool, shape: tuple[int, int]) -> None:
    with bl.Queue(queue.device, queue.context, in_order=in_order) as own:
        first, second = planes(rng, shape)
        outs = [bl.usm_empty((*shape, 3), np.uint8, own, kind="host") for _ in range(5)]
        expected = []
        with bl.Image.from_nv12(first, second, queue=own) as image:
            for out in outs:
                first[...], second[...] = planes(rng, shape)
                expected.append(colours(first, second, pixels(shape)))
                assert image.update_nv12(first, second) is None
                first[...] = second[...] = 77
                image.warp(np.eye(3), shape, out=out)
            own.wait()
            for out, values in zip(outs, expected):
                check(out.numpy(), values)


def test_planes_on_the_device(rng: np.random.Generator, queue: bl.Queue) -> None:
    """Also rows that are longer than they need to be, as decoders write them, and both planes in one array."""
    height, width, pitch = 36, 60, 64
    frames = [rng.integers(0, 256, (height * 3 // 2, pitch)).astype(np.uint8) for _ in range(2)]
    there = [bl.usm_empty(frame.shape, np.uint8, queue).copy_from(frame) for frame in frames]
    expected = [
        colours(frame[:height, :width], frame[height:, :width].reshape(-1, width // 2, 2), pixels((height, width)))
        for frame in frames
    ]
    with bl.Image.from_nv12(there[0][:height, :width], there[0][height:, :width], queue=queue) as image:
        picture = image.warp(np.eye(3), (height, width))
        assert isinstance(picture, bl.UsmArray)
        check(picture.numpy(), expected[0])
        for frame, values in zip(reversed(there), reversed(expected)):
            assert isinstance(image.update_nv12(frame[:height, :width], frame[height:, :width]), bl.Event)
            check(image.warp(np.eye(3), (height, width)).numpy(), values)
        image.update_nv12(frames[1][:height, :width], frames[1][height:, :width])
        check(image.warp(np.eye(3), (height, width)).numpy(), expected[1])
        assert isinstance(image.resize((9, 15)), bl.UsmArray)
    y, uv = there[0][:height, :width], frames[0][height:, :width].reshape(-1, width // 2, 2)
    parts = [bl.usm_empty(uv.shape[:2], np.uint8, queue).copy_from(np.ascontiguousarray(uv[..., n])) for n in range(2)]
    with bl.Image.from_yuv420(y, *parts, queue=queue) as image:
        check(image.numpy(), expected[0])
        image.update_yuv420(frames[0][:height, :width], parts[0], uv[..., 1])
        check(image.numpy(), expected[0])


def test_parts_are_images(rng: np.random.Generator, queue: bl.Queue) -> None:
    """The colours lie at the left pixels, in the middle of their height."""
    y, uv = planes(rng, (8, 12))
    coords = pixels((8, 12)) + 0.5
    with bl.Image.from_nv12(y, uv, queue=queue) as image:
        luma, chroma = image.parts
        np.testing.assert_allclose(luma.sample(coords), y / 255, atol=1e-6)
        values = chroma.sample(coords * 0.5 + [0.25, 0])
        expected = (0.25 * uv[:-1] + 0.75 * uv[1:]) / 255
        np.testing.assert_allclose(values[2::2, ::2], expected, atol=1e-6)


def test_what_it_is(rng: np.random.Generator, queue: bl.Queue, tmp_path: Any) -> None:
    y, uv = planes(rng, (8, 12))
    with bl.Image.from_nv12(y, uv, queue=queue) as image:
        assert "12 x 8, 3 x unorm_int8" in repr(image) and image._repr_png_() is not None
        assert image.precision is bl.Precision.exact and image.size == (12, 8) and len(image.parts) == 2
        image.save(tmp_path / "frame.png")
        for use in (lambda: image.handle, lambda: image.memory, lambda: image.fetch([1, 1]), lambda: image.update(y)):
            with raises(bl.InvalidError):
                use()
        with pytest.raises(TypeError):
            copy.copy(image)
        image.resize((2, 3))
    for late in (lambda: image.numpy(), lambda: image.update_nv12(y, uv), lambda: image.resize((2, 3))):
        with raises(bl.InvalidError):
            late()
    with bl.Image(y, queue=queue) as plain, raises(bl.InvalidError):
        plain.update_nv12(y, uv)


def test_arguments(rng: np.random.Generator, queue: bl.Queue) -> None:
    y, uv = planes(rng, (8, 12))
    for arguments in (
        (y[None], uv), (y.astype(np.float32), uv), (y, uv[:-1]), (y, uv.astype(np.uint16)), (y, uv[..., :1]),
        (y[:0], uv),
    ):  # fmt: skip
        with raises(bl.ArgumentError):
            bl.Image.from_nv12(*arguments, queue=queue)
    for options in ({"standard": "bt470"}, {"siting": "right"}, {"filtering": "cubic"}, {"addressing": "around"}):
        with raises(bl.ArgumentError):
            bl.Image.from_nv12(y, uv, queue=queue, **options)  # type: ignore[arg-type]
    with raises(bl.ArgumentError):
        bl.Image.from_yuv420(y, uv[..., 0], uv[:-1, :, 1], queue=queue)
    with bl.Image.from_nv12(y, uv, queue=queue) as image:
        bad: list[tuple[Any, Any]] = [("a", (3, 3)), (np.eye(4), (3, 3)), ([[1, 2], [3]], (3, 3)), (np.eye(3), (3, 0))]
        for matrix, shape in bad:
            with raises(bl.InvalidError):
                image.warp(matrix, shape)
        with raises(bl.InvalidError):
            image.warp(np.eye(3), (3, 3), displacement=np.zeros((3, 4, 2)))
        assert image.remap(np.zeros((0, 2))).shape == image.sample(np.zeros((0, 2))).shape == (0, 3)
        for planes_of_others in ((y[:4], uv[:2]), (y.astype(np.uint16), uv.astype(np.uint16))):
            with raises(bl.InvalidError):
                image.update_nv12(*planes_of_others)
        check(image.numpy(), colours(y, uv, pixels((8, 12))))
    y, uv = planes(rng, (8, 12), np.uint16)
    with bl.Image.from_nv12(y, uv, queue=queue) as image, raises(bl.InvalidError):
        image.update_yuv420(y, uv[..., 0].copy(), uv[..., 1].copy())
