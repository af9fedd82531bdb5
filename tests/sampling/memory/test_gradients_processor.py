"""Samples and gradients on the processor, compared with definitions in float64 and with finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindless import Errc, InvalidError
from bindless.sampling.memory import Lookup, backward, backward_backward, forward, memory_array
from tests.oracle.samples import sample_textures
from tests.support.filters import lookup as make_lookup

Array = np.ndarray[Any, Any]

FILTERS = ["nearest", "linear", "cubic", "catmull_rom", "bicubic"]
BOUNDARIES = ["border", "edge", "repeat", "mirrored_repeat", "mirror", "extent"]
SIZES = {1: (7,), 2: (5, 6), 3: (4, 3, 5)}


class Case:
    """A texture, its arrays, and calls that allocate results."""

    def __init__(
        self,
        lookup: Lookup,
        *,
        channels: int = 3,
        samples: int = 21,
        textures: int = 2,
        num_levels: int = 1,
        dtype: str = "d",
        seed: int = 0,
        sizes: tuple[int, ...] | None = None,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.lookup = lookup
        self.real = "d" if dtype == "d" else "f"
        size = sizes or SIZES[lookup.dims]
        faces = (6,) if lookup.cube else ()
        self.levels = [
            rng.standard_normal((textures, *faces, *(max(n >> level, 1) for n in size), channels)).astype(dtype)
            for level in range(num_levels)
        ]
        if lookup.cube:
            coords = rng.standard_normal((textures, samples, 3))
        else:
            span = np.array(size[::-1])
            coords = rng.uniform(-1.2 * span, 2.2 * span, (textures, samples, lookup.dims))
            coords = (coords - lookup.map.offset[: lookup.dims]) / lookup.map.scale[: lookup.dims]
        self.coords = coords.astype(self.real)
        self.level = (
            rng.uniform(-0.5, num_levels - 0.5, (textures, samples)).astype(self.real) if num_levels > 1 else None
        )
        self.grad_out = rng.standard_normal((textures, samples, channels)).astype(self.real)
        self.rng = rng

    def values(self) -> Array:
        out = np.full_like(self.grad_out, np.nan)
        forward(self.lookup, self.levels, self.coords, self.level, out)
        return out

    def expected(self) -> Array:
        """The values by definition, in float64."""
        filter_, map_ = self.lookup.filter, self.lookup.map
        values = sample_textures(
            self.levels,
            self.coords,
            self.level,
            between=str(filter_.levels),
            scale=map_.scale,
            offset=map_.offset,
            shift=map_.shift,
            interpolation=str(filter_.interpolation),
            boundary=[str(boundary) for boundary in filter_.boundary],
            fill=filter_.fill,
            ties_to_even=filter_.ties_to_even,
        )
        return np.asarray(values)

    def gradients(self) -> tuple[list[Array], Array, Array | None]:
        levels = [np.zeros_like(level, dtype=self.real) for level in self.levels]
        coords = np.full_like(self.coords, np.nan)
        level = None if self.level is None else np.full_like(self.level, np.nan)
        backward(self.lookup, self.levels, self.coords, self.level, self.grad_out, levels, coords, level)
        return levels, coords, level

    def inputs(self) -> list[Array]:
        return [*self.levels, self.coords, *([] if self.level is None else [self.level])]


def slope(function: Any, array: Array, index: tuple[int, ...], step: float = 1e-6) -> float:
    """The derivative of a function by an element of an array, from central differences."""
    kept = array[index]
    array[index] = kept + step
    above = function()
    array[index] = kept - step
    below = function()
    array[index] = kept
    return float((above - below) / (2 * step))


def assert_slopes(function: Any, array: Array, gradient: Array, rng: Any, count: int = 40) -> None:
    """Assert that a gradient equals finite differences, for some elements."""
    indices = list(np.ndindex(array.shape))
    for number in rng.permutation(len(indices))[:count]:
        index = indices[number]
        found = slope(function, array, index)
        assert gradient[index] == pytest.approx(found, rel=1e-5, abs=2e-6), index


def texture_of(dims: int, filtering: str, boundary: str, **options: Any) -> Lookup:
    return make_lookup(
        dims,
        filtering,
        boundary=boundary,
        scale=(0.5, 2.0, 1.5)[:dims],
        offset=(0.25, -0.5, 1.0)[:dims],
        shift=0.75,
        **options,
    )


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("filtering", FILTERS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_values_and_gradients_equal_definition(dims: int, filtering: str, boundary: str) -> None:
    case = Case(texture_of(dims, filtering, boundary, fill=0.75))

    def loss() -> float:
        values = case.expected()
        return float((values * case.grad_out).sum())

    expected = case.expected()
    np.testing.assert_allclose(case.values(), expected, rtol=1e-12, atol=1e-12)
    levels, coords, _ = case.gradients()
    assert_slopes(loss, case.levels[0], levels[0], case.rng, 12)
    assert_slopes(loss, case.coords, coords, case.rng, 12)


@pytest.mark.parametrize("filtering", ["linear", "catmull_rom"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_levels_are_interpolated(dims: int, filtering: str) -> None:
    case = Case(texture_of(dims, filtering, "mirrored_repeat", between="linear"), num_levels=3, samples=40)

    def loss() -> float:
        values = case.expected()
        return float((values * case.grad_out).sum())

    expected = case.expected()
    np.testing.assert_allclose(case.values(), expected, rtol=1e-12, atol=1e-12)
    levels, coords, level = case.gradients()
    assert level is not None and case.level is not None
    for texels, gradient in zip(case.levels, levels, strict=True):
        assert_slopes(loss, texels, gradient, case.rng, 8)
    assert_slopes(loss, case.coords, coords, case.rng, 8)
    assert_slopes(loss, case.level, level, case.rng, 12)


def test_nearest_level() -> None:
    case = Case(texture_of(2, "linear", "repeat", between="nearest"), num_levels=3)
    expected = case.expected()
    np.testing.assert_allclose(case.values(), expected, rtol=1e-12, atol=1e-12)
    _, _, level = case.gradients()
    assert level is not None and not level.any()


@pytest.mark.parametrize(
    ("options", "num_levels"),
    [
        ({"dims": 1, "filtering": "linear", "boundary": "border", "fill": 0.5}, 1),
        ({"dims": 2, "filtering": "linear", "boundary": "edge"}, 1),
        ({"dims": 3, "filtering": "linear", "boundary": "mirror"}, 1),
        ({"dims": 3, "filtering": "catmull_rom", "boundary": "repeat"}, 1),
        ({"dims": 2, "filtering": "cubic", "boundary": "border", "fill": 0.5}, 1),
        ({"dims": 1, "filtering": "bicubic", "boundary": "mirrored_repeat"}, 1),
        ({"dims": 2, "filtering": "linear", "boundary": "repeat", "between": "linear"}, 3),
        ({"dims": 3, "filtering": "cubic", "boundary": "mirror", "between": "linear"}, 2),
        ({"dims": 2, "filtering": "linear", "cube": True}, 1),
        ({"dims": 2, "filtering": "linear", "cube": True, "between": "linear"}, 3),
    ],
)
def test_second_derivatives_equal_differences(options: dict[str, Any], num_levels: int) -> None:
    case = Case(make_lookup(**options), num_levels=num_levels, sizes=(4, 4) if options.get("cube") else None)
    rng = np.random.default_rng(5)
    cot_levels = [rng.standard_normal(level.shape) for level in case.levels]
    cot_coords = rng.standard_normal(case.coords.shape)
    cot_level = None if case.level is None else rng.standard_normal(case.level.shape)

    def loss() -> float:
        levels, coords, level = case.gradients()
        total = sum(float((a * b).sum()) for a, b in zip(levels, cot_levels, strict=True)) + float(
            (coords * cot_coords).sum()
        )
        return total + (0.0 if level is None else float((level * cot_level).sum()))

    grad_grad = np.full_like(case.grad_out, np.nan)
    levels = [np.zeros_like(level) for level in case.levels]
    coords = np.full_like(case.coords, np.nan)
    level = None if case.level is None else np.full_like(case.level, np.nan)
    backward_backward(
        case.lookup, case.levels, case.coords, case.level, case.grad_out, cot_levels, cot_coords, cot_level,
        grad_grad, levels, coords, level,
    )  # fmt: skip
    assert_slopes(loss, case.grad_out, grad_grad, rng)
    for texels, gradient in zip(case.levels, levels, strict=True):
        assert_slopes(loss, texels, gradient, rng)
    assert_slopes(loss, case.coords, coords, rng)
    if case.level is not None:
        assert level is not None
        assert_slopes(loss, case.level, level, rng)


def face_direction(face: int, u: float, v: float) -> tuple[float, float, float]:
    """OpenGL's table of faces, solved for the direction."""
    return [(1, -v, -u), (-1, -v, u), (u, 1, v), (u, -1, -v), (u, -v, 1), (-u, -v, -1)][face]  # type: ignore[return-value]


