"""LLVM IR of the device primitives for NVIDIA GPUs: texture and surface instructions behind plain functions.

A handle is the 64-bit texture or surface object. Results go through untouched, so a sample has the bits that the
texture unit gave. Surface accesses move blobs of 1, 2, 4, 8 or 16 bytes (unformatted, so they work whatever format the
array was made with); outside the image a read gives zero and a write is dropped (`.zero`).
"""

from __future__ import annotations

from .geometry import CLASSES, CUBE, LAYERED, LINEAR, STANDARD, Geometry, ValueClass, build_vector, function

DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
TRIPLE = "nvptx64-nvidia-cuda"

_BLOBS = {
    "b8": ("i8", "i16", 1),
    "b16": ("i16", "i16", 1),
    "b32": ("i32", "i32", 1),
    "b64": ("v2i32", "i32", 2),
    "b128": ("v4i32", "i32", 4),
}


def _texture_geometry(geometry: Geometry) -> str:
    return geometry.name.replace("_", ".")


def _texture_call(
    name: str, intrinsic: str, parameters: list[str], arguments: list[str], values: ValueClass
) -> tuple[str, str]:
    struct = "{" + ", ".join([values.scalar] * 4) + "}"
    types = ", ".join(argument.split()[0] for argument in arguments)
    gather, vector = build_vector(values.scalar, ["%e0", "%e1", "%e2", "%e3"])
    body = [f"%t = call {struct} @{intrinsic}({', '.join(arguments)})"]
    body += [f"%e{k} = extractvalue {struct} %t, {k}" for k in range(4)]
    body += [*gather, f"ret <4 x {values.scalar}> {vector}"]
    return function(name, f"<4 x {values.scalar}>", parameters, body), f"declare {struct} @{intrinsic}({types})\n"


def _texture_functions() -> list[tuple[str, str]]:
    """Samples without level, with level, with gradients, and integer fetches of sampled images."""
    made: list[tuple[str, str]] = []
    for values in CLASSES:
        for geometry in (*STANDARD, *LAYERED, CUBE):
            layer = ["i32 %layer"] if geometry.layered else []
            point = [f"float %{axis}" for axis in geometry.axes]
            slopes = [f"float %d{axis}{end}" for end in "xy" for axis in geometry.axes]
            forms = [("sample", "", []), ("sample_lod", ".level", ["float %lod"])]
            if geometry is not CUBE:  # BI has no gradients on cubemaps
                forms.append(("sample_grad", ".grad", slopes))
            for form, suffix, extra in forms:
                parameters = ["i64 %image", *layer, *point, *extra]
                intrinsic = f"llvm.nvvm.tex.unified.{_texture_geometry(geometry)}{suffix}.v4{values.ptx}.f32"
                name = f"__bindless_{form}_{geometry.name}_{values.letter}"
                made.append(_texture_call(name, intrinsic, parameters, parameters, values))
        for geometry in (*STANDARD, *LAYERED, LINEAR):
            layer = ["i32 %layer"] if geometry.layered else []
            parameters = ["i64 %image", *layer, *(f"i32 %{axis}" for axis in geometry.axes)]
            arguments, instruction = parameters, _texture_geometry(geometry)
            if geometry is LINEAR:
                instruction = "1d"  # reads linear memory only: on a one-dimensional array it gives zeros
            elif geometry.name == "1d":
                arguments, instruction = [*parameters, "i32 0"], "2d"  # a 1D array is a 2D one of height 1
            intrinsic = f"llvm.nvvm.tex.unified.{instruction}.v4{values.ptx}.s32"
            made.append(
                _texture_call(
                    f"__bindless_fetch_sampled_{geometry.name}_{values.letter}",
                    intrinsic,
                    parameters,
                    arguments,
                    values,
                )
            )
    return made


