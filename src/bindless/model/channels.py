"""Table of channel types: storage type, value type and normalization of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .enums import ImageChannelType
from .errors import InvalidError
from .host_array import as_dtype

__all__ = ["BLOCK_SIDE", "CHANNELS", "Channel", "channel_of_dtype"]


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
    channels
        The number of channels, of a type that samplers alone read; 0: 1 to 4.
    block
        Bytes of a block of 4 x 4 pixels; 0 without blocks.
    decoded
        Dtype of a channel of decoded blocks and words.
    """

    index: int
    storage: np.dtype[np.generic]
    value: np.dtype[np.generic]
    normalized: bool
    kind: str
    channels: int = 0
    block: int = 0
    decoded: np.dtype[np.generic] | None = None

    @property
    def is_sampled_only(self) -> bool:
        """Whether only samplers of image memory read it: blocks, words and codes of sRGB."""
        return self.channels > 0

    @property
    def word(self) -> int:
        """Number in the kernels' argument ``format``: types that samplers alone read are floats there."""
        return CHANNELS[ImageChannelType.fp32].index if self.channels else self.index

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


def _blocks(index: int, decoded: str, channels: int, block: int = 16) -> Channel:
    return Channel(index, _BYTE, _FLOAT, False, "f", channels, block, np.dtype(decoded))


_BYTE, _FLOAT = np.dtype("uint8"), np.dtype("float32")

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
    ImageChannelType.unorm_10_10_10_2: Channel(14, _BYTE, _FLOAT, False, "f", 4, decoded=np.dtype("uint16")),
    ImageChannelType.unorm_int8_srgb: Channel(23, _BYTE, _FLOAT, False, "f", 4),
    ImageChannelType.bc1_unorm: _blocks(24, "uint8", 4, 8),
    ImageChannelType.bc1_srgb: _blocks(25, "uint8", 4, 8),
    ImageChannelType.bc2_unorm: _blocks(26, "uint8", 4),
    ImageChannelType.bc2_srgb: _blocks(27, "uint8", 4),
    ImageChannelType.bc3_unorm: _blocks(28, "uint8", 4),
    ImageChannelType.bc3_srgb: _blocks(29, "uint8", 4),
    ImageChannelType.bc4_unorm: _blocks(30, "uint16", 1, 8),
    ImageChannelType.bc4_snorm: _blocks(31, "int16", 1, 8),
    ImageChannelType.bc5_unorm: _blocks(32, "uint16", 2),
    ImageChannelType.bc5_snorm: _blocks(33, "int16", 2),
    ImageChannelType.bc6h_ufloat: _blocks(34, "float16", 4),
    ImageChannelType.bc6h_sfloat: _blocks(35, "float16", 4),
    ImageChannelType.bc7_unorm: _blocks(36, "uint8", 4),
    ImageChannelType.bc7_srgb: _blocks(37, "uint8", 4),
}

BLOCK_SIDE = 4
"""Pixels along a side of a block."""

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
