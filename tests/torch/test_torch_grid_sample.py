"""``bindless.torch.grid_sample`` gives what ``torch.nn.functional.grid_sample`` gives."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.nn import functional  # noqa: E402

from bindless.torch import grid_sample  # noqa: E402
from tests.torch import composition  # noqa: E402

pytestmark = pytest.mark.torch

SIZES = ((7, 5), (1, 6), (4, 1), (3, 6, 5), (1, 4, 1))
MODES = ("bilinear", "nearest", "bicubic")


def has_cubic_volumes() -> bool:
    """Whether torch's own function has them."""
    try:
        functional.grid_sample(torch.zeros(1, 1, 4, 4, 4), torch.zeros(1, 1, 1, 1, 3), "bicubic", align_corners=False)
    except RuntimeError:
        return False
    return True


CUBIC_VOLUMES = has_cubic_volumes()
PADDINGS = ("zeros", "border", "reflection")


def operands(seed: int, sizes: tuple[int, ...], dtype: Any, count: int = 2, channels: int = 3) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    image = torch.randn(count, channels, *sizes, generator=generator, dtype=torch.float64)
    places = (3, 4) if len(sizes) == 2 else (2, 3, 2)
    grid = torch.rand(count, *places, len(sizes), generator=generator, dtype=torch.float64) * 3 - 1.5
    return image.to(dtype), grid.to(dtype)


def weights(tensor: Any, step: float) -> Any:
    return torch.cos(step * torch.arange(tensor.numel(), dtype=torch.float64)).reshape(tensor.shape).to(tensor.dtype)


def gradients(function: Any, image: Any, grid: Any, *options: Any) -> list[Any]:
    """The values and their gradients."""
    image, grid = image.clone().requires_grad_(), grid.clone().requires_grad_()
    values = function(image, grid, *options)
    first = torch.autograd.grad((values * weights(values, 1.1)).sum(), (image, grid))
    return [part.detach() for part in (values, *first)]


def second_derivatives(function: Any, image: Any, grid: Any, *options: Any) -> list[Any]:
    """The gradients of the gradients."""
    image, grid = image.clone().requires_grad_(), grid.clone().requires_grad_()
    values = function(image, grid, *options)
    first = torch.autograd.grad((values * weights(values, 1.1)).sum(), (image, grid), create_graph=True)
    total = sum((part * weights(part, 0.7)).sum() for part in first)
    second = torch.autograd.grad(total, (image, grid), allow_unused=True) if total.requires_grad else (None, None)
    return [torch.zeros_like(like) if part is None else part.detach() for part, like in zip(second, (image, grid))]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, PADDINGS)))
@pytest.mark.parametrize("align", [False, True])
def test_values_and_gradients_of_both_orders(mode: str, padding: str, align: bool, sizes: tuple[int, ...]) -> None:
    if mode == "bicubic" and len(sizes) == 3 and not CUBIC_VOLUMES:
        pytest.skip("bicubic volumes: pip install 'torch>=2.15'")
    for seed, dtype in enumerate((torch.float64, torch.float32)):
        image, grid = operands(seed, sizes, dtype)
        options, wide = (mode, padding, align), (image.double(), grid.double())
        found = gradients(grid_sample, image, grid, *options) + second_derivatives(grid_sample, image, grid, *options)
        expected = gradients(functional.grid_sample, *wide, *options)
        expected += second_derivatives(composition.grid_sample, *wide, *options)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == dtype
            bound = (1e-12 if dtype == torch.float64 else 2e-5) * max(1.0, float(theirs.abs().max()))
            torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mode", MODES)
def test_half_precision(mode: str, dtype: Any) -> None:
    """Weights and sums are in single precision: closer to the exact values than torch's are."""
    image, grid = operands(3, (7, 5), dtype)
    found = gradients(grid_sample, image, grid, mode, "zeros", False)
    expected = gradients(functional.grid_sample, image.double(), grid.double(), mode, "zeros", False)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == dtype
        torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=2e-2 * max(1.0, float(theirs.abs().max())))


def layouts(tensor: Any) -> list[Any]:
    """The same numbers at other strides."""
    wide = torch.zeros(*tensor.shape[:-1], 2 * tensor.shape[-1], dtype=tensor.dtype)
    wide[..., ::2] = tensor
    order = list(range(tensor.dim()))[::-1]
    return [tensor.permute(order).contiguous().permute(order), wide[..., ::2]]


