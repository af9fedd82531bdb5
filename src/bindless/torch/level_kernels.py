"""The kernels of mipmaps and footprints on tensors in CUDA memory: calls that are repeated without Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ..sampling.memory import levels
from ..sampling.memory.levels import Pyramid
from .repeats import Repeats

__all__ = ["footprint_gradients", "footprint_levels", "pyramid_gradients", "pyramid_means", "pyramid_of"]

Tensor = Any

_of_means, _of_means_backward, _of_footprints, _of_footprints_backward = (Repeats() for _ in range(4))


def pyramid_means(image: Tensor, first: int, count: int) -> tuple[Tensor, ...]:
    """Levels 1 to ``count`` of a float32 or float16 image (..., *axes, C); ``first`` is the first axis."""
    means = _of_means.repeat((first, count), image)
    if means is None:
        image = image.detach().contiguous()
        pyramid = pyramid_of(image.shape, image.dtype, first, count)
        leading, channels = image.shape[:first], image.shape[-1]
        dims = image.dim() - first - 1
        buffers = [image.new_empty((*leading, *reversed(size[:dims]), channels)) for size in pyramid.sizes[1:]]
        means = _of_means.run((first, count), levels.pyramid_means(pyramid), [image], buffers)
    return means


def pyramid_gradients(
    shape: Sequence[int], dtype: torch.dtype, first: int, grads: Sequence[Tensor | None], added: Tensor | None = None
) -> Tensor:
    """The gradient of an image of a shape and type, from those of levels 1, 2, ..., of which not all are None.

    ``added`` is a gradient of the image, of its type, which is added.
    """
    key = tuple(shape), dtype, first
    gradients = _of_means_backward.repeat(key, *grads, added)
    if gradients is None:
        own = [None if part is None else part.detach().contiguous() for part in (*grads, added)]
        pyramid, flags = pyramid_of(shape, dtype, first, len(grads)), [part is not None for part in own]
        program = levels.pyramid_gradients(pyramid, flags[:-1], added=flags[-1])
        like = next(part for part in own if part is not None)
        gradients = _of_means_backward.run(key, program, own, [like.new_empty(tuple(shape))])
    return gradients[0]


def footprint_levels(steps: Tensor, bias: Tensor | None, sizes: Sequence[int]) -> Tensor:
    """Levels of detail (...) of float32 steps (..., 2 d) in a texture of ``sizes`` texels, x first."""
    key = tuple(sizes)
    results = _of_footprints.repeat(key, steps, bias)
    if results is None:
        operands = [None if part is None else part.detach().contiguous() for part in (steps, bias)]
        buffer = steps.new_empty(steps.shape[:-1])
        program = levels.footprint_levels(buffer.numel(), sizes, biased=bias is not None)
        results = _of_footprints.run(key, program, operands, [buffer])
    return results[0]


def footprint_gradients(steps: Tensor, grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """Gradients of the steps of ``footprint_levels`` from those of the levels of detail."""
    key = tuple(sizes)
    results = _of_footprints_backward.repeat(key, steps, grad)
    if results is None:
        operands = [part.detach().contiguous() for part in (steps, grad)]
        buffer = torch.empty_like(operands[0])
        results = _of_footprints_backward.run(key, levels.footprint_gradients(grad.numel(), sizes), operands, [buffer])
    return results[0]


def pyramid_of(shape: Sequence[int], dtype: torch.dtype, first: int, count: int) -> Pyramid:
    """The mipmap of an image whose first axis of texels is ``first``."""
    x, y, z = (*reversed(shape[first:-1]), 1, 1)[:3]
    return Pyramid(math.prod(shape[:first]), (x, y, z), shape[-1], dtype is torch.float16, count)
