"""LLVM IR of the device primitives for OpenCL devices with SPIR-V, where images are arguments of kernels.

Each handle stays a number here; the functions call one instruction each by it, which
``compiler.spirv.image_arguments`` replaces in the finished module. As in ``opencl_c_images``, reads outside an image
give zeros, writes there are dropped, and channels that the image lacks are 0.
"""

from __future__ import annotations

from .geometry import CLASSES, LAYERED, STANDARD, Geometry, ValueClass
from .llvm_ir import IrModule, build_vector
from .spirv_images import DATA_LAYOUT, TRIPLE

__all__ = ["module"]

_ALPHA_MISSING = (0, 2, 4)  # R, RG, RGB: OpenCL reads 1 for their alpha


def _instruction(ir: IrModule, result: str, what: str, geometry: Geometry, letter: str, types: list[str]) -> str:
    """The start of a call; `nomerge` keeps LLVM from joining the calls of two images to one with either image."""
    name = f"__bindless_argument_{what}_{geometry.name}{f'_{letter}' if letter else ''}"
    return ir.external(result, name, ["i64", *types], "nomerge nounwind")


def _count(geometry: Geometry) -> int:
    return geometry.dimensions + geometry.layered


def _vector(scalar: str, count: int) -> str:
    return scalar if count == 1 else f"<{count} x {scalar}>"


def _sizes(ir: IrModule, geometry: Geometry) -> list[str]:
    """Instructions for the sizes %s0, %s1, ..., the number of layers last."""
    count = _count(geometry)
    kind = _vector("i32", count)
    call = f"{_instruction(ir, kind, 'size', geometry, '', [])}(i64 %image)"
    if count == 1:
        return [f"%s0 = {call}"]
    return [f"%s = {call}", *(f"%s{part} = extractelement {kind} %s, i32 {part}" for part in range(count))]


def _known_channels(ir: IrModule, geometry: Geometry, values: ValueClass, color: str, result: str) -> list[str]:
    """Instructions that make alpha 0 where the image has none."""
    order = _instruction(ir, "i32", "order", geometry, "", [])
    zero = "0.0" if values.letter == "f" else "0"
    lines = [f"%order = {order}(i64 %image)"]
    parts = []
    for number, code in enumerate(_ALPHA_MISSING):
        lines.append(f"%is{number} = icmp eq i32 %order, {code}")
        parts.append(f"%is{number}")
    return [
        *lines,
        f"%some = or i1 {parts[0]}, {parts[1]}",
        f"%none = or i1 %some, {parts[2]}",
        f"%opaque = insertelement {values.vector} {color}, {values.scalar} {zero}, i32 3",
        f"{result} = select i1 %none, {values.vector} %opaque, {values.vector} {color}",
    ]


