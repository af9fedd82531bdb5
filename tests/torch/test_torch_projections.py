"""``projections`` against scipy, ``line_integrals``, and difference quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from scipy.spatial.transform import Rotation

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

from bindless.torch import ArgumentError, Detector, line_integrals, projections  # noqa: E402

pytestmark = pytest.mark.torch

DETECTOR = Detector((-20, 1, 0.5), (15, -4, -3), (0.1, 1.7, 0), (0, 0.1, 1.4), width=5, height=4)
POSES = [[0.1, -0.2, 0.3, 0.4, -0.5, 0.2], [0, 0, 0, 0.037, 0.0151, 0.0173]]


def operands(dtype: Any = torch.float64) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(4)
    volume = torch.randn(6, 5, 8, generator=generator, dtype=torch.float64)
    return volume.to(dtype), torch.tensor(POSES, dtype=dtype)


def as_matrices(poses: Any) -> Any:
    turns = torch.from_numpy(Rotation.from_rotvec(poses[:, :3].numpy()).as_matrix())
    return torch.cat([turns, poses[:, 3:, None].double()], 2).to(poses.dtype)


def rays(poses: Any) -> tuple[Any, Any, Any]:
    """Starts and ends in the detector's units after the pose, and lengths."""
    columns, rows = np.meshgrid(np.arange(5), np.arange(4))
    first, column, row, source = (np.array(getattr(DETECTOR, name)) for name in ("first", "column", "row", "source"))
    ends = first + columns[..., None] * column + rows[..., None] * row
    moved = []
    for pose in poses.double().numpy():
        turn = Rotation.from_rotvec(pose[:3]).as_matrix().T
        moved.append((source @ turn + pose[3:], ends @ turn + pose[3:]))
    return (
        np.array([one for one, _ in moved]),
        np.array([one for _, one in moved]),
        np.linalg.norm(ends - source, axis=-1),
    )


@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-11), ("float32", 2e-4), ("float16", 2e-1)])
def test_values(dtype: str, bound: float) -> None:
    volume, poses = operands(getattr(torch, dtype))
    starts, ends, lengths = rays(poses)
    along = ((np.arange(61) + 0.5) / 61)[:, None]
    for matrix in (None, [[1.1, 0.1, 0, 4.4], [0, 0.9, 0.2, 3.6], [-0.1, 0, 1.2, 3.1], [0, 0, 0, 1]]):
        found = projections(volume, poses, DETECTOR, 61, matrix=matrix)
        rows = np.array([[1, 0, 0, 4], [0, 1, 0, 2.5], [0, 0, 1, 3]] if matrix is None else matrix[:3])
        points = starts[:, None, None, None] + along * (ends[:, :, :, None] - starts[:, None, None, None])
        places = points @ rows[:, :3].T + rows[:, 3] - 0.5
        indices = np.moveaxis(places[..., ::-1], -1, 0)
        values = map_coordinates(volume.double().numpy(), indices, order=1, mode="grid-constant").mean(-1) * lengths
        np.testing.assert_allclose(found.double(), values, atol=bound)


def test_gradients() -> None:
    arrays = [array.requires_grad_() for array in operands()]
    assert torch.autograd.gradcheck(lambda *x: projections(*x, DETECTOR, 23), arrays)
    volume, poses = operands()
    assert torch.autograd.gradcheck(
        lambda x: projections(volume, x, DETECTOR, 23), [as_matrices(poses).requires_grad_()]
    )


def test_like_line_integrals() -> None:
    volume, poses = operands()
    volume.requires_grad_()
    starts, ends, _ = (torch.from_numpy(part) for part in rays(poses))
    middle = torch.tensor([4.0, 2.5, 3.0])
    by_lines = line_integrals(volume, (starts[:, None, None] + middle).expand_as(ends), ends + middle, 40)
    found = projections(volume, poses, DETECTOR, 40)
    torch.testing.assert_close(found, by_lines, rtol=0, atol=1e-10)
    (one,), (other,) = (torch.autograd.grad(part.sin().sum(), volume) for part in (found, by_lines))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def test_shapes() -> None:
    volume, poses = operands()
    both = projections(volume, poses, DETECTOR, 9)
    assert projections(volume, poses[0], DETECTOR, 9).shape == (4, 5)
    torch.testing.assert_close(projections(volume, poses.view(2, 1, 6), DETECTOR, 9), both[:, None])
    torch.testing.assert_close(projections(volume, as_matrices(poses), DETECTOR, 9), both)
    empty = poses[:0].requires_grad_()
    found = projections(volume, empty, DETECTOR, 9)
    assert found.shape == (0, 4, 5)
    assert torch.autograd.grad(found.sum(), empty)[0].shape == (0, 6)


