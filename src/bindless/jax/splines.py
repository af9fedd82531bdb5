"""``spline_samples``: values of an array's cubic B-spline at a stack of coordinates.

On CUDA the values are those of a program of kernels that read the stack as it is. Their derivatives, other platforms,
mapped calls and arrays on several devices take the composition of a filter and ``sample_levels``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ..model.filter import Filter
from .execution import run_program
from .primitives import is_on_one_device, need_devices, shaped
from .sampling import sample_levels
from .spline_kernels import is_small, spline_program
from .targets import TARGET, add_kernels, prepare

__all__ = ["spline_samples"]

_PRIMITIVE: Any = Primitive("bindless_spline")


def spline_samples(array: Any, stack: Any, *, filter_: Filter, deterministic: bool) -> Any:
    """Values of an array at coordinates.

    Parameters
    ----------
    array : jax.Array
        float32, of one to three axes.
    stack : jax.Array
        float32 coordinates (axes, ...), in the order of the array's axes.
    filter_ : Filter
        Of an exact cubic spline.
    deterministic : bool
        As of ``sample``.
    """
    return _PRIMITIVE.bind(array, stack, filter_=filter_, deterministic=deterministic)


def compose(array: Any, stack: Any, *, filter_: Filter, deterministic: bool) -> Any:
    """The values of arrays of all types by operations that have derivatives."""
    coords = jnp.moveaxis(stack[::-1], 0, -1)
    return sample_levels((array[..., None],), coords, filter_=filter_, deterministic=deterministic, first=0.0)[..., 0]


def _run(array: Any, stack: Any, *, filter_: Filter, deterministic: bool) -> Any:
    if array.size == 0 or stack.size == 0:
        return jnp.zeros(stack.shape[1:], array.dtype)
    prepare("cuda")
    program = spline_program(filter_, array.shape, prod(stack.shape[1:]))
    add_kernels(program.names)
    results = [jax.ShapeDtypeStruct(stack.shape[1:], array.dtype), jax.ShapeDtypeStruct((program.scratch,), jnp.uint8)]
    return run_program(TARGET, program, (array, stack), results)[0]


@lru_cache(maxsize=1024)
def _compiled(**options: Any) -> Any:
    return jax.jit(partial(_PRIMITIVE.bind, **options))


def _evaluate(array: Any, stack: Any, **options: Any) -> Any:
    with jax.disable_jit(False):
        return _compiled(**options)(array, stack)


def _abstract(array: Any, stack: Any, **_: Any) -> Any:
    return shaped((array, stack), stack.shape[1:], array.dtype)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **options: Any) -> tuple[Any, Any]:
    changes = tuple(map(ad.instantiate_zeros, tangents))
    values, change = jax.jvp(partial(compose, **options), tuple(primals), changes)
    return values, change


def _batch(operands: Sequence[Any], axes: Sequence[Any], **options: Any) -> tuple[Any, int]:
    return jax.vmap(partial(compose, **options), in_axes=axes)(*operands), 0


def _lower(context: Any, *operands: Any, **options: Any) -> Any:
    array, stack = context.avals_in
    by_kernels = is_on_one_device(context) and is_small(array.shape, prod(stack.shape[1:]))
    function = _run if by_kernels else compose
    return mlir.lower_fun(partial(function, **options), multiple_results=False)(context, *operands)


_PRIMITIVE.def_impl(_evaluate)
_PRIMITIVE.def_abstract_eval(_abstract)
ad.primitive_jvps[_PRIMITIVE] = _jvp
batching.primitive_batchers[_PRIMITIVE] = _batch
mlir.register_lowering(_PRIMITIVE, mlir.lower_fun(compose, multiple_results=False), platform="cpu")
mlir.register_lowering(_PRIMITIVE, _lower, platform="cuda")
need_devices([_PRIMITIVE])
