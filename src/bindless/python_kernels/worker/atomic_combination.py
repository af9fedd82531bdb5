"""Combination of a value with an element in memory by one atomic operation."""

from __future__ import annotations

from llvmlite import ir

from .atomic_operations import bits_of, compared, instruction
from .numba_names import Builder, Value

__all__ = ["combine", "combine_atomically"]

_WHOLE = {"add": "add", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}  # names of atomicrmw


def combine(builder: Builder, combiner: str, left: Value, right: Value, signed: bool) -> Value:
    """Return two values combined.

    Parameters
    ----------
    signed
        Whether integers are.
    """
    real = not isinstance(left.type, ir.IntType)
    if combiner in ("min", "max"):
        sign = "<" if combiner == "min" else ">"
        if real:
            first = builder.fcmp_ordered(sign, right, left)
        else:
            first = (builder.icmp_signed if signed else builder.icmp_unsigned)(sign, right, left)
        return builder.select(first, right, left)
    names = {"add": "fadd", "mul": "fmul"} if real else {"and": "and_", "or": "or_"}
    return getattr(builder, names.get(combiner, combiner))(left, right)


def combine_atomically(
    builder: Builder, combiner: str, pointer: Value, value: Value, signed: bool, language: str, scope: str
) -> None:
    """Combine a value with the element behind a pointer: by an instruction, or else by exchanges until none comes
    between.
    """
    real = not isinstance(value.type, ir.IntType)
    if combiner in _WHOLE and not (real and combiner != "add"):
        name = f"u{combiner}" if combiner in ("min", "max") and not signed else _WHOLE[combiner]
        instruction(
            builder,
            value.type,
            f"atomicrmw {'f' if real else ''}{name}",
            [pointer, value],
            language,
            scope,
            "monotonic",
        )
        return
    bits = bits_of(value.type)
    before = builder.block
    attempt, done = builder.append_basic_block("combine"), builder.append_basic_block("combined")
    builder.branch(attempt)
    builder.position_at_end(attempt)
    current = builder.phi(bits)
    current.add_incoming(ir.Constant(bits, 0), before)
    old = current if value.type == bits else builder.bitcast(current, value.type)
    new = combine(builder, combiner, old, value, signed)
    new = new if value.type == bits else builder.bitcast(new, bits)
    pair = compared(builder, bits, [pointer, current, new], language, scope, "monotonic monotonic")
    current.add_incoming(builder.extract_value(pair, 0), attempt)
    builder.cbranch(builder.extract_value(pair, 1), done, attempt)
    builder.position_at_end(done)
