"""``Projector.views``: volumes that move, and derivatives by their motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless import tomography
from bindless.model.errors import ArgumentError
from bindless.space import Affine, Grid
from tests.tomography.shapes import rays_of
from tests.tomography.test_projector import CASES, PICTURES, VOLUMES, shape_of, sums_on_planes

Array = npt.NDArray[Any]
POSE = np.array([0.1, -0.2, 0.15, 1.0, -0.5, 0.7])


def rotation(vector: Array) -> Array:
    """By Euler and Rodrigues, of a quaternion."""
    angle = np.linalg.norm(vector)
    w, (x, y, z) = np.cos(angle / 2), np.sin(angle / 2) * vector / max(angle, 1e-30)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def matrix_of(pose: Array) -> Array:
    return np.vstack([np.column_stack([rotation(pose[:3]), pose[3:]]), [0, 0, 0, 1]])


def sums_at(geometry: tomography.Geometry, volume: Array, matrix: Array) -> Array:
    """In double precision: rays in the volume's own world, of a rigid motion."""
    points, directions = rays_of(geometry)
    turn, shift = matrix[:3, :3], matrix[:3, 3]
    return sums_on_planes(volume, (points - shift) @ turn, directions @ turn)


@pytest.mark.parametrize("geometry", CASES)
def test_views_are_those_of_a_volume_that_moves(geometry: tomography.Geometry) -> None:
    A = tomography.Projector(geometry, shape_of(geometry))
    volume = np.random.default_rng(0).random(A.volume_shape, np.float32)
    pose = POSE.copy()
    if volume.ndim == 2:
        pose[[0, 1, 5]] = 0
    matrix = matrix_of(pose)
    poses: list[Any] = [matrix, matrix[:3], pose, Affine(matrix), np.broadcast_to(pose, (len(geometry), 6))]
    if volume.ndim == 2:
        plane = matrix[[0, 1, 3]][:, [0, 1, 3]]
        poses = [plane, plane[:2], Affine(plane), np.broadcast_to(plane, (len(geometry), 3, 3))]
    wanted = sums_at(geometry, volume, matrix).reshape(A.shape)
    for value in poses:
        np.testing.assert_allclose(A.views(value)(volume), wanted, atol=2e-3)


def test_motions_of_grids_and_their_composition() -> None:
    grid = Grid((12, 13, 14), (0.8, 1.1, 1.3), -6)
    A = tomography.Projector(VOLUMES["cone"], grid)
    volume = np.random.default_rng(1).random(grid.shape, np.float32)
    first, second = matrix_of(POSE), matrix_of(POSE[::-1] / 5)
    there = tomography.Projector(VOLUMES["cone"], Grid.from_matrix(first @ second @ grid.matrix, grid.shape))
    both = A.views(first).views(second)
    np.testing.assert_allclose(both(volume), there(volume), atol=1e-4)
    values = np.random.default_rng(2).random(A.shape, np.float32)
    sides = np.vdot(both(volume).astype(float), values), np.vdot(volume.astype(float), both.adjoint(values))
    assert abs(sides[0] / sides[1] - 1) < 1e-6
    np.testing.assert_array_equal(both[2:4](volume), both(volume)[2:4])
    moving = np.stack([matrix_of(POSE * share) for share in np.linspace(0, 1, len(A.geometry))])
    for number in (0, 5):
        np.testing.assert_array_equal(A.views(moving)(volume)[number], A.views(moving[number])[number](volume)[0])


def test_lengths_are_those_of_the_volume_before() -> None:
    A = tomography.Projector(tomography.parallel([0.0], (3, 3)), (8, 8, 8))
    assert A.views(np.diag([1.0, 2.0, 1.0, 1.0]))(np.ones((8, 8, 8)))[0, 1, 1] == pytest.approx(8)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["parallel", "cone", "curved", "helix"])