def test_cube_texels_are_at_their_directions() -> None:
    case = Case(make_lookup(2, cube=True), sizes=(5, 5), textures=1)
    grid = (np.arange(5) + 0.5) / 2.5 - 1
    coords = [face_direction(face, u, v) for face in range(6) for v in grid for u in grid]
    out = np.empty((1, 150, 3))
    forward(case.lookup, case.levels, np.array([coords]) * 2.5, None, out)
    np.testing.assert_allclose(out.reshape(6, 5, 5, 3), case.levels[0][0], atol=1e-12)


def test_cube_has_no_seam() -> None:
    case = Case(make_lookup(2, cube=True), sizes=(4, 4), textures=1)
    rng = np.random.default_rng(2)
    edges = list(rng.uniform(-1, 1, (200, 3)))
    for p in edges:
        p[rng.permutation(3)[:2]] = rng.choice([-1.0, 1.0], 2)
    near = np.array([edges])
    both = np.stack([near * (1 + 1e-9 * rng.standard_normal(near.shape)) for _ in range(2)])[:, 0]
    values = []
    for coords in both:
        out = np.empty((1, 200, 3))
        forward(case.lookup, case.levels, coords[None], None, out)
        values.append(out)
    np.testing.assert_allclose(values[0], values[1], atol=1e-7)