def _surface_functions() -> list[tuple[str, str]]:
    """Unformatted reads and writes of blobs; x is in bytes."""
    made: list[tuple[str, str]] = []
    for geometry in (*STANDARD, *LAYERED):
        where = [
            "i64 %image",
            *(["i32 %layer"] if geometry.layered else []),
            *(f"i32 %{axis}" for axis in geometry.axes),
        ]
        types = [argument.split()[0] for argument in where]
        for blob, (suffix, scalar, count) in _BLOBS.items():
            shape = _texture_geometry(geometry)
            result = scalar if count == 1 else "{" + ", ".join([scalar] * count) + "}"
            read = f"llvm.nvvm.suld.{shape}.{suffix}.zero"
            body = [f"%t = call {result} @{read}({', '.join(where)})"]
            elements = ["%t"] if count == 1 else [f"%e{k}" for k in range(count)]
            if count > 1:
                body += [f"%e{k} = extractvalue {result} %t, {k}" for k in range(count)]
            if scalar == "i16":
                mask = {"b8": 255, "b16": 65535}[blob]
                body += ["%wide = zext i16 %t to i32", f"%low = and i32 %wide, {mask}"]
                elements = ["%low"]
            gather, vector = build_vector("i32", elements)
            body += [*gather, f"ret <4 x i32> {vector}"]
            made.append(
                (
                    function(f"__bindless_read_{geometry.name}_{blob}", "<4 x i32>", where, body),
                    f"declare {result} @{read}({', '.join(types)})\n",
                )
            )

            write = f"llvm.nvvm.sust.b.{shape}.{suffix}.zero"
            body = [f"%e{k} = extractelement <4 x i32> %texel, i32 {k}" for k in range(count)]
            stored = [f"i32 %e{k}" for k in range(count)]
            if scalar == "i16":
                body.append("%low = trunc i32 %e0 to i16")
                stored = ["i16 %low"]
            body += [f"call void @{write}({', '.join([*where, *stored])})", "ret void"]
            declared = ", ".join([*types, *[scalar] * count])
            made.append(
                (
                    function(f"__bindless_write_{geometry.name}_{blob}", "void", [*where, "<4 x i32> %texel"], body),
                    f"declare void @{write}({declared})\n",
                )
            )
    return made


def _work_item_functions() -> str:
    """Position in a launch, one function a question, for each native dimension."""
    text = ""
    registers = set()
    for dimension, axis in enumerate("xyz"):
        for register in ("tid", "ctaid", "ntid", "nctaid"):
            registers.add(f"declare i32 @llvm.nvvm.read.ptx.sreg.{register}.{axis}()\n")
        read = {r: f"call i32 @llvm.nvvm.read.ptx.sreg.{r}.{axis}()" for r in ("tid", "ctaid", "ntid", "nctaid")}
        wide = ["%a64 = zext i32 %a to i64", "%b64 = zext i32 %b to i64", "%p = mul nuw nsw i64 %a64, %b64"]
        body = [
            f"%a = {read['ctaid']}",
            f"%b = {read['ntid']}",
            *wide,
            f"%c = {read['tid']}",
            "%c64 = zext i32 %c to i64",
            "%r = add nuw nsw i64 %p, %c64",
            "ret i64 %r",
        ]
        text += function(f"__bindless_global_id_{dimension}", "i64", [], body)
        text += function(
            f"__bindless_global_size_{dimension}",
            "i64",
            [],
            [f"%a = {read['nctaid']}", f"%b = {read['ntid']}", *wide, "ret i64 %p"],
        )
        for name, register in (
            ("local_id", "tid"),
            ("local_size", "ntid"),
            ("group_id", "ctaid"),
            ("group_count", "nctaid"),
        ):
            text += function(
                f"__bindless_{name}_{dimension}",
                "i64",
                [],
                [f"%a = {read[register]}", "%r = zext i32 %a to i64", "ret i64 %r"],
            )
    barrier = function(
        "__bindless_barrier", "void", [], ["call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", "ret void"]
    ).replace("alwaysinline", "alwaysinline convergent")
    return (
        text
        + barrier
        + "".join(sorted(registers))
        + "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent\n"
    )


def module() -> str:
    """The whole prelude as LLVM IR text."""
    functions = [*_texture_functions(), *_surface_functions()]
    declarations = sorted({declaration for _, declaration in functions})
    header = f'target datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"\n\n'
    return header + "".join(text for text, _ in functions) + _work_item_functions() + "".join(declarations)
