"""``Projector``: exact integrals of balls, the transpose, geometries, arrays of other libraries, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless import tomography
from bindless.model.errors import ArgumentError, FeatureNotSupportedError
from bindless.space import Grid
from tests.tomography.shapes import ball, chords, rays_of

Array = npt.NDArray[Any]

TURN = np.linspace(0, 2 * np.pi, 12, endpoint=False) + 0.1
PICTURES = {
    "parallel": tomography.parallel(TURN, 50, 0.9, offset=1.5),
    "fan": tomography.fan(TURN, 60, 1.1, 70, 30),
    "curved fan": tomography.fan(TURN, 60, 1.1, 40, 20, offset=3.0, curved=True),
}
VOLUMES = {
    "parallel": tomography.parallel(TURN, (30, 40), (1.0, 1.2)),
    "cone": tomography.cone(TURN, (32, 44), 1.4, 60, 40, offset=(3.0, -2.0)),
    "helix": tomography.cone(TURN, (20, 44), 1.4, 60, 40, pitch=12.0),
    "curved": tomography.cone(TURN, (32, 44), 1.4, 40, 15, 5.0, offset=(-3.0, 6.0), curved=True),
    "vectors": tomography.vectors(
        [(-50, 5, 8), (3, 4, 70), (2, -60, -30)], [(40, 2, -3), (1, -2, -40), (0, 30, 12)],
        [(0, 1.3, 0.1), (1.2, 0.1, 0), (1.1, 0.1, 0.2)], [(0.1, 0, 1.2), (0, 1.3, 0.1), (0, -0.2, 1.4)], (30, 36),
    ),
}  # fmt: skip


def shape_of(geometry: tomography.Geometry) -> tuple[int, ...]:
    return (33, 40) if geometry.detector_shape[0] == 1 else (28, 33, 40)


CASES = [pytest.param(geometry, id=name) for name, geometry in [*PICTURES.items(), *VOLUMES.items()]]


def expected(geometry: tomography.Geometry, volume: Array) -> Array:
    """Sums in double precision."""
    points, directions = rays_of(geometry)
    return sums_on_planes(volume, points, directions)


def sums_on_planes(volume: Array, points: Array, directions: Array) -> Array:
    """A sample on each plane across the axis that the middle ray of a view follows most."""
    shape = volume.shape if volume.ndim == 3 else (1, *volume.shape)
    texels = np.pad(volume.reshape(shape).astype(float), 2)
    middle = directions[:, directions.shape[1] // 2, directions.shape[2] // 2]
    result = np.zeros(points.shape[:3])
    for view, axis in enumerate(np.abs(middle).argmax(-1)):
        size = shape[2 - axis]
        for plane in np.arange(size) - (size - 1) / 2:
            step = (plane - points[view][..., axis]) / directions[view][..., axis]
            at = points[view] + step[..., None] * directions[view]  # x, y, z
            place = at + np.array(shape[::-1]) / 2 - 0.5 + 2  # indices in the padded array
            place[..., axis] = np.rint(place[..., axis])
            place = np.clip(place, 0, np.array(texels.shape[::-1]) - 2)
            low = np.floor(place).astype(int)
            part = place - low
            for corner in np.ndindex(2, 2, 2):
                weight = np.prod([part[..., d] if corner[d] else 1 - part[..., d] for d in range(3)], 0)
                x, y, z = (low[..., d] + corner[d] for d in range(3))
                result[view] += weight * texels[z, y, x] / np.abs(directions[view][..., axis])
    return result


@pytest.mark.parametrize("geometry", CASES)
def test_sums_are_those_of_planes(geometry: tomography.Geometry) -> None:
    volume = np.random.default_rng(1).random(shape_of(geometry), np.float32)
    A = tomography.Projector(geometry, volume.shape)
    wanted = expected(geometry, volume).reshape(A.shape)
    assert wanted.max() > 10
    np.testing.assert_allclose(A(volume), wanted, rtol=0, atol=2e-3)  # a place in float32 is 1e-5 texels away


@pytest.mark.parametrize("geometry", CASES)
def test_integrals_of_a_ball(geometry: tomography.Geometry) -> None:
    shape = shape_of(geometry)
    centre, radius = (3.0, -2.0, 1.0)[: len(shape)], 10.0
    A = tomography.Projector(geometry, shape)
    error = A(ball(shape, centre, radius)) - chords(geometry, (*centre, 0.0)[:3], radius).reshape(A.shape)
    assert np.sqrt((error**2).mean()) < 0.5


@pytest.mark.parametrize("geometry", CASES)
def test_the_adjoint_is_the_transpose(geometry: tomography.Geometry) -> None:
    rng = np.random.default_rng(2)
    A = tomography.Projector(geometry, shape_of(geometry))
    x, y = rng.random(A.volume_shape, np.float32), rng.random(A.shape, np.float32)
    assert abs(np.vdot(A(x).astype(float), y) / np.vdot(x.astype(float), A.adjoint(y)) - 1) < 1e-6
    rows = [A.adjoint(np.eye(1, y.size, k=k, dtype=np.float32).reshape(A.shape)) for k in (0, y.size // 2, y.size - 1)]
    np.testing.assert_allclose(
        [np.vdot(row.astype(float), x) for row in rows], A(x).ravel()[[0, y.size // 2, -1]], rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("power", [0, 1, 2])
@pytest.mark.parametrize("geometry", CASES)
def test_back_reads_the_detector_at_each_texel(geometry: tomography.Geometry, power: int) -> None:
    """On a plane of numbers the value is the plane at the place of the texel, which solves three equations."""
    A = tomography.Projector(geometry, shape_of(geometry))
    rows, columns = geometry.detector_shape
    values = np.add.outer(np.arange(rows) * 0.25, np.arange(columns) * 0.5 + 1).astype(np.float32)
    result = A.back(np.broadcast_to(values, (len(geometry), rows, columns)).reshape(A.shape), power=power)
    rng = np.random.default_rng(3)
    shape = (1, *A.volume_shape)[-3:]
    for texel in rng.integers(0, shape, (40, 3)):
        at = texel[::-1] + 0.5 - np.array(shape[::-1]) / 2
        wanted, whole = 0.0, True
        for number, (source, first, column, row) in enumerate(geometry.frames):
            if geometry.column_angle:
                c, r, distance = seen_on_an_arc(geometry, number, at)
                inside = 0 <= c <= columns - 1 and -1e-9 <= r <= rows - 1
                whole = whole and (inside or not (-1 < c < columns and -1 < r < rows))
                wanted += (0.5 * c + 1 + 0.25 * r) / distance**power if inside else 0
                continue
            ray = source if geometry.is_parallel else first - source
            origin = first if geometry.is_parallel else source
            one, two, last = np.linalg.solve(np.stack([column, row, ray], -1), at - origin)
            distance = 1.0 if geometry.is_parallel else last
            c, r = (one, two) if geometry.is_parallel else (one / last, two / last)
            inside = 0 <= c <= columns - 1 and -1e-9 <= r <= rows - 1
            whole = whole and (inside or not (-1 < c < columns and -1 < r < rows))
            wanted += (0.5 * c + 1 + 0.25 * r) / distance**power if inside else 0
        if whole:
            assert result.reshape(shape)[tuple(texel)] == pytest.approx(wanted, rel=1e-4, abs=1e-3)


def seen_on_an_arc(geometry: tomography.Geometry, number: int, point: Array) -> tuple[float, float, float]:
    """Column, row, and the distance from the source in its plane, beside the radius."""
    assert geometry.angles is not None
    radius = geometry.source_distance + geometry.detector_distance
    ray = point - geometry.frames[number, 0]
    turn = np.angle(np.exp(1j * (geometry.angles[number] - np.arctan2(-ray[0], ray[1]))))
    distance = np.hypot(ray[0], ray[1]) / radius
    places = turn * radius, ray[2] / distance
    c, r = ((at - offset) / step + (size - 1) / 2 for at, offset, step, size in zip(
        places, geometry.offset, geometry.spacing, geometry.detector_shape[::-1]))  # fmt: skip
    return c, r, distance


def test_grids_scale_integrals() -> None:
    volume = np.random.default_rng(4).random((30, 32), np.float32)
    coarse = tomography.Projector(tomography.parallel(TURN, 50), volume.shape)(volume)
    grid = Grid(volume.shape, spacing=0.25, origin=(-31 * 0.125, -29 * 0.125))
    fine = tomography.Projector(tomography.parallel(TURN, 50, 0.25), grid)(volume)
    np.testing.assert_allclose(4 * fine, coarse, atol=1e-4)


def test_parts_of_views() -> None:
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    volume = np.random.default_rng(5).random(A.volume_shape, np.float32)
    whole = A(volume)
    for part in (slice(None, None, 3), [1, 7], 4):
        np.testing.assert_array_equal(A[part](volume), whole[np.atleast_1d(np.arange(len(whole))[part])])


def test_volumes_of_other_types() -> None:
    A = tomography.Projector(PICTURES["fan"], (33, 40))
    volume = np.random.default_rng(6).integers(0, 255, (40, 33), np.uint8)
    np.testing.assert_array_equal(A(volume.T), A(np.ascontiguousarray(volume.T).astype(np.float32)))
    with pytest.raises(ArgumentError):
        A(volume.T.astype(complex))


def test_rays_beside_the_volume_are_zero() -> None:
    scan = tomography.vectors(
        [(500, 0, -40), (0, 0, 0)], [(500, 1, 40), (0, 1, 0)], [(1, 0, 0)] * 2, [(0, 0, 1)] * 2, 9
    )
    A = tomography.Projector(scan, (8, 9, 10))
    values = A(np.ones(A.volume_shape, np.float32))
    assert values.shape == (2, 1, 9) and not values[0].any() and np.isfinite(values).all()
    assert np.isfinite(A.back(values)).all() and np.isfinite(A.adjoint(values)).all()


def test_no_views() -> None:
    A = tomography.Projector(tomography.parallel([], 9), (8, 8))
    assert A(np.ones((8, 8))).shape == (0, 9) and not A.adjoint(np.ones((0, 9))).any()


@pytest.mark.parametrize("geometry", CASES)
@pytest.mark.parametrize("thickness", [1, 5, 100])
def test_slabs(geometry: tomography.Geometry, thickness: int) -> None:
    whole = tomography.Projector(geometry, shape_of(geometry))
    grids = [whole.grid]
    if whole.grid.dimensions == 3:
        turn = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
        grids.append(Grid((9, 11, 13), (0.8, 1.1, 1.4), -5, turn * np.sign(np.linalg.det(turn))))
    for grid in grids:
        A = tomography.Projector(geometry, grid)
        slabs = A.slabs(thickness)
        volume = np.random.default_rng(0).random(A.volume_shape, np.float32)
        values = np.random.default_rng(1).random(A.shape, np.float32)
        parts = np.array([part(volume[place]) for place, part in slabs])
        assert len(parts) == -(-len(volume) // thickness)
        np.testing.assert_allclose(parts.sum(0), A(volume), rtol=1e-5, atol=1e-4)
        for name in ("adjoint", "back"):
            together = np.concatenate([getattr(part, name)(values) for _, part in slabs])
            np.testing.assert_allclose(together, getattr(A, name)(values), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["__call__", "adjoint", "back"])
def test_several_volumes(name: str) -> None:
    A = tomography.Projector(tomography.cone(np.linspace(0, 6, 5), (6, 7), 1.5, 30, 20), (8, 9, 10))
    shape = A.volume_shape if name == "__call__" else A.shape
    values = np.random.default_rng(0).random((2, 3, *shape), np.float32)
    function = getattr(A, name)
    result = function(values)
    for place in np.ndindex(2, 3):
        np.testing.assert_array_equal(result[place], function(values[place]))
    out = np.empty_like(result)
    assert function(values, out=out) is out
    np.testing.assert_array_equal(out, result)
    for wrong in ({"out": out[:1]}, {"out": out[0, 0]}):
        with pytest.raises(ArgumentError):
            function(values, **wrong)
    with pytest.raises(ArgumentError):
        function(values[:0])
    with pytest.raises(ArgumentError):
        function(values[..., 1:])


@pytest.mark.torch
def test_tensors_are_differentiable() -> None:
    torch = pytest.importorskip("torch")
    A = tomography.Projector(VOLUMES["cone"], (28, 33, 40))
    volume = torch.rand(A.volume_shape, requires_grad=True)
    weight = torch.rand(A.shape)
    (A(volume) * weight).sum().backward()
    np.testing.assert_array_equal(volume.grad.numpy(), A.adjoint(weight.numpy()))
    several = torch.rand((2, *A.volume_shape), requires_grad=True)
    (A(several)[1] * weight).sum().backward()
    assert not several.grad[0].any() and torch.equal(several.grad[1], volume.grad)
    values = torch.rand(A.shape, dtype=torch.float64, requires_grad=True)
    again = torch.autograd.grad(A.adjoint(values).square().sum(), values, create_graph=True)[0]
    assert again.dtype is torch.float64 and again.requires_grad
    with pytest.raises(FeatureNotSupportedError):
        A.back(weight.requires_grad_()).sum().backward()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tomography.parallel([0], 0),
        lambda: tomography.parallel([0], (2, 3, 4)),
        lambda: tomography.parallel([np.nan], 4),
        lambda: tomography.parallel([0], 4, -1.0),
        lambda: tomography.parallel([0], 4, (1, 2, 3)),
        lambda: tomography.cone([0], (4, 4), 1.0, 0, 10),
        lambda: tomography.cone([0], (4, 4), 1.0, 10, -10),
        lambda: tomography.fan([0], 33, 1.0, 5, 5, curved=True),
        lambda: tomography.Projector(VOLUMES["cone"], (4, 4, 4), dtype="float64"),
        lambda: tomography.vectors([(0, 0, 1)], [(0, 0)], [(0, 0, 1)], [(0, 1, 0)], 4),
        lambda: tomography.Projector(VOLUMES["cone"], (4, 4)),
        lambda: tomography.Projector(VOLUMES["cone"], (4, 4, 4)).slabs(0),
        lambda: tomography.Projector(PICTURES["fan"], (4,)),
        lambda: tomography.Projector(PICTURES["fan"], (4, 4))(np.ones((5, 4))),
        lambda: tomography.Projector(PICTURES["fan"], (4, 4)).adjoint(np.ones((5, 4))),
        lambda: tomography.Projector(PICTURES["fan"], (4, 4)).back(np.ones((12, 60)), power=3),
    ],
)
def test_mistakes(call: Any) -> None:
    with pytest.raises(ArgumentError):
        call()
