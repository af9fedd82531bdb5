"""``level_of_detail``: the level of a mipmap whose texels are as long as the footprint of a pixel."""

from __future__ import annotations

import math
from typing import Any

import torch

from . import level_kernels
from .axes import scaled
from .plain import is_plain, plain_apply

__all__ = ["level_of_detail"]

Tensor = Any

_SMALLEST = 1e-30
"""Of squares of lengths: a footprint without size has the first level, and no gradient."""

_MOST = 1e9
"""Of steps in texels: larger ones count as this one, without a gradient. The square of its square is finite."""


def level_of_detail(coords: Tensor, steps: Tensor, bias: Tensor | None, sizes: tuple[int, ...], cube: bool) -> Tensor:
    """Levels (...), not yet clamped to those that there are.

    Parameters
    ----------
    coords : Tensor
        (..., d) from 0 to 1, or directions (..., 3).
    steps : Tensor
        (..., 2 d): the changes of the first coordinate to the next pixel along X and Y, of the second, ...
    bias : Tensor | None
        (...), added to the levels.
    sizes : tuple[int, ...]
        Texels of the first level, x first.
    cube : bool
        Whether the coordinates are directions into a cubemap.
    """
    steps, bias = _at_least_single(steps), None if bias is None else _at_least_single(bias)
    operands = (steps,) if bias is None else (steps, bias)
    if not cube and _has_kernels(operands):
        if torch.is_grad_enabled() and any(part.requires_grad for part in operands):
            return plain_apply(_Footprint)(steps, bias, sizes)
        return level_kernels.footprint_levels(steps, bias, sizes)
    pairs = steps.unflatten(-1, (-1, 2))
    texels = _on_face(coords, pairs) * (sizes[0] / 2) if cube else scaled(pairs, sizes, -2)
    level = torch.log2(_form(_limited(texels))[-1].clamp(min=_SMALLEST)) / 2
    return level if bias is None else level + bias


def _at_least_single(tensor: Tensor) -> Tensor:
    """float16 has too few exponents for squares."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _has_kernels(tensors: tuple[Tensor, ...]) -> bool:
    return is_plain(tensors) and all(
        part.is_cuda and part.dtype is torch.float32 and part.numel() > 0 for part in tensors
    )


def _limited(texels: Tensor) -> Tensor:
    """Steps in texels, 0 in place of those that are no numbers."""
    return texels.nan_to_num(nan=0.0).clamp(-_MOST, _MOST)


def _form(texels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of steps (..., d, 2) in texels: half the difference of the squares of their lengths, their scalar product, the
    root of the squares of both (at least a number near 0), and the square of the longest axis.
    """
    along, across = texels.square().sum(-2).unbind(-1)
    mixed = (texels[..., 0] * texels[..., 1]).sum(-1)
    half = (along - across) / 2
    root = (half.square() + mixed.square()).clamp(min=torch.finfo(texels.dtype).tiny).sqrt()
    return half, mixed, root, (along + across) / 2 + root


class _Footprint(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, steps: Tensor, bias: Tensor | None, sizes: tuple[int, ...]) -> Tensor:
        ctx.sizes = sizes
        ctx.save_for_backward(steps)
        return level_kernels.footprint_levels(steps, bias, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (steps,) = ctx.saved_tensors
        gradient = None
        if ctx.needs_input_grad[0]:
            if torch.is_grad_enabled() or not _has_kernels((steps, grad)):
                gradient = _gradient_of_steps(steps, grad, ctx.sizes)
            else:
                gradient = level_kernels.footprint_gradients(steps, grad, ctx.sizes)
        return gradient, grad if ctx.needs_input_grad[1] else None, None


def _gradient_of_steps(steps: Tensor, grad: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """The gradient of steps from that of levels, in operations of torch."""
    changes = scaled(steps.unflatten(-1, (-1, 2)), sizes, -2)
    texels = _limited(changes)
    half, mixed, root, longest = _form(texels)
    is_round = root <= torch.finfo(texels.dtype).tiny ** 0.5  # the direction of the longest axis is undefined
    turn, slant = ((part / root).masked_fill(is_round, 0.0)[..., None] for part in (half, mixed))
    scale = (grad / longest / (2 * math.log(2))).masked_fill(longest < _SMALLEST, 0.0)[..., None, None]
    x, y = texels.unbind(-1)
    moves = torch.stack(((1 + turn) * x + slant * y, (1 - turn) * y + slant * x), -1)
    moves = moves.masked_fill(changes != texels, 0.0)
    return scaled(scale * moves, sizes, -2).flatten(-2)


def _on_face(direction: Tensor, steps: Tensor) -> Tensor:
    """Changes (..., 2, 2) of the two coordinates on the cube's face, of changes (..., 3, 2) of a direction.

    The face is that of the largest component; its coordinates are the quotients of the others by it, -1 to 1.
    """
    major = direction.detach().abs().argmax(-1, keepdim=True)
    others = torch.cat(((major == 0).long(), 2 - (major == 2).long()), -1)
    depth, places = direction.gather(-1, major)[..., None], direction.gather(-1, others)[..., None]
    across = steps.gather(-2, others[..., None].expand(*others.shape, 2))
    nearer = steps.gather(-2, major[..., None].expand(*major.shape, 2))
    unit = depth.detach().abs()  # the quotient of a short direction and its square would not be finite
    return (across / unit - places / depth * (nearer / unit)) / (depth / unit)
