"""``line_integrals`` against scipy, difference quotients, and a mean of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

from bindless.torch import ArgumentError, line_integrals, sample  # noqa: E402

pytestmark = pytest.mark.torch


def operands(dtype: Any = torch.float64, lines: int = 7) -> tuple[Any, Any, Any]:
    generator = torch.Generator().manual_seed(4)
    volume = torch.randn(6, 5, 8, generator=generator, dtype=torch.float64)
    ends = torch.rand(2, lines, 3, generator=generator, dtype=torch.float64) * 12 - 3
    return volume.to(dtype), *ends.to(dtype)


def by_samples(volume: Any, starts: Any, ends: Any, samples: int) -> Any:
    along = ((torch.arange(samples, dtype=ends.dtype) + 0.5) / samples)[:, None]
    places = torch.lerp(starts[..., None, :], ends[..., None, :], along)
    values = sample(volume[..., None], places, addressing="clamp", precision="exact")[..., 0]
    return values.mean(-1) * (ends - starts).norm(dim=-1)


@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-12), ("float32", 1e-5), ("float16", 2e-2)])
def test_values(dtype: str, bound: float) -> None:
    volume, starts, ends = operands(getattr(torch, dtype))
    found = line_integrals(volume, starts, ends, 33)
    along = ((np.arange(33) + 0.5) / 33)[:, None]
    a, b = starts.double().numpy(), ends.double().numpy()
    places = (a[:, None] + (b - a)[:, None] * along - 0.5)[..., ::-1]
    values = map_coordinates(volume.double().numpy(), np.moveaxis(places, -1, 0), order=1, mode="grid-constant")
    np.testing.assert_allclose(found, values.mean(-1) * np.linalg.norm(b - a, axis=-1), atol=bound)


def test_gradients() -> None:
    arrays = [array.requires_grad_() for array in operands()]
    assert torch.autograd.gradcheck(lambda *x: line_integrals(*x, 9), arrays)
    both = [torch.autograd.grad(f(*arrays, 50).sin().sum(), arrays) for f in (line_integrals, by_samples)]
    for one, other in zip(*both):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("shared", [1, 2])
def test_one_end_for_all_lines(shared: int) -> None:
    arrays = list(operands())
    arrays[shared] = arrays[shared][0]
    arrays = [array.requires_grad_() for array in arrays]
    both = [torch.autograd.grad(f(*arrays, 20).square().sum(), arrays) for f in (line_integrals, by_samples)]
    for one, other, array in zip(*both, arrays):
        assert one.shape == array.shape
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


def test_shapes() -> None:
    volume, starts, ends = operands(lines=12)
    shaped = line_integrals(volume, starts.reshape(3, 4, 3), ends.reshape(3, 4, 3), 5)
    torch.testing.assert_close(shaped, line_integrals(volume, starts, ends, 5).reshape(3, 4))
    assert line_integrals(volume, starts[:0], ends[:0], 5).shape == (0,)
    assert line_integrals(volume, starts[0], ends[0], 5).shape == ()


def test_more_samples_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = [array.requires_grad_() for array in operands(lines=40)]
    whole = torch.autograd.grad(line_integrals(*arrays, 30).sum(), arrays)
    monkeypatch.setattr("bindless.torch.lines._CHUNK", 100)
    for one, other in zip(whole, torch.autograd.grad(line_integrals(*arrays, 30).sum(), arrays)):
        torch.testing.assert_close(one, other)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch's, of its own access
def test_operators() -> None:
    volume, starts, ends = operands(torch.float32)
    derivatives = torch.ones(len(ends), 6)
    for needs in ([True] * 3, [False, True, False]):
        arguments = torch.ones(len(ends)), volume, starts, ends, derivatives, 8, needs
        torch.library.opcheck(torch.ops.bindless.line_means_backward.default, arguments)
    arguments = volume.requires_grad_(), starts.requires_grad_(), ends.requires_grad_(), 8, True
    torch.library.opcheck(torch.ops.bindless.line_means.default, arguments)


def test_compiled() -> None:
    arrays = [array.requires_grad_() for array in operands(torch.float32)]
    compiled = torch.compile(lambda *x: line_integrals(*x, 16), fullgraph=True, backend="aot_eager")
    both = [torch.autograd.grad(f(*arrays).sum(), arrays) for f in (compiled, lambda *x: line_integrals(*x, 16))]
    for one, other in zip(*both):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("first", [0, 1])
def test_second_derivatives_are_refused(first: int) -> None:
    arrays = [array.requires_grad_() for array in operands()]
    (gradient,) = torch.autograd.grad(line_integrals(*arrays, 9).square().sum(), arrays[first], create_graph=True)
    with pytest.raises(bl.FeatureNotSupportedError):
        torch.autograd.grad(gradient.sum(), arrays[1])


@pytest.mark.parametrize(
    ("volume", "starts", "ends", "samples"),
    [
        ((5, 6), (3,), (4, 3), 8),
        ((4, 5, 6), (2,), (4, 3), 8),
        ((4, 5, 6), (5, 3), (4, 3), 8),
        ((4, 5, 6), (3,), (4, 3), 0),
    ],
)
def test_invalid_arguments(volume: Any, starts: Any, ends: Any, samples: int) -> None:
    with pytest.raises(ArgumentError):
        line_integrals(torch.zeros(volume), torch.zeros(starts), torch.zeros(ends), samples)


def test_integers_are_refused() -> None:
    with pytest.raises(ArgumentError):
        line_integrals(torch.zeros(4, 5, 6, dtype=torch.int32), torch.zeros(3), torch.zeros(4, 3), 8)
