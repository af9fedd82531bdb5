"""Atomic functions of OpenCL C 2 and later for NVIDIA GPUs, in LLVM IR, with the requested order and scope.

Order and scope are arguments: where they are constants, as they mostly are, optimisation leaves one branch of each
function. Objects are volatile in OpenCL C, which has no effect on atomic accesses there, but which LLVM treats as
system scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..llvm.undefined_functions import Declaration

__all__ = ["definition"]

_NAME = re.compile(
    r"atomic_(?:(fetch)_(add|sub|or|xor|and|min|max)|(exchange|load|store|init|compare_exchange|flag_test_and_set"
    r"|flag_clear|work_item_fence))(?:_(?:strong|weak))?(_explicit)?$"
)
_WIDE = re.compile(r"atom_(add|sub|xchg|inc|dec|min|max|and|or|xor|cmpxchg)$")
"""64-bit functions, some of which libclc lacks; it has the 32-bit ones."""
_WIDE_OBJECT = re.compile(r"PU3AS\dV?([lm])")
_LEGACY = re.compile(r"atom(?:ic)?_(add|sub|xchg|inc|dec|min|max|and|or|xor|cmpxchg)$")
_NARROW_OBJECT = re.compile(r"P(?:U3AS\d)?V?([ijf])")
_OBJECT = re.compile(r"P(?:U3AS\d)?V?K?U7_Atomic(Dh|[a-z])")
_SCOPES = {"block": (0, 1, 4), "device": (2,), "": ()}
"""LLVM's scope names, and OpenCL C's numbers: work-item, work-group, sub-group; device; all others."""
_RELAXED, _STRONGEST, _DEVICE = 0, 5, 2
_BITS = {"Dh": 16, "f": 32, "d": 64}


def definition(function: Declaration, *, legacy: bool = False) -> str | None:
    """Return the function in LLVM IR, or None if it is unknown; with ``legacy`` also the 32-bit functions of OpenCL C
    1.
    """
    name, wide = _NAME.match(function.function), _WIDE_OBJECT.match(function.letters)
    old = _WIDE.match(function.function)
    if old is not None and wide is not None:
        return _old(function, old[1], wide[1])
    old, narrow = _LEGACY.match(function.function), _NARROW_OBJECT.match(function.letters)
    if legacy and old is not None and narrow is not None:
        return _old(function, old[1], narrow[1])
    if name is None:
        return None
    kind = name[1] or name[3]
    if kind == "work_item_fence":
        return _function(function, 1, 2, lambda scope, order: _fence(scope, order))
    of = _OBJECT.match(function.letters)
    if of is None:
        return None
    letter = of[1]
    pointer = f"{function.parameters[0]} %a0"
    if kind == "init":
        value = function.parameters[1]
        return _text(function, [f"  store {value} %a1, {pointer}", "  ret void"])
    operands = {"fetch": 2, "exchange": 2, "load": 1, "store": 2, "compare_exchange": 3}.get(kind, 1)
    orders = (2 if kind == "compare_exchange" else 1) if name[4] else 0
    order = operands if orders else -1
    scope = operands + orders if operands + orders < len(function.parameters) and name[4] else -1

    def body(scope: str, order: str) -> list[str]:
        if kind == "flag_test_and_set":
            swap = _fenced(f"%old = atomicrmw xchg {pointer}, i32 1", scope, order)
            return [*swap, "%r = icmp ne i32 %old, 0", "ret i1 %r"]
        if kind == "flag_clear":
            return [f"store atomic i32 0, {pointer} {scope}{_of(order, 'release')}, align 4", "ret void"]
        if kind == "load":
            type_ = function.result
            return [
                f"%r = load atomic {type_}, {pointer} {scope}{_of(order, 'acquire')}, align {_size(type_)}",
                f"ret {type_} %r",
            ]
        type_ = function.parameters[2 if kind == "compare_exchange" else 1]
        if kind == "store":
            return [
                f"store atomic {type_} %a1, {pointer} {scope}{_of(order, 'release')}, align {_size(type_)}",
                "ret void",
            ]
        if kind == "compare_exchange":
            return _exchange(function, letter, pointer, scope, order)
        operation = _operation(name[2], letter) if kind == "fetch" else "xchg"
        return [*_fenced(f"%r = atomicrmw {operation} {pointer}, {type_} %a1", scope, order), f"ret {type_} %r"]

    return _function(function, order, scope, body)


def _old(function: Declaration, verb: str, letter: str) -> str:
    """Define a function of OpenCL C 1, which is relaxed and has device scope."""
    pointer = f"{function.parameters[0]} %a0"
    order, type_ = 'syncscope("device") monotonic', function.result
    if verb == "cmpxchg":
        lines = [f"%t = cmpxchg {pointer}, {type_} %a1, {type_} %a2 {order} monotonic"]
        lines.append(f"%r = extractvalue {{{type_}, i1}} %t, 0")
    else:
        operation, value = {"inc": ("add", "1"), "dec": ("sub", "1")}.get(verb, (verb, "%a1"))
        verb = "xchg" if operation == "xchg" else _operation(operation, letter)
        lines = [f"%r = atomicrmw {verb} {pointer}, {type_} {value} {order}"]
    return _text(function, [f"  {line}" for line in [*lines, f"ret {type_} %r"]])


def _operation(verb: str, letter: str) -> str:
    if letter in _BITS:
        return f"f{verb}"
    return f"u{verb}" if verb in ("min", "max") and letter in "htjm" else verb


def _exchange(function: Declaration, letter: str, pointer: str, scope: str, order: str) -> list[str]:
    """Compare and exchange; stores the value found in the expected one. Floats are compared as bits."""
    _, expected_type, type_ = function.parameters[:3]
    wide = f"i{_BITS[letter]}" if letter in _BITS else type_
    return [
        f"%wanted = load {wide}, {expected_type} %a1",
        f"%new = bitcast {type_} %a2 to {wide}",
        f"%t = cmpxchg {pointer}, {wide} %wanted, {wide} %new {scope}{order} {_of(order, 'acquire')}",
        f"%found = extractvalue {{{wide}, i1}} %t, 0",
        f"%r = extractvalue {{{wide}, i1}} %t, 1",
        f"store {wide} %found, {expected_type} %a1",
        "ret i1 %r",
    ]


def _fenced(instruction: str, scope: str, order: str) -> list[str]:
    """LLVM translates all such instructions as relaxed ones with device scope: fences add the order."""
    relaxed = f"{instruction} {scope}monotonic" if scope else _of_system(instruction)
    return [relaxed] if order == "monotonic" else [f"fence {scope}{order}", relaxed, f"fence {scope}acq_rel"]


def _of_system(instruction: str) -> str:
    """Use the instruction by its PTX name where it exists; LLVM emits loops with the right scope for the rest."""
    match = re.match(
        r"(%\w+) = atomicrmw (f?add|sub|and|or|xor|u?min|u?max|xchg) (ptr\S*(?: \S+\))?) %a0, (\w+) (\S+)", instruction
    )
    if match is None:
        return f"{instruction} monotonic"
    result, verb, pointer, type_, value = match.groups()
    register = {"i32": "r", "i64": "l", "float": "f", "double": "d"}[type_]
    bits = {"i32": 32, "i64": 64, "float": 32, "double": 64}[type_]
    kind = "f" if verb == "fadd" else "b" if verb in ("and", "or", "xor", "xchg") else "u" if verb[0] in "uas" else "s"
    name = {"fadd": "add", "sub": "add", "umin": "min", "umax": "max", "xchg": "exch"}.get(verb, verb)
    space = {"addrspace(1)": ".global", "addrspace(3)": ".shared"}.get(pointer.partition(" ")[2], "")
    before = ""
    if verb == "sub":
        before, value = f"%minus = sub {type_} 0, {value}\n  ", "%minus"
    code = f'asm sideeffect "atom.sys{space}.{name}.{kind}{bits} $0, [$1], $2;", "={register},l,{register},~{{memory}}"'
    return f"{before}{result} = call {type_} {code}({pointer} %a0, {type_} {value})"


def _fence(scope: str, order: str) -> list[str]:
    return [*([] if order == "monotonic" else [f"fence {scope}{order}"]), "ret void"]


def _of(order: str, half: str) -> str:
    """Return the order of an access that only reads or only writes."""
    return half if order == "acq_rel" else order


def _size(type_: str) -> int:
    return {"half": 2, "float": 4, "double": 8}.get(type_) or int(type_[1:]) // 8


def _function(function: Declaration, order: int, scope: int, body: Callable[[str, str], list[str]]) -> str:
    """Build a function with a branch for each order and scope; a negative index means a missing argument."""
    scope_value = f"%a{scope}" if scope >= 0 else str(_DEVICE)
    cases = " ".join(f"i32 {n}, label %s{k}" for k, numbers in enumerate(_SCOPES.values()) for n in numbers)
    lines = [f"  switch i32 {scope_value}, label %s2 [{cases}]"]
    for k, name in enumerate(_SCOPES):
        order_value = f"%a{order}" if order >= 0 else str(_STRONGEST)
        kinds = f"i32 {_RELAXED}, label %s{k}.monotonic i32 {_STRONGEST}, label %s{k}.seq_cst"
        lines += [f"s{k}:", f"  switch i32 {order_value}, label %s{k}.acq_rel [{kinds}]"]
        for strength in ("monotonic", "acq_rel", "seq_cst"):
            lines.append(f"s{k}.{strength}:")
            of = f"s{k}.{strength}"
            lines += [
                "  " + re.sub(r"%(old|r|t|wanted|new|found|minus)\b", rf"%{of}.\1", line)
                for line in body(f'syncscope("{name}") ' if name else "", strength)
            ]
    return _text(function, lines)


def _text(function: Declaration, lines: list[str]) -> str:
    parameters = ", ".join(f"{type_} %a{number}" for number, type_ in enumerate(function.parameters))
    head = f"define {function.result} @{function.symbol}({parameters}) alwaysinline nounwind {{"
    return "\n".join([head, *lines, "}"])
