"""Derivatives of the primitives, from which JAX makes ``grad``, ``jvp``, ``hessian`` and the others.

``sample`` has a product of its Jacobian with tangents, ``push``, whose transpose is ``pull``. The derivative of
``pull`` is ``pull`` of the tangent of the gradients of values plus ``bend``, which is its own transpose. ``push`` is
differentiated through ``bend`` of unit gradients, one for each channel. JAX's ``custom_vjp`` would do for ``grad``, but
not for forward derivatives, and ``grad`` of ``vmap`` would make one gradient of the image for each mapped element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jax.interpreters import ad

from .errors import OrderError
from .operation import NONE, Chosen, Operands, Operation
from .primitives import PRIMITIVES, bind

__all__ = ["bind"]


def _is_zero(value: Any) -> bool:
    return type(value) is ad.Zero


def _nonzero(values: Operands[Any]) -> Chosen:
    """Which of the three arguments have tangents that are not zeros."""
    texels = any(not _is_zero(value) for value in values.levels)
    coords, level = (value is not None and not _is_zero(value) for value in (values.coords, values.level))
    return Chosen(texels, coords, level)


def _with_tangents(primals: Operands[Any], tangents: Operands[Any], grad: Any = None) -> tuple[Chosen, list[Any]]:
    """Which tangents are given, and the operands of ``push`` or ``bend``."""
    nonzero = _nonzero(tangents)
    operands = primals._replace(
        grad=grad,
        texel_tangents=[ad.instantiate_zeros(value) for value in tangents.levels] if nonzero.texels else [],
        coord_tangent=tangents.coords if nonzero.coords else None,
        level_tangent=tangents.level if nonzero.level else None,
    )
    return nonzero, operands.flat()


def _zeros(results: Sequence[Any]) -> list[Any]:
    return [jnp.zeros_like(result) for result in results]


def _plain(operands: Operands[Any]) -> Operands[Any]:
    """The texels, coordinates and levels of detail alone."""
    return operands._replace(grad=None, texel_tangents=[], coord_tangent=None, level_tangent=None)


def _sample_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    values = bind(operation, primals)
    nonzero, operands = _with_tangents(operation.sort(primals), operation.sort(tangents))
    if nonzero == NONE:
        return values, _zeros(values)
    return values, bind(replace(operation, kind="push", tangents=nonzero, hardware=False), operands)


def _sample_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``sample`` as a linear function of texels."""
    operands = operation.sort(flat)
    if any(map(ad.is_undefined_primal, [operands.coords, operands.level])):
        raise OrderError()
    return _pull_texels(cotangents[0], operands, operation, flat)


def _pull_texels(cotangent: Any, operands: Operands[Any], operation: Operation, flat: Sequence[Any]) -> list[Any]:
    if _is_zero(cotangent):
        return [None] * len(flat)
    pull = replace(operation, kind="pull", tangents=NONE, gradients=Chosen(True, False, False), hardware=False)
    texels = [jnp.zeros(value.aval.shape, value.aval.dtype) for value in operands.levels]
    gradients = bind(pull, _plain(operands)._replace(levels=texels, grad=cotangent).flat())
    return [*gradients, *[None] * (len(flat) - len(gradients))]


def _push_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``push`` as a linear function of the tangents, or of texels where these have no tangents."""
    (cotangent,) = cotangents
    if _is_zero(cotangent):
        return [None] * len(flat)
    operands = operation.sort(flat)
    if ad.is_undefined_primal(operands.levels[0]):
        texels = [jnp.zeros(value.aval.shape, value.aval.dtype) for value in operands.levels]
        bend = replace(operation, kind="bend", gradients=Chosen(True, False, False))
        gradients = bind(bend, operands._replace(levels=texels, grad=cotangent).flat())
        return [*gradients, *[None] * (len(flat) - len(gradients))]
    pull = replace(operation, kind="pull", tangents=NONE, gradients=operation.tangents)
    gradients = bind(pull, _plain(operands)._replace(grad=cotangent).flat())
    return [*[None] * (len(flat) - len(gradients)), *gradients]


def _pull_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    gradients = bind(operation, primals)
    operands, changes = operation.sort(primals), operation.sort(tangents)
    total = _zeros(gradients)
    if not _is_zero(changes.grad):
        total = bind(operation, operands._replace(grad=changes.grad).flat())
    nonzero, bend_operands = _with_tangents(operands, changes, operands.grad)
    if nonzero != NONE:
        more = bind(replace(operation, kind="bend", tangents=nonzero), bend_operands)
        total = [first + second for first, second in zip(total, more)]
    return gradients, total


def _pull_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``pull`` as a linear function of the gradients of values."""
    operands = operation.sort(flat)
    if all(map(_is_zero, cotangents)):
        return [None] * len(flat)
    count = operation.num_levels if operation.gradients.texels else 0
    rest = iter(cotangents[count:])
    coords, level = (next(rest) if result else None for result in operation.gradients[1:])
    changes = Operands(list(cotangents[:count]), coords, level, None, [], None, None)
    nonzero, pushed = _with_tangents(operands, changes)
    (change,) = bind(replace(operation, kind="push", tangents=nonzero, gradients=NONE), pushed)
    return [change if ad.is_undefined_primal(value) else None for value in flat]


