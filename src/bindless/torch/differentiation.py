"""Autograd formulas of the operators: ``sample`` is differentiable twice in each of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..model.errors import FeatureNotSupportedError
from .options import Arguments

__all__ = ["backward", "backward_backward", "bent", "keep", "keep_backward", "refuse_third", "twice", "wanted"]

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
    found = torch.ops.bindless.sample_backward(grad, levels, coords, level, *ctx.static, needs)
    texels, places, depths = wanted(found, needs)
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
    asked = ctx.needs_input_grad
    needs = [asked[0], any(asked[1]), asked[2], ctx.has_level and asked[3]]
    cotangents = (cot_levels, cot_coords, cot_level)
    return *twice(bent, cotangents, grad, levels, coords, level, ctx.static, ctx.needs, needs), *_STATIC, None


def twice(
    bend: Callable[..., Sequence[Any]],
    cotangents: Sequence[Any],
    grad: Any,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    static: Sequence[Any],
    given: Sequence[bool],
    needs: Sequence[bool],
) -> tuple[Any, list[Any], Any, Any]:
    """Gradients of ``sample_backward`` for its tensors.

    Parameters
    ----------
    bend : Callable
        ``bent``, or a function of the same arguments.
    cotangents : Sequence
        Of the gradients of levels, coordinates and level of detail; None is zero.
    given : Sequence[bool]
        Which of those gradients ``sample_backward`` computed.
    needs : Sequence[bool]
        Which gradients are wanted: of ``grad``, levels, coordinates and level of detail.
    """
    parts = cotangents[0] if given[0] else ()
    others = [part if there else None for part, there in zip(cotangents[1:], given[1:])]
    found = bend((parts, *others), grad, levels, coords, level, static, needs)
    values, texels, places, depths = wanted(found, needs)
    return values, texels or [None] * len(levels), places, depths


def bent(
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
    found: Sequence[Any] = torch.ops.bindless.sample_backward_backward(
        [torch.zeros_like(like) if part is None else part for part, like in zip(parts, levels)],
        *tangents[1:],
        grad,
        levels,
        coords,
        level,
        *static,
        needs,
    )
    return found


def wanted(found: Sequence[Any], needs: Sequence[bool]) -> list[Any]:
    """Results of an operator, None in place of those that are without elements."""
    return [part if wanted else None for part, wanted in zip(found, needs)]


def refuse_third(*_: Any) -> None:
    """The derivative of ``sample_backward_backward``."""
    raise FeatureNotSupportedError(
        "a third derivative of a sample: there are two; compose the function of operations of torch"
    )
