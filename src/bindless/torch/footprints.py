"""``level_of_detail``: the level of a mipmap whose texels are as long as the footprint of a pixel."""

from __future__ import annotations

from typing import Any

import torch

from .axes import scaled

__all__ = ["level_of_detail"]

Tensor = Any

_SMALLEST = 1e-30  # of squares of lengths: a footprint without size has the first level, and no gradient


def level_of_detail(coords: Tensor, steps: Tensor, sizes: tuple[int, ...], cube: bool) -> Tensor:
    """Levels (...), not yet clamped to those that there are.

    Parameters
    ----------
    coords : Tensor
        (..., d) from 0 to 1, or directions (..., 3).
    steps : Tensor
        (..., 2 d): the changes of the first coordinate to the next pixel along X and Y, of the second, ...
    sizes : tuple[int, ...]
        Texels of the first level, x first.
    cube : bool
        Whether the coordinates are directions into a cubemap.
    """
    steps = steps.unflatten(-1, (-1, 2))
    steps = _on_face(coords, steps) * (sizes[0] / 2) if cube else scaled(steps, sizes, -2)
    lengths = steps.square().sum(-2)
    along, across = lengths.unbind(-1)
    mixed = (steps[..., 0] * steps[..., 1]).sum(-1)
    half = (along - across) / 2
    longest = (along + across) / 2 + torch.sqrt((half.square() + mixed.square()).clamp(min=_SMALLEST**2))
    return torch.log2(longest.clamp(min=_SMALLEST)) / 2


def _on_face(direction: Tensor, steps: Tensor) -> Tensor:
    """Changes (..., 2, 2) of the two coordinates on the cube's face, of changes (..., 3, 2) of a direction.

    The face is that of the largest component; its coordinates are the quotients of the others by it, -1 to 1.
    """
    major = direction.detach().abs().argmax(-1, keepdim=True)
    others = torch.cat(((major == 0).long(), 2 - (major == 2).long()), -1)
    depth, places = direction.gather(-1, major)[..., None], direction.gather(-1, others)[..., None]
    moved = steps.gather(-2, others[..., None].expand(*others.shape, 2))
    nearer = steps.gather(-2, major[..., None].expand(*major.shape, 2))
    return (moved - places / depth * nearer) / depth
