"""Derivatives of ``sample`` as ``autograd.Function``, for the transforms of ``torch.func`` and for forward mode.

``sample_backward`` is the transpose of ``along``, the derivative along tangents. Both may be differentiated once more,
in either mode, by calls of the operators that exist. A further derivative, the third one, is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import batching, differentiation, engine
from .options import Arguments, values_shape
from .plain import is_plain, is_transformed

__all__ = ["along", "sample_backward"]

Tensor = Any


def sample_backward(
    grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any
) -> tuple[list[Tensor], Tensor, Tensor]:
    """The operator ``bindless::sample_backward``."""
    *options, needs = static
    places, depths, *texels = _SampleBackward.apply(grad, coords, level, Arguments.of(options), needs, *levels)
    return texels, places, depths


def along(
    tangents: Sequence[Any], levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Arguments
) -> Tensor:
    """The derivative of ``sample`` along tangents of levels, of coordinates and of levels of detail; None is zero."""
    texels, places, depths = tangents
    parts = _without_none(texels, levels)
    return _Along.apply(coords, level, places, depths, options, len(levels), *levels, *parts)


def _without_none(tangents: Sequence[Any], levels: Sequence[Tensor]) -> list[Tensor]:
    """Tangents of levels, no element if all are None."""
    if all(part is None for part in tangents):
        return []
    return [torch.zeros_like(like) if part is None else part for part, like in zip(tangents, levels)]


class _SampleBackward(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        grad: Tensor, coords: Tensor, level: Tensor | None, options: Arguments, needs: Sequence[bool], *levels: Tensor
    ) -> tuple[Tensor, ...]:
        if is_plain((grad, coords, level, *levels)):
            gradients = engine.sample_backward(grad, levels, coords, level, options, needs)
        else:
            gradients = torch.ops.bindless.sample_backward.default(grad, levels, coords, level, *options, needs)
        return gradients[1], gradients[2], *gradients[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        grad, coords, level, ctx.static, ctx.needs, *levels = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(grad, coords, level, *levels)
        ctx.save_for_forward(grad, coords, level, *levels)

    @staticmethod
    def backward(ctx: Any, cot_coords: Any, cot_level: Any, *cot_levels: Any) -> tuple[Any, ...]:
        grad, coords, level, *levels = ctx.saved_tensors
        flags = ctx.needs_input_grad
        needs = [flags[0], any(flags[5:]), flags[1], flags[2]]
        product = _hessian if is_transformed() else differentiation.hessian
        values, texels, places, depths = differentiation.gradients(
            product, (cot_levels, cot_coords, cot_level), grad, levels, coords, level, ctx.static, ctx.needs, needs
        )
        return values, places, depths, None, None, *texels

    @staticmethod
    def jvp(
        ctx: Any, grad_tangent: Any, coord_tangent: Any, level_tangent: Any, _: Any, __: Any, *texel_tangents: Any
    ) -> tuple[Tensor, ...]:
        """Second derivatives are symmetric: those along tangents are the gradients for the same cotangents."""
        grad, coords, level, *levels = ctx.saved_tensors
        tangents = (texel_tangents, coord_tangent, level_tangent)
        _, *products = _hessian(tangents, grad, levels, coords, level, ctx.static, [False, *ctx.needs])
        if grad_tangent is not None:
            more = sample_backward(grad_tangent, levels, coords, level, *ctx.static, ctx.needs)
            products = [[a + b for a, b in zip(products[0], more[0])], products[1] + more[1], products[2] + more[2]]
        return products[1], products[2], *products[0]

    @staticmethod
    def vmap(
        info: Any,
        dims: Any,
        grad: Tensor,
        coords: Tensor,
        level: Tensor | None,
        options: Arguments,
        needs: Sequence[bool],
        *levels: Tensor,
    ) -> tuple[Any, Any]:
        gradients, axes = batching.sample_backward(
            sample_backward, info, (dims[0], dims[5:], *dims[1:3]), grad, levels, coords, level, *options, needs
        )
        return (gradients[1], gradients[2], *gradients[0]), (axes[1], axes[2], *axes[0])


class _Along(torch.autograd.Function):  # type: ignore[misc]
    """``along``: ``parts`` are ``count`` levels, and their tangents or nothing."""

    @staticmethod
    def forward(
        coords: Tensor, level: Tensor | None, places: Tensor | None, depths: Tensor | None, options: Arguments,
        count: int, *parts: Tensor,
    ) -> Tensor:  # fmt: skip
        levels, tangents = parts[:count], (parts[count:], places, depths)
        grad = levels[0].new_zeros(()).expand(values_shape(levels, coords, options))
        needs = [True, False, False, False]
        if is_plain((coords, level, places, depths, *parts)):
            return engine.sample_backward_backward(*tangents, grad, levels, coords, level, options, needs)[0]
        return differentiation.hessian(tangents, grad, levels, coords, level, options, needs)[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        coords, level, places, depths, ctx.options, ctx.count, *parts = inputs
        ctx.save_for_backward(coords, level, places, depths, *parts)
        ctx.save_for_forward(coords, level, places, depths, *parts)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        coords, level, places, depths, *parts = ctx.saved_tensors
        levels, texels = parts[: ctx.count], parts[ctx.count :]
        flags = ctx.needs_input_grad
        of_levels, of_texels = flags[6 : 6 + ctx.count], flags[6 + ctx.count :]
        needs = [False, any(of_levels), flags[0], flags[1]]
        gradients = [None, [None] * len(levels), None, None]
        if any(needs):
            gradients = differentiation.select(
                _hessian((texels, places, depths), grad, levels, coords, level, ctx.options, needs), needs
            )
        more = any(of_texels), flags[2], flags[3]
        turned = [None] * 3
        if any(more):
            turned = differentiation.select(sample_backward(grad, levels, coords, level, *ctx.options, more), more)
        first = gradients[1] or [None] * len(levels)
        return gradients[2], gradients[3], *turned[1:], None, None, *first, *(turned[0] or [None] * len(texels))

    @staticmethod
    def jvp(
        ctx: Any, coords_moved: Any, level_moved: Any, places_moved: Any, depths_moved: Any, _: Any, __: Any,
        *parts_moved: Any,
    ) -> Tensor:  # fmt: skip
        coords, level, places, depths, *parts = ctx.saved_tensors
        count, options = ctx.count, ctx.options
        levels, texels = parts[:count], parts[count:]
        levels_moved, texels_moved = parts_moved[:count], parts_moved[count:]
        terms = [_hessian_values((places, depths), (coords_moved, level_moved), levels, coords, level, options)]
        for tangents, images in (
            ((texels_moved, places_moved, depths_moved), levels),
            (((), places, depths), _without_none(levels_moved, levels)),
            (((), coords_moved, level_moved), texels),
        ):
            if images and any(part is not None for part in (*tangents[0], *tangents[1:])):
                terms.append(along(tangents, images, coords, level, options))
        return sum(term for term in terms if term is not None)

    @staticmethod
    def vmap(
        info: Any, dims: Any, coords: Tensor, level: Any, places: Any, depths: Any, options: Arguments, count: int,
        *parts: Tensor,
    ) -> tuple[Any, Any]:  # fmt: skip
        def function(texels: Any, places: Any, depths: Any, levels: Any, coords: Any, level: Any) -> Any:
            return along((texels, places, depths), levels, coords, level, options)

        return batching.along(
            function, info, (dims[6 + count :], *dims[2:4], dims[6 : 6 + count], *dims[:2]),
            parts[count:], places, depths, parts[:count], coords, level,
        )  # fmt: skip


def _hessian_values(
    one: tuple[Any, Any],
    other: tuple[Any, Any],
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Any,
    options: Arguments,
) -> Any:
    """The second derivative of values along two tangents of coordinates and levels of detail; None if it is zero.

    The operator adds over channels: each is an image of its own here.
    """
    if all(part is None for part in one) or all(part is None for part in other):
        return None
    shape = values_shape(levels, coords, options)
    count, channels = shape[0], shape[-1 if options.channels_last else 1]

    def apart(image: Tensor) -> Tensor:
        image = image.expand(count, *image.shape[1:])
        image = image.movedim(-1, 1) if options.channels_last else image
        return image.flatten(0, 1).unsqueeze(-1 if options.channels_last else 1)

    def repeated(part: Any) -> Any:
        if part is None:
            return None
        return part.expand(count, *part.shape[1:]).repeat_interleave(channels, 0)

    images, places, depths = [apart(part) for part in levels], repeated(coords), repeated(level)
    ones = images[0].new_ones(()).expand(values_shape(images, places, options))
    needs = [False, False, True, level is not None]
    _, _, along_coords, along_level = _hessian(((), *map(repeated, one)), ones, images, places, depths, options, needs)
    steps, deeper = map(repeated, other)
    total: Any = 0
    if steps is not None:
        total = (along_coords * steps).sum(-1)
    if deeper is not None:
        total = total + along_level * deeper
    total = total.unflatten(0, (count, channels)).to(levels[0].dtype)
    return total.movedim(1, -1) if options.channels_last else total


def _hessian(
    tangents: Sequence[Any], grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Any,
    static: Sequence[Any], needs: Sequence[bool],
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:  # fmt: skip
    """The operator ``bindless::sample_backward_backward``; None is a tangent of zeros."""
    parts = _without_none(tangents[0], levels)
    options = Arguments.of(static)
    products = _Hessian.apply(grad, coords, level, *tangents[1:], options, tuple(needs), len(levels), *levels, *parts)
    return products[0], list(products[3:]), products[1], products[2]


class _Hessian(torch.autograd.Function):  # type: ignore[misc]
    """``_hessian``: ``parts`` are ``count`` levels, and their tangents or nothing."""

    @staticmethod
    def forward(
        grad: Tensor, coords: Tensor, level: Any, places: Any, depths: Any, options: Arguments, needs: Sequence[bool],
        count: int, *parts: Tensor,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        operands = (parts[count:], places, depths, grad, parts[:count], coords, level)
        if is_plain((grad, coords, level, places, depths, *parts)):
            values, texels, *rest = engine.sample_backward_backward(*operands, options, needs)
        else:
            values, texels, *rest = torch.ops.bindless.sample_backward_backward.default(*operands, *options, needs)
        return values, *rest, *texels

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        differentiation.refuse_third()

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        differentiation.refuse_third()

    @staticmethod
    def vmap(
        info: Any, dims: Any, grad: Tensor, coords: Tensor, level: Any, places: Any, depths: Any, options: Arguments,
        needs: Sequence[bool], count: int, *parts: Tensor,
    ) -> tuple[Any, Any]:  # fmt: skip
        def operator(*operands: Any) -> Any:
            texels, places, depths, grad, levels, coords, level = operands
            return _hessian((texels, places, depths), grad, levels, coords, level, options, needs)

        products, axes = batching.sample_backward_backward(
            operator, info,
            (dims[8 + count :], *dims[3:5], dims[0], dims[8 : 8 + count], *dims[1:3]),
            parts[count:], places, depths, grad, parts[:count], coords, level,
        )  # fmt: skip
        return (products[0], *products[2:], *products[1]), (axes[0], *axes[2:], *axes[1])
