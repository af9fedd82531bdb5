"""From a coordinate to texels and weights on the reference, compared with a model in exact fractions
(docs/internals/numerics.md).

The image's channels are 1, the index, and two bits of the index. They identify the texels and their weights in 1/256:
weighted sums of small integers are exact. Images of three channels are included because the reference samples them one
item at a time, but images of four channels many at once.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bindless as bl
from tests.goldens.configuration import Array

from .cases import MODES

_API_MODES = {"clamp_to_border": "ext_oneapi_clamp_to_border"}
# Values around each number of fraction bits of normalized coordinates.
_WIDTHS = (1, 2, 3, 7, 64, 100, 4096, 8191, 8192, 8193, 30000, 65536, 65537, 131072)
_SHAPES_2D = ((1, 1), (5, 3), (16, 64), (8193, 2), (3, 8200))
_SHAPES_3D = ((1, 1, 1), (4, 3, 2), (8, 5, 7), (2, 2048, 9), (3, 2, 8300), (8300, 3, 2))


# ---------------------------------------------------------------------- the model


def cleaned(coordinate: float) -> Fraction:
    """Return the coordinate as a number: NaN and denormals are 0, magnitudes end at 2^30."""
    if math.isnan(coordinate) or abs(coordinate) < 2.0**-126:
        return Fraction(0)
    return max(-Fraction(2**30), min(Fraction(2**30), Fraction(coordinate) if math.isfinite(coordinate) else
               Fraction(2**31 if coordinate > 0 else -(2**31))))  # fmt: skip


def in_texels(coordinate: float, size: int, largest: int, normalized: bool) -> Fraction:
    """Scale a normalized coordinate, which keeps 21, 22 or 23 bits, by the largest extent that shares its unit."""
    place = cleaned(coordinate)
    if not normalized:
        return place
    bits = 21 if largest <= 8192 else 22 if largest <= 65536 else 23
    return Fraction(math.floor(place * 2**bits), 2**bits) * size


def addressed(index: int, size: int, mode: str) -> int | None:
    """Return the texel for an index; None for the border."""
    if mode == "repeat":
        return index % size
    if mode == "mirrored_repeat":
        turn, place = divmod(index, size)
        return size - 1 - place if turn % 2 else place
    if mode == "clamp_to_edge":
        return min(max(index, 0), size - 1)
    return index if 0 <= index < size else None


def axis(texels: Fraction, size: int, mode: str, linear: bool) -> tuple[int | None, int | None, int]:
    """Return the first and second texel, and the weight of the second in 1/256."""
    if not linear:
        found = addressed(math.floor(texels), size, mode)
        return found, found, 0
    position = math.floor(256 * texels + Fraction(1, 2)) - 128
    if mode == "clamp_to_edge":
        position = min(max(position, 0), 256 * (size - 1))
    index, weight = divmod(position, 256)
    return addressed(index, size, mode), addressed(index + 1, size, mode), weight


def quad(a: int, b: int, whole: int) -> dict[tuple[int, int], int]:
    """Return weights of two by two texels, by (x, y), that sum to ``whole``."""
    right = (a * whole + 128) >> 8
    left = whole - right
    near = (left * (256 - b) + 128) >> 8
    far = (right * b + 128) >> 8
    return {(0, 0): near, (1, 0): right - far, (0, 1): left - near, (1, 1): far}


def numbers(index: int) -> tuple[int, int, int, int]:
    """Return the channels of a texel."""
    return 1, index, index & 1, index >> 1 & 1


class Setting(NamedTuple):
    sizes: tuple[int, ...]
    modes: tuple[str, ...]
    linear: bool
    normalized: bool

    def effective(self) -> tuple[str, ...]:
        """Return the effective addressing mode: without normalized coordinates the hardware can only clamp."""
        if self.normalized:
            return self.modes
        return tuple(mode if mode == "clamp_to_border" else "clamp_to_edge" for mode in self.modes)


def expected(setting: Setting, point: Sequence[float]) -> tuple[float, ...]:
    """Return the four channels of a sample: a weighted sum of texels, over 256."""
    sizes, largest = setting.sizes, max(setting.sizes)
    axes = [
        axis(in_texels(x, size, largest if d < 2 else size, setting.normalized), size, mode, setting.linear)
        for d, (x, size, mode) in enumerate(zip(point, sizes, setting.effective()))
    ]
    axes += [(0, 0, 0)] * (3 - len(axes))
    far = (256 * axes[2][2] + 128) >> 8
    total = [0, 0, 0, 0]
    for z, whole in enumerate((256 - far, far)):
        for (x, y), weight in quad(axes[0][2], axes[1][2], whole).items():
            i, j, k = axes[0][x], axes[1][y], axes[2][z]
            if weight and i is not None and j is not None and k is not None:
                width, height = (*sizes, 1)[:2]
                held = numbers((k * height + j) * width + i)
                total = [t + weight * n for t, n in zip(total, held)]
    return tuple(t / 256 for t in total)


# ---------------------------------------------------------------------- the device


class Images:
    """Images that hold their indices, by size; each is created once."""

    def __init__(self, queue: bl.Queue) -> None:
        self._queue = queue
        self._made: dict[tuple[tuple[int, ...], int], tuple[bl.ImageDescriptor, bl.ImageMem]] = {}
        native = queue.device._record.native
        fp32 = bl.ImageChannelType.fp32
        self.channels = [n for n in (3, 4) if queue.device._backend.supports_format(native, fp32, n)]

    def sample(self, setting: Setting, channels: int, points: Array) -> Array:
        """Return the device's samples, (N, channels)."""
        key = setting.sizes, channels
        if key not in self._made:
            desc = bl.ImageDescriptor(*setting.sizes, num_channels=channels, channel_type="fp32")
            index = np.arange(math.prod(setting.sizes))
            memory = bl.ImageMem(desc, self._queue)
            held = [np.ones_like(index), index, index & 1, index >> 1 & 1][:channels]
            pixels = np.stack(held, -1).astype(np.float32)
            self._queue.ext_oneapi_copy(pixels.reshape(desc.shape), memory).wait()
            self._made[key] = desc, memory
        desc, memory = self._made[key]
        modes = [_API_MODES.get(mode, mode) for mode in setting.modes]
        sampler = bl.BindlessImageSampler(
            modes + ["clamp_to_edge"] * (3 - len(modes)),
            "normalized" if setting.normalized else "unnormalized",
            "linear" if setting.linear else "nearest",
        )
        handle = bl.create_image(memory, desc, self._queue, sampler=sampler)
        try:
            return np.asarray(bl.sample_image(self._queue, handle, points))
        finally:
            bl.destroy_image_handle(handle, self._queue)

    def close(self) -> None:
        """Free the images."""
        for _, memory in self._made.values():
            memory.close()


