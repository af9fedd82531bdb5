"""``pyramid``: the levels of a mipmap, by kernels or in operations of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..sampling.memory.mipmaps import level_count, reductions
from . import level_kernels
from .plain import is_plain, plain_apply

__all__ = ["count_of", "has_kernels", "pyramid"]

Tensor = Any


def pyramid(image: Tensor, axes: Sequence[int], most: int | None = None) -> list[Tensor]:
    """All levels of a mipmap, the image first, as ``sampling.memory.mipmaps`` describes them.

    Parameters
    ----------
    image : Tensor
        (..., *axes, C).
    axes : Sequence[int]
        Axes of texels: one to three, the last before that of channels.
    most : int, optional
        Largest number of a level; default: down to one texel.
    """
    count = count_of(image, axes, most)
    if count == 0:
        return [image]
    if not has_kernels(image):
        return [image, *reductions(image, axes, count, _outer_weights)]
    if torch.is_grad_enabled() and image.requires_grad:
        return [image, *plain_apply(_Pyramid)(image, axes, count)]
    return [image, *level_kernels.pyramid_means(image, axes[0], count)]


def count_of(image: Tensor, axes: Sequence[int], most: int | None) -> int:
    """Levels after the first."""
    return level_count((image.shape[axis] for axis in axes), most)


def has_kernels(tensor: Tensor) -> bool:
    """Whether kernels make levels of an image, or gradients."""
    return (
        tensor.is_cuda
        and tensor.dtype in (torch.float32, torch.float16)
        and 0 < tensor.numel() < 1 << 40
        and tensor.shape[-2] * tensor.shape[-1] < 1 << 31
        and is_plain((tensor,))
    )


class _Pyramid(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, image: Tensor, axes: Sequence[int], count: int) -> tuple[Tensor, ...]:
        ctx.shape, ctx.dtype, ctx.axes = image.shape, image.dtype, axes
        ctx.set_materialize_grads(False)
        return level_kernels.pyramid_means(image, axes[0], count)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, None, None]:
        parts = [part for part in grads if part is not None]
        if not parts:
            return None, None, None
        if torch.is_grad_enabled() or not all(has_kernels(part) for part in parts):
            return _composed_transpose(grads, ctx.shape, ctx.axes), None, None
        return level_kernels.pyramid_gradients(ctx.shape, ctx.dtype, ctx.axes[0], grads), None, None


# ---------------------------------------------------------------- operations of torch


def _composed_transpose(grads: Sequence[Tensor | None], shape: Sequence[int], axes: Sequence[int]) -> Tensor:
    """The gradient of an image from those of its ``reductions``, of which the last ones may be None."""
    sizes = [list(shape)]
    for _ in grads:
        sizes.append([max(n // 2, 1) if axis in axes else n for axis, n in enumerate(sizes[-1])])
    total: Any = None
    for number in range(len(grads), 0, -1):
        own = grads[number - 1]
        total = own if total is None else total if own is None else total + own
        if total is not None:
            for axis in reversed(axes):
                total = _doubled(total, axis, sizes[number - 1][axis])
    return total


def _doubled(grad: Tensor, axis: int, size: int) -> Tensor:
    """The transpose of a level along one axis."""
    if size == 1:
        return grad
    half = size // 2
    if size % 2 == 0:
        return torch.stack((grad / 2, grad / 2), axis + 1).flatten(axis, axis + 1)
    first, last = _outer_weights(grad, axis, size)
    end = torch.zeros_like(grad.narrow(axis, 0, 1))
    lefts = torch.stack((grad * first, grad * (half / size)), axis + 1).flatten(axis, axis + 1)
    rights = torch.stack((torch.zeros_like(grad), grad * last), axis + 1).flatten(axis, axis + 1)
    return torch.cat((lefts, end), axis) + torch.cat((end, rights), axis)


def _outer_weights(tensor: Tensor, axis: int, size: int) -> tuple[Tensor, Tensor]:
    """Weights of the first and the last of three texels, for each mean along an axis of odd length."""
    half = size // 2
    first = torch.arange(half, 0, -1, device=tensor.device, dtype=tensor.dtype) / size
    shape = (half, *[1] * (tensor.dim() - axis - 1))
    return first.reshape(shape), first.flip(0).reshape(shape)
