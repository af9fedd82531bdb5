"""The image geometries and value classes that both preludes are generated over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Geometry:
    """One shape of image: how many coordinates it takes and whether a layer number goes with them."""

    name: str
    dimensions: int
    layered: bool = False

    @property
    def axes(self) -> str:
        return "xyz"[: self.dimensions]


@dataclass(frozen=True)
class ValueClass:
    """What an image's values are in registers: always a vector of four of these."""

    letter: str
    scalar: str  # LLVM type
    ptx: str  # PTX type, in intrinsic names
    opencl: str  # OpenCL C vector type


STANDARD = (Geometry("1d", 1), Geometry("2d", 2), Geometry("3d", 3))
LAYERED = (Geometry("1d_array", 1, layered=True), Geometry("2d_array", 2, layered=True))
CUBE = Geometry("cube", 3)
LINEAR = Geometry("1d_linear", 1)

CLASSES = (
    ValueClass("f", "float", "f32", "float4"),
    ValueClass("i", "i32", "s32", "int4"),
    ValueClass("u", "i32", "u32", "uint4"),
)


def function(name: str, result: str, parameters: list[str], body: list[str], *, convention: str = "") -> str:
    """An always-inlined LLVM IR function as text."""
    lines = "".join(f"  {line}\n" for line in body)
    return f"define {convention}{result} @{name}({', '.join(parameters)}) alwaysinline nounwind {{\n{lines}}}\n"


def build_vector(scalar: str, elements: list[str], width: int = 4) -> tuple[list[str], str]:
    """Instructions that gather `elements` into a <width x scalar> vector, zero beyond them, and the vector's name."""
    lines: list[str] = []
    vector = "zeroinitializer"
    for index, element in enumerate(elements):
        lines.append(f"%v{index} = insertelement <{width} x {scalar}> {vector}, {scalar} {element}, i32 {index}")
        vector = f"%v{index}"
    return lines, vector