def test_transforms() -> None:
    volume, poses = operands()

    def loss(volume: Any, poses: Any) -> Any:
        return projections(volume, poses, DETECTOR, 9).sin().sum()

    arrays = [volume.clone().requires_grad_(), poses.clone().requires_grad_()]
    wanted = torch.autograd.grad(loss(*arrays), arrays)
    for one, other in zip(torch.func.grad(loss, (0, 1))(volume, poses), wanted):
        torch.testing.assert_close(one, other)
    each = torch.vmap(torch.func.grad(loss, 1), (None, 0))(volume, poses)
    torch.testing.assert_close(each, wanted[1])
    volumes = torch.stack([volume, 2 * volume], 1)
    mapped = torch.vmap(lambda v: projections(v, poses, DETECTOR, 9), 1)(volumes)
    torch.testing.assert_close(mapped[1], 2 * mapped[0])
    jacobian = torch.func.jacrev(lambda p: projections(volume, p, DETECTOR, 9))(poses[0])
    assert jacobian.shape == (4, 5, 6)
    torch.testing.assert_close(
        (jacobian * projections(volume, poses[0], DETECTOR, 9).cos()[..., None]).sum((0, 1)), wanted[1][0]
    )


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch's, of its own access
def test_operators() -> None:
    volume, poses = operands(torch.float32)
    static = [*DETECTOR.numbers, 1.0, 0, 0, 4, 0, 1, 0, 2.5, 0, 0, 1, 3], 5, 4, 8
    for needs in ([True, True], [False, True]):
        arguments = torch.ones(2, 4, 5), volume, poses, torch.ones(2, 6, 4, 5), *static, needs
        torch.library.opcheck(torch.ops.bindless.projections_backward.default, arguments)
    arguments = volume.requires_grad_(), poses.requires_grad_(), *static, True
    torch.library.opcheck(torch.ops.bindless.projections.default, arguments)


def test_compiled() -> None:
    arrays = [array.requires_grad_() for array in operands(torch.float32)]
    plain = lambda *x: projections(*x, DETECTOR, 16)  # noqa: E731
    compiled = torch.compile(plain, fullgraph=True, backend="aot_eager")
    both = [torch.autograd.grad(f(*arrays).sum(), arrays) for f in (compiled, plain)]
    for one, other in zip(*both):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("first", [0, 1])
def test_second_derivatives_are_refused(first: int) -> None:
    arrays = [array.requires_grad_() for array in operands()]
    found = projections(*arrays, DETECTOR, 9).square().sum()
    (gradient,) = torch.autograd.grad(found, arrays[first], create_graph=True)
    with pytest.raises(bl.FeatureNotSupportedError):
        torch.autograd.grad(gradient.sum(), arrays[1])


@pytest.mark.parametrize(
    ("volume", "poses", "samples", "matrix"),
    [
        ((5, 6), (6,), 8, None),
        ((4, 5, 6), (5,), 8, None),
        ((4, 5, 6), (4, 4), 8, None),
        ((4, 5, 6), (6,), 0, None),
        ((4, 5, 6), (6,), 8, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ((4, 5, 6), (65536, 6), 8, None),
    ],
)
def test_invalid_arguments(volume: Any, poses: Any, samples: int, matrix: Any) -> None:
    with pytest.raises(ArgumentError):
        projections(torch.zeros(volume), torch.zeros(poses), DETECTOR, samples, matrix=matrix)


def test_invalid_types_and_detectors() -> None:
    with pytest.raises(ArgumentError):
        projections(torch.zeros(4, 5, 6, dtype=torch.int32), torch.zeros(6), DETECTOR, 8)
    with pytest.raises(ArgumentError):
        projections(torch.zeros(4, 5, 6), torch.zeros(6), DETECTOR, 8, matrix=torch.eye(4).requires_grad_())
    with pytest.raises(ArgumentError):
        Detector((0, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), 4, 4)
    with pytest.raises(ArgumentError):
        Detector((0, 0, float("nan")), (0, 0, 1), (1, 0, 0), (0, 1, 0), 4, 4)
    with pytest.raises(ArgumentError):
        Detector((0, 0, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), 0, 4)
