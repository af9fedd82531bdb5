"""The four primitives: shapes, execution, and how ``vmap`` changes their operands.

Operands have the axes (textures, samples, ...): levels (N, [[depth,] height,] width, channels), a cubemap (N, 6, ...),
coordinates (N, samples, axes), levels of detail (N, samples), values and their gradients (N, samples, channels).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from .execution import execute
from .operation import Kind, Operation
from .sharding import execute_sharded

__all__ = ["PRIMITIVES", "bind", "is_on_one_device", "need_devices", "shaped"]

PRIMITIVES: dict[Kind, Any] = {}


def bind(operation: Operation, operands: Sequence[Any]) -> list[Any]:
    """Apply the primitive of an operation."""
    results: list[Any] = PRIMITIVES[operation.kind].bind(*operands, operation=operation)
    return results


def _abstract(*operands: Any, operation: Operation) -> list[Any]:
    return [shaped(operands, shape, dtype) for shape, dtype in operation.results(operands)]


def shaped(operands: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """The abstract value of a result, which varies over the axes of meshes that an operand varies over."""
    varying = frozenset[Any]().union(*(getattr(operand, "vma", ()) for operand in operands))
    more = {"vma": varying} if varying else {}
    return jax.core.ShapedArray(shape, dtype, **more)


@lru_cache(maxsize=1024)
def _compiled(operation: Operation) -> Any:
    return jax.jit(lambda *operands: bind(operation, operands))


def _evaluate(*operands: Any, operation: Operation) -> list[Any]:
    with jax.disable_jit(False):
        results: list[Any] = _compiled(operation)(*operands)
    return results


def _batch(operands: Sequence[Any], axes: Sequence[Any], *, operation: Operation) -> tuple[list[Any], list[int]]:
    """More samples of the same textures, if these are not batched and no gradients of theirs are wanted; else more
    textures.
    """
    size = next(operand.shape[axis] for operand, axis in zip(operands, axes) if axis is not None)
    texels = operation.texel_operands(len(operands))
    more_textures = operation.gradients.texels or any(axes[index] is not None for index in texels)
    place = 0 if more_textures else 1
    changed = []
    for index, (operand, axis) in enumerate(zip(operands, axes)):
        if more_textures or index not in texels:
            if axis is None:
                shape = (*operand.shape[:place], size, *operand.shape[place:])
                operand = jnp.broadcast_to(jnp.expand_dims(operand, place), shape)
            else:
                operand = jnp.moveaxis(operand, axis, place)
            operand = _merged(operand, place)
        changed.append(operand)
    results = bind(operation, changed)
    return [_split(result, place, size) for result in results], [place] * len(results)


def _merged(array: Any, place: int) -> Any:
    """Merge two axes."""
    *before, first, second = array.shape[: place + 2]
    return array.reshape(*before, first * second, *array.shape[place + 2 :])


def _split(array: Any, place: int, size: int) -> Any:
    """Split an axis in two, the first of the given size."""
    *before, count = array.shape[: place + 1]
    return array.reshape(*before, size, count // size, *array.shape[place + 1 :])


def _lower(context: Any, *operands: Any, operation: Operation, platform: str) -> Any:
    run = execute if is_on_one_device(context) else execute_sharded
    function = partial(run, operation=operation, platform=platform)
    return mlir.lower_fun(function, multiple_results=True)(context, *operands)


def is_on_one_device(context: Any) -> bool:
    """Whether a program that is lowered runs on one device alone."""
    where = context.module_context.axis_context
    return getattr(where, "num_devices", 2) == 1 or getattr(where, "device_assignment", where) is None


def _make(kind: Kind) -> Any:
    primitive = Primitive(f"bindless_{kind}")
    primitive.multiple_results = True
    primitive.def_abstract_eval(_abstract)
    primitive.def_impl(_evaluate)
    batching.primitive_batchers[primitive] = _batch
    for platform in ("cpu", "cuda"):
        mlir.register_lowering(primitive, partial(_lower, platform=platform), platform=platform)
    return primitive


def need_devices(primitives: Iterable[Any]) -> None:
    """Have JAX lower the primitives with the list of devices, which the partition needs.

    JAX has no public function for it. Where the set is missing, sharded operands are gathered on each device.
    """
    with suppress(ImportError):
        from jax._src.dispatch import prim_requires_devices_during_lowering

        prim_requires_devices_during_lowering.update(primitives)


for _kind in Kind.__args__:  # type: ignore[attr-defined]
    PRIMITIVES[_kind] = _make(_kind)
need_devices(PRIMITIVES.values())
