""".dds files, Microsoft's format of textures: all levels, layers and faces, blocks as they are."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from ...model.arrays import Array
from ...model.errors import InvalidError
from .texture_formats import DXGI, FOUR_CC, dxgi_number
from .textures import Texture, TextureFormat, level_shape, level_view, require_levels

__all__ = ["DDS_MAGIC", "encode_dds", "read_dds"]

DDS_MAGIC = b"DDS "

_HEADER = struct.Struct("<4s7I44x2I4s5I4I4x")  # all but the reserved words
_DX10 = struct.Struct("<5I")

# Flags: of the header, the pixel format, the capabilities, and of the header of Direct3D 10.
_NEEDED, _PITCH, _MIPMAPS, _SIZE, _DEPTH = 0x1007, 0x8, 0x20000, 0x80000, 0x800000
_ALPHA_PIXELS, _ALPHA, _FOURCC, _RGB, _LUMINANCE = 0x1, 0x2, 0x4, 0x40, 0x20000
_COMPLEX, _TEXTURE, _LEVELS = 0x8, 0x1000, 0x400000
_CUBEMAP, _ALL_FACES, _VOLUME = 0x200, 0xFC00, 0x200000
_DX10_CUBEMAP, _LINE, _PICTURE, _SPACE = 0x4, 2, 3, 4

_MOST_SIZE = 2**32 - 1
_TEN_BITS = (0x3FF, 0x3FF << 10, 0x3FF << 20, 0x3 << 30)
# Formats with less than a byte for a channel: bits of a pixel, and the masks of red, green, blue and alpha.
_MASKS = {
    85: (16, (0xF800, 0x7E0, 0x1F)),
    86: (16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    115: (16, (0xF00, 0xF0, 0xF, 0xF000)),
}


def read_dds(data: bytes) -> Texture:
    """What a .dds file holds.

    Colours with masks of other widths than bytes are expanded to bytes, or to 16 bits where a mask has more than 8.

    Raises
    ------
    InvalidError
        The file is damaged, or of a format that the package does not know.
    """
    if len(data) < _HEADER.size:
        raise InvalidError(f"the file is cut: it has {len(data)} bytes, and a .dds header {_HEADER.size}")
    _, _, _, height, width, _, depth, levels, _, kind_flags, letters, bits, *masks, _, caps, _, _ = _HEADER.unpack_from(
        data
    )
    dimensions = 3 if caps & _VOLUME else 2
    kind, count, number, begin = "standard", 1, 0, _HEADER.size
    if kind_flags & _FOURCC and letters == b"DX10":
        number, resource, misc, count = _dx10(data)
        begin += _DX10.size
        dimensions = resource - 1
        kind = "cubemap" if misc & _DX10_CUBEMAP else "array" if count > 1 else "standard"
        count *= 6 if kind == "cubemap" else 1
    elif caps & _CUBEMAP:
        if caps & _ALL_FACES != _ALL_FACES:
            raise InvalidError("its cubemap has fewer than six faces: store all, black ones for those that it lacks")
        kind, count = "cubemap", 6
    if kind != "standard" and dimensions == 3:
        raise InvalidError(f"the file is damaged: a volume is no {kind}")
    shape = (depth, height, width)[3 - dimensions :]
    levels = max(levels, 1)
    require_levels(shape, levels)
    masks_of_pixels: tuple[int, ...] = ()
    if number in _MASKS or not kind_flags & _FOURCC:
        bits, masks_of_pixels = _MASKS.get(number) or (bits, _masks(kind_flags, bits, masks))
        form = _format_of_masks(bits, masks_of_pixels)
    else:
        form = _format_of_number(number, letters)
    shapes = [level_shape(shape, level) for level in range(levels)]
    if form.is_compressed and dimensions == 1:
        raise InvalidError("the file is damaged: a picture of one dimension has no blocks of 4 x 4 pixels")
    sizes = [form.nbytes(size) for size in shapes]
    views, stride = [], sum(sizes)
    for size, nbytes in zip(shapes, sizes):
        views.append(level_view(data, begin, stride, count, form, size))
        begin += nbytes
    if form.channel_type == "masks":
        form, views = _expand(form, masks_of_pixels, views)
    return Texture(form, kind, shape, tuple(views))


def _dx10(data: bytes) -> tuple[int, int, int, int]:
    """The format's number, the kind of resource, flags and the number of layers in Direct3D 10's header."""
    if len(data) < _HEADER.size + _DX10.size:
        raise InvalidError(f"the file is cut: it has {len(data)} bytes, and its headers {_HEADER.size + _DX10.size}")
    number, resource, misc, count, _ = _DX10.unpack_from(data, _HEADER.size)
    if resource not in (_LINE, _PICTURE, _SPACE):
        raise InvalidError(f"the file is damaged: its resource dimension is {resource}, which is 2 to 4")
    if misc & _DX10_CUBEMAP and resource != _PICTURE:
        raise InvalidError(f"the file is damaged: a cubemap of resource dimension {resource}, which is 3")
    return number, resource, misc, max(count, 1)  # some writers leave it 0


def _format_of_number(number: int, letters: bytes) -> TextureFormat:
    number = number or FOUR_CC.get(letters, 0)
    if number not in DXGI:
        name = f"DXGI_FORMAT {number}" if letters == b"DX10" else f"{letters!r}"
        raise InvalidError(f"its format {name} is not read here: convert it, for example by texconv -f BC7_UNORM")
    return DXGI[number]


def _masks(flags: int, bits: int, masks: Sequence[int]) -> tuple[int, ...]:
    """The masks of the channels in the file's flags, checked."""
    if not flags & (_RGB | _LUMINANCE | _ALPHA):
        raise InvalidError(f"its pixel format of flags {flags:#x} is not read here: convert it to RGBA or DXT5")
    if bits not in (8, 16, 24, 32):
        raise InvalidError(f"the file is damaged: pixels of {bits} bits; they have 8, 16, 24 or 32")
    *colours, alpha = masks
    if flags & _LUMINANCE:  # writers disagree about its mask: below that of alpha
        alpha = ((1 << bits) - 1) & -(1 << bits // 2) if flags & _ALPHA_PIXELS else 0
        colours = [((1 << bits) - 1) ^ alpha]
    elif flags & _ALPHA:
        colours = []
    channels = (*colours, alpha) if flags & (_ALPHA | _ALPHA_PIXELS) else tuple(colours)
    while len(channels) > 1 and channels[-1] == 0:  # one or two channels are stored as red and green
        channels = channels[:-1]
    contiguous = all(mask and (mask // (mask & -mask) + 1) & (mask // (mask & -mask)) == 0 for mask in channels)
    if not contiguous or max(channels) >> bits or max(_widths(channels)) > 16:
        names = ", ".join(f"{mask:#x}" for mask in channels)
        raise InvalidError(f"the file is damaged: pixels of {bits} bits with the masks {names}")
    return channels


def _widths(masks: Sequence[int]) -> list[int]:
    return [mask.bit_count() for mask in masks]


def _shift(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _format_of_masks(bits: int, masks: tuple[int, ...]) -> TextureFormat:
    """The format of pixels with masks; its channel type is ``masks`` where they are to be expanded."""
    if masks == _TEN_BITS:
        return DXGI[24]
    for width in (8, 16):
        if bits % width == 0 and all(mask.bit_count() == width and _shift(mask) % width == 0 for mask in masks):
            places = tuple(_shift(mask) // width for mask in masks)
            elements = bits // width
            name = f"unorm_int{width}"
            return TextureFormat(
                name, np.dtype(f"<u{width // 8}"), elements, () if places == tuple(range(elements)) else places
            )
    return TextureFormat("masks", np.dtype(np.uint8), bits // 8)


def _expand(form: TextureFormat, masks: tuple[int, ...], views: Sequence[Array]) -> tuple[TextureFormat, list[Array]]:
    """Pixels with masks as one element for each channel, from 0 to the most."""
    dtype = np.dtype(np.uint8 if max(_widths(masks)) <= 8 else np.uint16)
    most = np.iinfo(dtype).max
    levels = []
    for view in views:
        words = np.zeros(view.shape[:-1], np.uint32)
        for place in range(form.elements):
            words |= view[..., place].astype(np.uint32) << np.uint32(8 * place)
        level = np.empty((*words.shape, len(masks)), dtype)
        for channel, mask in enumerate(masks):
            largest = np.uint32(mask >> _shift(mask))
            codes = (words & np.uint32(mask)) >> np.uint32(_shift(mask))
            level[..., channel] = (codes * np.uint32(most) + largest // np.uint32(2)) // largest
        levels.append(level)
    return TextureFormat(f"unorm_int{8 * dtype.itemsize}", dtype, len(masks)), levels


def encode_dds(texture: Texture) -> bytes:
    """A .dds file of pixels or blocks, with the header of Direct3D 10 but for three channels of bytes, which it lacks.

    Parameters
    ----------
    texture : Texture
        What it holds.

    Raises
    ------
    InvalidError
        The format holds no such pixels.
    """
    levels, shape, kind, channel_type = texture.levels, texture.shape, texture.kind, texture.format.channel_type
    count, elements = len(levels[0]), texture.format.elements
    number = dxgi_number(channel_type, elements)
    bytes_of_three = channel_type == "unorm_int8" and elements == 3 and kind != "array" and len(shape) > 1
    if not number and not bytes_of_three:
        raise InvalidError(
            f"a .dds file holds no {elements} channels of {channel_type}"
            f"{' in layers' if kind == 'array' else ''}: add a channel, or convert to float32"
        )
    depth, height, width = (1, 1, *shape)[-3:]
    is_volume, is_cubemap = len(shape) == 3, kind == "cubemap"
    pixels = (_FOURCC, b"DX10", 0, 0, 0, 0, 0) if number else (_RGB, bytes(4), 24, 0xFF, 0xFF00, 0xFF0000, 0)
    flags, caps, caps2 = _NEEDED | (_SIZE if texture.format.is_compressed else _PITCH), _TEXTURE, 0
    if len(levels) > 1:
        flags, caps = flags | _MIPMAPS, caps | _COMPLEX | _LEVELS
    if is_volume:
        flags, caps, caps2 = flags | _DEPTH, caps | _COMPLEX, _VOLUME
    if count > 1:
        caps |= _COMPLEX
    if is_cubemap:
        caps2 = _CUBEMAP | _ALL_FACES
    size = min(texture.format.nbytes(shape if texture.format.is_compressed else shape[-1:]), _MOST_SIZE)
    header = DDS_MAGIC, 124, flags, height, width, size, depth, len(levels), 32, *pixels, caps, caps2, 0, 0
    parts = [_HEADER.pack(*header)]
    if number:
        layers, misc = (count // 6, _DX10_CUBEMAP) if is_cubemap else (count, 0)
        parts.append(_DX10.pack(number, len(shape) + 1, misc, layers, 0))
    for picture in range(count):
        parts += [np.ascontiguousarray(level[picture], level.dtype.newbyteorder("<")).tobytes() for level in levels]
    return b"".join(parts)
