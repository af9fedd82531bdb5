"""``sample``: the operator, or within the transforms of ``torch.func`` the same as ``autograd.Function``.

The transforms do not accept the autograd formulas of ``torch.library``; ``torch.compile`` needs these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import batching, differentiation
from .operators import LIBRARY as LIBRARY
from .options import Options

__all__ = ["sample"]

Tensor = Any
_sample = torch.ops.bindless.sample.default
_STATIC = len(Options._fields)


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Options) -> Tensor:
    """Values at coordinates: shapes as in ``operators``."""
    if torch._C._are_functorch_transforms_active():
        return _Sample.apply(coords, level, options, *levels)
    return _sample(levels, coords, level, *options)


def _sample_again(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any) -> Tensor:
    return sample(levels, coords, level, Options.of(static))


def _sample_backward(
    grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any
) -> tuple[list[Tensor], Tensor, Tensor]:
    *options, needs = static
    places, depths, *texels = _SampleBackward.apply(grad, coords, level, Options.of(options), needs, *levels)
    return texels, places, depths


class _Sample(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(coords: Tensor, level: Tensor | None, options: Options, *levels: Tensor) -> Tensor:
        return _sample(levels, coords, level, *options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
        coords, level, ctx.options, *levels = inputs
        ctx.save_for_backward(coords, level, *levels)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        coords, level, *levels = ctx.saved_tensors
        asked = ctx.needs_input_grad
        needs = any(asked[3:]), asked[0], asked[1]
        texels, places, depths = _sample_backward(grad, levels, coords, level, *ctx.options, needs)
        return places if needs[1] else None, depths if needs[2] else None, None, *(texels or [None] * len(levels))

    @staticmethod
    def vmap(info: Any, dims: Any, coords: Tensor, level: Tensor, options: Options, *levels: Tensor) -> tuple[Any, int]:
        return batching.sample(_sample_again, info, (dims[3:], *dims[:2]), levels, coords, level, *options)


class _SampleBackward(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        grad: Tensor, coords: Tensor, level: Tensor | None, options: Options, needs: Sequence[bool], *levels: Tensor
    ) -> tuple[Tensor, ...]:
        found = torch.ops.bindless.sample_backward(grad, levels, coords, level, *options, needs)
        return found[1], found[2], *found[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        grad, coords, level, ctx.static, ctx.needs, *levels = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(grad, coords, level, *levels)

    @staticmethod
    def backward(ctx: Any, cot_coords: Any, cot_level: Any, *cot_levels: Any) -> tuple[Any, ...]:
        grad, coords, level, *levels = ctx.saved_tensors
        asked = ctx.needs_input_grad
        needs = [asked[0], any(asked[5:]), asked[1], asked[2]]
        values, texels, places, depths = differentiation.twice(
            (cot_levels, cot_coords, cot_level), grad, levels, coords, level, ctx.static, ctx.needs, needs
        )
        return values, places, depths, None, None, *texels

    @staticmethod
    def vmap(
        info: Any,
        dims: Any,
        grad: Tensor,
        coords: Tensor,
        level: Tensor | None,
        options: Options,
        needs: Sequence[bool],
        *levels: Tensor,
    ) -> tuple[Any, Any]:
        found, axes = batching.sample_backward(
            _sample_backward, info, (dims[0], dims[5:], *dims[1:3]), grad, levels, coords, level, *options, needs
        )
        return (found[1], found[2], *found[0]), (axes[1], axes[2], *axes[0])
