"""The formats of texture files: their names here, and their numbers in DXGI, Direct3D 9 and Vulkan."""

from __future__ import annotations

import numpy as np

from .textures import TextureFormat

__all__ = ["DXGI", "FOUR_CC", "VULKAN", "dxgi_number"]

_RGBA, _BGRA, _BGR = (0, 1, 2, 3), (2, 1, 0, 3), (2, 1, 0)

# The element of a channel; the numbers of 1, 2, 3 and 4 channels in DXGI, 0 for none; and in Vulkan.
_PIXELS = {
    "unorm_int8": ("<u1", (61, 49, 0, 28), (9, 16, 23, 37)),
    "snorm_int8": ("<i1", (63, 51, 0, 31), (10, 17, 24, 38)),
    "unsigned_int8": ("<u1", (62, 50, 0, 30), (13, 20, 27, 41)),
    "signed_int8": ("<i1", (64, 52, 0, 32), (14, 21, 28, 42)),
    "unorm_int8_srgb": ("<u1", (0, 0, 0, 29), (15, 22, 29, 43)),
    "unorm_int16": ("<u2", (56, 35, 0, 11), (70, 77, 84, 91)),
    "snorm_int16": ("<i2", (58, 37, 0, 13), (71, 78, 85, 92)),
    "unsigned_int16": ("<u2", (57, 36, 0, 12), (74, 81, 88, 95)),
    "signed_int16": ("<i2", (59, 38, 0, 14), (75, 82, 89, 96)),
    "fp16": ("<f2", (54, 34, 0, 10), (76, 83, 90, 97)),
    "unsigned_int32": ("<u4", (42, 17, 7, 3), (98, 101, 104, 107)),
    "signed_int32": ("<i4", (43, 18, 8, 4), (99, 102, 105, 108)),
    "fp32": ("<f4", (41, 16, 6, 2), (100, 103, 106, 109)),
}

# Bytes of a block; numbers in DXGI, those without a type behind; and in Vulkan.
_BLOCKS = {
    "bc1_unorm": (8, (71, 70), (133, 131)),  # Vulkan's second number: without alpha
    "bc1_srgb": (8, (72,), (134, 132)),
    "bc2_unorm": (16, (74, 73), (135,)),
    "bc2_srgb": (16, (75,), (136,)),
    "bc3_unorm": (16, (77, 76), (137,)),
    "bc3_srgb": (16, (78,), (138,)),
    "bc4_unorm": (8, (80, 79), (139,)),
    "bc4_snorm": (8, (81,), (140,)),
    "bc5_unorm": (16, (83, 82), (141,)),
    "bc5_snorm": (16, (84,), (142,)),
    "bc6h_ufloat": (16, (95, 94), (143,)),
    "bc6h_sfloat": (16, (96,), (144,)),
    "bc7_unorm": (16, (98, 97), (145,)),
    "bc7_srgb": (16, (99,), (146,)),
}

# Others: the channel type, element, elements and places; numbers in DXGI; and in Vulkan.
_OTHERS = (
    ("unorm_int8", "<u1", 4, _RGBA, (27,), (51,)),
    ("unorm_int8_srgb", "<u1", 4, _RGBA, (), (57,)),
    ("unorm_int8", "<u1", 4, _BGRA, (87, 90), (44,)),
    ("unorm_int8_srgb", "<u1", 4, _BGRA, (91,), (50,)),
    ("unorm_int8", "<u1", 4, _BGR, (88, 92), ()),
    ("unorm_int8_srgb", "<u1", 4, _BGR, (93,), ()),
    ("unorm_int8", "<u1", 3, _BGR, (), (30,)),
    ("unorm_int8_srgb", "<u1", 3, _BGR, (), (36,)),
    ("unorm_int8", "<u1", 1, (), (65,), ()),  # alpha alone
    ("unorm_10_10_10_2", "<u1", 4, _RGBA, (24, 23), (64,)),  # bytes of words with red in the lowest ten bits
)

DXGI: dict[int, TextureFormat] = {}
VULKAN: dict[int, TextureFormat] = {}

for _name, (_kind, _dxgi, _vulkan) in _PIXELS.items():
    for _channels in range(1, 5):
        _form = TextureFormat(_name, np.dtype(_kind), _channels)
        DXGI[_dxgi[_channels - 1]] = VULKAN[_vulkan[_channels - 1]] = _form
del DXGI[0]
for _name, (_bytes, _dxgi_numbers, _vulkan_numbers) in _BLOCKS.items():
    _form = TextureFormat(_name, np.dtype(np.uint8), _bytes)
    DXGI.update(dict.fromkeys(_dxgi_numbers, _form))
    VULKAN.update(dict.fromkeys(_vulkan_numbers, _form))
for _name, _kind, _elements, _places, _dxgi_numbers, _vulkan_numbers in _OTHERS:
    _form = TextureFormat(_name, np.dtype(_kind), _elements, () if _places == _RGBA else _places)
    DXGI.update(dict.fromkeys(_dxgi_numbers, _form))
    VULKAN.update(dict.fromkeys(_vulkan_numbers, _form))

# DXGI's numbers of the formats that old .dds files name by four letters, or by a number of Direct3D 9.
FOUR_CC = {
    b"DXT1": 71,
    b"DXT2": 74,
    b"DXT3": 74,
    b"DXT4": 77,
    b"DXT5": 77,
    b"ATI1": 80,
    b"BC4U": 80,
    b"BC4S": 81,
    b"ATI2": 83,
    b"BC5U": 83,
    b"BC5S": 84,
    b"\x24\0\0\0": 11,
    b"\x6e\0\0\0": 13,
    b"\x6f\0\0\0": 54,
    b"\x70\0\0\0": 34,
    b"\x71\0\0\0": 10,
    b"\x72\0\0\0": 41,
    b"\x73\0\0\0": 16,
    b"\x74\0\0\0": 2,
}


def dxgi_number(channel_type: str, channels: int) -> int:
    """DXGI's number of a format; 0 where it has none."""
    if channel_type == "unorm_10_10_10_2":
        return 24
    if channel_type in _BLOCKS:
        return _BLOCKS[channel_type][1][0]
    return _PIXELS[channel_type][1][channels - 1] if channel_type in _PIXELS else 0
