"""Words: the integer arguments ``format`` and ``mode``, which select code of a kernel.

``csrc/kernels/README.md`` and the headers in ``csrc/kernels/include`` describe their bits.
"""

from __future__ import annotations

from functools import lru_cache

from ..model.arrays import DType
from ..model.channels import CHANNELS, ELEMENTS, Channel
from ..model.enums import Boundary, CubemapFilteringMode, FilteringMode, ImageType
from ..model.filter import CoordinateMap, Filter
from ..model.image_call import ImageCall
from ..model.image_descriptor import ImageDescriptor
from ..model.resampling import FieldKind, Resampling, Rounding
from ..model.sampler import BindlessImageSampler
from .launch_range import picture_kind, rows_kind

__all__ = [
    "format_word",
    "image_call_format",
    "image_word",
    "is_aligned",
    "memory_format",
    "memory_mode",
    "resampling_mode",
    "texture_unit_mode",
]


_FLOAT64, _FLOAT64_TEXELS = 8, 12  # numbers of doubles, which images do not have
_OWN_CHANNELS = [channel for channel in CHANNELS.values() if not channel.normalized]

# ---------------------------------------------------------------------- format


def image_word(channel: Channel, num_channels: int) -> int:
    """The part of ``format`` that describes an image."""
    return channel.word << 16 | num_channels << 24


def format_word(dtype: DType, channels: int, channel: Channel, num_channels: int, *, aligned: bool = False) -> int:
    """The argument ``format``.

    Parameters
    ----------
    dtype : np.dtype
        Of the values, in either byte order.
    channels : int
        Of a value.
    channel : Channel
        Of the image.
    num_channels : int
        Of the image.
    aligned : bool, default False
        Whether pairs of coordinates and whole values are aligned.
    """
    element = ELEMENTS.get(dtype)
    if element is None:
        element = ELEMENTS[dtype.newbyteorder("=")]
    return element | channels << 8 | image_word(channel, num_channels) | aligned << 28


def is_aligned(address: int, dtype: DType, channels: int) -> bool:
    """Whether whole values at an address are aligned, or move by elements in any case."""
    return channels == 3 or address % (channels * dtype.itemsize) == 0


def image_call_format(call: ImageCall) -> int:
    """The argument ``format`` of a device function over arrays."""
    desc, dtype, channels = call.descriptor, call.value_dtype, call.value_channels
    aligned = (call.coords | call.dx | call.dy) % 8 == 0 and is_aligned(call.values, dtype, channels)
    return format_word(dtype, channels, desc.channel, desc.num_channels, aligned=aligned)


# ---------------------------------------------------------------------- mode


def resampling_mode(picture: Resampling, map_: CoordinateMap, *, has_vectors: bool) -> int:
    """The argument ``mode`` of kernels that resample: see csrc/kernels/include/mode.h."""
    filter_ = picture.filter
    word = filter_.interpolation.number
    for axis in range(picture.descriptor.dimensions):
        word |= filter_.boundary[axis].number << (3 + 3 * axis)
    flags = (
        filter_.ignore_nan,
        picture.rounding == "away",
        has_vectors and not picture.fields,
        has_vectors and picture.coords_dtype.itemsize == 8,
        not map_.is_affine,
        picture.scale != (1.0, 1.0, 1.0) or picture.bias != (0.0, 0.0, 0.0),
    )
    for bit, flag in enumerate(flags, 12):
        word |= flag << bit
    kind = picture_kind(picture.shape)
    window = picture.window is not None
    word |= kind << 18 | (map_.centre == 0.5) << 20 | window << 21 | picture.fields << 28
    return word | _arithmetic(filter_)


def _arithmetic(filter_: Filter) -> int:
    """The bits of ties and of double precision."""
    return filter_.ties_to_even << 30 | filter_.double_sums << 31


def memory_format(element: DType, texel: DType, channels: int) -> int:
    """The argument ``format`` of pictures of an array in memory, whose texels and values have as many channels."""
    values = ELEMENTS.get(element, _FLOAT64)
    if texel.itemsize == 8:
        texels = _FLOAT64_TEXELS << 16 | channels << 24
    else:
        texels = image_word(next(channel for channel in _OWN_CHANNELS if channel.storage == texel), channels)
    return values | channels << 8 | texels | (channels in (1, 3)) << 28


def memory_mode(
    filter_: Filter,
    shape: tuple[int, int, int],
    keeps: tuple[bool, ...],
    coords: DType | None,
    centre: float,
    *,
    packed: bool,
    small: bool,
    fields: FieldKind = FieldKind.none,
    rounding: Rounding = "away",
) -> int:
    """The argument ``mode`` of pictures of an array in memory: see csrc/kernels/include/mode.h.

    Parameters
    ----------
    shape : tuple[int, int, int]
        (width, height, depth) of the picture.
    keeps : tuple[bool, ...]
        Whether elements keep their index along x, y, z.
    coords : np.dtype | None
        Of the vectors.
    centre : float
        Of elements and texels.
    packed, small : bool
        Whether rows are packed, and whether offsets fit 32 bits.
    fields : FieldKind
        Whether the vectors are fields, and which.
    rounding : str
        Of integers, as of ``Resampling``.
    """
    word = filter_.interpolation.number | (rounding == "away") << 13 | (coords is not None and not fields) << 14
    word |= (coords is not None and coords.itemsize == 8) << 15 | rows_kind(shape) << 18 | (centre == 0.5) << 20
    for axis, keep in enumerate(keeps):
        word |= filter_.boundary[axis].number << (3 + 3 * axis) | keep << (22 + axis)
    return word | packed << 25 | small << 26 | (centre == 0) << 27 | fields << 28 | _arithmetic(filter_)


@lru_cache(64)
def texture_unit_mode(
    desc: ImageDescriptor, sampler: BindlessImageSampler, has_level: bool, in_usm: bool = False
) -> int:
    """The argument ``mode`` of kernels that compute samples: see csrc/kernels/include/unit_axis.h."""
    cube = desc.type is ImageType.cubemap
    mipmap = desc.type is ImageType.mipmap
    linear = sampler.filtering is FilteringMode.linear
    blends_levels = sampler.mipmap_filtering is FilteringMode.linear
    normalized = sampler.is_normalized or mipmap or cube
    flags = (
        linear,
        blends_levels,
        sampler.cubemap_filtering is CubemapFilteringMode.seamless,
        normalized,
        linear or (blends_levels and mipmap),
        desc.type is ImageType.standard,
    )
    word = sum(flag << bit for bit, flag in enumerate(flags))
    boundary = Filter.from_sampler(sampler, normalized=normalized).boundary
    for axis in range(3):
        word |= (boundary[axis] if axis < desc.dimensions else Boundary.edge).number << (6 + 3 * axis)
    small = 2 * desc.nbytes < 1 << 31  # with all levels; rows of USM may be apart
    return word | desc.dimensions << 15 | cube << 17 | has_level << 18 | (small and not in_usm) << 19
