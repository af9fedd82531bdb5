"""``UnsampledImage`` and ``SampledImage``: images whose contents migrate to the device of each command.

They are the memory objects of SYCL 2020 (section 4.7.3), made of the bindless images of this folder: each context that
uses one has image memory and an image of it, and an accessor is that image's number for a kernel. Everything else, the
order of commands, the moves, the end, is as of buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..model.arrays import Array
from ..model.copy_region import ImageMemory
from ..model.enums import AccessMode, ImageChannelType, ImageType, Target
from ..model.errors import InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..model.masked_arrays import warn_of_mask
from ..model.message_values import shown
from ..model.ranges import Range
from ..model.sampler import BindlessImageSampler
from ..sycl.buffer.accessor import Accessor
from ..sycl.buffer.host_accessor import HostAccessor
from ..sycl.buffer.memory_object import MemoryObject
from ..sycl.buffer.replica import Home, Place, home_of
from ..sycl.buffer.storage import Storage
from ..sycl.kernel.arguments import PACKERS, pack_image_accessor
from .context_tables import handle_key
from .handles import create_image
from .image_mem import ImageMem

if TYPE_CHECKING:
    from ..submission.event import Event
    from ..sycl.queue.handler import Handler

__all__ = [
    "HostSampledImageAccessor",
    "HostUnsampledImageAccessor",
    "SampledImage",
    "SampledImageAccessor",
    "UnsampledImage",
    "UnsampledImageAccessor",
]


class _Allocation:
    """Image memory in one context and the image of it; they end together, after the work that uses them."""

    __slots__ = ("_handles", "_image", "_key", "_memory", "image", "number")

    def __init__(
        self, home: Home, desc: ImageDescriptor, sampler: BindlessImageSampler | None, memory: ImageMem | None = None
    ) -> None:
        where = home.device, home.context
        self._memory = ImageMem(desc, *where) if memory is None else memory
        self.image = ImageMemory(self._memory.get_handle().raw_handle, desc)
        handle = (
            create_image(self._memory, desc, *where)
            if sampler is None
            else create_image(self._memory, desc, *where, sampler=sampler)
        )
        self.number = handle.raw_handle
        self._key = handle_key(self.number, sampler is not None)
        self._handles = home.context._handles
        self._image = self._handles[self._key].keep(home.context)  # the table's share is not the last one

    def __del__(self) -> None:
        handles = getattr(self, "_handles", None)
        if handles is not None:
            handles.pop(self._key, None)


def _allocator(desc: ImageDescriptor, sampler: BindlessImageSampler | None) -> Callable[[Home, int], Place]:
    """Allocation of the memory of an image on the device of a command."""

    def allocate(home: Home, nbytes: int) -> Place:
        allocation = _Allocation(home, desc, sampler)
        return Place(home, allocation.number, allocation, allocation.image)

    return allocate


class _ImageObject(MemoryObject):
    """Base class of sampled and unsampled images.

    Attributes
    ----------
    descriptor : ImageDescriptor
        Of the image.
    """

    __slots__ = ("descriptor",)

    _noun = "image"

    descriptor: ImageDescriptor

    def _make(
        self,
        data: Array | ImageDescriptor,
        dimensions: int | None,
        channel_type: ImageChannelType | str | None,
        sampler: BindlessImageSampler | None,
    ) -> None:
        array: Array | None = None
        if isinstance(data, ImageDescriptor):
            if channel_type is not None or dimensions is not None:
                raise InvalidError("channel_type and dimensions go with an array; the descriptor has its own")
            desc = data
        elif isinstance(data, np.ndarray):
            warn_of_mask(data, "data")
            array = data
            desc = ImageDescriptor.from_array(data, dimensions=dimensions, channel_type=channel_type)
        else:
            raise InvalidError(f"data: a {type(data).__name__} is neither a numpy array nor an ImageDescriptor")
        desc.verify()
        if desc.type is not ImageType.standard:
            raise InvalidError(f"data: a {desc.type} image: memory objects are standard images; others are ImageMem")
        self.descriptor, self.shape, self.dtype = desc, desc.shape, desc.dtype

        allocate = _allocator(desc, sampler)
        if array is None:
            self._start(Storage(desc.nbytes, None, False, allocate), None)
            return
        writable = bool(array.flags.writeable)
        origin = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        final = array if writable and sampler is None else None  # a sampled image is only read
        self._start(Storage(desc.nbytes, origin, writable and sampler is None, allocate), final)

    def _take(
        self,
        memory: ImageMem,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler | None,
        available: Event | None,
        waits: bool,
    ) -> None:
        """Its pixels lie in image memory already."""
        home = home_of(memory.get_context(), memory.get_device())
        self.descriptor, self.shape, self.dtype = desc, desc.shape, desc.dtype
        allocation = _Allocation(home, desc, sampler, memory)
        place = Place(home, allocation.number, allocation, allocation.image)
        allocate = _allocator(desc, sampler)
        filled = Storage.filled(place, desc.nbytes, available, waits=waits, returns=waits, allocate=allocate)
        self._start(filled, None)

    def get_range(self) -> Range:
        """Pixels: width first, then height and depth where there are."""
        desc = self.descriptor
        return Range(*(size for size in (desc.width, desc.height, desc.depth) if size))

    def get_pitch(self) -> Range:
        """Bytes between rows and between slices on the host, of two and three dimensions."""
        desc = self.descriptor
        row = desc.width * desc.pixel_size
        return Range(row, row * desc.height) if desc.depth else Range(row)

    def byte_size(self) -> int:
        """Bytes of the pixels."""
        return self.nbytes

    def __repr__(self) -> str:
        state = "" if self._storage.open else ", closed"
        return (
            f"<{type(self).__name__} {' x '.join(map(str, self.get_range()))}, {self.descriptor.channel_type}{state}>"
        )


class UnsampledImage(_ImageObject):
    """An image that kernels read and write pixel by pixel.

    Parameters
    ----------
    data : Array | ImageDescriptor
        A numpy array of shape ([depth,] [height,] width[, channels]), which is written back when the image ends if a
        command changed it; or a descriptor, and there is no memory of the host.
    dimensions : int, optional
        Of the image, where the array's shape can mean two; see ``ImageDescriptor.from_array``.
    channel_type : ImageChannelType | str, optional
        How the array's elements count; default by dtype: 8- and 16-bit integers are normalized.

    Raises
    ------
    InvalidError
        No image has this shape or dtype, or it is not a standard image.

    Notes
    -----
    SYCL 2020, 4.7.3, "Images".

    Examples
    --------
    >>> with bindless.UnsampledImage(np.zeros((3, 4, 4), np.float32)) as image:
    ...     image.get_range()
    Range(4, 3)
    """

    __slots__ = ()

    def __init__(
        self,
        data: Array | ImageDescriptor,
        *,
        dimensions: int | None = None,
        channel_type: ImageChannelType | str | None = None,
    ) -> None:
        self._make(data, dimensions, channel_type, None)

    @classmethod
    def _over(cls, memory: ImageMem, desc: ImageDescriptor, available: Event | None, *, waits: bool) -> UnsampledImage:
        """An image of memory with pixels in it."""
        image = cls.__new__(cls)
        image._take(memory, desc, None, available, waits)
        return image

    def get_access(
        self,
        handler: Handler | None,
        mode: AccessMode | str = "read",
        *,
        no_init: bool = False,
        target: Target | str = Target.device,
    ) -> UnsampledImageAccessor:
        """Access for the command of a group; see ``UnsampledImageAccessor``."""
        return UnsampledImageAccessor(self, handler, mode, no_init=no_init, target=target)

    def get_host_access(
        self, mode: AccessMode | str = "read_write", *, no_init: bool = False
    ) -> HostUnsampledImageAccessor:
        """Access of the host, as a numpy array; see ``Buffer.get_host_access``."""
        return HostUnsampledImageAccessor(self, mode, no_init=no_init)


class SampledImage(_ImageObject):
    """An image that kernels sample, and nobody writes.

    Parameters
    ----------
    data : Array | ImageDescriptor
        A numpy array of shape ([depth,] [height,] width[, channels]), or a descriptor.
    sampler : BindlessImageSampler
        How it is sampled.
    dimensions : int, optional
        Of the image, where the array's shape can mean two; see ``ImageDescriptor.from_array``.
    channel_type : ImageChannelType | str, optional
        How the array's elements count; default by dtype: 8- and 16-bit integers are normalized.

    Raises
    ------
    InvalidError
        No image has this shape or dtype, it is not a standard image, or there is no sampler.

    Notes
    -----
    SYCL 2020, 4.7.3, "Images".

    Examples
    --------
    >>> sampler = bindless.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    >>> with bindless.SampledImage(np.zeros((3, 4, 4), np.float32), sampler) as image:
    ...     image.byte_size()
    192
    """

    __slots__ = ("sampler",)

    def __init__(
        self,
        data: Array | ImageDescriptor,
        sampler: BindlessImageSampler,
        *,
        dimensions: int | None = None,
        channel_type: ImageChannelType | str | None = None,
    ) -> None:
        if not isinstance(sampler, BindlessImageSampler):
            raise InvalidError(f"sampler: a {type(sampler).__name__} is no BindlessImageSampler")
        self.sampler = sampler
        self._make(data, dimensions, channel_type, sampler)

    @classmethod
    def _over(
        cls,
        memory: ImageMem,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
        available: Event | None,
        *,
        waits: bool,
    ) -> SampledImage:
        """An image of memory with pixels in it."""
        image = cls.__new__(cls)
        image.sampler = sampler
        image._take(memory, desc, sampler, available, waits)
        return image

    def get_access(self, handler: Handler | None, *, target: Target | str = Target.device) -> SampledImageAccessor:
        """Access for the command of a group; see ``SampledImageAccessor``."""
        return SampledImageAccessor(self, handler, target=target)

    def get_host_access(self) -> HostSampledImageAccessor:
        """The pixels on the host, as a numpy array; see ``Buffer.get_host_access``."""
        return HostSampledImageAccessor(self)


class _ImageAccessor(Accessor):
    __slots__ = ()

    def _join(self, image: _ImageObject, handler: Handler | None) -> None:
        image._storage.require_open()
        if handler is None:
            self.is_placeholder = True
        elif hasattr(handler, "_require"):
            handler._require(self)
        else:
            raise InvalidError(f"handler={shown(handler)}: pass what queue.submit gives its function, or None")
        if self.target == Target.constant_buffer:
            raise InvalidError("target='constant_buffer': images are accessed on 'device' or 'host_task'")


class UnsampledImageAccessor(_ImageAccessor):
    """Access of one command group to an unsampled image (SYCL's ``unsampled_image_accessor``).

    As a kernel argument it is the image's handle; with ``target="host_task"`` it is the pixels as a numpy array.

    Parameters
    ----------
    image : UnsampledImage
        What is accessed.
    handler : Handler | None
        Of the group; None makes a placeholder for ``handler.require``.
    mode : AccessMode | str, default "read"
        ``read`` or ``write``.
    no_init : bool, default False
        Whether the pixels before are of no interest.
    target : Target | str, default Target.device
        ``device`` or ``host_task``.

    Raises
    ------
    InvalidError
        A closed image, or a mode or target that images do not have.
    """

    __slots__ = ()

    def __init__(
        self,
        image: UnsampledImage,
        handler: Handler | None,
        mode: AccessMode | str = "read",
        *,
        no_init: bool = False,
        target: Target | str = Target.device,
    ) -> None:
        super().__init__(image, mode, no_init, target=target)
        if self.mode is AccessMode.read_write:
            raise InvalidError("mode='read_write': a command either reads or writes an unsampled image")
        self._join(image, handler)


class SampledImageAccessor(_ImageAccessor):
    """Access of one command group to a sampled image (SYCL's ``sampled_image_accessor``); see the unsampled one."""

    __slots__ = ()

    def __init__(self, image: SampledImage, handler: Handler | None, *, target: Target | str = Target.device) -> None:
        super().__init__(image, "read", target=target)
        self._join(image, handler)


class HostUnsampledImageAccessor(HostAccessor):
    """The pixels of an unsampled image as a numpy array (SYCL's ``host_unsampled_image_accessor``)."""

    __slots__ = ()

    def __init__(self, image: UnsampledImage, mode: AccessMode | str = "read_write", *, no_init: bool = False) -> None:
        image._storage.require_open()
        super().__init__(Accessor(image, mode, no_init))


class HostSampledImageAccessor(HostAccessor):
    """The pixels of a sampled image as a numpy array (SYCL's ``host_sampled_image_accessor``)."""

    __slots__ = ()

    def __init__(self, image: SampledImage) -> None:
        image._storage.require_open()
        super().__init__(Accessor(image, "read"))


PACKERS[UnsampledImageAccessor] = PACKERS[SampledImageAccessor] = pack_image_accessor
