"""Descriptions of kernel modules that are known before the build: signatures and specialization constants."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import InvalidError
from ..message_values import shown

__all__ = ["Constant", "KernelSignature", "ModuleDescription", "Parameter", "pack_constant"]

# Formats of struct by kind and size in bytes.
_FORMATS = {
    ("bool", 1): "<?",
    ("float", 2): "<e",
    ("float", 4): "<f",
    ("float", 8): "<d",
    **{("int", size): f"<{letter}" for size, letter in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))},
}


@dataclass(frozen=True)
class Constant:
    """A specialization constant.

    Parameters
    ----------
    number
        Its id.
    kind
        ``bool``, ``int`` (signed or not) or ``float``.
    size
        Bytes; a bool has 1.
    default
        Bytes of its default value.
    name
        In the source; often empty.
    """

    number: int
    kind: str
    size: int
    default: bytes
    name: str = ""

    def value(self, data: bytes) -> bool | int | float:
        """Convert bytes to a value; integers are read as signed."""
        number: bool | int | float = struct.unpack(_FORMATS[self.kind, self.size], data)[0]
        return number

    def pack(self, value: object) -> bytes:
        """Convert a value to bytes.

        Raises
        ------
        InvalidError
            The value has another kind or size, or does not fit.
        """
        if isinstance(value, (bytes, np.generic)):
            data = value if isinstance(value, bytes) else value.tobytes()
            if len(data) != self.size:
                raise self._error(value, f"it has {len(data)} bytes")
            return data
        if self.kind == "float" and isinstance(value, (int, float)):
            try:
                return struct.pack(_FORMATS["float", self.size], value)
            except OverflowError:
                raise self._error(value, "it is too large") from None
        if isinstance(value, int) and (self.kind == "int" or value in (0, 1)):
            try:
                return int(value).to_bytes(self.size, "little", signed=value < 0)
            except OverflowError:
                raise self._error(value, "it does not fit") from None
        raise self._error(value, f"it is a {type(value).__name__}")

    def _error(self, value: object, reason: str) -> InvalidError:
        return InvalidError(
            f"specialization[{self.number}]={shown(value)}: {reason}; the constant is {self.kind} of {self.size} bytes"
        )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    Parameters
    ----------
    name
        As in the source, or empty.
    type
        As in the source, or empty.
    kind
        ``value``, ``pointer``, ``local``, ``image`` or ``sampler``.
    size
        Bytes.
    """

    name: str
    type: str
    kind: str
    size: int

    def __str__(self) -> str:
        return f"{self.type or self.kind} {self.name}".rstrip()


@dataclass(frozen=True)
class KernelSignature:
    """Signature of a kernel in its source; work-groups in the native order, None without a requirement.

    Parameters
    ----------
    parameters
        None where one of them has an unsupported form.
    group_function
        A function that the kernel calls, and that work-items of a group call together; the launch then names the
        work-groups. Empty for other kernels.
    """

    name: str
    parameters: tuple[Parameter, ...] | None = None
    required_work_group_size: tuple[int, ...] | None = None
    work_group_size_hint: tuple[int, ...] | None = None
    group_function: str = ""

    def __str__(self) -> str:
        listed = "..." if self.parameters is None else ", ".join(map(str, self.parameters))
        return f"{self.name}({listed})"


@dataclass(frozen=True)
class ModuleDescription:
    """Description of a module from its source.

    Parameters
    ----------
    kernel_names
        None where only the build reveals them.
    constants
        Specialization constants by number; None where the language has none.
    kernels
        Known signatures by name.
    """

    kernel_names: tuple[str, ...] | None = None
    constants: Mapping[int, Constant] | None = field(default=None)
    kernels: Mapping[str, KernelSignature] = field(default_factory=dict)


def pack_constant(number: int, value: object) -> bytes:
    """Convert a value for a constant of unknown type: a bool has 1 byte, a float 4, an int 4 or, if it needs them, 8.

    Raises
    ------
    InvalidError
        The value is none of these, no numpy scalar and no bytes.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        size = 4 if -(2**31) <= value < 2**32 else 8
        return value.to_bytes(size, "little", signed=value < 0)
    if isinstance(value, float):
        return struct.pack("<f", value)
    raise InvalidError(
        f"specialization[{number}]={shown(value)}: it is a bool, int, float, numpy scalar, or the constant's bytes"
    )
