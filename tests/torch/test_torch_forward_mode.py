"""Derivatives in forward mode, against those in reverse mode."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.autograd import forward_ad  # noqa: E402
from torch.func import grad, jacfwd, jacrev, jvp, vjp  # noqa: E402

from bindless.torch import grid_sample, sample  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # torch's, of its own formulas
    pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning"),
]


def case(number: int) -> tuple[Any, tuple[Any, ...]]:
    """A function, and its tensors."""
    generator = torch.Generator().manual_seed(number)

    def random(*shape: int) -> Any:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    if number == 0:
        return lambda image, grid: grid_sample(image, grid, align_corners=False), (
            random(2, 3, 4, 5),
            random(2, 2, 3, 2) * 1.8 - 0.9,
        )
    if number == 1:
        options: dict[str, Any] = {"filtering": "catmull_rom", "addressing": "repeat", "precision": "exact"}
        return lambda *parts: sample(*parts, **options), (random(3, 4, 5, 2), random(6, 3) * 4)
    return lambda first, second, coords, level: sample(
        [first, second], coords, level=level, precision="exact"
    ), (random(4, 6, 2), random(2, 3, 2), random(5, 2) * 4, random(5))  # fmt: skip


@pytest.mark.parametrize("number", range(3))
def test_jvp_is_the_transpose_of_vjp(number: int) -> None:
    function, parts = case(number)
    tangents = tuple(torch.randn_like(part) for part in parts)
    values, found = jvp(function, parts, tangents)
    expected, pull = vjp(function, *parts)
    assert torch.equal(values, expected)
    weights = torch.randn_like(found)
    total = sum((part * tangent).sum() for part, tangent in zip(pull(weights), tangents))
    torch.testing.assert_close((found * weights).sum(), total)
    for index, tangent in enumerate(tangents):  # one of the arguments alone

        def of_one(part: Any, index: int = index) -> Any:
            return function(*parts[:index], part, *parts[index + 1 :])

        _, one = jvp(of_one, (parts[index],), (tangent,))
        torch.testing.assert_close((one * weights).sum(), (pull(weights)[index] * tangent).sum())


@pytest.mark.parametrize("number", range(3))
def test_dual_tensors(number: int) -> None:
    function, parts = case(number)
    tangents = tuple(torch.randn_like(part) for part in parts)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(part, tangent) for part, tangent in zip(parts, tangents)]
        values, tangent = forward_ad.unpack_dual(function(*duals))
    expected = jvp(function, parts, tangents)
    torch.testing.assert_close((values, tangent), expected)


@pytest.mark.parametrize("number", range(3))
def test_jacobians_and_hessians(number: int) -> None:
    function, parts = case(number)
    last = len(parts) - 1

    def of_last(part: Any) -> Any:
        return function(*parts[:last], part)

    torch.testing.assert_close(jacfwd(of_last)(parts[last]), jacrev(of_last)(parts[last]))

    def loss(part: Any) -> Any:
        return of_last(part).square().sum()

    derivative = grad(loss)
    torch.testing.assert_close(jacfwd(derivative)(parts[last]), jacrev(derivative)(parts[last]))