def test_layouts() -> None:
    image, grid = operands(4, (7, 5), torch.float64)
    expected = gradients(functional.grid_sample, image, grid, "bilinear", "border", False)
    last = image.contiguous(memory_format=torch.channels_last)
    for images, grids in itertools.product([image, last, *layouts(image)], [grid, *layouts(grid)]):
        values = grid_sample(images, grids, "bilinear", "border", False)
        torch.testing.assert_close(values, expected[0], rtol=0, atol=1e-12)
        assert values.is_contiguous()
        leaf = images.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(
            (grid_sample(leaf, grids, "bilinear", "border", False) * weights(values, 1.1)).sum(), leaf
        )
        torch.testing.assert_close(gradient, expected[1], rtol=0, atol=1e-12)
    for gradient in layouts(weights(expected[0], 1.1)):
        leaf = image.clone().requires_grad_()
        grid_sample(leaf, grid, "bilinear", "border", False).backward(gradient)
        torch.testing.assert_close(leaf.grad, expected[1], rtol=0, atol=1e-12)


def test_one_image_for_all_grids_by_expand() -> None:
    image, grid = operands(5, (7, 5), torch.float64, count=4)
    one = image[:1].clone().requires_grad_()
    values = grid_sample(one.expand(4, -1, -1, -1), grid, align_corners=False)
    values.backward(weights(values, 1.1))
    same = image[:1].clone().requires_grad_()
    expected = functional.grid_sample(same.expand(4, -1, -1, -1), grid, align_corners=False)
    expected.backward(weights(values, 1.1))
    torch.testing.assert_close(values, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(one.grad, same.grad, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "shapes", [((0, 2, 3, 3), (0, 4, 4, 2)), ((2, 0, 3, 3), (2, 4, 4, 2)), ((2, 3, 3, 3), (2, 0, 4, 2))]
)
def test_empty(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    image, grid = (torch.zeros(shape, requires_grad=True) for shape in shapes)
    values = grid_sample(image, grid, align_corners=False)
    assert values.shape == functional.grid_sample(image, grid, align_corners=False).shape
    values.sum().backward()
    assert image.grad.shape == image.shape and not image.grad.any()
    assert grid.grad.shape == grid.shape and not grid.grad.any()


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", MODES)
def test_coordinates_that_are_no_numbers_or_far_away(mode: str, padding: str) -> None:
    image, _ = operands(6, (4, 5), torch.float32, count=1)
    away = torch.tensor([float("nan"), float("inf"), float("-inf"), 1e30, -1e30, 5e9])
    grid = torch.stack(torch.meshgrid(away, away, indexing="ij"), -1)[None].requires_grad_()
    leaf = image.clone().requires_grad_()
    values = grid_sample(leaf, grid, mode, padding, False)
    values.sum().backward()
    assert leaf.grad is not None and torch.isfinite(leaf.grad).all()
    if mode != "bicubic":
        assert torch.isfinite(values).all()


def test_default_of_align_corners() -> None:
    image, grid = operands(7, (4, 5), torch.float32)
    with pytest.warns(UserWarning, match="align_corners"):
        values = grid_sample(image, grid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(values, functional.grid_sample(image, grid), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("image", "grid", "options"),
    [
        ((2, 3, 4, 4), (2, 5, 5, 3), {}),
        ((2, 3, 4, 4), (1, 5, 5, 2), {}),
        ((2, 3, 4), (2, 5, 2), {}),
        ((2, 3, 4, 4), (2, 5, 5, 5, 3), {}),
        ((2, 3, 0, 4), (2, 5, 5, 2), {}),
        ((2, 3, 4, 4), (2, 5, 5, 2), {"mode": "cubic"}),
        ((2, 3, 4, 4), (2, 5, 5, 2), {"padding_mode": "wrap"}),
        ((2, 3, 4, 4), (2, 5, 5, 2), {"precision": "reproducible"}),
    ],
)
def test_errors(image: tuple[int, ...], grid: tuple[int, ...], options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError) as raised:
        grid_sample(torch.zeros(image), torch.zeros(grid), align_corners=False, **options)
    assert isinstance(raised.value, (RuntimeError, ValueError)) and raised.value.code is bl.Errc.invalid


def test_errors_of_dtypes_and_devices() -> None:
    image, grid = operands(8, (4, 5), torch.float32)
    for other in (grid.double(), grid.long(), grid.to("meta")):
        with pytest.raises(bl.InvalidError):
            grid_sample(image, other, align_corners=False)
    with pytest.raises(bl.InvalidError):
        grid_sample(image.long(), grid.long(), align_corners=False)


def test_subclasses_of_tensors() -> None:
    """A subclass decides by ``__torch_function__``, and keeps its type."""

    class Named(torch.Tensor):  # type: ignore[misc]
        pass

    image, grid = operands(9, (4, 5), torch.float32)
    values = grid_sample(image.as_subclass(Named), grid, align_corners=False)
    assert type(values) is Named
    torch.testing.assert_close(values.as_subclass(torch.Tensor), grid_sample(image, grid, align_corners=False))
