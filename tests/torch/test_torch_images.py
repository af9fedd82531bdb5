"""``sample`` and ``warp`` of an ``Image``: its values, and gradients from samples of it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.func import vmap  # noqa: E402

import bindless as bl  # noqa: E402
from bindless.model.errors import FeatureNotSupportedError  # noqa: E402
from bindless.torch import ArgumentError, sample, warp  # noqa: E402

pytestmark = pytest.mark.torch

ADDRESSING = ["clamp_to_edge", "border", "repeat", "mirror", "extent"]


@pytest.fixture(scope="module")
def queue() -> bl.Queue:
    return bl.Queue("reference")


def pixels_of(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5))


def places_in(*sizes: int, count: int = 60) -> Any:
    """Coordinates in and around an image, not at the kinks of its filter."""
    generator = torch.Generator().manual_seed(6)
    cells = torch.stack([torch.randint(-2, size + 2, (count,), generator=generator) for size in sizes], -1)
    return cells + 0.1 + 0.3 * torch.rand(count, len(sizes), generator=generator)


def derivatives(values: Any, places: Any) -> tuple[Any, Any]:
    """First and mixed second derivatives of a fixed sum of values."""
    weights = torch.linspace(-1, 2, values.numel()).reshape(values.shape)
    (first,) = torch.autograd.grad((values * weights).sum(), places, create_graph=True)
    (second,) = torch.autograd.grad((first * torch.linspace(1, 2, first.numel()).reshape(first.shape)).sum(), places)
    return first.detach(), second


@pytest.mark.parametrize("addressing", ADDRESSING)
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("sizes", [(7,), (5, 6), (4, 5, 6)])
def test_gradients_are_those_of_the_tensor(
    queue: bl.Queue, addressing: str, coordinate: str, sizes: tuple[int, ...]
) -> None:
    pixels = pixels_of(*reversed(sizes), 2)
    places = places_in(*sizes)
    places = places / torch.tensor(sizes) if coordinate == "normalized" else places
    found, expected = places.clone().requires_grad_(), places.double().requires_grad_()
    options: dict[str, Any] = {"addressing": addressing, "coordinate": coordinate, "precision": "exact"}
    with bl.Image(pixels.numpy(), queue=queue, dimensions=len(sizes), **options) as image:
        values = sample(image, found)
        got = derivatives(values, found)
    theirs = sample(
        pixels.double(), expected, addressing=addressing, coordinate=coordinate, precision="exact"
    )  # fmt: skip
    torch.testing.assert_close(values.double(), theirs, rtol=0, atol=1e-4)
    for one, other in zip(got, derivatives(theirs, expected)):
        scale = float(other.abs().max()) + 1
        torch.testing.assert_close(one.double() / scale, other / scale, rtol=0, atol=2e-4)


def test_weights_of_the_texture_unit(queue: bl.Queue) -> None:
    pixels, places = pixels_of(6, 5, 1), places_in(5, 6).requires_grad_()
    with bl.Image(pixels.numpy(), queue=queue, dimensions=2) as image:
        assert torch.equal(sample(image, places).detach(), torch.from_numpy(image.sample(places.detach().numpy())))
        got = derivatives(sample(image, places), places)[0]
    expected = derivatives(sample(pixels, places, precision="exact"), places)[0]
    torch.testing.assert_close(got, expected, rtol=0, atol=0.02)


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "mirror", "extent"])
def test_levels(queue: bl.Queue, addressing: str) -> None:
    pixels = pixels_of(8, 8)
    places, level = places_in(8, 8), torch.rand(60, generator=torch.Generator().manual_seed(7)) * 5 - 1
    with bl.Image(pixels.numpy(), queue=queue, mipmaps=True, addressing=addressing, precision="exact") as image:
        levels = [torch.from_numpy(image.numpy(number))[..., None].double() for number in range(image.num_levels)]
        one = places.clone().requires_grad_(), level.clone().requires_grad_()
        got = torch.autograd.grad(sample(image, one[0], level=one[1]).sum(), one)
        fixed = sample(image, places, level=1.0)
    options = {"addressing": addressing, "precision": "exact"}
    two = places.double().requires_grad_(), level.double().requires_grad_()
    expected = torch.autograd.grad(sample(levels, two[0], level=two[1], **options).sum(), two)
    for mine, theirs in zip(got, expected):
        torch.testing.assert_close(mine.double(), theirs, rtol=0, atol=1e-4)
    torch.testing.assert_close(
        fixed.double(), sample(levels, places.double(), level=1.0, **options)[..., 0], rtol=0, atol=1e-5
    )


def test_layers_and_vmap(queue: bl.Queue) -> None:
    pixels, places = pixels_of(3, 6, 5), places_in(5, 6).reshape(6, 10, 2)
    with bl.Image(pixels.numpy(), queue=queue, layers=True, precision="exact") as image:
        one = places.clone().requires_grad_()
        values = sample(image, one)
        (got,) = torch.autograd.grad((values * torch.arange(1.0, 4).reshape(3, 1, 1)).sum(), one)
        mapped = vmap(lambda part: sample(image, part), out_dims=1)(places)
    assert torch.equal(mapped, values.detach())
    total = sum((number + 1) * pixels[number].double() for number in range(3))
    two = places.double().requires_grad_()
    (expected,) = torch.autograd.grad(sample(total[..., None], two, precision="exact").sum(), two)
    torch.testing.assert_close(got.double(), expected, rtol=0, atol=1e-4)


def test_nearest_has_no_slope(queue: bl.Queue) -> None:
    places = places_in(5, 6).requires_grad_()
    with bl.Image(np.ones((6, 5), np.float32), queue=queue, filtering="nearest") as image:
        sample(image, places).sum().backward()
    assert places.grad is not None and not places.grad.any()


def test_warp(queue: bl.Queue) -> None:
    pixels = pixels_of(6, 5, 1)
    matrix = torch.tensor([[0.9, 0.13, 0.21], [-0.11, 1.07, 0.17]])
    one, two = matrix.clone().requires_grad_(), matrix.clone().requires_grad_()
    with bl.Image(pixels.numpy(), queue=queue, dimensions=2, precision="exact") as image:
        values = warp(image, one, (4, 4))
        values.square().sum().backward()
    expected = warp(pixels, two, (4, 4), precision="exact")
    expected.square().sum().backward()
    torch.testing.assert_close(values, expected, rtol=0, atol=1e-5)
    assert one.grad is not None and two.grad is not None
    torch.testing.assert_close(one.grad, two.grad, rtol=0, atol=1e-3)


def test_refused(queue: bl.Queue) -> None:
    places = places_in(5, 6)
    with bl.Image(np.ones((6, 5), np.float32), queue=queue, filtering="cubic") as image:
        assert sample(image, places).shape == (60,)
        with pytest.raises(FeatureNotSupportedError):
            sample(image, places.clone().requires_grad_())
        for option in ({"filtering": "nearest"}, {"fill": 1.0}, {"precision": "exact"}, {"cubemap": True}):
            with pytest.raises(ArgumentError):
                sample(image, places, **option)
        with pytest.raises(ArgumentError):
            sample(image, places.long())
    with bl.Image(np.ones((6, 4, 4), np.float32), queue=queue, cubemap=True) as image:
        directions = torch.randn(5, 3, requires_grad=True)
        assert sample(image, directions.detach()).shape == (5,)
        with pytest.raises(FeatureNotSupportedError):
            sample(image, directions)


@pytest.mark.filterwarnings("ignore")  # torch's, of its own modules while it traces
@pytest.mark.parametrize("channels", [(), (2,)])
@pytest.mark.parametrize("warped", [False, True])
def test_compiled_over_images(queue: bl.Queue, channels: tuple[int, ...], warped: bool) -> None:
    """One graph for each of two images, without a break, with second derivatives outside of it."""
    torch.compiler.reset()
    matrix = torch.tensor([[0.9, 0.1, 1.0], [-0.1, 1.1, 0.2]])

    def function(image: bl.Image, given: Any) -> Any:
        return (warp(image, given, (4, 3)) if warped else sample(image, given)).sin() * 2

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for factor in (1, 2):
        with bl.Image((pixels_of(5, 6, *channels) * factor).numpy(), queue=queue, precision="exact") as image:
            start = matrix if warped else places_in(6, 5)
            results = []
            for each in (compiled, function):
                given = start.clone().requires_grad_()
                values = each(image, given)
                values.square().sum().backward()
                results.append((values, given.grad))
            torch.testing.assert_close(*results)


@pytest.mark.filterwarnings("ignore")
def test_compiled_over_an_image_with_levels_and_layers(queue: bl.Queue) -> None:
    torch.compiler.reset()
    compiled = torch.compile(sample, fullgraph=True, backend="aot_eager")
    levels = torch.rand(60) * 2
    with bl.Image(pixels_of(8, 8, 2).numpy(), queue=queue, mipmaps=True, dimensions=2) as image:
        torch.testing.assert_close(
            compiled(image, places_in(8, 8), level=levels), sample(image, places_in(8, 8), level=levels)
        )
    with bl.Image(pixels_of(3, 8, 8, 2).half().numpy(), queue=queue, layers=True) as image:
        found = compiled(image, places_in(8, 8))
        assert found.dtype is torch.float16 and found.shape == (3, 60, 2)
        torch.testing.assert_close(found, sample(image, places_in(8, 8)))


@pytest.mark.filterwarnings("ignore")
def test_compiled_gradients_that_an_image_lacks(queue: bl.Queue) -> None:
    torch.compiler.reset()
    compiled = torch.compile(sample, fullgraph=True, backend="aot_eager")
    with bl.Image(pixels_of(5, 6).numpy(), queue=queue, filtering="cubic", precision="exact") as image:
        assert torch.equal(compiled(image, places_in(6, 5)), sample(image, places_in(6, 5)))
        with pytest.raises(Exception, match="gradients of an Image are those of linear filters"):
            compiled(image, places_in(6, 5).requires_grad_())
