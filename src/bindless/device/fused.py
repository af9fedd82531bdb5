"""``fma``: a product and a sum with one rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..model.arrays import DType
from .declaration import KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic
from .number_types import OPENCL_TYPES

__all__ = ["fma"]

_FLOATS = ("float16", "float32", "float64")


def _fma(launch: LaunchFacts, a: Type, b: Type, c: Type) -> Lower:
    given = (a, b, c)
    for one in given:
        if not one.is_number:
            raise KernelTypeError(f"fma takes three numbers, not {one}")
    floats = [one.name for one in given if one.kind == "float"]
    widest = max(floats, key=_FLOATS.index, default=launch.default_float)
    return Lower(OPENCL_TYPES[widest], "math_functions:fma", given)


@device_intrinsic(_fma)
def fma(a: float, b: float, c: float) -> float:
    """Return ``a * b + c``, rounded once; one instruction on GPUs, and the same bits on every device.

    ``a * b + c`` itself rounds twice, unless the kernel has ``contract=True``.

    Parameters
    ----------
    a, b, c : number
        The type of the result is that of the widest float among them.

    Returns
    -------
    float
        The sum.
    """
    types = [np.float32 if type(one) is float else getattr(one, "dtype", np.dtype(np.int64)) for one in (a, b, c)]
    floats = [one for one in map(np.dtype, types) if one.name in _FLOATS]
    dtype = max(floats, key=lambda one: _FLOATS.index(one.name), default=np.dtype(np.float32))
    values = [float(dtype.type(one)) for one in (a, b, c)]
    if not all(map(np.isfinite, values)):
        special: float = dtype.type(values[0] * values[1] + values[2])
        return special
    return _rounded(Fraction(values[0]) * Fraction(values[1]) + Fraction(values[2]), dtype)


def _rounded(exact: Fraction, dtype: DType) -> float:
    """The float next to an exact number; of two as near, the one that rounding twice gives, whose last bit is even."""
    try:
        with np.errstate(over="ignore"):
            near: float = dtype.type(float(exact))
    except OverflowError:
        near = dtype.type(np.inf if exact > 0 else -np.inf)
    if not np.isfinite(near):
        return near
    sides: list[float] = [near, *(np.nextafter(near, dtype.type(end)) for end in (-np.inf, np.inf))]
    return min((one for one in sides if np.isfinite(one)), key=lambda one: abs(Fraction(float(one)) - exact))
