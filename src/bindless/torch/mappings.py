"""``mapped_pixels``: the coordinates of pixels seen through matrices, by kernels on CUDA."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..sampling.memory.mappings import Mapping, mapping_coords, mapping_gradients
from .plain import is_plain, plain_apply
from .repeats import Repeats

__all__ = ["mapped_pixels"]

Tensor = Any

_MOST_IMAGES = 65535  # of a launch

_of_coords, _of_gradients = Repeats(), Repeats()


def mapped_pixels(matrix: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Coordinates ([N,] *sizes, d) of the centres of all pixels, through matrices ([N,] d or d + 1, d + 1)."""
    if not is_plain((matrix,)) or not _has_kernels(matrix, sizes):
        return _composed(matrix, sizes)
    if torch.is_grad_enabled() and matrix.requires_grad:
        return plain_apply(_Mapped)(matrix, sizes)
    return _coords(matrix, sizes)


def _has_kernels(matrix: Tensor, sizes: tuple[int, ...]) -> bool:
    return (
        matrix.is_cuda
        and matrix.dtype is torch.float32
        and 0 < math.prod(sizes) < 1 << 32
        and 0 < math.prod(matrix.shape[:-2]) <= _MOST_IMAGES
    )


def _composed(matrix: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """``mapped_pixels`` in operations of torch."""
    dims = len(sizes)
    axes = [torch.arange(size, dtype=matrix.dtype, device=matrix.device) + 0.5 for size in reversed(sizes)]
    columns = matrix.movedim(-1, 0)
    total: Any = columns[-1].reshape(*matrix.shape[:-2], *[1] * dims, -1)
    for number, (places, column) in enumerate(zip(axes, columns)):
        places = places.reshape(-1, *[1] * (number + 1))
        total = total + places * column.reshape(*matrix.shape[:-2], *[1] * dims, -1)
    return total[..., :dims] / total[..., dims:] if matrix.shape[-2] == dims + 1 else total


def _coords(matrix: Tensor, sizes: tuple[int, ...]) -> Tensor:
    results = _of_coords.repeat(sizes, matrix)
    if results is None:
        own = matrix.detach().contiguous()
        buffer = own.new_empty((*own.shape[:-2], *sizes, len(sizes)))
        results = _of_coords.run(sizes, mapping_coords(_mapping(own, sizes)), [own], [buffer])
    return results[0]


def _mapping(matrix: Tensor, sizes: tuple[int, ...]) -> Mapping:
    images = math.prod(matrix.shape[:-2])
    return Mapping(images, tuple(reversed(sizes)), matrix.shape[-2] == matrix.shape[-1])


class _Mapped(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, sizes: tuple[int, ...]) -> Tensor:
        ctx.sizes = sizes
        ctx.save_for_backward(matrix)
        return _coords(matrix, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (matrix,) = ctx.saved_tensors
        if torch.is_grad_enabled() or not is_plain((grad,)):
            with torch.enable_grad():
                coords = _composed(matrix, ctx.sizes)
            return torch.autograd.grad(coords, matrix, grad, create_graph=torch.is_grad_enabled())[0], None
        results = _of_gradients.repeat(ctx.sizes, matrix, grad)
        if results is None:
            own, cotangent = matrix.detach().contiguous(), grad.detach().contiguous()
            program = mapping_gradients(_mapping(own, ctx.sizes))
            results = _of_gradients.run(ctx.sizes, program, [own, cotangent], [torch.empty_like(own)])
        return results[0], None
