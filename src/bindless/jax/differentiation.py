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


def _given(values: Operands[Any]) -> Chosen:
    """Which of the three arguments have tangents that are not zeros."""
    texels = any(not _is_zero(value) for value in values.levels)
    coords, level = (value is not None and not _is_zero(value) for value in (values.coords, values.level))
    return Chosen(texels, coords, level)


def _with_tangents(primals: Operands[Any], tangents: Operands[Any], grad: Any = None) -> tuple[Chosen, list[Any]]:
    """Which tangents are given, and the operands of ``push`` or ``bend``."""
    given = _given(tangents)
    operands = primals._replace(
        grad=grad,
        texel_tangents=[ad.instantiate_zeros(value) for value in tangents.levels] if given.texels else [],
        coord_tangent=tangents.coords if given.coords else None,
        level_tangent=tangents.level if given.level else None,
    )
    return given, operands.flat()


def _zeros(results: Sequence[Any]) -> list[Any]:
    return [jnp.zeros_like(result) for result in results]


def _plain(operands: Operands[Any]) -> Operands[Any]:
    """The texels, coordinates and levels of detail alone."""
    return operands._replace(grad=None, texel_tangents=[], coord_tangent=None, level_tangent=None)


def _sample_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    found = bind(operation, primals)
    given, operands = _with_tangents(operation.sort(primals), operation.sort(tangents))
    if given == NONE:
        return found, _zeros(found)
    return found, bind(replace(operation, kind="push", given=given, hardware=False), operands)


def _sample_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``sample`` as a linear function of texels."""
    operands = operation.sort(flat)
    if any(map(ad.is_undefined_primal, [operands.coords, operands.level])):
        raise OrderError()
    return _pull_texels(cotangents[0], operands, operation, flat)


def _pull_texels(cotangent: Any, operands: Operands[Any], operation: Operation, flat: Sequence[Any]) -> list[Any]:
    if _is_zero(cotangent):
        return [None] * len(flat)
    pull = replace(operation, kind="pull", given=NONE, wanted=Chosen(True, False, False), hardware=False)
    texels = [jnp.zeros(value.aval.shape, value.aval.dtype) for value in operands.levels]
    found = bind(pull, _plain(operands)._replace(levels=texels, grad=cotangent).flat())
    return [*found, *[None] * (len(flat) - len(found))]


def _push_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``push`` as a linear function of the tangents, or of texels where these have no tangents."""
    (cotangent,) = cotangents
    if _is_zero(cotangent):
        return [None] * len(flat)
    operands = operation.sort(flat)
    if ad.is_undefined_primal(operands.levels[0]):
        texels = [jnp.zeros(value.aval.shape, value.aval.dtype) for value in operands.levels]
        bend = replace(operation, kind="bend", wanted=Chosen(True, False, False))
        found = bind(bend, operands._replace(levels=texels, grad=cotangent).flat())
        return [*found, *[None] * (len(flat) - len(found))]
    pull = replace(operation, kind="pull", given=NONE, wanted=operation.given)
    found = bind(pull, _plain(operands)._replace(grad=cotangent).flat())
    return [*[None] * (len(flat) - len(found)), *found]


def _pull_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    found = bind(operation, primals)
    operands, changes = operation.sort(primals), operation.sort(tangents)
    total = _zeros(found)
    if not _is_zero(changes.grad):
        total = bind(operation, operands._replace(grad=changes.grad).flat())
    given, bent = _with_tangents(operands, changes, operands.grad)
    if given != NONE:
        more = bind(replace(operation, kind="bend", given=given), bent)
        total = [first + second for first, second in zip(total, more)]
    return found, total


def _pull_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``pull`` as a linear function of the gradients of values."""
    operands = operation.sort(flat)
    if all(map(_is_zero, cotangents)):
        return [None] * len(flat)
    count = operation.num_levels if operation.wanted.texels else 0
    rest = iter(cotangents[count:])
    coords, level = (next(rest) if wanted else None for wanted in operation.wanted[1:])
    changes = Operands(list(cotangents[:count]), coords, level, None, [], None, None)
    given, pushed = _with_tangents(operands, changes)
    (found,) = bind(replace(operation, kind="push", given=given, wanted=NONE), pushed)
    return [found if ad.is_undefined_primal(value) else None for value in flat]


def _bend_transpose(cotangents: Sequence[Any], *flat: Any, operation: Operation) -> list[Any]:
    """``bend`` as a linear function of the tangents."""
    operands = operation.sort(flat)
    if all(map(_is_zero, cotangents)):
        return [None] * len(flat)
    if any(map(ad.is_undefined_primal, [*operands.levels, operands.grad])):
        raise OrderError()
    count = operation.num_levels if operation.wanted.texels else 0
    rest = iter(cotangents[count:])
    coords, level = (next(rest) if wanted else None for wanted in operation.wanted[1:])
    changes = Operands(list(cotangents[:count]), coords, level, None, [], None, None)
    given, bent = _with_tangents(operands, changes, operands.grad)
    found = bind(replace(operation, given=given, wanted=operation.given), bent)
    return [*[None] * (len(flat) - len(found)), *found]


def _bend_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    raise OrderError()


def _push_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, operation: Operation) -> tuple[Any, Any]:
    found = bind(operation, primals)
    operands, changes = operation.sort(primals), operation.sort(tangents)
    total = jnp.zeros_like(found[0])
    given, pushed = _with_tangents(operands, _tangents_of(changes))
    if given != NONE:
        total += bind(replace(operation, given=given), pushed)[0]
    moved, turned = operation.given._replace(texels=False), _given(changes)._replace(texels=False)
    if moved != NONE and any(not _is_zero(value) for value in changes.levels):
        texels = [ad.instantiate_zeros(value) for value in changes.levels]
        total += bind(replace(operation, given=moved), operands._replace(levels=texels, texel_tangents=[]).flat())[0]
    if operation.given.texels and turned != NONE:
        given, pushed = _with_tangents(operands, changes._replace(levels=[ad.Zero(None)]))
        texels = operands.texel_tangents
        total += bind(replace(operation, given=given), [*texels, *pushed[len(texels) :]])[0]
    if moved != NONE and turned != NONE:
        total += _second(replace(operation, given=moved), operands._replace(texel_tangents=[]), changes)
    return found, [total]


def _tangents_of(operands: Operands[Any]) -> Operands[Any]:
    """The tangents among operands, in the places of what they are tangents of."""
    zeros = [ad.Zero(None)] * len(operands.levels)
    return Operands(
        operands.texel_tangents or zeros, operands.coord_tangent, operands.level_tangent, None, [], None, None
    )


def _second(operation: Operation, operands: Operands[Any], changes: Operands[Any]) -> Any:
    """Second derivative of the values along two tangents of coordinates and levels of detail, channel by channel."""
    wanted = _given(changes)._replace(texels=False)
    bend = replace(operation, kind="bend", wanted=wanted)
    channels = operands.levels[0].shape[-1]
    columns = []
    for channel in range(channels):
        unit = jnp.zeros((*operands.coords.shape[:2], channels), operands.levels[0].dtype).at[..., channel].set(1)
        found = iter(bind(bend, operands._replace(grad=unit).flat()))
        column = jnp.zeros(operands.coords.shape[:2], operands.coords.dtype)
        if wanted.coords:
            column += (next(found) * changes.coords).sum(-1)
        if wanted.level:
            column += next(found) * changes.level
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