@pytest.mark.parametrize("num_levels", [1, 3])
def test_cube_gradients_equal_differences(num_levels: int) -> None:
    lookup = make_lookup(2, cube=True, between="linear" if num_levels > 1 else "none")
    case = Case(lookup, sizes=(4, 4), num_levels=num_levels, samples=60)

    def loss() -> float:
        return float((case.values() * case.grad_out).sum())

    levels, coords, level = case.gradients()
    for texels, gradient in zip(case.levels, levels, strict=True):
        assert_slopes(loss, texels, gradient, case.rng)
    assert_slopes(loss, case.coords, coords, case.rng)
    if level is not None:
        assert case.level is not None
        assert_slopes(loss, case.level, level, case.rng)


@pytest.mark.parametrize("layout", ["first", "last"])
@pytest.mark.parametrize("channels", [1, 3, 7, 40])
@pytest.mark.parametrize("dtype", ["e", "f"])
def test_types_and_layouts(dtype: str, channels: int, layout: str) -> None:
    lookup = texture_of(2, "linear", "mirror")
    case = Case(lookup, channels=channels, dtype=dtype, samples=700, sizes=(30, 20))
    double = Case(lookup, channels=channels, samples=700, sizes=(30, 20))
    double.levels = [level.astype("d") for level in case.levels]
    double.coords, double.grad_out = case.coords.astype("d"), case.grad_out.astype("d")
    if layout == "first":
        case.levels = [np.moveaxis(np.ascontiguousarray(np.moveaxis(level, -1, 1)), 1, -1) for level in case.levels]
        case.grad_out = np.moveaxis(np.ascontiguousarray(np.moveaxis(case.grad_out, -1, 1)), 1, -1)
    np.testing.assert_allclose(case.values(), double.values(), atol=2e-4)
    levels, coords, _ = case.gradients()
    wanted_levels, wanted_coords, _ = double.gradients()
    np.testing.assert_allclose(levels[0], wanted_levels[0], atol=2e-3)
    kinks = np.abs(wanted_coords - coords) > 2e-2  # a float on the other side of a texel
    assert kinks.mean() < 0.01


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_half_values(dims: int) -> None:
    case = Case(texture_of(dims, "linear", "border"), dtype="e")
    out = np.empty(case.grad_out.shape, "e")
    forward(case.lookup, case.levels, case.coords, None, out)
    np.testing.assert_array_equal(out, case.values().astype("e"))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_do_not_depend_on_threads(threads: int, in_subprocess: Any) -> None:
    assert in_subprocess(threads) == in_subprocess(3)


