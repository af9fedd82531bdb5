"""Names of number types: numpy's and those of OpenCL C."""

from __future__ import annotations

from .declaration import KernelTypeError, Type

__all__ = ["OPENCL_TYPES", "numpy_name", "opencl_type"]

OPENCL_TYPES = {
    "bool": "bool", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int",
    "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
}  # fmt: skip
"""Types of OpenCL C by numpy's names."""


def opencl_type(value: Type) -> str:
    """Return the type of OpenCL C of a number."""
    try:
        return OPENCL_TYPES[value.name]
    except KeyError:
        raise KernelTypeError(f"{value} is no number that kernels have") from None


def numpy_name(function: str, dtype: Type | None, otherwise: str, allowed: tuple[str, ...]) -> str:
    """Return numpy's name of a type that a kernel gives, such as ``np.float32``.

    Raises
    ------
    KernelTypeError
        It is no type, or none that the function has.
    """
    if dtype is None:
        return otherwise
    name = dtype.name if dtype.kind == "dtype" else dtype.value if dtype.kind == "text" else None
    if name not in allowed:
        word = dtype if name is None else repr(name)
        raise KernelTypeError(f"{function}: dtype={word} is none of {', '.join(allowed)}")
    return str(name)
