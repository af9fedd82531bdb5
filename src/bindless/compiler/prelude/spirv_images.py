"""LLVM IR of the device primitives for SPIR-V: conversions of 64-bit handles (SPV_INTEL_bindless_images) and image
instructions of the Kernel dialect behind plain functions.

Fetches of sampled images convert the handle to an image without sampler and read it, so that the sampler is ignored as
BI requires. Cubemaps are absent: the Kernel dialect has no cube images. ``compiler.spirv.image_instructions`` adds
samples with gradients to the finished module, because llc has none.
"""

from __future__ import annotations

from dataclasses import dataclass

from .geometry import CLASSES, LAYERED, STANDARD, Geometry, ValueClass
from .llvm_ir import IrModule, build_vector

DATA_LAYOUT = (
    "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"  # clang's
)
TRIPLE = "spirv64-unknown-unknown"

_READ_ONLY, _WRITE_ONLY = 0, 1  # access qualifiers
_LOD = 2  # the image operand


@dataclass(frozen=True)
class _Position:
    """An image coordinate as an operand: (x), (x, y) or (x, y, z or layer, 0), as OpenCL orders it."""

    parameters: list[str]
    gather: list[str]
    type: str
    operand: str

    @classmethod
    def of(cls, geometry: Geometry, scalar: str) -> _Position:
        elements = [f"%{axis}" for axis in geometry.axes]
        convert: list[str] = []
        if geometry.layered:
            elements.append("%layer")
            if scalar == "float":
                convert = ["%float_layer = uitofp i32 %layer to float"]
                elements[-1] = "%float_layer"
        if len(elements) == 1:
            return cls(geometry.arguments(scalar), [], scalar, elements[0])
        width = 2 if len(elements) == 2 else 4
        gather, vector = build_vector(scalar, elements, width)
        return cls(geometry.arguments(scalar), [*convert, *gather], f"<{width} x {scalar}>", vector)


def _image_type(geometry: Geometry, access: int, kind: str = "Image") -> str:
    return f'target("spirv.{kind}", void, {geometry.dimensions - 1}, 0, {int(geometry.layered)}, 0, 0, 0, {access})'


def _builtin(ir: IrModule, result: str, name: str, tag: str, types: list[str]) -> str:
    """A call of an instruction by the mangled name that llc maps to it; the tag keeps signatures apart."""
    return ir.external(result, f"_Z{len(name)}{name}l_{tag}", types)


def _samples(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    tag = f"{geometry.name}_{values.letter}"
    image = _image_type(geometry, _READ_ONLY, "SampledImage")
    at = _Position.of(geometry, "float")
    convert = _builtin(ir, image, "__spirv_ConvertHandleToSampledImageINTEL", geometry.name, ["i64"])
    name = f"__spirv_ImageSampleExplicitLod_R{values.opencl}"
    sample = _builtin(ir, values.vector, name, tag, [image, at.type, "i32", "float"])
    for form, extra, lod in (("sample", [], "0.0"), ("sample_lod", ["float %lod"], "%lod")):
        body = [
            *at.gather,
            f"%i = {convert}(i64 %image)",
            f"%r = {sample}({image} %i, {at.type} {at.operand}, i32 {_LOD}, float {lod})",
            f"ret {values.vector} %r",
        ]
        ir.function(f"__bindless_{form}_{tag}", values.vector, ["i64 %image", *at.parameters, *extra], body)


def _reads(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    tag = f"{geometry.name}_{values.letter}"
    image = _image_type(geometry, _READ_ONLY)
    at = _Position.of(geometry, "i32")
    convert = _builtin(ir, image, "__spirv_ConvertHandleToImageINTEL", f"read_{geometry.name}", ["i64"])
    read = _builtin(ir, values.vector, f"__spirv_ImageRead_R{values.opencl}", tag, [image, at.type])
    body = [
        *at.gather,
        f"%i = {convert}(i64 %image)",
        f"%r = {read}({image} %i, {at.type} {at.operand})",
        f"ret {values.vector} %r",
    ]
    for form in ("read", "fetch_sampled"):
        ir.function(f"__bindless_{form}_{tag}", values.vector, ["i64 %image", *at.parameters], body)


def _writes(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    tag = f"{geometry.name}_{values.letter}"
    image = _image_type(geometry, _WRITE_ONLY)
    at = _Position.of(geometry, "i32")
    convert = _builtin(ir, image, "__spirv_ConvertHandleToImageINTEL", f"write_{geometry.name}", ["i64"])
    write = _builtin(ir, "void", "__spirv_ImageWrite", tag, [image, at.type, values.vector])
    body = [
        *at.gather,
        f"%i = {convert}(i64 %image)",
        f"{write}({image} %i, {at.type} {at.operand}, {values.vector} %texel)",
        "ret void",
    ]
    parameters = ["i64 %image", *at.parameters, f"{values.vector} %texel"]
    ir.function(f"__bindless_write_{tag}", "void", parameters, body)


_WORK_ITEMS = {
    "global_id": "get_global_id",
    "global_size": "get_global_size",
    "local_id": "get_local_id",
    "local_size": "get_local_size",
    "group_id": "get_group_id",
    "group_count": "get_num_groups",
}


def _work_items(ir: IrModule) -> None:
    """Position in a launch: one function per query and native dimension."""
    for name, builtin in _WORK_ITEMS.items():
        call = ir.external("i64", f"_Z{len(builtin)}{builtin}j", ["i32"])
        for dimension in range(3):
            ir.function(f"__bindless_{name}_{dimension}", "i64", [], [f"%r = {call}(i32 {dimension})", "ret i64 %r"])
    barrier = ir.external("void", "_Z7barrierj", ["i32"], "convergent")
    ir.function("__bindless_barrier", "void", [], [f"{barrier}(i32 1)", "ret void"], "convergent")


def module(*, images: bool = True) -> str:
    """The prelude as LLVM IR text; without image functions, which ``compiler.spirv.image_instructions`` then adds."""
    ir = IrModule(DATA_LAYOUT, TRIPLE, "spir_func ")
    for geometry in (*STANDARD, *LAYERED) if images else ():
        for values in CLASSES:
            _samples(ir, geometry, values)
            _reads(ir, geometry, values)
            _writes(ir, geometry, values)
    _work_items(ir)
    return ir.text()
