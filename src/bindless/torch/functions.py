"""``sample``: by the operator, by ``autograd.Function``, or at once.

- ``torch.compile``, modes, subclasses and other backends of torch take the operator.
- The transforms of ``torch.func``, and forward-mode derivatives, take ``autograd.Function``: they refuse the autograd
  formulas of ``torch.library``.
- All other calls go from Python to C, without torch's dispatcher, which costs more than a small call. Those with
  gradients take ``autograd.Function``, whose formulas are those of the operators.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from . import batching, differentiation, engine
from .operators import LIBRARY as LIBRARY
from .options import Options
from .repeats import PLAIN

__all__ = ["is_plain", "plain_apply", "repeated", "sample"]

Tensor = Any


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Options) -> Tensor:
    """Values at coordinates: shapes as in ``operators``."""
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return _Sample.apply(coords, level, options, *levels)
    operands = (*levels, coords) if level is None else (*levels, coords, level)
    if not is_plain(operands):
        return torch.ops.bindless.sample.default(levels, coords, level, *options)
    if torch.is_grad_enabled() and any(part.requires_grad for part in operands):
        return plain_apply(_PlainSample)(coords, level, options, *levels)
    return engine.sample(levels, coords, level, options)


def repeated(options: Options, image: Tensor, coords: Tensor) -> Tensor | None:
    """The values of an image with precision ``exact``.

    Returns
    -------
    Tensor | None
        None where no call with tensors of these layouts has been made, or transforms of torch have a part in it.
    """
    if _is_special():
        return None
    if torch.is_grad_enabled() and (image.requires_grad or coords.requires_grad):
        return (
            plain_apply(_PlainSample)(coords, None, options, image)
            if engine.is_known(options, coords, None, image)
            else None
        )
    found = engine.repeated(options, coords, None, image)
    return None if found is None else found[0]


def _is_special() -> bool:
    """Whether a mode or a transform of torch has a part in all operators."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack()
        or torch._C._get_tracing_state() is not None
        or torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
    )


def is_plain(tensors: Sequence[Tensor | None]) -> bool:
    """Whether no mode, subclass or other backend of torch has a part in an operator on tensors."""
    if _is_special():
        return False
    for part in tensors:
        if part is not None and not (
            type(part) in PLAIN
            and (part.is_cpu or part.is_cuda)
            and torch._C._has_storage(part)  # not those of ``is_grads_batched``
            and not part.is_neg()
        ):
            return False
    return True


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
        if is_plain((coords, level, *levels)):
            return engine.sample(levels, coords, level, options)
        return torch.ops.bindless.sample.default(levels, coords, level, *options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
        coords, level, ctx.options, *levels = inputs
        ctx.save_for_backward(coords, level, *levels)
        ctx.save_for_forward(coords, level, *levels)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        coords, level, *levels = ctx.saved_tensors
        asked = ctx.needs_input_grad
        needs = any(asked[3:]), asked[0], asked[1]
        ends_here = not torch.is_grad_enabled()
        if ends_here and not _is_special():
            found = engine.derived(ctx.options, needs, grad, coords, level, *levels)
            if found is not None:
                return found
        if ends_here and is_plain((grad, coords, level, *levels)):
            texels, places, depths = engine.sample_backward(grad, levels, coords, level, ctx.options, needs)
        else:
            batched = not torch._C._has_storage(grad) and not torch._C._are_functorch_transforms_active()
            operator = torch.ops.bindless.sample_backward.default if batched else _sample_backward
            texels, places, depths = operator(grad, levels, coords, level, *ctx.options, needs)
        return places if needs[1] else None, depths if needs[2] else None, None, *(texels or [None] * len(levels))

    @staticmethod
    def jvp(ctx: Any, coord_tangent: Any, level_tangent: Any, _: Any, *texel_tangents: Any) -> Tensor:
        coords, level, *levels = ctx.saved_tensors
        tangents = (texel_tangents, coord_tangent, level_tangent)
        return differentiation.push(tangents, levels, coords, level, ctx.options)

    @staticmethod
    def vmap(info: Any, dims: Any, coords: Tensor, level: Tensor, options: Options, *levels: Tensor) -> tuple[Any, int]:
        return batching.sample(_sample_again, info, (dims[3:], *dims[:2]), levels, coords, level, *options)


class _PlainSample(torch.autograd.Function):  # type: ignore[misc]
    """``_Sample`` without ``torch.func``: a separate ``setup_context`` costs more than a small call."""

    @staticmethod
    def forward(ctx: Any, coords: Tensor, level: Tensor | None, options: Options, *levels: Tensor) -> Tensor:
        ctx.options = options
        ctx.save_for_backward(coords, level, *levels)
        return engine.sample(levels, coords, level, options)

    backward = _Sample.backward


@functools.cache
def plain_apply(function: type) -> Any:
    """``apply`` of C, which needs no ``setup_context``; looked up at the first call, because the reference pages are
    made without PyTorch.
    """
    return super(torch.autograd.Function, function).apply


class _SampleBackward(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        grad: Tensor, coords: Tensor, level: Tensor | None, options: Options, needs: Sequence[bool], *levels: Tensor
    ) -> tuple[Tensor, ...]:
        if is_plain((grad, coords, level, *levels)):
            found = engine.sample_backward(grad, levels, coords, level, options, needs)
        else:
            found = torch.ops.bindless.sample_backward.default(grad, levels, coords, level, *options, needs)
        return found[1], found[2], *found[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        grad, coords, level, ctx.static, ctx.needs, *levels = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(grad, coords, level, *levels)
        ctx.save_for_forward(grad, coords, level, *levels)

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
    def jvp(
        ctx: Any, grad_tangent: Any, coord_tangent: Any, level_tangent: Any, _: Any, __: Any, *texel_tangents: Any
    ) -> tuple[Tensor, ...]:
        grad, coords, level, *levels = ctx.saved_tensors
        tangents = (texel_tangents, coord_tangent, level_tangent)
        found = differentiation.backward_push(
            grad_tangent, tangents, grad, levels, coords, level, ctx.static, ctx.needs
        )
        return found[1], found[2], *found[0]

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
