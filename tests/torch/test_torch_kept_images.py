"""Images behind ``precision="hardware"``: made once for a tensor, renewed when it changes, closed when it ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import bindless as bl

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")
from torch.nn import functional  # noqa: E402

from bindless.torch import ArgumentError, grid_sample, hardware, sample  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def none_kept() -> Iterator[None]:
    gc.collect()
    hardware._cache.clear()
    hardware._tensors.clear()
    yield
    hardware._cache.clear()


def images() -> list[Any]:
    return [kept.image for kept in hardware._cache.values()]


def ended(image: bl.Image) -> bool:
    try:
        image.sample([[1.0, 1.0]])
    except bl.InvalidError:
        return True
    return False


def test_an_unchanged_tensor_is_uploaded_once() -> None:
    pixels, coords = torch.rand(5, 6, 1), torch.rand(9, 2) * 5
    first = sample(pixels, coords)
    (image,) = images()
    assert torch.equal(sample(pixels.detach(), coords), first)
    assert torch.equal(sample(pixels.view(5, 6, 1), coords), first)
    assert images() == [image] and not ended(image)


def test_a_changed_tensor_renews_its_image_in_place() -> None:
    pixels, coords = torch.rand(5, 6, 1), torch.rand(9, 2) * 5
    first = sample(pixels, coords)
    (image,) = images()
    pixels.mul_(2)
    torch.testing.assert_close(sample(pixels, coords), 2 * first)
    pixels[...] = 0
    assert not sample(pixels, coords).any()
    assert images() == [image]


def test_an_image_ends_with_its_tensor() -> None:
    pixels, coords = torch.rand(5, 6, 1), torch.rand(9, 2) * 5
    sample(pixels, coords)
    (image,) = images()
    view = pixels[:3]
    del pixels
    gc.collect()
    assert images() == [image]  # the view has the memory
    del view
    gc.collect()
    assert images() == [] and ended(image)


def test_memory_that_is_used_again_is_another_tensor() -> None:
    coords = torch.rand(9, 2) * 5
    for value in range(8):
        pixels = torch.full((64, 64, 1), float(value))
        assert bool((sample(pixels, coords) == value).all())
        del pixels
    gc.collect()
    assert images() == []


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("SGD", {"fused": True}), ("Adam", {"fused": True}), ("Adam", {"foreach": True}), ("AdamW", {}), ("LBFGS", {})],
)
def test_steps_of_optimizers(optimizer: str, options: dict[str, Any]) -> None:
    """Fused ones write without counting."""
    pixels, coords = torch.nn.Parameter(torch.rand(5, 6, 3)), torch.rand(9, 2) * 5
    steps = getattr(torch.optim, optimizer)([pixels], lr=0.5, **options)

    def loss() -> Any:
        steps.zero_grad()
        found = sample(pixels, coords).square().sum()
        found.backward()
        return found

    for _ in range(3):
        steps.step(loss)
        found, expected = (sample(pixels, coords, precision=name).detach() for name in ("hardware", "exact"))
        torch.testing.assert_close(found, expected, rtol=0, atol=0.01 * float(pixels.detach().abs().max()))
    assert len(images()) == 1


def test_data_of_a_parameter_counts_its_changes_alone() -> None:
    pixels, coords = torch.nn.Parameter(torch.zeros(5, 6, 1)), torch.rand(9, 2) * 5
    for value in (0.0, 1.0, 2.0):
        with torch.no_grad():
            pixels.fill_(value)
        assert bool((sample(pixels.data, coords) == value).all())
        assert bool((sample(pixels.data[1:], coords) == value).all())


def test_inference_tensors_are_uploaded_each_time() -> None:
    coords = torch.rand(9, 2) * 5
    with torch.inference_mode():
        pixels = torch.rand(5, 6, 1)
        first = sample(pixels, coords)
        pixels.mul_(2)
        torch.testing.assert_close(sample(pixels, coords), 2 * first)


def test_no_more_images_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "MOST_IMAGES", 2)
    tensors, coords = [torch.rand(5, 6, 1) for _ in range(4)], torch.rand(9, 2) * 5
    for tensor in tensors:
        sample(tensor, coords)
    first, second = images()
    assert not ended(first) and not ended(second)
    torch.testing.assert_close(
        sample(tensors[0], coords), sample(tensors[0], coords, precision="exact"), rtol=0, atol=1e-2
    )
    assert images()[0] is second and ended(first)


def test_gradients_are_those_of_exact() -> None:
    pixels, coords = torch.rand(5, 6, 3), torch.rand(9, 2) * 5
    results = []
    for precision in ("hardware", "exact"):
        leaves = [pixels.clone().requires_grad_(), coords.clone().requires_grad_()]
        values = sample(*leaves, precision=precision)
        results.append(torch.autograd.grad((values * torch.arange(3.0)).sum(), leaves))
    for found, expected in zip(*results):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_in_hardware(padding: str, align: bool) -> None:
    image, grid = torch.rand(2, 3, 6, 7), torch.rand(2, 4, 5, 2) * 3 - 1.5
    found = grid_sample(image, grid, padding_mode=padding, align_corners=align, precision="hardware")
    expected = functional.grid_sample(image, grid, padding_mode=padding, align_corners=align)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-2)
    assert len(images()) == (0 if padding == "reflection" and align else 2)  # the unit mirrors at edges alone


@pytest.mark.parametrize(
    ("pixels", "options"),
    [
        (torch.rand(5, 6, 5), {}),
        (torch.rand(5, 6, 1).double(), {}),
        (torch.rand(5, 6, 1), {"fill": 1.0, "addressing": "clamp"}),
        (torch.rand(5, 6, 1), {"filtering": "bicubic"}),
        (torch.rand(5, 6, 1), {"filtering": "cubic"}),
        (torch.rand(5, 6, 1), {"addressing": "mirror"}),
        (torch.rand(5, 6, 1), {"level": 0.5}),
        (torch.rand(6, 4, 4, 1), {"cubemap": True}),
    ],
)
def test_what_the_unit_does_not_have_is_exact(pixels: Any, options: dict[str, Any]) -> None:
    coords = torch.rand(9, 3 if options.get("cubemap") else 2, dtype=pixels.dtype) * 5
    assert torch.equal(sample(pixels, coords, **options), sample(pixels, coords, precision="exact", **options))
    assert images() == []


@pytest.mark.parametrize("batched", [False, True])
def test_repeated_calls_see_every_change(batched: bool) -> None:
    """The second and later calls with one tensor find its image without the first call's work."""

    def same_as_exact(image: Any, places: Any) -> None:
        for _ in range(2):
            expected = sample(image, places, precision="exact")
            torch.testing.assert_close(sample(image, places), expected, rtol=0, atol=0.02)

    pixels, places = torch.rand(5, 6, 2), torch.rand(7, 2) * 5
    if batched:
        pixels, places = pixels[None].clone(), places[None]
    same_as_exact(pixels, places)
    assert len(hardware._tensors) == 1
    same_as_exact(pixels, places.unflatten(-2, (1, 7)))  # other shapes, types and layouts of the same places
    same_as_exact(pixels, places.double())
    same_as_exact(pixels, places.flip(-2))
    same_as_exact(pixels, places.requires_grad_())
    pixels.add_(1)
    same_as_exact(pixels, places)
    pixels.data = torch.rand_like(pixels)
    same_as_exact(pixels, places)
    pixels.transpose_(-2, -3)
    same_as_exact(pixels, places)
    pixels.transpose_(-2, -3)
    other = torch.rand_like(pixels)
    same_as_exact(other, places)
    same_as_exact(pixels, places)
    hardware._cache.clear()
    same_as_exact(pixels, places)


def test_repeated_calls_check_their_coordinates() -> None:
    pixels = torch.rand(1, 5, 6, 1)
    for _ in range(2):
        sample(pixels, torch.rand(1, 7, 2))
        for wrong in (torch.rand(2, 7, 2), torch.rand(2), torch.ones(1, 7, 2, dtype=torch.int32)):
            with pytest.raises(ArgumentError):
                sample(pixels, wrong)


def test_repeated_calls_with_gradients() -> None:
    pixels = torch.rand(5, 6, 2, requires_grad=True)
    places = (torch.rand(7, 2) * 5).requires_grad_()
    for _ in range(3):
        found, expected = (
            torch.autograd.grad(sample(pixels, places, precision=kind).sin().sum(), (pixels, places))
            for kind in ("hardware", "exact")
        )
        torch.testing.assert_close(found, expected, rtol=0, atol=0.05)
        with torch.no_grad():
            pixels.mul_(0.9)
