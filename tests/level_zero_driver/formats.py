"""Image formats decoded by numpy, independently of the driver's own code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.level_zero_driver.rig import lib

Array = npt.NDArray[Any]

TYPES = ("UINT", "SINT", "UNORM", "SNORM", "FLOAT")

# Bits per channel, red first, from the lowest bit of a pixel; packed layouts with the first bit of each channel.
PLAIN = {
    "8": (8,), "8_8": (8, 8), "8_8_8": (8,) * 3, "8_8_8_8": (8,) * 4,
    "16": (16,), "16_16": (16, 16), "16_16_16": (16,) * 3, "16_16_16_16": (16,) * 4,
    "32": (32,), "32_32": (32, 32), "32_32_32": (32,) * 3, "32_32_32_32": (32,) * 4,
}  # fmt: skip
PACKED = {
    "10_10_10_2": (32, ((0, 10), (10, 10), (20, 10), (30, 2))),
    "11_11_10": (32, ((0, 11), (11, 11), (22, 10))),
    "5_6_5": (16, ((11, 5), (5, 6), (0, 5))),
    "5_5_5_1": (16, ((10, 5), (5, 5), (0, 5), (15, 1))),
    "4_4_4_4": (16, ((8, 4), (4, 4), (0, 4), (12, 4))),
}
# Table of the section "Images": required formats beyond the plain layouts.
PACKED_TYPES = {
    "10_10_10_2": TYPES,
    "11_11_10": ("FLOAT",),
    "5_6_5": ("UNORM",),
    "5_5_5_1": ("UNORM",),
    "4_4_4_4": ("UNORM",),
}


def required() -> Iterator[tuple[str, str]]:
    """Every required pair of layout and type, and those of three channels."""
    for layout, bits in PLAIN.items():
        for kind in TYPES:
            if kind != "FLOAT" or bits[0] > 8:
                yield layout, kind
    for layout, kinds in PACKED_TYPES.items():
        for kind in kinds:
            yield layout, kind


def ze_format(layout: str, kind: str, swizzle: str = "RGBA") -> dict[str, int]:
    """A ze_image_format_t."""
    values = [getattr(lib, f"ZE_IMAGE_FORMAT_SWIZZLE_{letter}") for letter in swizzle]
    return {
        "layout": getattr(lib, f"ZE_IMAGE_FORMAT_LAYOUT_{layout}"),
        "type": getattr(lib, f"ZE_IMAGE_FORMAT_TYPE_{kind}"),
        **dict(zip("xyzw", values, strict=True)),
    }


def random_pixels(layout: str, kind: str, count: int, generator: np.random.Generator) -> Array:
    """Random pixels as bytes, shape (count, bytes of one); floats are finite."""
    if layout in PACKED:
        size = PACKED[layout][0] // 8
        words = generator.integers(0, 2 ** (8 * size), count, dtype=np.uint64)
        if kind == "FLOAT":
            for shift, bits in PACKED[layout][1]:
                if bits > 2:  # exclude the exponent 31
                    words &= ~np.uint64(1 << (shift + bits - 1))
        return words.astype(np.uint32 if size == 4 else np.uint16).view(np.uint8).reshape(count, size)
    bits = PLAIN[layout]
    if kind == "FLOAT":
        values = generator.normal(0, 10, (count, len(bits)))
        return values.astype(np.float16 if bits[0] == 16 else np.float32).view(np.uint8).reshape(count, -1)
    return generator.integers(0, 256, (count, sum(bits) // 8), dtype=np.uint8)


def _normalized(codes: Array, bits: int, signed: bool) -> Array:
    values = codes.astype(np.float64) / (2 ** (bits - 1) - 1 if signed else 2**bits - 1)
    return np.maximum(values, -1.0)


def _small_float(codes: Array, bits: int) -> Array:
    significand = bits - 5
    exponent, rest = codes >> significand, codes & (2**significand - 1)
    normal = (1 + rest / 2**significand) * 2.0 ** (exponent - 15.0)
    return np.where(exponent == 0, rest * 2.0 ** (-14 - significand), normal)


def _channel(codes: Array, bits: int, kind: str, packed: bool) -> Array:
    codes = codes.astype(np.int64)
    signed = kind in ("SINT", "SNORM")
    if signed:
        codes = np.where(codes >= 2 ** (bits - 1), codes - 2**bits, codes)
    if kind in ("UINT", "SINT"):
        return codes
    if kind == "FLOAT" and not packed:
        return codes.astype(np.uint16 if bits == 16 else np.uint32).view(np.float16 if bits == 16 else np.float32)
    if kind == "FLOAT" and bits > 2:
        return _small_float(codes, bits)
    return _normalized(codes, bits, signed)


def decoded(layout: str, kind: str, pixels: Array) -> Array:
    """Values of pixels (n, bytes): shape (n, channels), int64 or double precision."""
    if layout in PACKED:
        size, fields = PACKED[layout]
        words = np.ascontiguousarray(pixels).view(np.uint32 if size == 32 else np.uint16)[:, 0].astype(np.int64)
        channels = [_channel(words >> shift & (2**bits - 1), bits, kind, True) for shift, bits in fields]
    else:
        bits = PLAIN[layout][0]
        codes = np.ascontiguousarray(pixels).view({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits])
        channels = [_channel(codes[:, c], bits, kind, False) for c in range(codes.shape[1])]
    return np.stack(channels, -1)


def swizzled(values: Array, swizzle: str) -> Array:
    """Values (n, channels) as a kernel reads them, shape (n, 4): a missing channel is 0, and alpha 1."""
    result = np.zeros((len(values), 4), values.dtype)
    for place, letter in enumerate(swizzle):
        channel = "RGBA".find(letter)
        if 0 <= channel < values.shape[1]:
            result[:, place] = values[:, channel]
        elif letter in "1A":
            result[:, place] = 1
    return result
