"""LLVM IR of the device primitives for SPIR-V: conversions of 64-bit handles (SPV_INTEL_bindless_images) and image
instructions of the Kernel dialect behind plain functions.

Fetches of sampled images convert the handle to an image without sampler and read it, so that the sampler is ignored as
BI asks. Cubemaps and gradients are absent: the Kernel dialect has no cube images, and Level Zero has no mipmaps.
"""

from __future__ import annotations

from .geometry import CLASSES, LAYERED, STANDARD, Geometry, build_vector, function

DATA_LAYOUT = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
TRIPLE = "spirv64-unknown-unknown"

_READ, _WRITE = 0, 1
_LOD = 2  # the image operand


def _image_type(geometry: Geometry, access: int, kind: str = "Image") -> str:
    return f'target("spirv.{kind}", void, {geometry.dimensions - 1}, 0, {int(geometry.layered)}, 0, 0, 0, {access})'


def _coordinate(geometry: Geometry, scalar: str) -> tuple[list[str], list[str], str, str]:
    """Parameters, instructions that gather them, the operand and its type: (x, y, z or layer, 0) as in OpenCL."""
    parameters = [f"{scalar} %{axis}" for axis in geometry.axes]
    elements = [f"%{axis}" for axis in geometry.axes]
    body: list[str] = []
    if geometry.layered:
        parameters.insert(0, "i32 %layer")
        if scalar == "float":
            body.append("%fl = uitofp i32 %layer to float")
        elements.append("%fl" if scalar == "float" else "%layer")
    width = {1: 1, 2: 2, 3: 4}[len(elements)]
    if width == 1:
        return parameters, body, elements[0], scalar
    gather, vector = build_vector(scalar, elements, width)
    return parameters, body + gather, vector, f"<{width} x {scalar}>"


def _image_functions() -> tuple[list[str], set[str]]:
    functions: list[str] = []
    declarations: set[str] = set()

    def declare(result: str, name: str, types: list[str]) -> str:
        declarations.add(f"declare spir_func {result} @{name}({', '.join(types)})\n")
        return name

    def mangle(name: str, tag: str) -> str:
        return f"_Z{len(name)}{name}l_{tag}"

    for geometry in (*STANDARD, *LAYERED):
        image, sampled = _image_type(geometry, _READ), _image_type(geometry, _READ, "SampledImage")
        written = _image_type(geometry, _WRITE)
        to_image = declare(image, mangle("__spirv_ConvertHandleToImageINTEL", f"read_{geometry.name}"), ["i64"])
        to_written = declare(written, mangle("__spirv_ConvertHandleToImageINTEL", f"write_{geometry.name}"), ["i64"])
        to_sampled = declare(sampled, mangle("__spirv_ConvertHandleToSampledImageINTEL", geometry.name), ["i64"])
        for values in CLASSES:
            vector = f"<4 x {values.scalar}>"
            tag = f"{values.letter}_{geometry.name}"
            result = f"R{values.opencl}"
            convention = "spir_func "

            parameters, body, at, at_type = _coordinate(geometry, "float")
            sample = declare(
                vector, mangle(f"__spirv_ImageSampleExplicitLod_{result}", tag), [sampled, at_type, "i32", "float"]
            )
            for form, extra, lod in (("sample", [], "0.0"), ("sample_lod", ["float %lod"], "%lod")):
                functions.append(
                    function(
                        f"__bindless_{form}_{tag_name(geometry, values.letter)}",
                        vector,
                        ["i64 %image", *parameters, *extra],
                        [
                            *body,
                            f"%i = call spir_func {sampled} @{to_sampled}(i64 %image)",
                            f"%r = call spir_func {vector} @{sample}({sampled} %i, {at_type} {at}, i32 {_LOD}, float {lod})",
                            f"ret {vector} %r",
                        ],
                        convention=convention,
                    )
                )

            parameters, body, at, at_type = _coordinate(geometry, "i32")
            read = declare(vector, mangle(f"__spirv_ImageRead_{result}", tag), [image, at_type])
            for form in ("fetch_sampled", "read"):
                functions.append(
                    function(
                        f"__bindless_{form}_{tag_name(geometry, values.letter)}",
                        vector,
                        ["i64 %image", *parameters],
                        [
                            *body,
                            f"%i = call spir_func {image} @{to_image}(i64 %image)",
                            f"%r = call spir_func {vector} @{read}({image} %i, {at_type} {at})",
                            f"ret {vector} %r",
                        ],
                        convention=convention,
                    )
                )
            write = declare("void", mangle("__spirv_ImageWrite", tag), [written, at_type, vector])
            functions.append(
                function(
                    f"__bindless_write_{tag_name(geometry, values.letter)}",
                    "void",
                    ["i64 %image", *parameters, f"{vector} %texel"],
                    [
                        *body,
                        f"%i = call spir_func {written} @{to_written}(i64 %image)",
                        f"call spir_func void @{write}({written} %i, {at_type} {at}, {vector} %texel)",
                        "ret void",
                    ],
                    convention=convention,
                )
            )
    return functions, declarations


def tag_name(geometry: Geometry, letter: str) -> str:
    return f"{geometry.name}_{letter}"


def _work_item_functions() -> str:
    text = ""
    declarations = set()
    builtins = {
        "global_id": "get_global_id",
        "global_size": "get_global_size",
        "local_id": "get_local_id",
        "local_size": "get_local_size",
        "group_id": "get_group_id",
        "group_count": "get_num_groups",
    }
    for dimension in range(3):
        for name, builtin in builtins.items():
            mangled = f"_Z{len(builtin)}{builtin}j"
            declarations.add(f"declare spir_func i64 @{mangled}(i32)\n")
            text += function(
                f"__bindless_{name}_{dimension}",
                "i64",
                [],
                [f"%r = call spir_func i64 @{mangled}(i32 {dimension})", "ret i64 %r"],
                convention="spir_func ",
            )
    barrier = ["call spir_func void @_Z7barrierj(i32 1) convergent", "ret void"]
    text += function("__bindless_barrier", "void", [], barrier, convention="spir_func ").replace(
        "alwaysinline", "alwaysinline convergent"
    )
    return text + "".join(sorted(declarations)) + "declare spir_func void @_Z7barrierj(i32) convergent\n"


def module() -> str:
    """The whole prelude as LLVM IR text."""
    functions, declarations = _image_functions()
    header = f'target datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"\n\n'
    return header + "".join(functions) + _work_item_functions() + "".join(sorted(declarations))
