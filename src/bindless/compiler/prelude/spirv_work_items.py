"""Functions of OpenCL C that LLVM's SPIR-V translator lacks: older fences, and address space casts.

For these the translator leaves calls to undefined functions. It translates the rest of OpenCL C itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from .llvm_ir import IrModule
from .spirv_images import DATA_LAYOUT, TRIPLE

__all__ = ["is_needed", "module"]

_GLOBAL, _LOCAL, _GENERIC = 1, 3, 4
_FENCES = {"mem_fence": "acq_rel", "read_mem_fence": "acquire", "write_mem_fence": "release"}
_SPACES = {"__to_global": _GLOBAL, "__to_local": _LOCAL, "__to_private": 0}
_STORAGE = {_GLOBAL: ("ToGlobal", 5), _LOCAL: ("ToLocal", 4), 0: ("ToPrivate", 7)}
_LOCAL_FENCE, _GLOBAL_FENCE = 1, 2


def _pointer(space: int) -> str:
    return f"ptr addrspace({space})" if space else "ptr"


def _fences(ir: IrModule) -> Iterator[str]:
    for verb, ordering in _FENCES.items():
        name = _mangled(verb, "j")
        ir.function(name, "void", ["i32 %flags"], [f'fence syncscope("workgroup") {ordering}', "ret void"])
        yield name


def _cast(ir: IrModule, space: int) -> str:
    """The start of a call that casts a generic pointer; the result is null for a pointer to another address space."""
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
def _module() -> tuple[str, frozenset[str]]:
    ir = IrModule(DATA_LAYOUT, TRIPLE, "spir_func ")
    names = frozenset(name for part in (_fences, _spaces) for name in part(ir))
    return ir.text(), names


def is_needed(text: str) -> bool:
    """Whether a module in LLVM IR calls one of the functions."""
    return any(f"@{name}(" in text for name in _module()[1])


def module() -> str:
    """The functions as LLVM IR text."""
    return _module()[0]
