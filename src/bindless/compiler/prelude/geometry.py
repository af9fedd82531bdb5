"""The image geometries and value classes of the preludes and the kernels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Geometry:
    """One shape of image: the number of its coordinates, and whether it has a layer number."""

    name: str
    dimensions: int
    layered: bool = False

    @property
    def axes(self) -> str:
        return "xyz"[: self.dimensions]

    def arguments(self, scalar: str) -> list[str]:
        """IR parameters of a position: the layer, then the coordinates of LLVM type `scalar`."""
        return [*(["i32 %layer"] if self.layered else []), *(f"{scalar} %{axis}" for axis in self.axes)]


@dataclass(frozen=True)
class ValueClass:
    """The register type of an image's values: always a vector of four components."""

    letter: str
    scalar: str  # LLVM type
    ptx: str  # PTX type, in names of intrinsics
    opencl: str  # OpenCL C vector type

    @property
    def vector(self) -> str:
        return f"<4 x {self.scalar}>"


STANDARD = (Geometry("1d", 1), Geometry("2d", 2), Geometry("3d", 3))
LAYERED = (Geometry("1d_array", 1, layered=True), Geometry("2d_array", 2, layered=True))
CUBE = Geometry("cube", 3)
LINEAR = Geometry("1d_linear", 1)

CLASSES = (
    ValueClass("f", "float", "f32", "float4"),
    ValueClass("i", "i32", "s32", "int4"),
    ValueClass("u", "i32", "u32", "uint4"),
)
