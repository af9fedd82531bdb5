"""Functions of OpenCL C that LLVM's translator to SPIR-V does not know: older atomics, fences, address spaces.

It leaves a call of them to a function that no module has. Everything else of OpenCL C it translates itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from .ir import IrModule
from .spirv import DATA_LAYOUT, TRIPLE

__all__ = ["is_needed", "module"]

_WORDS = {"i": "i32", "j": "i32", "l": "i64", "m": "i64", "f": "float", "d": "double"}
"""LLVM's type of each letter of a mangled name: int, uint, long, ulong, float, double."""

_GLOBAL, _LOCAL, _GENERIC = 1, 3, 4
_VERBS = ("xchg", "min", "max")
_DEVICE_SCOPE, _RELAXED, _STRONGEST = 1, 0, 16
_ORDER, _SCOPE = "12memory_order", "12memory_scope"
_FENCES = {"mem_fence": "acq_rel", "read_mem_fence": "acquire", "write_mem_fence": "release"}
_SPACES = {"__to_global": _GLOBAL, "__to_local": _LOCAL, "__to_private": 0}
_STORAGE = {_GLOBAL: ("ToGlobal", 5), _LOCAL: ("ToLocal", 4), 0: ("ToPrivate", 7)}
_LOCAL_FENCE, _GLOBAL_FENCE = 1, 2


def _pointer(space: int) -> str:
    return f"ptr addrspace({space})" if space else "ptr"


def _change(ir: IrModule, verb: str, space: int, letter: str, value: str, semantics: int = _RELAXED) -> str:
    """The call of SPIR-V's own instruction. LLVM's ``atomicrmw`` would do, but 22 takes offsets of constant addresses
    of local memory for numbers of elements there."""
    sign = "F" if letter in "fd" else "U" if letter in "jm" else "S"
    kinds = {"xchg": "Exchange", "inc": "IAdd", "dec": "ISub", "min": f"{sign}Min", "max": f"{sign}Max"}
    instruction = f"__spirv_Atomic{kinds[verb]}{'EXT' if sign == 'F' and verb != 'xchg' else ''}"
    type_ = _WORDS[letter]
    name = _mangled(instruction, f"PU3AS{space}Viii{letter}")
    call = ir.external(type_, name, [_pointer(space), "i32", "i32", type_])
    return f"%r = {call}({_pointer(space)} %p, i32 {_DEVICE_SCOPE}, i32 {semantics}, {type_} {value})"


def _old_atomics(ir: IrModule) -> Iterator[str]:
    """Those of OpenCL 1.x, which are relaxed, on global and local memory; ``atom_`` also of 64 bits."""
    for prefix, letters in (("atomic", "ij"), ("atom", "ijlm")):
        for space in (_GLOBAL, _LOCAL):
            for letter in letters:
                type_ = _WORDS[letter]
                pointer = f"{_pointer(space)} %p"
                for verb in ("inc", "dec"):
                    name = _mangled(f"{prefix}_{verb}", f"PU3AS{space}V{letter}")
                    ir.function(name, type_, [pointer], [_change(ir, verb, space, letter, "1"), f"ret {type_} %r"])
                    yield name
                for verb in _VERBS:
                    name = _mangled(f"{prefix}_{verb}", f"PU3AS{space}V{letter}{letter}")
                    body = [_change(ir, verb, space, letter, "%x"), f"ret {type_} %r"]
                    ir.function(name, type_, [pointer, f"{type_} %x"], body)
                    yield name
    for space in (_GLOBAL, _LOCAL):
        name = _mangled("atomic_xchg", f"PU3AS{space}Vff")
        body = [_change(ir, "xchg", space, "f", "%x"), "ret float %r"]
        ir.function(name, "float", [f"{_pointer(space)} %p", "float %x"], body)
        yield name


def _extremes(ir: IrModule) -> Iterator[str]:
    """``atomic_fetch_min`` and ``max``, as strong as can be whatever order and scope are asked for."""
    pointer = f"{_pointer(_GENERIC)} %p"
    for verb in ("min", "max"):
        for letter, type_ in _WORDS.items():
            body = [_change(ir, verb, _GENERIC, letter, "%x", _STRONGEST), f"ret {type_} %r"]
            place = f"PU3AS{_GENERIC}VU7_Atomic{letter}{letter}"
            for suffix, more in (("", ""), ("_explicit", _ORDER), ("_explicit", _ORDER + _SCOPE)):
                extra = [f"i32 %{word}" for word in ("order", "scope")][: more.count("memory")]
                name = _mangled(f"atomic_fetch_{verb}{suffix}", place + more)
                ir.function(name, type_, [pointer, f"{type_} %x", *extra], body)
                yield name


def _fences(ir: IrModule) -> Iterator[str]:
    for verb, ordering in _FENCES.items():
        name = _mangled(verb, "j")
        ir.function(name, "void", ["i32 %flags"], [f'fence syncscope("workgroup") {ordering}', "ret void"])
        yield name


def _cast(ir: IrModule, space: int) -> str:
    """How a call begins that casts a generic pointer, to null where it points elsewhere."""
    suffix, storage = _STORAGE[space]
    name = f"__spirv_GenericCastToPtrExplicit_{suffix}"
    call = ir.external(_pointer(space), _mangled(name, "Pvi"), [_pointer(_GENERIC), "i32"])
    return f"{call}({_pointer(_GENERIC)} %p, i32 {storage})"


def _spaces(ir: IrModule) -> Iterator[str]:
    for name, space in _SPACES.items():
        type_ = _pointer(space)
        ir.function(name, type_, [f"{_pointer(_GENERIC)} %p"], [f"%r = {_cast(ir, space)}", f"ret {type_} %r"])
        yield name
    name = _mangled("get_fence", f"PU3AS{_GENERIC}v")
    body = [
        f"%local = {_cast(ir, _LOCAL)}",
        f"%is_local = icmp ne {_pointer(_LOCAL)} %local, null",
        f"%r = select i1 %is_local, i32 {_LOCAL_FENCE}, i32 {_GLOBAL_FENCE}",
        "ret i32 %r",
    ]
    ir.function(name, "i32", [f"{_pointer(_GENERIC)} %p"], body)
    yield name


def _mangled(name: str, parameters: str) -> str:
    return f"_Z{len(name)}{name}{parameters}"


@cache
def _built() -> tuple[str, frozenset[str]]:
    ir = IrModule(DATA_LAYOUT, TRIPLE, "spir_func ")
    names = frozenset(name for part in (_old_atomics, _extremes, _fences, _spaces) for name in part(ir))
    return ir.text(), names


def is_needed(text: str) -> bool:
    """Whether a module in LLVM IR calls one of the functions."""
    return any(f"@{name}(" in text for name in _built()[1])


def module() -> str:
    """The functions as LLVM IR text."""
    return _built()[0]
