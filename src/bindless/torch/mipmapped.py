"""``mipmapped``: mipmap, levels of footprints and samples of a texture as one operation of autograd.

Each node of autograd in Python takes as long as several kernels, and gradients of three nodes are added up by further
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import engine, footprints, functions, level_kernels, mipmaps
from .options import Options
from .plain import is_plain, plain_apply

__all__ = ["mipmapped"]

Tensor = Any


def mipmapped(
    tex: Tensor, uv: Tensor, uv_da: Tensor, bias: Tensor | None, most: int | None, options: Options
) -> Tensor | None:
    """Values of a texture (N, *axes, C) whose levels and levels of detail nobody else reads; None where they would be
    computed without kernels, or without gradients.

    Parameters
    ----------
    tex, uv, uv_da, bias : Tensor
        As those of ``texture``, checked.
    most : int | None
        Largest level.
    options : Options
        Those of the samples, linear between levels.
    """
    given = (tex, uv, uv_da) if bias is None else (tex, uv, uv_da, bias)
    count = mipmaps.count_of(tex, range(1, tex.dim() - 1), most)
    if not (count and torch.is_grad_enabled() and any(part.requires_grad for part in given) and _have_kernels(given)):
        return None
    return plain_apply(_Mipmapped)(tex, uv, uv_da, bias, count, options)


def _have_kernels(given: Sequence[Tensor]) -> bool:
    return (
        is_plain(given)
        and all(part.is_cuda and part.dtype is torch.float32 and part.numel() > 0 for part in given)
        and mipmaps.has_kernels(given[0])
    )


def _sizes(tex: Tensor) -> tuple[int, ...]:
    return tuple(reversed(tex.shape[1:-1]))


class _Mipmapped(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, tex: Tensor, uv: Tensor, uv_da: Tensor, bias: Tensor | None, count: int, options: Options
    ) -> Tensor:
        levels = tex, *level_kernels.pyramid_means(tex, 1, count)
        level = level_kernels.footprint_levels(uv_da, bias, _sizes(tex))
        ctx.options, ctx.count = options, count
        ctx.save_for_backward(uv, uv_da, bias, level, *levels)
        return engine.sample(levels, uv, level, options)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        uv, uv_da, bias, level, *levels = ctx.saved_tensors
        asked = ctx.needs_input_grad
        if torch.is_grad_enabled() or not is_plain((grad,)):
            return *_composed(ctx, (levels[0], uv, uv_da, bias), grad), None, None
        needs = asked[0], asked[1], asked[2] or asked[3]
        texels, places, depths = engine.sample_backward(grad, levels, uv, level, ctx.options, needs)
        of_tex = of_steps = None
        if needs[0]:
            of_tex = level_kernels.pyramid_gradients(levels[0].shape, levels[0].dtype, 1, texels[1:], texels[0])
        if asked[2]:
            of_steps = level_kernels.footprint_gradients(uv_da, depths, _sizes(levels[0]))
        return of_tex, places if needs[1] else None, of_steps, depths if asked[3] else None, None, None


def _composed(ctx: Any, given: Sequence[Tensor], grad: Tensor) -> list[Tensor | None]:
    """Gradients by those of the parts, which may be differentiated again."""
    tex, uv, uv_da, bias = given
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        levels = mipmaps.pyramid(tex, range(1, tex.dim() - 1), ctx.count)
        level = footprints.level_of_detail(uv, uv_da, bias, _sizes(tex), False)
        values = functions.sample(levels, uv, level, ctx.options)
    wanted = [number for number in range(4) if ctx.needs_input_grad[number]]
    found = torch.autograd.grad(values, [given[number] for number in wanted], grad, create_graph=again)
    made = dict(zip(wanted, found))
    return [made.get(number) for number in range(4)]
