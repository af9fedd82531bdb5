"""``sample``: by the operator, by ``autograd.Function``, or at once.

- ``torch.compile``, modes, subclasses and other backends of torch take the operator.
- The transforms of ``torch.func``, and forward-mode derivatives, take ``autograd.Function``: they refuse the autograd
  formulas of ``torch.library``.
- All other calls go from Python to C, without torch's dispatcher, which costs more than a small call. Those with
  gradients take ``autograd.Function``, whose formulas are those of the operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import batching, engine, hardware
from .derivatives import along, sample_backward
from .operators import LIBRARY as LIBRARY
from .options import Arguments
from .plain import is_plain, is_special, is_transformed, plain_apply

__all__ = ["repeated", "sample"]

Tensor = Any


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Arguments) -> Tensor:
    """Values at coordinates: shapes as in ``operators``, or without the axis of images, ``engine.is_single``."""
    operands = (*levels, coords) if level is None else (*levels, coords, level)
    plain = is_plain(operands)
    if not plain and engine.is_single(levels[0], coords, options):
        return sample([part[None] for part in levels], coords[None], None if level is None else level[None], options)[0]
    if is_transformed():
        return _Sample.apply(coords, level, options, *levels)
    if not plain:
        return torch.ops.bindless.sample.default(levels, coords, level, *options)
    if torch.is_grad_enabled() and any(part.requires_grad for part in operands):
        return plain_apply(_PlainSample)(coords, level, options, *levels)
    return engine.sample(levels, coords, level, options)


def repeated(options: Arguments, image: Tensor, coords: Tensor) -> Tensor | None:
    """The values of an image.

    Returns
    -------
    Tensor | None
        None where no call with tensors of these layouts has been made, with ``hardware`` of this image, or transforms
        of torch have a part in it.
    """
    if is_special():
        return None
    if options.precision == "hardware":
        values = hardware.repeated(options, image, coords)
    else:
        results = engine.repeated(options, coords, None, image)
        values = None if results is None else results[0]
    if values is not None and torch.is_grad_enabled() and (image.requires_grad or coords.requires_grad):
        return plain_apply(_ComputedSample)(coords, None, (options, values), image)
    return values


def _sample_again(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any) -> Tensor:
    return sample(levels, coords, level, Arguments.of(static))


def _with_images(
    operator: Any, grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any
) -> tuple[list[Tensor], Tensor, Tensor]:
    """``sample_backward`` by an operator, whose tensors have an axis of images."""
    options, needs = static
    single = engine.is_single(levels[0], coords, options)
    if single:
        grad, coords, level = (part if part is None else part[None] for part in (grad, coords, level))
        levels = [part[None] for part in levels]
    texels, places, depths = operator(grad, levels, coords, level, *options, needs)
    if single:
        texels = [part[0] for part in texels]
        places, depths = (part[0] if need else part for part, need in zip((places, depths), needs[1:]))
    return texels, places, depths


class _Sample(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(coords: Tensor, level: Tensor | None, options: Arguments, *levels: Tensor) -> Tensor:
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
        flags = ctx.needs_input_grad
        needs = any(flags[3:]), flags[0], flags[1]
        ends_here = not torch.is_grad_enabled()
        if ends_here and not is_special():
            gradients = engine.derived(ctx.options, needs, grad, coords, level, *levels)
            if gradients is not None:
                return gradients
        if ends_here and is_plain((grad, coords, level, *levels)):
            texels, places, depths = engine.sample_backward(grad, levels, coords, level, ctx.options, needs)
        else:
            batched = not torch._C._has_storage(grad) and not torch._C._are_functorch_transforms_active()
            operator = torch.ops.bindless.sample_backward.default if batched else sample_backward
            texels, places, depths = _with_images(operator, grad, levels, coords, level, ctx.options, needs)
        return places if needs[1] else None, depths if needs[2] else None, None, *(texels or [None] * len(levels))

    @staticmethod
    def jvp(ctx: Any, coord_tangent: Any, level_tangent: Any, _: Any, *texel_tangents: Any) -> Tensor:
        coords, level, *levels = ctx.saved_tensors
        tangents = (texel_tangents, coord_tangent, level_tangent)
        return along(tangents, levels, coords, level, ctx.options)

    @staticmethod
    def vmap(
        info: Any, dims: Any, coords: Tensor, level: Tensor, options: Arguments, *levels: Tensor
    ) -> tuple[Any, int]:
        return batching.sample(_sample_again, info, (dims[3:], *dims[:2]), levels, coords, level, *options)


class _PlainSample(torch.autograd.Function):  # type: ignore[misc]
    """``_Sample`` without ``torch.func``: a separate ``setup_context`` costs more than a small call."""

    @staticmethod
    def forward(ctx: Any, coords: Tensor, level: Tensor | None, options: Arguments, *levels: Tensor) -> Tensor:
        ctx.options = options
        ctx.save_for_backward(coords, level, *levels)
        return engine.sample(levels, coords, level, options)

    backward = _Sample.backward


class _ComputedSample(torch.autograd.Function):  # type: ignore[misc]
    """``_Sample`` of values that are there: the third argument has the options and the values."""

    @staticmethod
    def forward(
        ctx: Any, coords: Tensor, level: Tensor | None, computed: tuple[Arguments, Tensor], *levels: Tensor
    ) -> Tensor:
        ctx.options, values = computed
        ctx.save_for_backward(coords, level, *levels)
        return values

    backward = _Sample.backward
