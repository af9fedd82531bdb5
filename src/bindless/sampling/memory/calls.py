"""``forward``, ``backward`` and ``backward_backward``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import processor
from .arrays import MemoryArray, memory_array
from .lookup import Lookup
from .plan import MemoryPlan, Operation, check

__all__ = ["backward", "backward_backward", "cached_plan", "execute", "forward", "run"]

_MOST_PLANS = 512

_plans: dict[Any, MemoryPlan] = {}


def forward(
    lookup: Lookup, levels: Sequence[Any], coords: Any, level: Any, out: Any, *, stream: int | None = None
) -> None:
    """Sample a texture.

    Parameters
    ----------
    lookup : Lookup
        How to sample.
    levels : sequence of arrays
        The levels, level 0 first; one if the filter's ``levels`` is "none". Each has the shape (N, W, C), (N, H, W, C),
        (N, D, H, W, C), or (N, 6, H, W, C) for a cubemap. N is the number of textures, or 1 for all.
    coords : array
        (N, S, components) coordinates of S samples, x first; N or 1 textures.
    level : array or None
        (N, S) levels of samples, clamped to those that exist; None is level 0.
    out : array
        (N, S, C) values; written.
    stream : int or None, default None
        A CUDA stream: arrays are in memory of its device, and the call returns at once. None: memory of the process.

    Raises
    ------
    InvalidError
        Shapes or types do not fit.
    """
    run(Operation.forward, lookup, levels, None, None, (coords, level, out, None, None, None, None, None, None), stream)


def backward(
    lookup: Lookup,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    grad_out: Any,
    grad_levels: Sequence[Any] | None,
    grad_coords: Any,
    grad_level: Any,
    *,
    deterministic: bool = False,
    stream: int | None = None,
    picture: tuple[int, int] = (0, 0),
) -> None:
    """The vector-Jacobian product of ``forward``.

    Parameters
    ----------
    lookup, levels, coords, level, stream
        As in ``forward``.
    grad_out : array
        (N, S, C) gradient of the values.
    grad_levels : sequence of arrays or None
        Gradients of the levels are added to these arrays, of float64 if the levels are, else float32. With N of 1, or a
        stride of 0, those of all textures are.
    grad_coords, grad_level : array or None
        (N, S, components) and (N, S) gradients; written. N is never 1 for all.
    deterministic : bool, default False
        Whether results on CUDA are the same bits every time. On the processor they always are.
    picture : tuple[int, int], default (0, 0)
        Samples of a row, and rows, of the picture or of each slice of the volume that the samples are; zeros: not
        known.

    Raises
    ------
    InvalidError
        Shapes or types do not fit.
    """
    arrays = (coords, level, None, grad_out, None, None, None, grad_coords, grad_level)
    run(Operation.backward, lookup, levels, None, grad_levels, arrays, stream, deterministic, picture)


def backward_backward(
    lookup: Lookup,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    grad_out: Any,
    cot_levels: Sequence[Any] | None,
    cot_coords: Any,
    cot_level: Any,
    grad_grad_out: Any,
    grad_levels: Sequence[Any] | None,
    grad_coords: Any,
    grad_level: Any,
    *,
    deterministic: bool = False,
    stream: int | None = None,
) -> None:
    """The vector-Jacobian product of ``backward``.

    Parameters
    ----------
    lookup, levels, coords, level, grad_out, deterministic, stream
        As in ``backward``.
    cot_levels : sequence of arrays or None
        Cotangents of the gradients of levels, of the levels' type; None is zeros.
    cot_coords, cot_level : array or None
        Cotangents of the gradients of coordinates and level; None is zeros.
    grad_grad_out : array or None
        (N, S, C) gradient of ``grad_out``; written.
    grad_levels : sequence of arrays or None
        Gradients of the levels are added to these arrays.
    grad_coords, grad_level : array or None
        Gradients of coordinates and level; written.

    Raises
    ------
    InvalidError
        Shapes or types do not fit.
    """
    arrays = (coords, level, None, grad_out, cot_coords, cot_level, grad_grad_out, grad_coords, grad_level)
    run(Operation.backward_backward, lookup, levels, cot_levels, grad_levels, arrays, stream, deterministic)


def run(
    operation: Operation,
    lookup: Lookup,
    levels: Sequence[Any],
    cot_levels: Sequence[Any] | None,
    grad_levels: Sequence[Any] | None,
    arrays: tuple[Any, ...],
    stream: int | None,
    deterministic: bool = False,
    picture: tuple[int, int] = (0, 0),
) -> MemoryPlan:
    """Compute an operation; ``arrays`` are those over samples, in the order of a plan. The plan is returned."""
    views: list[MemoryArray | None] = [None if array is None else memory_array(array) for array in arrays]
    groups = (levels, cot_levels, grad_levels)
    for group in groups:
        views += () if group is None else map(memory_array, group)
    counts = tuple(0 if group is None else len(group) for group in groups)
    pointers = [0 if one is None else one.pointer for one in views]
    plan = cached_plan(operation, lookup, counts, views, picture)
    execute(plan, pointers, stream, deterministic=deterministic)
    return plan


def cached_plan(
    operation: Operation,
    lookup: Lookup,
    counts: tuple[int, ...],
    views: Sequence[MemoryArray | None],
    picture: tuple[int, int] = (0, 0),
) -> MemoryPlan:
    """The plan of a call, made once for arrays of the same layouts; arguments and errors of ``check``."""
    key = (operation, lookup, counts, picture, tuple(None if one is None else one[1:] for one in views))
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[key] = check(operation, lookup, counts, views, picture)
    return plan


def execute(plan: MemoryPlan, pointers: list[int], stream: int | None, *, deterministic: bool = False) -> None:
    """Compute a planned call.

    Parameters
    ----------
    pointers : list[int]
        Addresses of the arrays in the order of the plan's views, 0 of those that are None.
    stream, deterministic
        As in ``backward``.
    """
    if plan.textures == 0 or plan.samples == 0:
        return
    if stream is None:
        processor.run(plan, pointers)
    else:
        from .cuda import run

        run(plan, pointers, stream, deterministic=deterministic)
