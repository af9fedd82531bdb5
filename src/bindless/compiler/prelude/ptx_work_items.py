"""OpenCL C's work-item functions and barriers for NVIDIA GPUs, on top of the primitives of ``ptx_images``.

These functions are missing in libclc's generic library, which has the rest of OpenCL C.
"""

from __future__ import annotations

from .llvm_ir import IrModule
from .ptx_images import DATA_LAYOUT, TRIPLE

# Function, primitive, and value for dimensions beyond those of the launch.
_QUESTIONS = (
    ("get_global_id", "global_id", 0),
    ("get_global_size", "global_size", 1),
    ("get_local_id", "local_id", 0),
    ("get_local_size", "local_size", 1),
    ("get_enqueued_local_size", "local_size", 1),
    ("get_group_id", "group_id", 0),
    ("get_num_groups", "group_count", 1),
)


def _questions(ir: IrModule) -> None:
    for name, primitive, beyond in _QUESTIONS:
        body = [f"%v{d} = {ir.external('i64', f'__bindless_{primitive}_{d}', [])}()" for d in range(3)]
        value = str(beyond)
        for dimension in (2, 1, 0):
            body += [
                f"%is{dimension} = icmp eq i32 %dimension, {dimension}",
                f"%c{dimension} = select i1 %is{dimension}, i64 %v{dimension}, i64 {value}",
            ]
            value = f"%c{dimension}"
        ir.function(_mangled(name, "j"), "i64", ["i32 %dimension"], [*body, f"ret i64 {value}"])
    ir.function(_mangled("get_global_offset", "j"), "i64", ["i32 %dimension"], ["ret i64 0"])


def _linear(ir: IrModule) -> None:
    """Linear work-item ids, with dimension 0 as the fastest."""
    for kind in ("global", "local"):
        parts = [
            f"%{part}{d} = {ir.external('i64', f'__bindless_{kind}_{part}_{d}', [])}()"
            for part in ("id", "size")
            for d in range(3)
        ]
        body = [
            *parts,
            "%a = mul i64 %id2, %size1",
            "%b = add i64 %a, %id1",
            "%c = mul i64 %b, %size0",
            "%d = add i64 %c, %id0",
            "ret i64 %d",
        ]
        ir.function(_mangled(f"get_{kind}_linear_id", "v"), "i64", [], body)


def _fences(ir: IrModule) -> None:
    """A barrier orders local and global memory among the work-items of a group."""
    barrier = ir.external("void", "llvm.nvvm.barrier.cta.sync.aligned.all", ["i32"], "convergent")
    for name in ("barrier", "work_group_barrier"):
        ir.function(_mangled(name, "j"), "void", ["i32 %flags"], [f"{barrier}(i32 0)", "ret void"], "convergent")
    fence = ir.external("void", "llvm.nvvm.membar.cta", [])
    for name in ("mem_fence", "read_mem_fence", "write_mem_fence"):
        ir.function(_mangled(name, "j"), "void", ["i32 %flags"], [f"{fence}()", "ret void"])


def _mangled(name: str, parameters: str) -> str:
    return f"_Z{len(name)}{name}{parameters}"


def module() -> str:
    """The functions as LLVM IR text."""
    ir = IrModule(DATA_LAYOUT, TRIPLE)
    _questions(ir)
    _linear(ir)
    _fences(ir)
    return ir.text()
