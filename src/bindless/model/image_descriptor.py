"""``ImageDescriptor``: the shape and format of an image (Image descriptor)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np

from .arrays import Array
from .channels import BLOCK_SIDE, CHANNELS, Channel, channel_of_dtype
from .enums import ImageChannelType, ImageType, coerce
from .errors import InvalidError
from .message_values import shown

__all__ = ["CUBEMAP_FACES", "ImageDescriptor", "integer", "range3"]

CUBEMAP_FACES = 6

_UINT32_MAX = 2**32 - 1
_SIZE_MAX = 2**64 - 1


def integer(name: str, value: SupportsIndex, maximum: int = _SIZE_MAX) -> int:
    """Convert a size, a count or an index to an int.

    Raises
    ------
    InvalidError
        The value is not an integer from 0 to ``maximum``.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer") from None
    if not 0 <= number <= maximum:
        raise InvalidError(f"{name}={shown(number)} is out of range; it is 0 to {maximum}")
    return number


def _extents(shape: Iterable[Any]) -> tuple[Any, Any, Any]:
    """Width, height and depth of a shape in numpy's order."""
    sizes = tuple(shape)[::-1]
    if not 1 <= len(sizes) <= 3:
        raise InvalidError(f"a shape of {len(sizes)} dimensions: an image has one to three, ([depth,] height, width)")
    return (*sizes, 0, 0)[:3]


