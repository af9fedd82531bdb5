"""LLVM IR of the device primitives for NVIDIA GPUs: texture and surface instructions behind plain functions.

A handle is the 64-bit texture or surface object. Results are not converted, so a sample has the bits of the texture
unit. Surface accesses move blobs of 1, 2, 4, 8 or 16 bytes (unformatted, so they work for any array format); outside
the image a read gives zero and a write is dropped (`.zero`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .geometry import CLASSES, CUBE, LAYERED, LINEAR, STANDARD, Geometry, ValueClass
from .llvm_ir import IrModule, build_vector, types_of

DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
TRIPLE = "nvptx64-nvidia-cuda"


@dataclass(frozen=True)
class _Blob:
    """Bytes that one surface instruction moves, as `count` registers of an LLVM type."""

    name: str
    suffix: str
    scalar: str
    count: int = 1

    @property
    def registers(self) -> str:
        return self.scalar if self.count == 1 else "{" + ", ".join([self.scalar] * self.count) + "}"


_BLOBS = (
    _Blob("b8", "i8", "i16"),  # a byte travels in a 16-bit register
    _Blob("b16", "i16", "i16"),
    _Blob("b32", "i32", "i32"),
    _Blob("b64", "v2i32", "i32", 2),
    _Blob("b128", "v4i32", "i32", 4),
)


def _instruction(geometry: Geometry) -> str:
    return geometry.name.replace("_", ".")


def _texture(
    ir: IrModule, name: str, intrinsic: str, parameters: Sequence[str], arguments: Sequence[str], values: ValueClass
) -> None:
    """A function around one texture instruction."""
    struct = "{" + ", ".join([values.scalar] * 4) + "}"
    call = ir.external(struct, f"llvm.nvvm.tex.unified.{intrinsic}", types_of(arguments))
    gather, vector = build_vector(values.scalar, [f"%e{k}" for k in range(4)])
    extract = [f"%e{k} = extractvalue {struct} %t, {k}" for k in range(4)]
    body = [f"%t = {call}({', '.join(arguments)})", *extract, *gather, f"ret {values.vector} {vector}"]
    ir.function(f"__bindless_{name}_{values.letter}", values.vector, parameters, body)


def _samples(ir: IrModule) -> None:
    """Samples without level, with a level, and with gradients."""
    for values in CLASSES:
        for geometry in (*STANDARD, *LAYERED, CUBE):
            slopes = [f"float %d{axis}{end}" for end in "xy" for axis in geometry.axes]
            forms = [("sample", "", []), ("sample_lod", ".level", ["float %lod"]), ("sample_grad", ".grad", slopes)]
            if geometry is CUBE:  # BI has no gradients on cubemaps
                forms.pop()
            for form, suffix, extra in forms:
                parameters = ["i64 %image", *geometry.arguments("float"), *extra]
                intrinsic = f"{_instruction(geometry)}{suffix}.v4{values.ptx}.f32"
                _texture(ir, f"{form}_{geometry.name}", intrinsic, parameters, parameters, values)


def _fetches(ir: IrModule) -> None:
    """Texels of sampled images: integer coordinates, without the sampler."""
    for values in CLASSES:
        for geometry in (*STANDARD, *LAYERED, LINEAR):
            parameters = ["i64 %image", *geometry.arguments("i32")]
            arguments, instruction = parameters, _instruction(geometry)
            if geometry is LINEAR:
                instruction = "1d"  # This form reads linear memory only: on a one-dimensional array it gives zeros.
            elif geometry.name == "1d":
                arguments, instruction = [*parameters, "i32 0"], "2d"  # a 1D array is a 2D one of height 1
            intrinsic = f"{instruction}.v4{values.ptx}.s32"
            _texture(ir, f"fetch_sampled_{geometry.name}", intrinsic, parameters, arguments, values)


def _gathers(ir: IrModule) -> None:
    """One channel of the four texels of a linear sample; the channel is part of the instruction."""
    at = ["i64 %image", "float %x", "float %y"]
    for values in CLASSES:
        struct = "{" + ", ".join([values.scalar] * 4) + "}"
        kind = f"v4{'f32' if values.letter == 'f' else values.ptx}"
        body = ["switch i32 %component, label %a [i32 0, label %r i32 1, label %g i32 2, label %b]"]
        for letter in "rgba":
            call = ir.external(struct, f"llvm.nvvm.tld4.unified.{letter}.2d.{kind}.f32", types_of(at))
            body += [f"{letter}:", f"%t{letter} = {call}({', '.join(at)})", "br label %end"]
        incoming = ", ".join(f"[%t{letter}, %{letter}]" for letter in "rgba")
        gather, vector = build_vector(values.scalar, [f"%e{k}" for k in range(4)])
        body += ["end:", f"%t = phi {struct} {incoming}", *(f"%e{k} = extractvalue {struct} %t, {k}" for k in range(4))]
        body += [*gather, f"ret {values.vector} {vector}"]
        ir.function(f"__bindless_gather_2d_{values.letter}", values.vector, [*at, "i32 %component"], body)


def _surface_read(ir: IrModule, geometry: Geometry, blob: _Blob) -> None:
    where = ["i64 %image", *geometry.arguments("i32")]
    call = ir.external(blob.registers, f"llvm.nvvm.suld.{_instruction(geometry)}.{blob.suffix}.zero", types_of(where))
    body = [f"%t = {call}({', '.join(where)})"]
    elements = [f"%e{k}" for k in range(blob.count)]
    if blob.count > 1:
        body += [f"%e{k} = extractvalue {blob.registers} %t, {k}" for k in range(blob.count)]
    elif blob.scalar == "i16":
        body += ["%wide = zext i16 %t to i32", f"%e0 = and i32 %wide, {255 if blob.name == 'b8' else 65535}"]
    else:
        elements = ["%t"]
    gather, vector = build_vector("i32", elements)
    ir.function(
        f"__bindless_read_{geometry.name}_{blob.name}", "<4 x i32>", where, [*body, *gather, f"ret <4 x i32> {vector}"]
    )


def _surface_write(ir: IrModule, geometry: Geometry, blob: _Blob) -> None:
    where = ["i64 %image", *geometry.arguments("i32")]
    body = [f"%e{k} = extractelement <4 x i32> %texel, i32 {k}" for k in range(blob.count)]
    texel = [f"i32 %e{k}" for k in range(blob.count)]
    if blob.scalar == "i16":
        body.append("%low = trunc i32 %e0 to i16")
        texel = ["i16 %low"]
    arguments = [*where, *texel]
    call = ir.external("void", f"llvm.nvvm.sust.b.{_instruction(geometry)}.{blob.suffix}.zero", types_of(arguments))
    body += [f"{call}({', '.join(arguments)})", "ret void"]
    ir.function(f"__bindless_write_{geometry.name}_{blob.name}", "void", [*where, "<4 x i32> %texel"], body)


def _work_items(ir: IrModule) -> None:
    """Position in a launch: one function per query and native dimension."""
    for dimension, axis in enumerate("xyz"):

        def read(register: str, axis: str = axis) -> str:
            return ir.external("i32", f"llvm.nvvm.read.ptx.sreg.{register}.{axis}", []) + "()"

        def define(name: str, body: Sequence[str], dimension: int = dimension) -> None:
            ir.function(f"__bindless_{name}_{dimension}", "i64", [], body)

        product = [
            f"%b = {read('ntid')}",
            "%a64 = zext i32 %a to i64",
            "%b64 = zext i32 %b to i64",
            "%p = mul nuw nsw i64 %a64, %b64",
        ]
        within = [f"%c = {read('tid')}", "%c64 = zext i32 %c to i64", "%r = add nuw nsw i64 %p, %c64", "ret i64 %r"]
        define("global_id", [f"%a = {read('ctaid')}", *product, *within])
        define("global_size", [f"%a = {read('nctaid')}", *product, "ret i64 %p"])
        for name, register in (
            ("local_id", "tid"),
            ("local_size", "ntid"),
            ("group_id", "ctaid"),
            ("group_count", "nctaid"),
        ):
            define(name, [f"%a = {read(register)}", "%r = zext i32 %a to i64", "ret i64 %r"])
    barrier = ir.external("void", "llvm.nvvm.barrier.cta.sync.aligned.all", ["i32"], "convergent")
    ir.function("__bindless_barrier", "void", [], [f"{barrier}(i32 0)", "ret void"], "convergent")


def _lanes(ir: IrModule) -> None:
    """Registers of the other work-items of a warp, which has 32 on every GPU."""
    types = ["i32", "i32", "i32", "i32"]
    shuffle = ir.external("i32", "llvm.nvvm.shfl.sync.idx.i32", types, "convergent")
    body = [f"%r = {shuffle}(i32 -1, i32 %value, i32 %lane, i32 31)", "ret i32 %r"]
    ir.function("__bindless_shuffle", "i32", ["i32 %value", "i32 %lane"], body, "convergent")


def _streams(ir: IrModule) -> None:
    """Streaming memory accesses: loads and stores that leave the caches first, and prefetches."""
    ir.function(
        "__bindless_load_once_b64",
        "<2 x i32>",
        ["ptr addrspace(1) %address"],
        [
            '%t = call {i32, i32} asm "ld.global.cs.v2.b32 {$0, $1}, [$2];", "=r,=r,l"(ptr addrspace(1) %address)',
            "%e0 = extractvalue {i32, i32} %t, 0",
            "%e1 = extractvalue {i32, i32} %t, 1",
            "%v0 = insertelement <2 x i32> zeroinitializer, i32 %e0, i32 0",
            "%v1 = insertelement <2 x i32> %v0, i32 %e1, i32 1",
            "ret <2 x i32> %v1",
        ],
    )
    elements = [f"%e{k} = extractelement <4 x i32> %value, i32 {k}" for k in range(4)]
    store = '"st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r"'
    registers = ", ".join(f"i32 %e{k}" for k in range(4))
    ir.function(
        "__bindless_store_once_b128",
        "void",
        ["ptr addrspace(1) %address", "<4 x i32> %value"],
        [*elements, f"call void asm sideeffect {store}(ptr addrspace(1) %address, {registers})", "ret void"],
    )
    prefetch = 'call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr addrspace(1) %address)'
    ir.function("__bindless_prefetch", "void", ["ptr addrspace(1) %address"], [prefetch, "ret void"])


def module() -> str:
    """The whole prelude as LLVM IR text."""
    ir = IrModule(DATA_LAYOUT, TRIPLE)
    _samples(ir)
    _fetches(ir)
    _gathers(ir)
    for geometry in (*STANDARD, *LAYERED):
        for blob in _BLOBS:
            _surface_read(ir, geometry, blob)
            _surface_write(ir, geometry, blob)
    _work_items(ir)
    _lanes(ir)
    _streams(ir)
    return ir.text()
