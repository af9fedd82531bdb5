"""Sampling composed of elementary operations of torch, differentiable as often as those are: what the tests compare to.

Slow and independent of the package: each tap is a gather, each weight a polynomial.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

Tensor = torch.Tensor


def sample(
    levels: list[Tensor],
    coords: Tensor,
    level: Tensor | None = None,
    *,
    filtering: str = "linear",
    between: str = "none",
    boundary: str | tuple[str, ...] = "edge",
    fill: float = 0.0,
    scale: tuple[float, ...] = (),
    offset: tuple[float, ...] = (),
    ties_to_even: bool = False,
) -> Tensor:
    """(N, S, C) of levels (N, [D, [H,]] W, C) at coords (N, S, d), x first; position = coord * scale + offset."""
    dims = coords.shape[-1]
    boundary = (boundary,) * dims if isinstance(boundary, str) else boundary
    options: dict[str, Any] = {"filtering": filtering, "boundary": boundary, "fill": fill}
    options["ties_to_even"] = ties_to_even
    places = coords * torch.tensor(scale or (1.0,) * dims, dtype=coords.dtype)
    places = places + torch.tensor(offset or (0.0,) * dims, dtype=coords.dtype)
    if between == "none" or level is None:
        return one_level(levels[0], places, **options)
    level = level.expand(torch.broadcast_shapes(level.shape, coords.shape[:-1])).clamp(0, len(levels) - 1)
    values = torch.stack([one_level(part, at_level(places, levels[0], part), **options) for part in levels])
    if between == "nearest":
        weights = torch.nn.functional.one_hot((level + 0.5).floor().long().clamp(max=len(levels) - 1), len(levels))
    else:
        weights = (1 - (level[..., None] - torch.arange(len(levels))).abs()).clamp(min=0)
    return torch.einsum("nsl,lnsc->nsc", weights.to(values.dtype), values)


def grid_sample(
    image: Tensor, grid: Tensor, mode: str = "bilinear", padding: str = "zeros", align: bool = False
) -> Tensor:
    """``torch.nn.functional.grid_sample``, whose second derivatives torch has from 2.13 on."""
    sizes = image.shape[:1:-1]
    boundary = {"zeros": "border", "border": "edge", "reflection": "mirror" if align else "mirrored_repeat"}[padding]
    values = sample(
        [image.movedim(1, -1)],
        grid.flatten(1, -2),
        filtering="linear" if mode == "bilinear" else mode,
        boundary=boundary,
        scale=tuple((size - 1 if align else size) / 2 for size in sizes),
        offset=tuple((size - 1) / 2 for size in sizes),
        ties_to_even=True,
    )
    values = values + 0 * grid.sum()  # those of the nearest texel do not depend on it
    return values.movedim(-1, 1).reshape(*image.shape[:2], *grid.shape[1:-1])


def at_level(places: Tensor, first: Tensor, part: Tensor) -> Tensor:
    """Positions in the texels of a level, of those in level 0."""
    ratio = torch.tensor([b / a for a, b in zip(first.shape[-2:0:-1], part.shape[-2:0:-1])], dtype=places.dtype)
    return (places + 0.5) * ratio - 0.5


def one_level(
    image: Tensor, places: Tensor, filtering: str, boundary: tuple[str, ...], fill: float, ties_to_even: bool
) -> Tensor:
    """(N, S, C) at positions, the centres of texels at integers."""
    dims, sizes = places.shape[-1], image.shape[-2:0:-1]
    count = max(len(image), len(places))
    image, places = image.expand(count, *image.shape[1:]), places.expand(count, *places.shape[1:])
    if filtering == "linear":
        places = torch.stack([bounded(places[..., n], sizes[n], boundary[n]) for n in range(dims)], -1)
    taps = [axis_taps(places[..., n], filtering, ties_to_even) for n in range(dims)]
    total: Any = 0
    for chosen in itertools.product(*taps):
        weight: Any = 1
        inside: Any = True
        flat: Any = 0
        for n in reversed(range(dims)):
            index, part = chosen[n]
            index, valid = texel(index, sizes[n], boundary[n])
            weight, inside, flat = weight * part, valid & inside, flat * sizes[n] + index
        texels = image.reshape(count, -1, image.shape[-1])
        value = torch.gather(texels, 1, flat[..., None].expand(-1, -1, image.shape[-1]))
        value = torch.where(inside[..., None], value, torch.full_like(value, fill))
        total = total + value * weight[..., None]
    return total


def bounded(place: Tensor, size: int, boundary: str) -> Tensor:
    """Positions of linear filtering that the boundary clips or reflects, as torch's grid_sample does it."""
    if boundary == "mirrored_repeat":
        place = reflected(place, -0.5, size)
    elif boundary == "mirror":
        place = reflected(place, 0.0, size - 1) if size > 1 else place * 0
    if boundary in ("edge", "mirror", "mirrored_repeat"):
        place = torch.where((place > 0) & (place < size - 1), place, place.detach().clamp(0, size - 1))
    return place


def reflected(place: Tensor, low: float, span: int) -> Tensor:
    """Positions reflected about ``low`` and ``low + span``."""
    away = (place - low).abs()
    turns = torch.floor(away.detach() / span)
    rest = away - turns * span
    return torch.where(turns.long() % 2 == 0, rest, span - rest) + low


def axis_taps(place: Tensor, filtering: str, ties_to_even: bool) -> list[tuple[Tensor, Tensor]]:
    """Indices and weights of one axis."""
    if filtering == "nearest":
        index = torch.round(place.detach()) if ties_to_even else torch.floor(place.detach() + 0.5)
        return [(index.long(), torch.ones_like(place))]
    base = torch.floor(place.detach())
    t, base = place - base, base.long()
    if filtering == "linear":
        return [(base, 1 - t), (base + 1, t)]
    if filtering == "cubic":
        s = 1 - t
        weights = [s**3 / 6, 2 / 3 - t**2 + t**3 / 2, 2 / 3 - s**2 + s**3 / 2, t**3 / 6]
    else:
        a = {"bicubic": -0.75, "catmull_rom": -0.5}[filtering]

        def near(x: Tensor) -> Tensor:
            return ((a + 2) * x - (a + 3)) * x * x + 1

        def far(x: Tensor) -> Tensor:
            return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

        weights = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    return [(base + n - 1, weight) for n, weight in enumerate(weights)]


def texel(index: Tensor, size: int, boundary: str) -> tuple[Tensor, Tensor]:
    """Indices inside an axis, and which were inside or have a texel outside."""
    every = torch.ones_like(index, dtype=torch.bool)
    if boundary == "border":
        return index.clamp(0, size - 1), (index >= 0) & (index < size)
    if boundary == "repeat":
        index = index % size
    elif boundary == "mirrored_repeat":
        index = index % (2 * size)
        index = torch.where(index < size, index, 2 * size - 1 - index)
    elif boundary == "mirror":
        period = max(2 * (size - 1), 1)
        index = index % period
        index = torch.where(index < size, index, period - index)
    return index.clamp(0, size - 1), every
