"""Loops over ``range`` with one counter, which LLVM knows not to overflow.

Numba computes the number of turns first, by a division, and counts them next to the values. Here the value itself ends
the loop: LLVM sees that indices from 0 on are not negative, and leaves out the test for Python's negative indices.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import RefType, iternext_impl

from .numba_names import Builder, Context, Signature, Value

__all__ = ["define"]

_RANGES = (
    (types.range_state32_type, types.range_iter32_type),
    (types.range_state64_type, types.range_iter64_type),
    (types.unsigned_range_state64_type, types.unsigned_range_iter64_type),
)


def define(context: Context) -> None:
    """Replace Numba's lowering of loops over ranges, after Numba's own is installed."""
    for state, iterator in _RANGES:
        context.insert_func_defn([(_start, "getiter", (state,)), (_next, "iternext", (iterator,))])


def _start(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    """Return the iterator: the current value, the end and the step. A step of 0 ends the loop at once."""
    start, stop, step = cgutils.unpack_tuple(builder, args[0], 3)
    state = context.make_helper(builder, sig.return_type)
    state.iter = cgutils.alloca_once_value(builder, start)
    state.stop = builder.select(builder.icmp_unsigned("==", step, step.type(0)), start, stop)
    state.step = step
    state.count = state.iter  # not used
    return state._getvalue()


@iternext_impl(RefType.UNTRACKED)
def _next(context: Context, builder: Builder, sig: Signature, args: Sequence[Value], result: Value) -> None:
    iterator = context.make_helper(builder, sig.args[0], value=args[0])
    signed = sig.args[0].yield_type.signed
    value, stop, step = builder.load(iterator.iter), iterator.stop, iterator.step
    if signed:
        upward = builder.icmp_signed(">=", step, ir.Constant(step.type, 0))
        below, above = builder.icmp_signed("<", value, stop), builder.icmp_signed(">", value, stop)
        valid = builder.select(upward, below, above)
    else:
        valid = builder.icmp_unsigned("<", value, stop)
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(value)
        builder.store(builder.add(value, step, flags=["nsw"] if signed else ["nuw"]), iterator.iter)
