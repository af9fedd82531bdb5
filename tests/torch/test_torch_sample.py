"""``bindless.torch.sample`` and ``warp``: values of ``Image``, gradients of compositions of torch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

import bindless.torch as bt  # noqa: E402
from bindless.torch import sample, warp  # noqa: E402
from tests.oracle.samples import sample_textures  # noqa: E402
from tests.oracle.splines import spline_matrix  # noqa: E402
from tests.support.error_checks import raises  # noqa: E402

pytestmark = pytest.mark.torch

SIZES = (9, 7, 11)
BOUNDARIES = {"clamp_to_edge": "edge", "clamp": "border", "repeat": "repeat", "mirrored_repeat": "mirrored_repeat"}
FILTERS = ("nearest", "linear", "cubic", "catmull_rom", "bicubic")
# Each boundary with each filter, in turn in every number of dimensions; tests/sampling has the full grid.
KINDS = [
    (1 + number % 3, addressing, filtering, ("unnormalized", "normalized")[number % 2])
    for number, (addressing, filtering) in enumerate(itertools.product(BOUNDARIES, FILTERS))
]


def operands(dims: int, coordinate: str = "unnormalized", count: int = 40) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(dims)
    sizes = SIZES[:dims]
    image = torch.randn(*sizes, 2, generator=generator, dtype=torch.float64)
    coords = torch.rand(count, dims, generator=generator, dtype=torch.float64) * 2.2 - 0.6
    return image, coords * torch.tensor(sizes[::-1]) if coordinate == "unnormalized" else coords


def check(found: Any, expected: Any, filtering: str, bound: float) -> None:
    """Values within the bound; positions half way between two texels may round to either in single precision."""
    away = np.abs(np.asarray(found.detach(), np.float64) - np.asarray(expected, np.float64))
    assert (np.count_nonzero(away > bound) <= 0.02 * away.size) if filtering == "nearest" else away.max() < bound


@pytest.mark.parametrize(("dims", "addressing", "filtering", "coordinate"), KINDS)
def test_exact_values_are_those_of_image(dims: int, addressing: str, filtering: str, coordinate: str) -> None:
    image, coords = operands(dims, coordinate)
    options: dict[str, Any] = {"addressing": addressing, "filtering": filtering, "coordinate": coordinate}
    options |= {"precision": "exact", "fill": 0.7 if addressing == "clamp" else 0.0}
    with bl.Image(image.float().numpy(), queue=bl.Queue("reference"), dimensions=dims, **options) as picture:
        expected = picture.sample(coords.float().numpy())
    check(sample(image, coords, **options), expected, filtering, 1e-4)
    check(sample(image.float(), coords.float(), **options), expected, filtering, 1e-4)


@pytest.mark.parametrize(("dims", "addressing", "filtering", "coordinate"), [k for k in KINDS if k[2] in FILTERS[:2]])
def test_hardware_values_are_those_of_image(dims: int, addressing: str, filtering: str, coordinate: str) -> None:
    image, coords = operands(dims, coordinate)
    options: dict[str, Any] = {"addressing": addressing, "filtering": filtering, "coordinate": coordinate}
    with bl.Image(image.float().numpy(), queue=bl.Queue("reference"), dimensions=dims, **options) as picture:
        expected = picture.sample(coords.float().numpy())
    check(sample(image.float(), coords.float(), **options), expected, filtering, 2e-2)


@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("addressing", [*BOUNDARIES, ("repeat", "clamp")])
def test_gradients_of_splines(addressing: Any, coordinate: str) -> None:
    """Of default precision, and with margins along some axes."""
    image, coords = operands(2, coordinate, count=3)
    image = image[:3, :4].contiguous().requires_grad_()
    coords = (coords * (0.3 if coordinate == "unnormalized" else 1.0)).detach().requires_grad_()

    def function(pixels: Any, places: Any) -> Any:
        return sample(pixels, places, addressing=addressing, coordinate=coordinate, filtering="cubic", fill=0.25)

    assert torch.autograd.gradcheck(function, (image, coords), fast_mode=True)
    assert torch.autograd.gradgradcheck(function, (image, coords), fast_mode=True)


@pytest.mark.parametrize("filtering", FILTERS)
@pytest.mark.parametrize("addressing", BOUNDARIES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_both_orders(dims: int, addressing: str, filtering: str) -> None:
    """Those of a composition of operations of torch; the coefficients of splines are solved for, as a matrix."""
    if filtering == "cubic" and addressing not in ("repeat", "mirrored_repeat"):
        pytest.skip("its margin has no matrix: the values are compared with those of Image")
    results = []
    for ours in (True, False):
        image, coords = (part.requires_grad_() for part in operands(dims, count=12))
        if ours:
            values = sample(image, coords, addressing=addressing, filtering=filtering, precision="exact")
        else:
            boundary = BOUNDARIES[addressing]
            pixels = coefficients(image, boundary) if filtering == "cubic" else image
            options = {"interpolation": filtering, "boundary": boundary, "offset": (-0.5,) * dims}
            values = sample_textures([pixels[None]], coords[None], **options)[0]
        first = torch.autograd.grad(values.sin().sum(), (image, coords), create_graph=True, allow_unused=True)
        first = [0 * like if part is None else part for part, like in zip(first, (image, coords))]
        second = torch.autograd.grad(sum(part.sin().sum() for part in first), (image, coords), allow_unused=True)
        second = [torch.zeros_like(like) if part is None else part for part, like in zip(second, (image, coords))]
        results.append([part.detach() for part in (values, *first, *second)])
    for found, expected in zip(*results):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9 * max(1.0, float(expected.abs().max())))


def coefficients(image: Any, boundary: str) -> Any:
    """Those whose spline has the pixels as its values."""
    for axis in range(image.dim() - 1):
        lines = image.movedim(axis, 0)
        matrix = torch.from_numpy(spline_matrix(len(lines), boundary))
        image = torch.linalg.solve(matrix, lines.flatten(1)).reshape(lines.shape).movedim(0, axis)
    return image


def test_mirror_at_centres() -> None:
    image, coords = operands(2)
    found = sample(image, coords, addressing=("mirror", "repeat"), precision="exact")
    expected = sample_textures([image[None]], coords[None], boundary=("mirror", "repeat"), offset=(-0.5, -0.5))[0]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_levels(filtering: str) -> None:
    image, coords = operands(2)
    level = torch.linspace(-0.5, 4, len(coords), dtype=torch.float64)
    with bl.Image(
        image.float().numpy(), mipmaps=True, precision="exact", filtering=filtering, queue=bl.Queue("reference")
    ) as picture:
        expected = picture.sample(coords.float().numpy(), level=level.float().numpy())
    check(sample(image, coords, level=level, precision="exact", filtering=filtering), expected, filtering, 1e-4)


def test_gradients_of_levels() -> None:
    image, coords = operands(2, count=6)
    levels = [image, torch.randn(4, 3, 2, dtype=torch.float64), torch.randn(2, 1, 2, dtype=torch.float64)]
    level = torch.tensor([0.3, 1.7, 0.9, 1.2, 2.5, -1.0], dtype=torch.float64)
    tensors = [part.requires_grad_() for part in (*levels, coords, level)]

    def function(first: Any, second: Any, third: Any, places: Any, depth: Any) -> Any:
        return sample([first, second, third], places, level=depth, precision="exact")

    assert torch.autograd.gradcheck(function, tensors)
    assert torch.autograd.gradgradcheck(function, tensors)
    found = function(*tensors)
    options = {"between": "linear", "boundary": "edge", "offset": (-0.5, -0.5)}
    expected = sample_textures([part[None] for part in levels], coords[None], level[None], **options)[0]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [1, 3])
def test_batches(count: int) -> None:
    image = torch.randn(3, 6, 5, 2, dtype=torch.float64, requires_grad=True)
    coords = (torch.rand(count, 4, 2, dtype=torch.float64) * 5).requires_grad_()
    values = sample(image, coords, precision="exact")
    alone = torch.stack([sample(image[n], coords[min(n, count - 1)], precision="exact") for n in range(3)])
    torch.testing.assert_close(values, alone, rtol=0, atol=1e-12)
    found, expected = (torch.autograd.grad(part.sin().sum(), (image, coords)) for part in (values, alone))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_half_precision_keeps_coordinates_in_single() -> None:
    image = torch.arange(2048.0).half()[:, None].requires_grad_()
    coords = torch.tensor([[1000.75], [2000.25]], requires_grad=True)
    values = sample(image, coords, precision="exact")
    assert values.dtype == torch.float16
    values.float().sum().backward()
    assert image.grad.dtype == torch.float16 and coords.grad.dtype == torch.float32
    torch.testing.assert_close(coords.grad, torch.ones(2, 1))
    assert image.grad.float().sum() == 2


def affine(projective: bool) -> Any:
    matrix = torch.tensor([[0.9, 0.2, 1], [-0.1, 1.1, 0.3], [0.01, 0.02, 1]], dtype=torch.float64)
    return matrix if projective else matrix[:2]


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("displaced", [False, True])
def test_warp_is_that_of_image(displaced: bool, projective: bool) -> None:
    image, _ = operands(2)
    field = torch.randn(5, 6, 2, dtype=torch.float64) if displaced else None
    with bl.Image(image.float().numpy(), precision="exact", queue=bl.Queue("reference")) as picture:
        given = None if field is None else field.float().numpy()
        expected = picture.warp(affine(projective).numpy(), (5, 6), displacement=given)
    found = warp(image, affine(projective), (5, 6), displacement=field, precision="exact")
    check(found, expected, "linear", 1e-4)


def test_warp_of_volumes_and_batches() -> None:
    image, _ = operands(3)
    matrices = torch.eye(4, dtype=torch.float64)[None, :3].repeat(2, 1, 1) + 0.1 * torch.randn(
        2, 3, 4, dtype=torch.float64
    )
    both = torch.stack((image, image.flip(0)))
    found = warp(both, matrices, (4, 3, 2), precision="exact")
    for number, part in enumerate(both):
        with bl.Image(part.float().numpy(), dimensions=3, precision="exact", queue=bl.Queue("reference")) as picture:
            check(found[number], picture.warp(matrices[number].numpy(), (4, 3, 2)), "linear", 1e-4)


def test_warp_of_one_axis() -> None:
    image, _ = operands(1)
    matrix = torch.tensor([[0.7, 1.3]], dtype=torch.float64)
    with bl.Image(image.float().numpy(), dimensions=1, precision="exact", queue=bl.Queue("reference")) as picture:
        check(warp(image, matrix, 6, precision="exact"), picture.warp(matrix.numpy(), (6,)), "linear", 1e-4)


@pytest.mark.parametrize("projective", [False, True])
def test_gradients_of_warp(projective: bool) -> None:
    image, _ = operands(2)
    tensors = [
        part.requires_grad_()
        for part in (image[:4, :4].contiguous(), affine(projective), 0.3 * torch.randn(3, 2, 2, dtype=torch.float64))
    ]

    def function(pixels: Any, matrix: Any, field: Any) -> Any:
        return warp(pixels, matrix, (3, 2), displacement=field, precision="exact", filtering="cubic")

    assert torch.autograd.gradcheck(function, tensors)
    assert torch.autograd.gradgradcheck(function, tensors)


@pytest.mark.parametrize(
    ("image", "coords", "options"),
    [
        ((4, 4), (3, 2), {}),
        ((4, 4, 1), (3, 4), {}),
        ((2, 4, 4, 1), (3, 5, 2), {}),
        ((4, 4, 1), (2,), {"addressing": ("repeat", "clamp", "repeat")}),
        ((4, 4, 1), (3, 2), {"addressing": "none"}),
        ((4, 4, 1), (3, 2), {"addressing": "wrap"}),
        ((4, 4, 1), (3, 2), {"filtering": "lanczos"}),
        ((4, 4, 1), (3, 2), {"coordinate": "pixels"}),
        ((4, 4, 1), (3, 2), {"precision": "reproducible"}),
        ((4, 4, 1), (3, 2), {"cubemap": True}),
        ((6, 4, 4, 1), (3, 3), {"cubemap": True, "filtering": "cubic"}),
        ((4, 4, 1), (3, 2), {"level": 0.5, "filtering": "cubic"}),
        ((0, 4, 1), (3, 2), {}),
    ],
)
def test_errors(image: tuple[int, ...], coords: tuple[int, ...], options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError) as raised:
        sample(torch.zeros(image), torch.zeros(coords), **options)
    assert raised.value.code is bl.Errc.invalid


def test_errors_of_levels_and_matrices() -> None:
    levels = [torch.zeros(4, 4, 1), torch.zeros(2, 2, 1)]
    for call in (
        lambda: sample(levels, torch.zeros(3, 2)),
        lambda: sample([levels[0], levels[1].double()], torch.zeros(3, 2), level=0.5),
        lambda: sample(levels[0].int(), torch.zeros(3, 2)),
        lambda: sample(levels[0], torch.zeros(3, 2).to("meta")),
        lambda: warp(levels[0], torch.eye(4), (2, 2)),
        lambda: warp(levels[0], torch.eye(3)[None], (2, 2)),
        lambda: warp(levels[0], torch.eye(3), (2, 2), displacement=torch.zeros(2, 3, 2)),
        lambda: warp(levels[0], torch.eye(3), (2, 2, 2)),
    ):
        with pytest.raises(bl.InvalidError):
            call()


DETECTOR = bt.Detector((0, 0, -9), (0, 0, 9), (1, 0, 0), (0, 1, 0), 2, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda array, tensor: bt.grid_sample(array, tensor, align_corners=False),
        lambda array, tensor: bt.grid_sample(tensor, array, align_corners=False),
        lambda array, tensor: bt.sample(array, tensor),
        lambda array, tensor: bt.sample(tensor, array),
        lambda array, tensor: bt.warp(array, torch.eye(3), (4, 4)),
        lambda array, tensor: bt.warp(tensor, array[0, 0], (4, 4)),
        lambda array, tensor: bt.texture(array, tensor),
        lambda array, tensor: bt.texture(tensor, array),
        lambda array, tensor: bt.line_integrals(array, tensor, tensor, 2),
        lambda array, tensor: bt.projections(array, tensor, DETECTOR, 2),
    ],
)
def test_arrays_of_numpy_are_refused(call: Any) -> None:
    with raises(bl.InvalidError) as caught:
        call(np.zeros((1, 3, 4, 2), np.float32), torch.zeros(1, 3, 4, 2))
    assert "torch.from_numpy" in str(caught.value)