def test_derivatives_by_the_pose(name: str) -> None:
    """The slope of sums in double precision; the adjoint has the same one."""
    torch = pytest.importorskip("torch")
    geometry = VOLUMES[name][:4]
    A = tomography.Projector(geometry, (12, 13, 14))
    volume, weight = (
        np.random.default_rng(k).random(shape, np.float32) for k, shape in ((3, A.volume_shape), (4, A.shape))
    )
    slopes = []
    for step in np.eye(6) * 1e-6:
        high, low = (sums_at(geometry, volume, matrix_of(POSE + sign * step)) for sign in (1, -1))
        slopes.append(((high - low) * weight).sum() / 2e-6)
    gradients = []
    for is_forward in (True, False):
        pose = torch.tensor(POSE, requires_grad=True)
        x, y = torch.tensor(volume, requires_grad=True), torch.tensor(weight, requires_grad=True)
        moved = A.views(pose)
        product = (moved(x) * y.detach()).sum() if is_forward else (moved.adjoint(y) * x.detach()).sum()
        product.backward()
        gradients.append(pose.grad.numpy())
        argument, expected = (x, moved.adjoint(weight)) if is_forward else (y, moved(volume))
        np.testing.assert_allclose(argument.grad, expected, rtol=1e-5, atol=1e-5)
        with pytest.raises(RuntimeError):
            torch.autograd.grad((A.views(pose)(x) * y).sum(), pose, create_graph=True)[0].sum().backward()
    for gradient in gradients:  # in single precision a sample next to a texel's centre has the slope beyond it
        np.testing.assert_allclose(gradient, slopes, rtol=5e-3, atol=1e-3)


@pytest.mark.torch
def test_tensors_of_poses() -> None:
    """Of no gradient, of several volumes, of parts, of pictures, and of the zero pose."""
    torch = pytest.importorskip("torch")
    A = tomography.Projector(VOLUMES["cone"][:4], (8, 9, 10))
    volume = torch.rand(2, *A.volume_shape)
    pose = torch.zeros(4, 6, requires_grad=True)
    values = A.views(pose)(volume)
    torch.testing.assert_close(values, A(volume), rtol=0, atol=1e-4)
    values.square().sum().backward()
    assert pose.grad.isfinite().all() and pose.grad.abs().min() > 0
    whole, pose.grad = pose.grad, None
    for part in (slice(0, 2), slice(2, 4)):
        A.views(pose)[part](volume).square().sum().backward()
    torch.testing.assert_close(pose.grad, whole, rtol=1e-4, atol=1e-3)
    pose.grad = None
    sum(slab(volume[:, place]) for place, slab in A.views(pose).slabs(3)).square().sum().backward()
    torch.testing.assert_close(pose.grad, whole, rtol=1e-3, atol=1e-2)
    shift = torch.tensor([0, 0, 0, 1.0, 2, 3], requires_grad=True)
    again = A.views(shift).views(-POSE)(volume[0])
    np.testing.assert_allclose(again.detach(), A.views(shift.detach()).views(-POSE)(volume[0].numpy()), atol=1e-4)
    assert torch.autograd.grad(again.sum(), shift)[0].abs().min() > 0
    with pytest.raises(ArgumentError):
        A.views(shift)(volume, out=torch.empty(2, *A.shape))
    B = tomography.Projector(PICTURES["fan"], (20, 21))
    plane = torch.eye(3, dtype=torch.float64, requires_grad=True)
    B.views(plane)(torch.rand(20, 21)).square().sum().backward()
    assert plane.grad[:2].abs().min() > 0


@pytest.mark.parametrize(
    "pose",
    [np.zeros(5), np.eye(3), np.zeros((4, 4)), np.ones((4, 4)), np.full(6, np.nan), np.zeros((5, 6)),
     np.diag([1.0, 1, 0, 1]), Affine(np.eye(3))],
)  # fmt: skip
def test_mistakes(pose: Any) -> None:
    with pytest.raises(ArgumentError):
        tomography.Projector(VOLUMES["cone"], (8, 9, 10)).views(pose)
