"""Autograd formulas of the operators: ``sample`` is differentiable twice in each of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..model.errors import FeatureNotSupportedError
from .options import Arguments

__all__ = ["backward", "backward_backward", "gradients", "hessian", "keep", "keep_backward", "refuse_third", "select"]

_STATIC = [None] * len(Arguments._fields)


def keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """Saves the arguments of ``sample``."""
    levels, coords, level, *ctx.static = inputs
    ctx.has_level = level is not None
    ctx.save_for_backward(coords, *([level] if ctx.has_level else []), *levels)


def backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    """Gradients of ``sample``."""
    coords, *levels = ctx.saved_tensors
    level = levels.pop(0) if ctx.has_level else None
    needs = [any(ctx.needs_input_grad[0]), ctx.needs_input_grad[1], ctx.has_level and ctx.needs_input_grad[2]]
    results = torch.ops.bindless.sample_backward(grad, levels, coords, level, *ctx.static, needs)
    texels, places, depths = select(results, needs)
    return texels or [None] * len(levels), places, depths, *_STATIC


def keep_backward(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """Saves the arguments of ``sample_backward``."""
    grad, levels, coords, level, *static, ctx.needs = inputs
    ctx.static = static
    ctx.has_level = level is not None
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(grad, coords, *([level] if ctx.has_level else []), *levels)


def backward_backward(ctx: Any, cot_levels: Sequence[Any], cot_coords: Any, cot_level: Any) -> tuple[Any, ...]:
    """Gradients of ``sample_backward``."""
    grad, coords, *levels = ctx.saved_tensors
    level = levels.pop(0) if ctx.has_level else None
    flags = ctx.needs_input_grad
    needs = [flags[0], any(flags[1]), flags[2], ctx.has_level and flags[3]]
    cotangents = (cot_levels, cot_coords, cot_level)
    return *gradients(hessian, cotangents, grad, levels, coords, level, ctx.static, ctx.needs, needs), *_STATIC, None


def gradients(
    product: Callable[..., Sequence[Any]],
    cotangents: Sequence[Any],
    grad: Any,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    static: Sequence[Any],
    computes: Sequence[bool],
    needs: Sequence[bool],
) -> tuple[Any, list[Any], Any, Any]:
    """Gradients of ``sample_backward`` for its tensors.

    Parameters
    ----------
    product : Callable
        ``hessian``, or a function of the same arguments.
    cotangents : Sequence
        Of the gradients of levels, coordinates and level of detail; None is zero.
    computes : Sequence[bool]
        Which of those gradients ``sample_backward`` computed.
    needs : Sequence[bool]
        Which gradients are wanted: of ``grad``, levels, coordinates and level of detail.
    """
    parts = cotangents[0] if computes[0] else ()
    others = [part if there else None for part, there in zip(cotangents[1:], computes[1:])]
    products = product((parts, *others), grad, levels, coords, level, static, needs)
    values, texels, places, depths = select(products, needs)
    return values, texels or [None] * len(levels), places, depths


def hessian(
    tangents: Sequence[Any],
    grad: Any,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    static: Sequence[Any],
    needs: Sequence[bool],
) -> Sequence[Any]:
    """``sample_backward_backward`` for cotangents of levels, coordinates and level of detail; None is zero."""
    parts: Sequence[Any] = tangents[0] if any(part is not None for part in tangents[0]) else ()
    products: Sequence[Any] = torch.ops.bindless.sample_backward_backward(
        [torch.zeros_like(like) if part is None else part for part, like in zip(parts, levels)],
        *tangents[1:],
        grad,
        levels,
        coords,
        level,
        *static,
        needs,
    )
    return products


def select(results: Sequence[Any], needs: Sequence[bool]) -> list[Any]:
    """Results of an operator, None in place of those that are without elements."""
    return [part if need else None for part, need in zip(results, needs)]


def refuse_third(*_: Any) -> None:
    """The derivative of ``sample_backward_backward``."""
    raise FeatureNotSupportedError(
        "a third derivative of a sample: there are two; compose the function of operations of torch"
    )
