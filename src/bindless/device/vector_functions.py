"""Vectors of 2, 3 and 4 numbers in kernels: constructors, products, lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .declaration import KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic
from .number_types import OPENCL_TYPES
from .values import Operand
from .vector import Vector

__all__ = [
    "cross", "dot", "float2", "float3", "float4", "int2", "int3", "int4", "length", "normalize", "uint2", "uint3",
    "uint4",
]  # fmt: skip


def _constructor(name: str, count: int) -> Callable[..., Lower]:
    def rule(launch: LaunchFacts, *parts: Type) -> Lower:
        total = 0
        for part in parts:
            if not (part.is_number or part.kind in ("vector", "tuple")):
                raise KernelTypeError(f"{name}{count} takes numbers, vectors and tuples, not {part}")
            total += part.count if part.kind in ("vector", "tuple") else 1
        if total != count and not (total == len(parts) == 1):
            raise KernelTypeError(f"{name}{count} takes {count} numbers, or one for all, not {total}")
        return Lower(f"{name}{count}", "vector_functions:make", parts)

    return rule


def _same(name: str, *vectors: Type) -> tuple[str, int]:
    """The type of the components, float32 or float64, and their number."""
    for one in vectors:
        if one.kind != "vector" or one.name not in ("float32", "float64") or one != _like(one, vectors[0]):
            raise KernelTypeError(f"{name} takes vectors of floats of one type and length, not {one}")
    return OPENCL_TYPES[vectors[0].name], vectors[0].count


def _like(one: Type, other: Type) -> Type:
    """``one`` where both are of one type and length."""
    return one if (one.name, one.count) == (other.name, other.count) else Type("none")


def _dot(launch: LaunchFacts, a: Type, b: Type) -> Lower:
    kind, _ = _same("dot", a, b)
    return Lower(kind, "vector_functions:dot", (a, b))


def _length(launch: LaunchFacts, vector: Type) -> Lower:
    kind, _ = _same("length", vector)
    return Lower(kind, "vector_functions:length", (vector,))


def _normalize(launch: LaunchFacts, vector: Type) -> Lower:
    kind, count = _same("normalize", vector)
    return Lower(f"{kind}{count}", "vector_functions:normalize", (vector,))


def _cross(launch: LaunchFacts, a: Type, b: Type) -> Lower:
    kind, count = _same("cross", a, b)
    if count != 3:
        raise KernelTypeError(f"cross takes vectors of 3, not {a}")
    return Lower(f"{kind}3", "vector_functions:cross", (a, b))


def _made(parts: tuple[Operand, ...], count: int, dtype: npt.DTypeLike) -> Vector:
    numbers = [number for part in parts for number in (part if isinstance(part, tuple) else (part,))]
    return Vector(numbers * count if len(numbers) == 1 else numbers, dtype)


@device_intrinsic(_dot)
def dot(a: Vector, b: Vector) -> float:
    """Return the sum of the products of the components; costs an operation or two for each.

    Parameters
    ----------
    a, b : vector of floats
        Of one length.

    Returns
    -------
    float
        Of the components' type.
    """
    found: float = a[0] * b[0]
    for one, other in zip(a[1:], b[1:]):
        found = found + one * other
    return found


@device_intrinsic(_length)
def length(vector: Vector) -> float:
    """Return the Euclidean length: ``dot`` and a square root.

    Parameters
    ----------
    vector : vector of floats
        2 to 4 components.

    Returns
    -------
    float
        Of the components' type.
    """
    root: float = np.sqrt(dot(vector, vector))
    return root


@device_intrinsic(_normalize)
def normalize(vector: Vector) -> Vector:
    """Return a vector of length 1 in the same direction: ``length`` and a division for each component.

    Parameters
    ----------
    vector : vector of floats
        Not all 0.

    Returns
    -------
    vector of floats
        Of the same type.
    """
    return vector / length(vector)


@device_intrinsic(_cross)
def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of two vectors of 3 floats: nine operations.

    Parameters
    ----------
    a, b : vector of 3 floats
        The factors.

    Returns
    -------
    vector of 3 floats
        Perpendicular to both.
    """
    values = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return Vector(values, np.result_type(*values))


@device_intrinsic(_constructor("float", 2))
def float2(*parts: Operand) -> Vector:
    """Make a vector of 2 numbers of type float32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 2 numbers, or one number for all components.

    Returns
    -------
    vector of 2
        With the components ``.xy`` or ``.rg``, also several at once (``.yx``).
    """
    return _made(parts, 2, np.float32)


@device_intrinsic(_constructor("float", 3))
def float3(*parts: Operand) -> Vector:
    """Make a vector of 3 numbers of type float32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 3 numbers, or one number for all components.

    Returns
    -------
    vector of 3
        With the components ``.xyz`` or ``.rgb``, also several at once (``.yx``).
    """
    return _made(parts, 3, np.float32)


@device_intrinsic(_constructor("float", 4))
def float4(*parts: Operand) -> Vector:
    """Make a vector of 4 numbers of type float32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 4 numbers, or one number for all components.

    Returns
    -------
    vector of 4
        With the components ``.xyzw`` or ``.rgba``, also several at once (``.yx``).
    """
    return _made(parts, 4, np.float32)


@device_intrinsic(_constructor("int", 2))
def int2(*parts: Operand) -> Vector:
    """Make a vector of 2 numbers of type int32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 2 numbers, or one number for all components.

    Returns
    -------
    vector of 2
        With the components ``.xy`` or ``.rg``, also several at once (``.yx``).
    """
    return _made(parts, 2, np.int32)


@device_intrinsic(_constructor("int", 3))
def int3(*parts: Operand) -> Vector:
    """Make a vector of 3 numbers of type int32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 3 numbers, or one number for all components.

    Returns
    -------
    vector of 3
        With the components ``.xyz`` or ``.rgb``, also several at once (``.yx``).
    """
    return _made(parts, 3, np.int32)


@device_intrinsic(_constructor("int", 4))
def int4(*parts: Operand) -> Vector:
    """Make a vector of 4 numbers of type int32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 4 numbers, or one number for all components.

    Returns
    -------
    vector of 4
        With the components ``.xyzw`` or ``.rgba``, also several at once (``.yx``).
    """
    return _made(parts, 4, np.int32)


@device_intrinsic(_constructor("uint", 2))
def uint2(*parts: Operand) -> Vector:
    """Make a vector of 2 numbers of type uint32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 2 numbers, or one number for all components.

    Returns
    -------
    vector of 2
        With the components ``.xy`` or ``.rg``, also several at once (``.yx``).
    """
    return _made(parts, 2, np.uint32)


@device_intrinsic(_constructor("uint", 3))
def uint3(*parts: Operand) -> Vector:
    """Make a vector of 3 numbers of type uint32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 3 numbers, or one number for all components.

    Returns
    -------
    vector of 3
        With the components ``.xyz`` or ``.rgb``, also several at once (``.yx``).
    """
    return _made(parts, 3, np.uint32)


@device_intrinsic(_constructor("uint", 4))
def uint4(*parts: Operand) -> Vector:
    """Make a vector of 4 numbers of type uint32; costs nothing.

    Parameters
    ----------
    parts : number, vector or tuple
        Together 4 numbers, or one number for all components.

    Returns
    -------
    vector of 4
        With the components ``.xyzw`` or ``.rgba``, also several at once (``.yx``).
    """
    return _made(parts, 4, np.uint32)
