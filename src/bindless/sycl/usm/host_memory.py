"""Host memory that a command reads or writes in place: numpy arrays and other buffers."""

from __future__ import annotations

from ctypes import addressof, c_char

import numpy as np

from ...model.arrays import Array
from ...model.errors import InvalidError
from ...model.host_array import plain
from ...model.masked_arrays import warn_of_mask

__all__ = ["HostSpan", "address_of", "host_span"]

_byte_of = c_char.from_buffer


# Contiguous host memory: the address of its first byte, its bytes, and what keeps it there.
HostSpan = tuple[int, int, object]


def host_span(what: str, value: object, *, written: bool) -> HostSpan | None:
    """The bytes of a numpy array or of another buffer, in place; None for what is neither.

    Parameters
    ----------
    what : str
        The memory as errors call it, such as ``the source``.
    written : bool
        Whether a command writes it.

    Raises
    ------
    InvalidError
        It is not contiguous, not plain memory, or read-only and written.
    """
    if isinstance(value, np.ndarray):
        original = value
        if type(value) is not np.ndarray:
            value = plain(value)
        flags = value.flags
        if not flags.c_contiguous:
            way_out = (
                "copy into a contiguous array and assign from it"
                if written
                else "copy it first with np.ascontiguousarray(array)"
            )
            raise InvalidError(
                f"{what} array of shape {value.shape} and strides {value.strides} is not C-contiguous: {way_out}"
            )
        if value.dtype.hasobject:
            raise InvalidError(f"{what} array holds Python objects (dtype {value.dtype}), not plain memory")
        if not written:
            if value is not original:
                warn_of_mask(original, what)
        elif not flags.writeable:
            raise InvalidError(f"{what} array of shape {value.shape} is read-only: copy into a writable one")
        return address_of(value), value.nbytes, value
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return None
    if not view.c_contiguous:
        raise InvalidError(f"{what} buffer is not contiguous: copy it first")
    if written and view.readonly:
        raise InvalidError(f"{what} is a read-only {type(value).__name__}: copy into a writable buffer")
    data = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
    return address_of(data), view.nbytes, (data, value)


def address_of(array: Array) -> int:
    """Return the address of the first byte of a contiguous array."""
    try:
        return addressof(_byte_of(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # read-only, empty, or of a dtype without a format: the slower way
        address: int = array.__array_interface__["data"][0]
        return address