@pytest.fixture(scope="module")
def images(device: bl.Device) -> Iterator[Images]:
    with bl.Queue(device) as queue:
        made = Images(queue)
        yield made
        made.close()


# ---------------------------------------------------------------------- coordinates


def _stepped(place: float, steps: int) -> float:
    """Move a coordinate by this number of floats."""
    found = np.float32(place)
    for _ in range(abs(steps)):
        found = np.nextafter(found, np.float32(math.copysign(math.inf, steps)))
    return float(found)


def _anywhere(size: int, normalized: bool) -> st.SearchStrategy[float]:
    """Return arbitrary floats, coordinates around the image, and floats on and next to 512ths of texels, where weights
    change.
    """
    unit = 1.0 / size if normalized else 1.0
    around = st.floats(-1.5, 2.5).map(lambda x: float(np.float32(x * size * unit)))
    whole, fraction = st.integers(-size - 1, 2 * size + 1), st.sampled_from((0, 1, 3, 127, 255, 256, 257, 511))
    corner = st.builds(lambda n, part: (n + part / 512) * unit, whole, fraction)
    beside = st.builds(_stepped, corner, st.sampled_from((0, 0, 1, -1)))
    return st.one_of(st.floats(width=32), around, beside)


_ODD = (math.nan, math.inf, -math.inf, -0.0, 1e-45, -1e-45, 2.0**-126, -(2.0**-126), 2.0**30, -(2.0**30), 2.0**31,
        3.4e38, -3.4e38, 1.0, -1.0, 0.5, 0.99999994, 1.0000001)  # fmt: skip


def _settings(shapes: Sequence[tuple[int, ...]]) -> st.SearchStrategy[Setting]:
    return st.sampled_from(shapes).flatmap(
        lambda sizes: st.builds(
            Setting, st.just(sizes), st.tuples(*[st.sampled_from(MODES)] * len(sizes)), st.booleans(), st.booleans()
        )
    )


def _questions(shapes: Sequence[tuple[int, ...]]) -> st.SearchStrategy[tuple[Setting, Array]]:
    """Return a setting and some points."""
    return _settings(shapes).flatmap(
        lambda setting: st.tuples(
            st.just(setting),
            st.lists(
                st.tuples(*(_anywhere(size, setting.normalized) for size in setting.sizes)), min_size=1, max_size=40
            ).map(lambda points: np.array(points, np.float32)),
        )
    )


