"""Table of channel types: storage type, value type and normalization of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .enums import ImageChannelType
from .errors import InvalidError
from .host_array import as_dtype

__all__ = ["CHANNELS", "Channel", "channel_of_dtype"]


@dataclass(frozen=True)
class Channel:
    """One channel type.

    Attributes
    ----------
    index
        Position in the specification's enumeration; kernels and the reference driver use it.
    storage
        Dtype in memory.
    value
        Dtype that a device function reads: float32 for a normalized channel.
    normalized
        Whether the stored codes represent 0..1 or -1..1.
    kind
        Class of the device functions: ``f`` float, ``i`` signed, ``u`` unsigned integer.
    """

    index: int
    storage: np.dtype[np.generic]
    value: np.dtype[np.generic]
    normalized: bool
    kind: str

    @property
    def size(self) -> int:
        """Bytes of one channel."""
        return self.storage.itemsize

    @property
    def is_integer(self) -> bool:
        """Whether device functions read integers."""
        return self.kind != "f"


def _channel(index: int, storage: str, kind: str, normalized: bool = False) -> Channel:
    value = "float32" if normalized else storage
    return Channel(index, np.dtype(storage), np.dtype(value), normalized, kind)


CHANNELS: dict[ImageChannelType, Channel] = {
    ImageChannelType.snorm_int8: _channel(0, "int8", "f", True),
    ImageChannelType.snorm_int16: _channel(1, "int16", "f", True),
    ImageChannelType.unorm_int8: _channel(2, "uint8", "f", True),
    ImageChannelType.unorm_int16: _channel(3, "uint16", "f", True),
    ImageChannelType.signed_int8: _channel(4, "int8", "i"),
    ImageChannelType.signed_int16: _channel(5, "int16", "i"),
    ImageChannelType.signed_int32: _channel(6, "int32", "i"),
    ImageChannelType.unsigned_int8: _channel(7, "uint8", "u"),
    ImageChannelType.unsigned_int16: _channel(8, "uint16", "u"),
    ImageChannelType.unsigned_int32: _channel(9, "uint32", "u"),
    ImageChannelType.fp16: _channel(10, "float16", "f"),
    ImageChannelType.fp32: _channel(11, "float32", "f"),
}

# Element types of value arrays, as kernels and the reference driver number them.
ELEMENTS: dict[np.dtype[np.generic], int] = {
    np.dtype(name): index
    for index, name in enumerate(("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"))
}

_OF_DTYPE: dict[np.dtype[np.generic], ImageChannelType] = {
    np.dtype("uint8"): ImageChannelType.unorm_int8,
    np.dtype("uint16"): ImageChannelType.unorm_int16,
    np.dtype("int8"): ImageChannelType.snorm_int8,
    np.dtype("int16"): ImageChannelType.snorm_int16,
    np.dtype("int32"): ImageChannelType.signed_int32,
    np.dtype("uint32"): ImageChannelType.unsigned_int32,
    np.dtype("float16"): ImageChannelType.fp16,
    np.dtype("float32"): ImageChannelType.fp32,
}


# The closest supported dtype for dtypes that images do not hold, by kind.
_NEAR = {"f": "float32", "i": "int32", "u": "uint32", "b": "uint8"}


def channel_of_dtype(dtype: np.dtype[np.generic] | type | str) -> ImageChannelType:
    """Return the channel type for uploading an array of this dtype: 8- and 16-bit integers are normalized.

    Raises
    ------
    InvalidError
        No channel type stores this dtype, or it is no dtype.
    """
    kind = as_dtype("dtype", dtype)
    try:
        return _OF_DTYPE[kind.newbyteorder("=")]
    except KeyError:
        allowed = ", ".join(str(d) for d in _OF_DTYPE)
        near = _NEAR.get(kind.kind)
        way_out = f": convert with array.astype({near!r})" if near else ""
        if kind.kind == "c":
            way_out = ": make two channels of it, numpy.stack((array.real, array.imag), -1).astype('float32')"
        if kind.kind in "US":
            way_out = "; Image.open reads a picture file"
        raise InvalidError(f"no image channel stores dtype {kind}; images hold {allowed}{way_out}") from None
