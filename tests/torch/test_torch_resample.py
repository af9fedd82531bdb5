"""``bindless.torch.resample`` beside ``bindless.space.resample``, and its gradients beside difference quotients."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import space
from tests.oracle.space import resample as expect
from tests.space.random_cases import affine, grid, transform

torch = pytest.importorskip("torch")
from bindless.torch import resample  # noqa: E402

pytestmark = pytest.mark.torch


def random_of(*seed: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(seed).encode()))


@pytest.fixture
def place(device: bl.Device) -> str:
    """The device of the tensors."""
    return "cuda" if device.backend == "cuda" and torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize("kinds", ["", "a", "d", "b", "adabd"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_values(place: str, dims: int, kinds: str, filtering: str) -> None:
    random = random_of(dims, kinds, filtering)
    source, target = grid(random, dims), grid(random, dims)
    parts, moves = transform(random, dims, kinds)
    volume = random.uniform(-100, 100, source.shape)
    values = resample(
        torch.as_tensor(volume, device=place), source, target, space.Sequence(parts) if parts else None,
        filtering=filtering, fill=7.0,
    )  # fmt: skip
    expected, steady = expect(
        volume, source.index_matrix, target.shape, target.index_matrix, moves, nearest=filtering == "nearest", fill=7.0
    )
    assert tuple(values.shape) == target.shape and steady.mean() > 0.9
    np.testing.assert_allclose(values.cpu().numpy()[steady], expected[steady], rtol=0, atol=1e-3)


@pytest.mark.parametrize("addressing", ["extent", "clamp_to_edge", "border", "mirror"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_cubic_values_are_those_of_arrays(queue: bl.Queue, place: str, dims: int, addressing: str) -> None:
    random = random_of(dims, addressing)
    source, target = grid(random, dims), grid(random, dims)
    parts, _ = transform(random, dims, "ad")
    volume = random.uniform(-1, 1, source.shape).astype(np.float32)
    options: dict[str, Any] = {"filtering": "cubic", "addressing": addressing}
    expected = space.resample(volume, source, target, space.Sequence(parts), queue=queue, **options)
    values = resample(torch.as_tensor(volume, device=place), source, target, space.Sequence(parts), **options)
    np.testing.assert_allclose(values.cpu().numpy(), expected, rtol=0, atol=1e-4)


def test_tensors_as_transforms(place: str) -> None:
    """Matrices and fields of the target's pixels, alone and one after the other, of batches and channels."""
    random = random_of("tensors")
    source, target = grid(random, 2), grid(random, 2)
    matrix, field = affine(random, 2), random.normal(size=(*target.shape, 2))
    lies = target.index_matrix
    volume = random.uniform(-1, 1, (3, *source.shape, 4))
    tensors = [torch.as_tensor(array, device=place) for array in (volume, matrix, field)]
    for parts, moves in (
        (tensors[1], [matrix]),
        (tensors[1][:2], [matrix]),
        (tensors[2], [(field, lies, 1)]),
        ([tensors[2], tensors[1]], [(field, lies, 1), matrix]),
        ([tensors[2], space.Affine(matrix), matrix], [(field, lies, 1), matrix, matrix]),
    ):
        values = resample(tensors[0], source, target, parts)
        assert tuple(values.shape) == (3, *target.shape, 4)
        for number in range(3):
            expected, steady = expect(volume[number], source.index_matrix, target.shape, lies, moves)
            np.testing.assert_allclose(values[number].cpu().numpy()[steady], expected[steady], rtol=0, atol=1e-3)
    one = resample(tensors[0][0], source, target, tensors[1])
    torch.testing.assert_close(one, resample(tensors[0], source, target, tensors[1])[0])


@pytest.mark.parametrize("filtering", ["linear", "cubic"])
@pytest.mark.parametrize("dims", [1, 2])
def test_gradients(place: str, dims: int, filtering: str) -> None:
    random = random_of("gradients", dims)
    source, target = space.Grid((5, 6)[:dims], 1.1, 0.3), space.Grid((4, 3)[:dims], 0.9, 0.71)
    lies = space.Grid((4, 4)[:dims], 2.2, -0.4)
    numbers = [
        random.normal(size=source.shape),
        np.eye(dims + 1)[:dims] + random.normal(size=(dims, dims + 1)) * 0.05,
        random.normal(size=(*lies.shape, dims)) * 0.1,
        random.normal(size=(*target.shape, dims)) * 0.1,
    ]
    tensors = [torch.tensor(array, device=place, requires_grad=True) for array in numbers]

    def function(volume: Any, matrix: Any, coarse: Any, field: Any) -> Any:
        parts = [field, matrix, space.Displacement(coarse, lies), space.BSpline(coarse, lies)]
        return resample(volume, source, target, parts, filtering=filtering)

    least = 0.0 if place == "cpu" else 1e-9  # torch adds what several coefficients give to a texel in any order there
    assert torch.autograd.gradcheck(function, tensors, nondet_tol=least)
    assert torch.autograd.gradgradcheck(function, tensors, nondet_tol=least)


def test_a_registration_finds_the_transform(place: str) -> None:
    """An affine matrix by gradient descent in the world, from a picture that it has moved."""
    source = space.Grid((40, 48), (0.8, 0.7), (-16.0, -16.0))
    rows, columns = np.meshgrid(np.arange(40), np.arange(48), indexing="ij")
    picture = np.exp(-((rows - 17) ** 2 / 60 + (columns - 26) ** 2 / 30)) + np.exp(
        -((rows - 28) ** 2 + (columns - 14) ** 2) / 40
    )
    moving = torch.tensor(picture, device=place)
    truth = torch.tensor([[0.98, -0.1, 1.2], [0.12, 1.03, -0.9]], dtype=torch.float64, device=place)
    fixed = resample(moving, source, source, truth)
    matrix = torch.eye(3, dtype=torch.float64, device=place)[:2].clone().requires_grad_()
    optimizer = torch.optim.LBFGS([matrix], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimizer.zero_grad()
        value = (resample(moving, source, source, matrix) - fixed).square().mean()
        value.backward()
        return value

    optimizer.step(loss)
    torch.testing.assert_close(matrix.detach(), truth, rtol=0, atol=1e-3)


def test_errors(place: str) -> None:
    volume, lies = torch.zeros(4, 5, device=place), space.Grid((4, 5))
    other = space.Grid((4, 5, 6))
    wrong: list[tuple[Any, ...]] = [
        (np.zeros((4, 5)), lies, lies),
        (volume, (4, 5), lies),
        (volume, lies, (4, 5)),
        (volume, lies, other),
        (volume.T, lies, lies),
        (volume.int(), lies, lies),
        (volume, lies, lies, torch.eye(4)),
        (volume, lies, lies, torch.zeros(4, 6, 2)),
        (volume, lies, lies, space.Affine(np.eye(4))),
        (volume, lies, lies, space.Displacement(np.zeros((4, 5, 6, 3)), other)),
        (volume, lies, lies, "no transform"),
    ]
    for arguments in wrong:
        with pytest.raises(bl.ArgumentError):
            resample(*arguments)
