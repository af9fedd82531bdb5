"""Text from kernels."""

from __future__ import annotations

import re

from .declaration import KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic
from .values import Number

__all__ = ["FIELD", "printf"]

FIELD = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?([diouxXcfFeEgGaA]))")


def _printf(launch: LaunchFacts, format: Type, *values: Type) -> Lower:
    if format.kind != "text" or format.value is None:
        raise KernelTypeError("printf: the format is a text, a constant")
    fields = [match[1] for match in FIELD.finditer(format.value) if match[1]]
    if "%" in FIELD.sub("", format.value):
        raise KernelTypeError(f"printf: the format {format.value!r} has a field that is none of %d %u %x %c %f %e %g")
    if len(fields) != len(values):
        raise KernelTypeError(f"printf: {len(fields)} fields in the format, {len(values)} values")
    for field, value in zip(fields, values):
        if not value.is_number:
            raise KernelTypeError(f"printf takes numbers, not {value}")
        if (value.kind == "float") != (field in "fFeEgGaA"):
            raise KernelTypeError(f"printf: %{field} does not print {value}")
    kinds = tuple(
        "float" if value.kind == "float" else "signed" if field in "di" else "unsigned"
        for field, value in zip(fields, values)
    )
    return Lower(
        "int", "printing:printf", values, {"format": format.value, "kinds": kinds, "language": launch.language}
    )


@device_intrinsic(_printf)
def printf(format: str, *values: Number) -> int:
    """Print numbers from a kernel, as C's printf: for debugging, as it costs hundreds of cycles.

    The text appears when the kernel has ended; lines of different work-items have no fixed order.

    Parameters
    ----------
    format : str
        A constant, with a field for each value: ``%d``, ``%u``, ``%x``, ``%c`` for integers, ``%f``, ``%e``, ``%g`` for
        floats, and ``\\n`` at the end of the line.
    values : number
        The values.

    Returns
    -------
    int
        The driver's; not portable.
    """
    print(format % values, end="")
    return 0