def _bend_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``bend`` as a linear function of the tangents."""
    operands = operation.sort(flat)
    if all(map(_is_zero, cotangents)):
        return [None] * len(flat)
    if any(map(ad.is_undefined_primal, [*operands.levels, operands.grad])):
        raise OrderError()
    count = operation.num_levels if operation.gradients.texels else 0
    rest = iter(cotangents[count:])
    coords, level = (next(rest) if result else None for result in operation.gradients[1:])
    changes = Operands(list(cotangents[:count]), coords, level, None, [], None, None)
    nonzero, bend_operands = _with_tangents(operands, changes, operands.grad)
    gradients = bind(replace(operation, tangents=nonzero, gradients=operation.tangents), bend_operands)
    return [*[None] * (len(flat) - len(gradients)), *gradients]


def _bend_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    raise OrderError()


def _push_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    values = bind(operation, primals)
    operands, changes = operation.sort(primals), operation.sort(tangents)
    total = jnp.zeros_like(values[0])
    nonzero, pushed = _with_tangents(operands, _tangents_of(changes))
    if nonzero != NONE:
        total += bind(replace(operation, tangents=nonzero), pushed)[0]
    position_tangents, turned = operation.tangents._replace(texels=False), _nonzero(changes)._replace(texels=False)
    if position_tangents != NONE and any(not _is_zero(value) for value in changes.levels):
        texels = [ad.instantiate_zeros(value) for value in changes.levels]
        total += bind(
            replace(operation, tangents=position_tangents), operands._replace(levels=texels, texel_tangents=[]).flat()
        )[0]
    if operation.tangents.texels and turned != NONE:
        nonzero, pushed = _with_tangents(operands, changes._replace(levels=[ad.Zero(None)]))
        texels = operands.texel_tangents
        total += bind(replace(operation, tangents=nonzero), [*texels, *pushed[len(texels) :]])[0]
    if position_tangents != NONE and turned != NONE:
        total += _second(replace(operation, tangents=position_tangents), operands._replace(texel_tangents=[]), changes)
    return values, [total]


def _tangents_of(operands: Operands[Any]) -> Operands[Any]:
    """The tangents among operands, in the places of what they are tangents of."""
    zeros = [ad.Zero(None)] * len(operands.levels)
    return Operands(
        operands.texel_tangents or zeros, operands.coord_tangent, operands.level_tangent, None, [], None, None
    )


def _second(operation: Operation, operands: Operands[Any], changes: Operands[Any]) -> Any:
    """Second derivative of the values along two tangents of coordinates and levels of detail, channel by channel."""
    results = _nonzero(changes)._replace(texels=False)
    bend = replace(operation, kind="bend", gradients=results)
    channels = operands.levels[0].shape[-1]
    columns = []
    for channel in range(channels):
        unit = jnp.zeros((*operands.coords.shape[:2], channels), operands.levels[0].dtype).at[..., channel].set(1)
        gradients = iter(bind(bend, operands._replace(grad=unit).flat()))
        column = jnp.zeros(operands.coords.shape[:2], operands.coords.dtype)
        if results.coords:
            column += (next(gradients) * changes.coords).sum(-1)
        if results.level:
            column += next(gradients) * changes.level
        columns.append(column)
    return jnp.stack(columns, -1).astype(operands.levels[0].dtype)


ad.primitive_jvps[PRIMITIVES["sample"]] = _sample_jvp
ad.primitive_jvps[PRIMITIVES["push"]] = _push_jvp
ad.primitive_jvps[PRIMITIVES["pull"]] = _pull_jvp
ad.primitive_jvps[PRIMITIVES["bend"]] = _bend_jvp
ad.primitive_transposes[PRIMITIVES["sample"]] = _sample_transpose
ad.primitive_transposes[PRIMITIVES["push"]] = _push_transpose
ad.primitive_transposes[PRIMITIVES["pull"]] = _pull_transpose
ad.primitive_transposes[PRIMITIVES["bend"]] = _bend_transpose