def _sample(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    lines = _sizes(ir, geometry)
    ctlz = ir.external("i32", "llvm.ctlz.i32", ["i32", "i1"])
    low, high = (ir.external("float", f"llvm.{name}.f32", ["float", "float"]) for name in ("minnum", "maxnum"))
    place = []
    for number, axis in enumerate(geometry.axes):
        # Coordinates that drivers take: an even number of repetitions, and not NaN.
        lines += [
            f"%z{number} = {ctlz}(i32 %s{number}, i1 false)",
            f"%e{number} = sub i32 %z{number}, 1",
            f"%p{number} = shl i32 1, %e{number}",
            f"%d{number} = shl i32 %s{number}, 1",
            f"%c{number} = icmp ugt i32 %p{number}, %d{number}",
            f"%m{number} = select i1 %c{number}, i32 %p{number}, i32 %d{number}",
            f"%most{number} = uitofp i32 %m{number} to float",
            f"%least{number} = fneg float %most{number}",
            f"%l{number} = {high}(float %{axis}, float %least{number})",
            f"%a{number} = {low}(float %l{number}, float %most{number})",
        ]
        place.append(f"%a{number}")
    if geometry.layered:
        last = geometry.dimensions
        lines += [
            f"%lastlayer = sub i32 %s{last}, 1",
            "%beyond = icmp ugt i32 %layer, %lastlayer",
            "%nearest = select i1 %beyond, i32 %lastlayer, i32 %layer",
            "%floatlayer = uitofp i32 %nearest to float",
        ]
        place.append("%floatlayer")
    gather, at, kind = _position("float", place)
    call = _instruction(ir, values.vector, "sample", geometry, values.letter, [kind])
    body = [
        *lines,
        *gather,
        f"%found = {call}(i64 %image, {kind} {at})",
        *_known_channels(ir, geometry, values, "%found", "%r"),
        f"ret {values.vector} %r",
    ]
    name = f"__bindless_sample_{geometry.name}_{values.letter}"
    ir.function(name, values.vector, ["i64 %image", *geometry.arguments("float")], body)


def _bounds(ir: IrModule, geometry: Geometry) -> tuple[list[str], list[str]]:
    """Instructions for %inside, whether a pixel is one of the image, and its place."""
    lines, place = _sizes(ir, geometry), [*(f"%{axis}" for axis in geometry.axes)]
    if geometry.layered:
        place.append("%layer")
    condition = ""
    for number, part in enumerate(place):
        lines.append(f"%in{number} = icmp ult i32 {part}, %s{number}")
        if condition:
            lines.append(f"%both{number} = and i1 {condition}, %in{number}")
        condition = f"%both{number}" if condition else f"%in{number}"
    return [*lines, f"br i1 {condition}, label %inside, label %end"], place


def _read(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    lines, place = _bounds(ir, geometry)
    gather, at, kind = _position("i32", place)
    call = _instruction(ir, values.vector, "read", geometry, values.letter, [kind])
    body = [
        "entry:",
        *lines,
        "inside:",
        *gather,
        f"%found = {call}(i64 %image, {kind} {at})",
        *_known_channels(ir, geometry, values, "%found", "%known"),
        "br label %end",
        "end:",
        f"%r = phi {values.vector} [ %known, %inside ], [ zeroinitializer, %entry ]",
        f"ret {values.vector} %r",
    ]
    for form in ("read", "fetch_sampled"):
        name = f"__bindless_{form}_{geometry.name}_{values.letter}"
        ir.function(name, values.vector, ["i64 %image", *geometry.arguments("i32")], body)


def _write(ir: IrModule, geometry: Geometry, values: ValueClass) -> None:
    lines, place = _bounds(ir, geometry)
    gather, at, kind = _position("i32", place)
    call = _instruction(ir, "void", "write", geometry, values.letter, [kind, values.vector])
    body = [
        "entry:",
        *lines,
        "inside:",
        *gather,
        f"{call}(i64 %image, {kind} {at}, {values.vector} %texel)",
        "br label %end",
        "end:",
        "ret void",
    ]
    parameters = ["i64 %image", *geometry.arguments("i32"), f"{values.vector} %texel"]
    ir.function(f"__bindless_write_{geometry.name}_{values.letter}", "void", parameters, body)


def _position(scalar: str, place: list[str]) -> tuple[list[str], str, str]:
    """Instructions that gather a coordinate of one, two or four components; its name and type."""
    if len(place) == 1:
        return [], place[0], scalar
    width = 2 if len(place) == 2 else 4
    gather, vector = build_vector(scalar, place, width)
    return gather, vector, f"<{width} x {scalar}>"


def module() -> str:
    """The primitives of images as LLVM IR text."""
    ir = IrModule(DATA_LAYOUT, TRIPLE, "spir_func ")
    for geometry in (*STANDARD, *LAYERED):
        for values in CLASSES:
            _sample(ir, geometry, values)
            _read(ir, geometry, values)
            _write(ir, geometry, values)
    return ir.text().replace("spir_func i32 @llvm.", "i32 @llvm.").replace("spir_func float @llvm.", "float @llvm.")