def _compare(images: Images, setting: Setting, points: Array) -> None:
    wanted = np.array([expected(setting, [float(x) for x in point]) for point in points])
    # An odd number of repetitions brings every point to every lane of a vector unit.
    points, wanted = np.tile(points, (17, 1)), np.tile(wanted, (17, 1))
    for channels in images.channels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bl.SamplerWarning)  # unnormalized repetition, which the model covers
            got = images.sample(setting, channels, points)
        wrong = (got != wanted[:, :channels]).any(1)
        assert not wrong.any(), f"{setting} at {points[wrong][0]}: {got[wrong][0]}, {wanted[wrong][0]} by the model"


_SOME = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_FEW = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_SOME
@given(question=_questions([(width,) for width in _WIDTHS]))
def test_one_dimension(images: Images, question: tuple[Setting, Array]) -> None:
    _compare(images, *question)


@_FEW
@given(question=_questions(_SHAPES_2D))
def test_two_dimensions(images: Images, question: tuple[Setting, Array]) -> None:
    _compare(images, *question)


@_FEW
@given(question=_questions(_SHAPES_3D))
def test_three_dimensions(images: Images, question: tuple[Setting, Array]) -> None:
    _compare(images, *question)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("linear", [True, False])
def test_odd_numbers(images: Images, linear: bool, normalized: bool) -> None:
    """Every mode and width at every special number, alone and in pairs."""
    for width, mode in itertools.product(_WIDTHS, MODES):
        _compare(images, Setting((width,), (mode,), linear, normalized), np.array(_ODD, np.float32)[:, None])
    pairs = np.array(list(itertools.product(_ODD, _ODD)), np.float32)
    for mode in MODES:
        _compare(images, Setting((5, 3), (mode, mode), linear, normalized), pairs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("normalized", [True, False])
def test_every_change_of_a_weight(images: Images, normalized: bool, mode: str) -> None:
    """On and next to every 512th of a texel, in and around an image of three."""
    edges = np.arange(-512, 4 * 512) / (512 * (3 if normalized else 1))
    points = np.concatenate(
        [edges.astype(np.float32), *(np.array([_stepped(x, n) for x in edges], np.float32) for n in (-1, 1))]
    )
    for linear in (True, False):
        _compare(images, Setting((3,), (mode,), linear, normalized), points[:, None])


@pytest.mark.parametrize(
    "sizes",
    [(3,), (8192,), (8193,), (65536,), (65537,), (8192, 3), (3, 8193), (2, 40000), (3, 2, 8193), (8193, 2, 3)],
    ids=str,
)
def test_bits_that_are_dropped(images: Images, sizes: tuple[int, ...]) -> None:
    """A normalized coordinate loses its last bits, visible where only these bits reach a 512th of a texel."""
    rng = np.random.default_rng(1)
    for axis_number, size in enumerate(sizes):
        points = np.full((600, len(sizes)), 0.5, np.float32)
        edges = (2 * rng.integers(0, 256 * size, len(points)) + 1) / (512 * size)
        points[:, axis_number] = edges + 0.75 * 2.0 ** -np.resize((21, 22, 23, 24), len(points))
        _compare(images, Setting(sizes, ("repeat",) * len(sizes), True, True), points)


def test_model_by_hand() -> None:
    """The model itself, at coordinates with results known by hand."""
    line = Setting((4,), ("repeat",), True, True)
    assert expected(line, [0.5]) == (1.0, 1.5, 0.5, 0.5)  # between texels 1 and 2
    assert expected(line, [0.0]) == (1.0, 1.5, 0.5, 0.5)  # between texels 3 and 0
    assert expected(line._replace(modes=("clamp_to_border",)), [0.0]) == (0.5, 0.0, 0.0, 0.0)
    assert expected(line._replace(modes=("clamp_to_edge",)), [9.0]) == (1.0, 3.0, 1.0, 1.0)
    assert expected(line._replace(modes=("mirrored_repeat",)), [1.125]) == (1.0, 3.0, 1.0, 1.0)
    assert expected(Setting((4,), ("repeat",), False, False), [-1e9]) == (1.0, 0.0, 0.0, 0.0)


def test_both_ways_of_the_reference_are_there(device: bl.Device, images: Images) -> None:
    assert 4 in images.channels
    assert 3 in images.channels or device.backend != bl.Backend.reference
