"""``Levels``: the elements of memory of an image, level by level, as ``Image.from_blocks`` takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...bindless_images import ImageMem
from ...model.arrays import Array
from ...model.enums import ImageChannelType, ImageType
from ...model.errors import InvalidError
from ...model.host_array import as_array
from ...model.image_descriptor import ImageDescriptor
from ...sampling.packing import After
from ...sycl.queue.queue import Queue
from .pixels import halve_srgb

if TYPE_CHECKING:
    from ..options import ImageOptions

__all__ = ["Levels", "smaller_levels", "upload_levels"]


@dataclass(frozen=True, eq=False)
class Levels:
    """The elements of memory of the levels of an image, largest first.

    Attributes
    ----------
    arrays : tuple[Array, ...]
        Of each level ([layers,] rows, columns, bytes or channels), C-contiguous.
    shape : tuple[int, ...]
        Pixels of the first level, (height, width).
    channel_type : ImageChannelType
        Of the image.
    """

    arrays: tuple[Array, ...]
    shape: tuple[int, ...]
    channel_type: ImageChannelType

    def __getitem__(self, layers: Any) -> Levels:
        """The levels of some of the layers, or of one."""
        return replace(self, arrays=tuple(array[layers] for array in self.arrays))

    def each(self) -> Iterator[Levels]:
        """Each level as levels of its own."""
        height, width = self.shape
        for level, array in enumerate(self.arrays):
            yield Levels((array,), (max(height >> level, 1), max(width >> level, 1)), self.channel_type)

    def described(self, options: ImageOptions) -> ImageDescriptor:
        """The image of the first level.

        Raises
        ------
        InvalidError
            The arrays are not those of its levels.
        """
        first, kind = self.arrays[0], options.type
        layered = kind is not ImageType.standard
        if first.ndim != 3 + layered:
            raise InvalidError(
                f"blocks of shape {first.shape}: it is ({'layers, ' if layered else ''}rows, columns, bytes)"
            )
        channels = ImageDescriptor((1, 1), channel_type=self.channel_type).channel.channels or first.shape[-1]
        desc = ImageDescriptor(
            self.shape, channels, self.channel_type, type=kind, array_size=len(first) if layered else 1
        )
        replace(desc, array_size=max(desc.array_size, 2) if kind is ImageType.array else desc.array_size).verify()
        for level, (part, array) in enumerate(zip(_parts(desc, len(self.arrays)), self.arrays)):
            elements = part.storage
            if array.shape != elements.shape or array.dtype != elements.dtype:
                raise InvalidError(
                    f"blocks of level {level}: {array.dtype} of shape {array.shape}; pixels of shape {part.shape[:-1]} "
                    f"are {elements.dtype} of shape {elements.shape} in {self.channel_type}"
                )
        return desc

    @classmethod
    def of_arrays(cls, blocks: Any, mipmaps: Any, shape: Sequence[int], channel_type: ImageChannelType) -> Levels:
        """The levels of the arguments of ``Image.from_blocks``."""
        several = isinstance(blocks, (list, tuple))
        levels = list(blocks) if several else [blocks]
        if isinstance(mipmaps, (list, tuple)):
            levels += mipmaps
        elif mipmaps and not several:
            raise InvalidError("mipmaps=True: blocks are not made smaller; give a sequence of all levels")
        if not levels:
            raise InvalidError("blocks are an empty sequence: give the array of each level, largest first")
        arrays = tuple(np.ascontiguousarray(as_array("blocks", level)) for level in levels)
        return cls(arrays, tuple(shape), channel_type)


def _parts(desc: ImageDescriptor, count: int) -> Iterator[ImageDescriptor]:
    """The descriptors of levels, layers kept."""
    if count > desc.max_levels:
        raise InvalidError(f"{count} levels of blocks: {desc.width} x {desc.height} pixels have {desc.max_levels}")
    for level in range(count):
        yield replace(desc, width=max(desc.width >> level, 1), height=max(desc.height >> level, 1))


def upload_levels(
    queue: Queue, memory: ImageMem, desc: ImageDescriptor, arrays: Sequence[Array], after: After = ()
) -> None:
    """Copies the elements of all levels into memory; waits.

    Parameters
    ----------
    queue : Queue
        Does the work.
    memory : ImageMem
        Of the descriptor.
    desc : ImageDescriptor
        Of a mipmap with as many levels, or of an image of one.
    arrays : Sequence[Array]
        As of ``Levels``; a layer that is only stored may be missing.
    after : After
        What the copies come after.
    """
    is_mipmap = desc.type is ImageType.mipmap
    events = []
    for level, array in enumerate(arrays):
        part = desc.get_mip_level_desc(level) if is_mipmap else desc
        handle: Any = memory.get_mip_level_mem_handle(level) if is_mipmap else memory
        if desc.is_layered and len(array) < desc.array_size:
            array = np.concatenate([array, np.zeros_like(array[:1])])
        events.append((queue.ext_oneapi_copy(array, handle, dst_desc=part, depends_on=after), array))
    for event, _ in events:
        event.wait()


def smaller_levels(pixels: Array, desc: ImageDescriptor) -> tuple[Array, ...]:
    """The levels of pixels of sRGB, each of linear means of the one before.

    Raises
    ------
    InvalidError
        The image has words of ten bits, whose means are not made.
    """
    if desc.channel_type is not ImageChannelType.unorm_int8_srgb:
        raise InvalidError(
            f"mipmaps=True: smaller levels of {desc.channel_type} are not made; give all levels to Image.from_blocks"
        )
    levels = [pixels]
    for level in range(1, desc.num_levels):
        part = desc.get_mip_level_desc(level)
        levels.append(halve_srgb(levels[-1], (part.height, part.width)))
    return tuple(levels)