def test_shared_texture_adds_up() -> None:
    case = Case(texture_of(3, "linear", "repeat"), samples=600)
    case.levels = [case.levels[0][:1]]
    levels, coords, _ = case.gradients()
    assert levels[0].shape[0] == 1
    twice = Case(case.lookup, samples=600)
    twice.levels = [np.repeat(case.levels[0], 2, axis=0)]
    twice.coords, twice.grad_out = case.coords, case.grad_out
    wanted, wanted_coords, _ = twice.gradients()
    np.testing.assert_allclose(levels[0][0], wanted[0].sum(axis=0), atol=1e-10)
    np.testing.assert_array_equal(coords, wanted_coords)


def test_nan_texel_of_weight_zero_does_not_count() -> None:
    texels = np.array([1.0, 2.0, np.nan, 4.0]).reshape(1, 4, 1)
    out = np.empty((1, 2, 1))
    forward(make_lookup(1, boundary="border"), [texels], np.array([[[1.0], [5.5]]]), None, out)
    assert out.ravel().tolist() == [2.0, 0.0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("filtering", FILTERS)
def test_any_coordinate_is_safe(filtering: str, boundary: str, value: float) -> None:
    case = Case(make_lookup(3, filtering, boundary=boundary), samples=3, dtype="f")
    case.coords[:, 1] = value
    case.values()
    case.gradients()


@pytest.mark.parametrize(
    "change",
    [
        {"coords": np.zeros((1, 5, 3))},
        {"coords": np.zeros((1, 5, 2), "f")},
        {"coords": None},
        {"levels": [np.zeros((1, 4, 4, 2), "i")]},
        {"levels": [np.zeros((1, 4, 4))]},
        {"levels": [np.zeros((3, 4, 4, 2))]},
        {"levels": [np.zeros((1, 4, 4, 1))]},
        {"levels": []},
        {"levels": [np.zeros((1, 4, 4, 2)), np.zeros((1, 2, 2, 2))]},
        {"out": np.zeros((1, 5, 0))},
        {"out": np.zeros((1, 5))},
        {"level": np.zeros((1, 4))},
    ],
)
def test_wrong_arrays_are_refused(change: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {"levels": [np.zeros((1, 4, 4, 2))], "coords": np.zeros((1, 5, 2)), "level": None}
    arrays["out"] = np.zeros((1, 5, 2))
    arrays |= change
    with pytest.raises(InvalidError) as caught:
        forward(make_lookup(2), arrays["levels"], arrays["coords"], arrays["level"], arrays["out"])
    assert caught.value.code is Errc.invalid


@pytest.mark.parametrize(
    "options",
    [
        {"dims": 4},
        {"dims": 3, "cube": True},
        {"dims": 2, "between": "cubic"},
        {"dims": 2, "boundary": "constant"},
        {"dims": 2, "cube": True, "filtering": "cubic"},
    ],
)
def test_wrong_textures_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidError) as caught:
        make_lookup(**options)
    assert caught.value.code is Errc.invalid


def test_views() -> None:
    array = np.zeros((4, 6), "f")[:, ::2]
    found = memory_array(array)
    assert found.shape == (4, 3) and found.strides == (6, 2) and found.dtype == "f"
    assert memory_array(found) is found