@dataclass(frozen=True)
class ImageDescriptor:
    """Dimensions in pixels, channels and kind of an image; a value, hashable and equal by its fields.

    Construction checks only that the fields are numbers and known names; ``verify`` checks that they describe a valid
    image. ``height`` and ``depth`` of unused dimensions are 0.

    Parameters
    ----------
    width, height, depth
        Pixels. Or a shape in numpy's order, ([depth,] height, width), as a tuple or a ``Range``; ``num_channels`` and
        ``channel_type`` may follow it by position.
    num_channels
        1, 2, 3 or 4; 3 only where the device has such formats.
    channel_type
        An ``ImageChannelType`` or its name.
    type
        An ``ImageType`` or its name.
    num_levels
        Levels of a mipmap, else 1.
    array_size
        Layers of an array, 6 for a cubemap, else 1.

    Raises
    ------
    InvalidError
        A field is not a number of its range, or an unknown name.

    Examples
    --------
    >>> from bindless import ImageDescriptor
    >>> ImageDescriptor(640, 480, num_channels=4, channel_type="unorm_int8").nbytes
    1228800
    >>> ImageDescriptor((480, 640), 4, "unorm_int8").width
    640
    """

    width: int = 0
    height: int = 0
    depth: int = 0
    num_channels: int = 4
    channel_type: ImageChannelType = ImageChannelType.fp32
    type: ImageType = ImageType.standard
    num_levels: int = 1
    array_size: int = 1

    @overload
    def __init__(
        self,
        width: int = ...,
        height: int = ...,
        depth: int = ...,
        *,
        num_channels: int = ...,
        channel_type: ImageChannelType | str = ...,
        type: ImageType | str = ...,
        num_levels: int = ...,
        array_size: int = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        shape: Iterable[int],
        num_channels: int = ...,
        channel_type: ImageChannelType | str = ...,
        /,
        *,
        type: ImageType | str = ...,
        num_levels: int = ...,
        array_size: int = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        shape: Iterable[int],
        /,
        *,
        num_channels: int = ...,
        channel_type: ImageChannelType | str = ...,
        type: ImageType | str = ...,
        num_levels: int = ...,
        array_size: int = ...,
    ) -> None: ...

    def __init__(
        self,
        width: Any = 0,
        height: Any = 0,
        depth: Any = 0,
        *,
        num_channels: int = 4,
        channel_type: ImageChannelType | str = ImageChannelType.fp32,
        type: ImageType | str = ImageType.standard,
        num_levels: int = 1,
        array_size: int = 1,
    ) -> None:
        assign = object.__setattr__
        if isinstance(width, Iterable) and not isinstance(width, (str, bytes, np.ndarray)):
            num_channels, channel_type = height or num_channels, depth or channel_type
            width, height, depth = _extents(width)
        assign(self, "width", integer("width", width))
        assign(self, "height", integer("height", height))
        assign(self, "depth", integer("depth", depth))
        assign(self, "num_channels", integer("num_channels", num_channels, _UINT32_MAX))
        assign(self, "channel_type", coerce(ImageChannelType, channel_type, "channel_type"))
        assign(self, "type", coerce(ImageType, type, "type"))
        assign(self, "num_levels", integer("num_levels", num_levels, _UINT32_MAX))
        assign(self, "array_size", integer("array_size", array_size, _UINT32_MAX))

    @classmethod
    def from_array(
        cls,
        array: Array,
        *,
        dimensions: int | None = None,
        channel_type: ImageChannelType | str | None = None,
        type: ImageType | str = ImageType.standard,
        num_levels: int = 1,
    ) -> ImageDescriptor:
        """Return the descriptor of the image that an array holds.

        Parameters
        ----------
        array
            Shape ([depth or layers,] [height,] width[, channels]).
        dimensions
            Spatial dimensions without layers. By default a last axis of at most 4 entries counts channels
            if the array has at least three axes, or at least four for an array image (with three axes, layers of
            grey rows and of pixels are ambiguous: give ``dimensions``).
        channel_type
            Default by dtype: 8- and 16-bit integers are normalized.
        type
            Kind of the image; the first axis of an array or cubemap counts layers or faces.
        num_levels
            Levels of a mipmap.

        Raises
        ------
        InvalidError
            The shape or the dtype is not that of an image.
        """
        if not hasattr(array, "dtype"):
            raise InvalidError(f"array={shown(array)} is no array: numpy.asarray(...) makes one")
        kind = coerce(ImageType, type, "type")
        layered = kind in (ImageType.array, ImageType.cubemap)
        channel = (
            channel_of_dtype(array.dtype)
            if channel_type is None
            else coerce(ImageChannelType, channel_type, "channel_type")
        )
        if CHANNELS[channel].block:
            raise InvalidError(f"channel_type={channel}: blocks do not tell their pixels; use Image.from_blocks")
        if channel_type is not None and CHANNELS[channel].storage != array.dtype:
            raise InvalidError(
                f"channel_type={channel} stores {CHANNELS[channel].storage}, the array is {array.dtype}: "
                f"convert with array.astype({str(CHANNELS[channel].storage)!r})"
            )
        shape = array.shape
        if 0 in shape:
            raise InvalidError(f"an array of shape {shape} has no pixels; an image has at least one along each axis")
        layers = 1
        if layered:
            if not shape:
                raise InvalidError("an array of shape () has no layers")
            layers, shape = shape[0], shape[1:]
        if dimensions is None:
            has_channels = len(shape) >= 3 and (shape[-1] <= 4 or kind is ImageType.cubemap)
            dimensions = len(shape) - 1 if has_channels else len(shape)
        if not 1 <= dimensions <= 3 or len(shape) - dimensions not in (0, 1):
            raise InvalidError(
                f"an array of shape {array.shape} is no {kind} image of {dimensions} dimensions; the shape is "
                f"{'(layers, ' if layered else '('}[depth,] [height,] width[, channels])"
            )
        channels = shape[dimensions] if len(shape) > dimensions else 1
        if not 1 <= channels <= 4:
            raise InvalidError(f"an array of shape {array.shape} has {channels} channels; images have 1 to 4")
        sizes = (*reversed(shape[:dimensions]), 0, 0)
        return cls(
            *sizes[:3],
            num_channels=channels,
            channel_type=channel,
            type=kind,
            num_levels=num_levels,
            array_size=layers,
        )

    # ------------------------------------------------------------------ derived values, cached

    @cached_property
    def prepared(self) -> dict[Any, Any]:
        """Cache for values that other modules derive from this descriptor, by their own keys; one for all threads."""
        return vars(self).setdefault("prepared", {})  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def channel(self) -> Channel:
        """The row of the channel table."""
        return CHANNELS[self.channel_type]

    @cached_property
    def dimensions(self) -> int:
        """1, 2 or 3: spatial dimensions, layers not counted; 0 where width is 0."""
        return 3 if self.depth else 2 if self.height else 1 if self.width else 0

    @cached_property
    def is_layered(self) -> bool:
        """Whether the third component of offsets counts layers or faces."""
        return self.type in (ImageType.array, ImageType.cubemap)

    @cached_property
    def dtype(self) -> np.dtype[np.generic]:
        """dtype of one channel in memory and in host arrays of copies."""
        return self.channel.storage

    @cached_property
    def value_dtype(self) -> np.dtype[np.generic]:
        """dtype that device functions read: float32 for normalized channels."""
        return self.channel.value

    @cached_property
    def number_dtype(self) -> np.dtype[np.generic]:
        """dtype of the numbers of pixels: that of memory, or of values where samplers alone read it."""
        return self.channel.value if self.channel.is_sampled_only else self.channel.storage

    @cached_property
    def extent(self) -> tuple[int, int, int]:
        """Pixels in (x, y, z), at least 1 each; z is depth, or the layers of an array or cubemap."""
        return (self.width, self.height or 1, self.array_size if self.is_layered else self.depth or 1)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """numpy shape of the pixels of level 0: (layers or depth, height, width, channels), unused ones left out."""
        spatial = tuple(n for n in (self.depth, self.height, self.width) if n)
        return ((self.array_size,) if self.is_layered else ()) + spatial + (self.num_channels,)

    @cached_property
    def storage(self) -> ImageDescriptor:
        """The elements of memory, as copies count them: bytes of blocks, one pixel a block; else this descriptor."""
        if not self.channel.block:
            return self
        return replace(
            self,
            width=-(-self.width // BLOCK_SIDE),
            height=-(-self.height // BLOCK_SIDE),
            num_channels=self.channel.block,
            channel_type=ImageChannelType.unsigned_int8,
        )

    @cached_property
    def pixel_size(self) -> int:
        """Bytes of one pixel, or of one block of pixels."""
        return self.channel.block or self.num_channels * self.channel.size

    @cached_property
    def row_size(self) -> int:
        """Bytes of one tightly packed row, of pixels or of blocks."""
        return self.storage.width * self.pixel_size

    @cached_property
    def nbytes(self) -> int:
        """Bytes of all pixels, tightly packed; all levels of a mipmap."""
        if self.type is ImageType.mipmap:
            return sum(self._level(level).nbytes for level in range(self.num_levels))
        x, y, z = self.storage.extent
        return x * y * z * self.pixel_size

    @cached_property
    def max_levels(self) -> int:
        """Levels of a full mipmap, down to the level of 1 pixel."""
        return max(self.width, self.height, self.depth, 1).bit_length()

    # ------------------------------------------------------------------ BI's members

    def verify(self) -> None:
        """Check that the fields describe a valid image.

        Raises
        ------
        InvalidError
            A field breaks a rule; the message names it.
        """
        self._verified  # noqa: B018  a value that passes once passes always

    @cached_property
    def _verified(self) -> bool:
        if self.width == 0:
            raise InvalidError("width=0: an image has a width of at least 1")
        if self.depth and not self.height:
            raise InvalidError(f"height=0 with depth={self.depth}: a three-dimensional image has a height")
        if not 1 <= self.num_channels <= 4:
            raise InvalidError(f"num_channels={self.num_channels}: it is 1, 2, 4, or 3 where the device has it")
        if self.channel.channels not in (0, self.num_channels):
            raise InvalidError(f"num_channels={self.num_channels}: {self.channel_type} has {self.channel.channels}")
        if self.channel.block and self.dimensions != 2:
            raise InvalidError(f"{self._sizes()} pixels of {self.channel_type}: an image of blocks has two dimensions")
        if self.type is ImageType.mipmap:
            if self.num_levels <= 1:
                raise InvalidError(f"num_levels={self.num_levels}: a mipmap has more than one level")
            if self.num_levels > self.max_levels:
                raise InvalidError(
                    f"num_levels={self.num_levels}: {self._sizes()} halves to one pixel in {self.max_levels} levels"
                )
        elif self.num_levels != 1:
            raise InvalidError(f"num_levels={self.num_levels}: only mipmaps have levels, a {self.type} image has 1")
        if self.type is ImageType.array:
            if self.array_size <= 1:
                raise InvalidError(f"array_size={self.array_size}: an image array has more than one layer")
            if self.depth:
                raise InvalidError(f"depth={self.depth}: the layers of an image array have one or two dimensions")
        elif self.type is ImageType.cubemap:
            if self.array_size != CUBEMAP_FACES:
                raise InvalidError(f"array_size={self.array_size}: a cubemap has exactly {CUBEMAP_FACES} faces")
            if self.width != self.height:
                raise InvalidError(f"width={self.width}, height={self.height}: the faces of a cubemap are square")
            if self.depth:
                raise InvalidError(f"depth={self.depth}: the faces of a cubemap have two dimensions")
        elif self.array_size != 1:
            raise InvalidError(f"array_size={self.array_size}: only arrays and cubemaps have layers")
        return True

    def get_mip_level_desc(self, level: int) -> ImageDescriptor:
        """Return the descriptor of one level of this mipmap as a standard image; level 0 is the largest.

        Raises
        ------
        InvalidError
            The image is not a mipmap, or has no such level.
        """
        if self.type is not ImageType.mipmap:
            raise InvalidError(f"type={self.type}: only a mipmap has levels")
        index = integer("level", level, _UINT32_MAX)
        if index >= self.num_levels:
            raise InvalidError(f"level={index}: this mipmap has levels 0 to {self.num_levels - 1}")
        descriptor = self._level_descriptors.get(index)
        if descriptor is None:
            descriptor = self._level_descriptors.setdefault(index, self._level(index))
        return descriptor

    @cached_property
    def _level_descriptors(self) -> dict[int, ImageDescriptor]:
        return vars(self).setdefault("_level_descriptors", {})  # type: ignore[no-any-return]

    def _level(self, level: int) -> ImageDescriptor:
        def half(size: int) -> int:
            return max(size >> level, 1) if size else 0

        return replace(
            self,
            width=half(self.width),
            height=half(self.height),
            depth=half(self.depth),
            type=ImageType.standard,
            num_levels=1,
            array_size=1,
        )

    def _sizes(self) -> str:
        return " x ".join(str(n) for n in (self.width, self.height, self.depth) if n)


def range3(values: Sequence[int] | int | None, name: str) -> tuple[int, int, int]:
    """Convert one to three non-negative integers to (x, y, z); missing components are 0.

    Raises
    ------
    InvalidError
        Not integers, negative, or more than three.
    """
    if values is None:
        return (0, 0, 0)
    several = isinstance(values, Sequence) or (isinstance(values, np.ndarray) and values.ndim > 0)
    items: tuple[int, ...] = tuple(values) if several else (values,)  # type: ignore[arg-type,assignment]
    if not 1 <= len(items) <= 3:
        raise InvalidError(f"{name}={shown(values)} has {len(items)} components; it has up to three: (x, y, z)")
    numbers = [integer(f"{name}[{index}]", item) for index, item in enumerate(items)]
    return (*numbers, 0, 0, 0)[:3]  # type: ignore[return-value]
