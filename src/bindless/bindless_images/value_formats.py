"""Types of the values that device functions read and write (Recognized standard types, User-defined types)."""

from __future__ import annotations

from typing import NamedTuple, Union

import numpy as np
import numpy.typing as npt

from ..model.arrays import DType
from ..model.channels import ELEMENTS
from ..model.errors import InvalidError
from ..model.host_array import as_dtype
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown

__all__ = ["DTypeLike", "ValueFormat", "read_format", "written_format"]

DTypeLike = Union[npt.DTypeLike, None]

_MAX_CHANNELS = 4
_USER_KINDS = "biufcV"  # numpy's letters of numbers and raw bytes
_FLOATS = (np.dtype("float32"), np.dtype("float16"))

# Bytes of the standard types: one to four numbers of 1, 2 or 4 bytes.
_STANDARD_SIZES = sorted({size * count for size in (1, 2, 4) for count in range(1, _MAX_CHANNELS + 1)})


class ValueFormat(NamedTuple):
    """Layout of values in an array.

    Attributes
    ----------
    element : np.dtype
        dtype of one number.
    channels : int
        Numbers of one value.
    item : np.dtype
        dtype of the array: the element's, or that of a user type.
    """

    element: DType
    channels: int
    item: DType

    @property
    def is_user_type(self) -> bool:
        """Whether the array holds one item of a user type for each value."""
        return self.item != self.element

    def shape(self, count: int) -> tuple[int, ...]:
        """Shape of an array of so many values."""
        return (count,) if self.item != self.element else (count, self.channels)


def read_format(
    name: str,
    desc: ImageDescriptor,
    num_channels: int | None,
    dtype: DTypeLike,
    hint: DTypeLike,
) -> ValueFormat:
    """The format of the values that a fetch or sample returns.

    Parameters
    ----------
    num_channels : int | None
        Numbers of a value; default the image's. Channels that the image lacks read 0.
    dtype : DTypeLike
        Of the result: a standard type (default: the channel's own, float32 for normalized types), or a user type with
        ``hint``.
    hint : DTypeLike
        The standard type that a user type stands for, such as ``np.dtype("4f4")``; ignored for standard types.
    """
    channels = desc.num_channels if num_channels is None else num_channels
    if not isinstance(channels, (int, np.integer)) or not 1 <= channels <= _MAX_CHANNELS:
        raise InvalidError(f"{name}: num_channels={shown(num_channels)}: it is 1 to {_MAX_CHANNELS}")
    if dtype is None:
        return ValueFormat(desc.value_dtype, int(channels), desc.value_dtype)
    type_ = dtype if isinstance(dtype, np.dtype) else as_dtype(f"{name}: dtype", dtype)
    if type_.base in ELEMENTS or not _is_user_type(type_):
        element, count = _standard(name, "dtype", type_)
        _check_element(name, desc, element)
        return ValueFormat(element, int(channels) if count is None else count, element)
    if hint is None:
        raise InvalidError(
            f"{name}: dtype={type_} is a user type, none of {', '.join(map(str, ELEMENTS))}: give hint= the standard "
            "type of its size, such as np.dtype('4f4')"
        )
    element, count = _standard(name, "hint", as_dtype(f"{name}: hint", hint))
    count = 1 if count is None else count
    if element.itemsize * count != type_.itemsize:
        raise InvalidError(
            f"{name}: hint={count} x {element} takes {element.itemsize * count} bytes, dtype={type_} takes "
            f"{type_.itemsize}; they must be equal"
        )
    if type_.hasobject:
        raise InvalidError(f"{name}: dtype={type_} holds Python objects, not numbers")
    _check_element(name, desc, element)
    return ValueFormat(element, count, type_)


def written_format(name: str, desc: ImageDescriptor, item: DType) -> ValueFormat:
    """The format of the colours that a write takes, from their dtype."""
    if item in ELEMENTS or not _is_user_type(item):
        element = _native(name, "colors", item)
        if element != desc.dtype:
            _check_element(name, desc, element)
        return ValueFormat(element, desc.num_channels, element)
    if item.hasobject:
        raise InvalidError(f"{name}: colours of dtype {item} hold Python objects, not numbers")
    if item.itemsize == desc.pixel_size:
        return ValueFormat(desc.dtype, desc.num_channels, item)
    if desc.channel.normalized:
        for element in _FLOATS:
            if item.itemsize == element.itemsize * desc.num_channels:
                return ValueFormat(element, desc.num_channels, item)
    if item.fields is None:
        _native(name, "colors", item)  # raises: numbers of another type than the image's
    if item.itemsize not in _STANDARD_SIZES:
        raise InvalidError(
            f"{name}: colours of {item.itemsize} bytes (dtype {item}) have the size of no standard type; those have "
            f"{', '.join(map(str, _STANDARD_SIZES))} bytes"
        )
    raise InvalidError(
        f"{name}: colours of {item.itemsize} bytes (dtype {item}) are no pixels of {desc.num_channels} channels of "
        f"{desc.channel_type}, which take {desc.pixel_size}"
    )


def _is_user_type(dtype: DType) -> bool:
    """Whether a dtype that is no standard type may be a user type: of structures, raw bytes, and other numbers."""
    return dtype.fields is not None or (dtype.subdtype is None and dtype.kind in _USER_KINDS and dtype.isnative)


def _standard(name: str, argument: str, dtype: DType) -> tuple[DType, int | None]:
    """The element of a standard type, and how many, where it says so: ``np.dtype("4f4")`` is four float32."""
    if dtype.subdtype is None:
        return _native(name, argument, dtype), None
    base, shape = dtype.subdtype
    if len(shape) != 1 or not 1 <= shape[0] <= _MAX_CHANNELS:
        raise InvalidError(f"{name}: {argument}={dtype}: a vector has 1 to {_MAX_CHANNELS} numbers")
    return _native(name, argument, base), int(shape[0])


def _native(name: str, argument: str, dtype: DType) -> DType:
    if dtype not in ELEMENTS:
        double = "; double is no type of images" if dtype == np.float64 else ""
        raise InvalidError(
            f"{name}: {argument} is {dtype}{double}; it is one of {', '.join(map(str, ELEMENTS))}, in native byte order"
        )
    return dtype


def _check_element(name: str, desc: ImageDescriptor, element: DType) -> None:
    """Float and half for float and normalized images, the image's own type for integer images."""
    allowed = (desc.dtype,) if desc.channel.is_integer else _FLOATS
    if element not in allowed:
        raise InvalidError(
            f"{name}: values of {element} do not fit {desc.channel_type} channels; "
            f"they are {' or '.join(map(str, allowed))}"
        )
