"""Image memory that is not USM: allocation, queries, and ``ImageMem`` (Allocating image memory)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..core.ownership import let_go
from ..model.enums import ImageChannelType, ImageType, coerce
from ..model.errors import (
    CopyError,
    Error,
    FeatureNotSupportedError,
    InvalidError,
    MemoryAllocationError,
    SyclRuntimeError,
)
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import ImageMemHandle
from ..model.ranges import Range
from ..submission.active_streams import active, make_room, sweep
from ..sycl.device.device_context import Where, resolve
from ..sycl.device.image_owner import ImageOwner
from .context_tables import BorrowedMemory, KnownMemory, LevelRecord, ListedMemory, MemoryRecord, free_owned
from .device_limits import require_format, require_image_type, require_limits, require_type

if TYPE_CHECKING:
    from ..sycl.device.context import Context
    from ..sycl.device.device import Device

__all__ = [
    "ImageMem",
    "alloc_image_mem",
    "free_image_mem",
    "get_image_channel_type",
    "get_image_num_channels",
    "get_image_range",
    "get_mip_level_mem_handle",
    "verify",
]

_E = TypeVar("_E", bound=Error)

# Key in what a descriptor keeps: the aspects, an object of each device's own, of the last device that takes it.
_PASSED = "image memory"

# Bytes of image memory allocated since the last look at what completed work has left, those that make for another, and
# as how many the smallest image counts.
_unswept = 0
_SWEPT_AFTER, _LEAST_COUNTED = 1 << 20, 1 << 17

_NOT_TO_BE_FREED = {
    "level": "is one level of a mipmap, borrowed from it: free the mipmap",
    "ImageMem": "is owned by an ImageMem: close that instead",
    "external": "is imported memory: unmap it with unmap_external_image_memory",
}


def as_error(cls: type[_E], error: Error, doing: str) -> _E | FeatureNotSupportedError:
    """The same failure under the code that the specification gives to this function."""
    if isinstance(error, FeatureNotSupportedError):
        return error
    return cls(
        f"{doing}: {error}",
        backend=error.backend,
        native_code=error.native_code,
        native_name=error.native_name,
    )


def verify(desc: ImageDescriptor, cls: type[Error], doing: str) -> None:
    """``desc.verify()`` for functions that fail with an error of their own where the descriptor makes no image."""
    try:
        desc.verify()
    except InvalidError as error:
        raise cls(f"{doing}: {error}") from error


def _allocate(desc: ImageDescriptor, device: Device, context: Context) -> int:
    """New memory, which nobody owns yet: its raw handle."""
    if type(desc) is not ImageDescriptor or desc.prepared.get(_PASSED, _PASSED) is not device._aspects:
        _check(desc, device)
    if active:
        _sweep_now_and_then(desc.nbytes)
    try:
        return context._backend.allocate_image(context._native_context, device._record.native, desc)
    except Error as error:
        return _allocate_after(error, desc, device, context)


def _sweep_now_and_then(nbytes: int) -> None:
    """Lets go of what completed work used, once as much was allocated as is worth the questions to the drivers."""
    global _unswept
    _unswept += max(nbytes, _LEAST_COUNTED)
    if _unswept >= _SWEPT_AFTER:
        _unswept = 0
        sweep()


def _check(desc: ImageDescriptor, device: Device) -> None:
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc: {type(desc).__name__} is no ImageDescriptor")
    verify(desc, MemoryAllocationError, "no image memory was allocated")
    require_type(device, desc)
    require_format(device, desc)
    require_limits(device, desc, MemoryAllocationError)
    desc.prepared[_PASSED] = device.aspects


def _allocate_after(error: Error, desc: ImageDescriptor, device: Device, context: Context) -> int:
    """Allocate again after a wait, which frees the memory of completed commands."""
    if isinstance(error, MemoryAllocationError):
        make_room()
        try:
            return context._backend.allocate_image(context._native_context, device._record.native, desc)
        except Error as again:
            error = again
    raise as_error(
        MemoryAllocationError, error, f"image memory of {desc.nbytes} bytes for {desc} was not allocated"
    ) from error


def alloc_image_mem(desc: ImageDescriptor, *where: Where) -> ImageMemHandle:
    """Allocates image memory that the caller frees with ``free_image_mem`` once no work uses it.

    Parameters
    ----------
    desc : ImageDescriptor
        Dimensions, channels and type of the image.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    ImageMemHandle
        The memory, of which the caller is the owner.

    Raises
    ------
    InvalidError
        ``desc`` is no descriptor, or ``where`` is not one.
    MemoryAllocationError
        The descriptor is not valid, a size is beyond the device, or there is not enough memory.
    FeatureNotSupportedError
        The device lacks this type of image or this format.

    See Also
    --------
    ImageMem : Memory that is freed with its last owner.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, channel_type="unorm_int8")
    >>> memory = bindless.alloc_image_mem(desc, queue)
    >>> bindless.free_image_mem(memory, "standard", queue)
    """
    device, context = resolve(where)
    raw = _allocate(desc, device, context)
    context._images[raw] = ListedMemory(desc, device, raw)
    return ImageMemHandle(raw)


def free_image_mem(handle: ImageMemHandle, image_type: ImageType | str, *where: Where) -> None:
    """Frees memory of ``alloc_image_mem``. Images still made from it, and work in flight, keep it until they end.

    Parameters
    ----------
    handle : ImageMemHandle
        Memory of ``alloc_image_mem``.
    image_type : ImageType | str
        The type that the memory was allocated with, such as ``"standard"``.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Raises
    ------
    MemoryAllocationError
        The handle is not such memory of this context (freed already, of another context, one level of a mipmap, owned
        by ``ImageMem``, imported), or ``image_type`` is not what was allocated.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, channel_type="unorm_int8")
    >>> memory = bindless.alloc_image_mem(desc, queue)
    >>> bindless.free_image_mem(memory, "standard", queue)
    """
    require_image_type(image_type, "free_image_mem")
    _, context = resolve(where)
    images = context._images
    raw = handle._raw_handle if type(handle) is ImageMemHandle else _raw(handle, MemoryAllocationError)
    record: KnownMemory | None = images.get(raw)
    if record is None:
        raise MemoryAllocationError(
            f"{handle!r} is no image memory of this context: it was freed already, or allocated in another context"
        )
    if type(record) is not ListedMemory:
        raise MemoryAllocationError(f"{handle!r} {_NOT_TO_BE_FREED[record.owner]}")
    if record.descriptor.type != image_type:
        kind = coerce(ImageType, image_type, "image_type")
        raise MemoryAllocationError(
            f"image_type={kind}: {handle!r} was allocated as {record.descriptor.type}; pass that"
        )
    for level in record.levels:
        images.pop(level, None)
    if images.pop(raw, None) is None:
        raise MemoryAllocationError(f"{handle!r} was freed already, by another thread just now")
    try:
        record.end(context._backend, context._native_context)
    except Error as error:
        raise as_error(MemoryAllocationError, error, f"{handle!r} was not freed") from error


def _raw(handle: object, error: type[Error]) -> int:
    if not isinstance(handle, ImageMemHandle):
        raise error(f"{handle!r} is no ImageMemHandle; an ImageMem gives one with get_handle()")
    return handle.raw_handle


def _record(handle: object, where: tuple[Any, ...], error: type[Error]) -> KnownMemory:
    _, context = resolve(where)
    record = context._images.get(_raw(handle, error))
    if record is None:
        raise error(f"{handle!r} is no image memory of this context: it was freed, or allocated in another context")
    return record  # type: ignore[no-any-return]


def get_image_range(handle: ImageMemHandle, *where: Where) -> Range:
    """(width, height, depth) in pixels; 0 for dimensions that the image does not have.

    Parameters
    ----------
    handle : ImageMemHandle
        The image memory.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    Range
        Sizes (width, height, depth) in pixels.

    Raises
    ------
    InvalidError
        The handle is no image memory of this context.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, channel_type="unorm_int8")
    >>> with bindless.ImageMem(desc, queue) as memory:
    ...     bindless.get_image_range(memory.get_handle(), queue)
    Range(4, 3, 0)
    """
    desc = _record(handle, where, InvalidError).descriptor
    return Range(desc.width, desc.height, desc.depth)


def get_image_channel_type(handle: ImageMemHandle, *where: Where) -> ImageChannelType:
    """The channel type that the memory was allocated with.

    Parameters
    ----------
    handle : ImageMemHandle
        The image memory.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    ImageChannelType
        The channel type.

    Raises
    ------
    InvalidError
        The handle is no image memory of this context.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, channel_type="unorm_int8")
    >>> with bindless.ImageMem(desc, queue) as memory:
    ...     print(bindless.get_image_channel_type(memory.get_handle(), queue))
    unorm_int8
    """
    return _record(handle, where, InvalidError).descriptor.channel_type


def get_image_num_channels(handle: ImageMemHandle, *where: Where) -> int:
    """Channels of a pixel.

    Parameters
    ----------
    handle : ImageMemHandle
        The image memory.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    int
        1, 2, 3 or 4.

    Raises
    ------
    SyclRuntimeError
        The handle is no image memory of this context.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 3, num_channels=1, channel_type="unorm_int8")
    >>> with bindless.ImageMem(desc, queue) as memory:
    ...     bindless.get_image_num_channels(memory.get_handle(), queue)
    1
    """
    return _record(handle, where, SyclRuntimeError).descriptor.num_channels


def get_mip_level_mem_handle(handle: ImageMemHandle, level: int, *where: Where) -> ImageMemHandle:
    """Memory of one level of a mipmap, borrowed: it is not freed, and dies with the mipmap.

    Parameters
    ----------
    handle : ImageMemHandle
        Memory of a mipmap.
    level : int
        Number of the level; 0 is the largest.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    ImageMemHandle
        The memory of the level, which the mipmap owns.

    Raises
    ------
    SyclRuntimeError
        The handle is no mipmap of this context, or it has no such level.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(4, 4, num_channels=1, type="mipmap", num_levels=3)
    >>> memory = bindless.alloc_image_mem(desc, queue)
    >>> level = bindless.get_mip_level_mem_handle(memory, 1, queue)
    >>> bindless.get_image_range(level, queue)
    Range(2, 2, 0)
    >>> bindless.free_image_mem(memory, "mipmap", queue)
    """
    _, context = resolve(where)
    record = _record(handle, where, SyclRuntimeError)
    return _level(context, handle, record, level)


def _level(context: Context, handle: ImageMemHandle, record: KnownMemory, level: int) -> ImageMemHandle:
    desc = record.descriptor
    if desc.type is not ImageType.mipmap:
        raise SyclRuntimeError(f"{handle!r} is a {desc.type} image: only a mipmap has levels")
    try:
        level_desc = desc.get_mip_level_desc(level)
    except InvalidError as error:
        raise SyclRuntimeError(str(error)) from None
    memory = record.keep(context)
    if memory is None:
        raise SyclRuntimeError(f"{handle!r} was freed")
    try:
        raw = context._backend.image_level(context._native, handle.raw_handle, level)
    except Error as error:
        raise as_error(SyclRuntimeError, error, f"level {level} of {handle!r}") from error
    if raw not in memory.levels:
        memory.levels.append(raw)
    context._images[raw] = BorrowedMemory(level_desc, record.device, "level", raw, memory)
    return ImageMemHandle(raw)


class ImageMem(ImageOwner):
    """Image memory with shared ownership; closing the last owner frees it.

    ``ImageMem(desc, queue)`` or ``ImageMem(desc, device, context)`` allocates; ``ImageMem()`` owns nothing;
    ``ImageMem(other)`` shares. Objects that share memory are equal and have one hash. ``close()``, the end of a
    ``with`` block or garbage collection ends the ownership of this object. Images made from the memory, and unfinished
    commands, keep the memory until they end.

    An ``ImageMem`` is not a kernel argument: pass the handle of an image made from it.

    Parameters
    ----------
    desc : ImageDescriptor | ImageMem, optional
        Dimensions, channels and type of the image; another ``ImageMem``, to share its memory; or None.
    where : Queue | Device | Context
        A queue, or a device and a context; nothing with another ``ImageMem``.

    Raises
    ------
    InvalidError
        ``desc`` is no descriptor, or ``where`` is not one.
    MemoryAllocationError
        The descriptor is not valid, a size is beyond the device, or there is not enough memory.
    FeatureNotSupportedError
        The device lacks this type of image or this format.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> with bindless.ImageMem(bindless.ImageDescriptor(4, 3, num_channels=2), queue) as memory:
    ...     memory.get_range(), memory.get_num_channels()
    (Range(4, 3, 0), 2)
    """

    __slots__ = ("__weakref__", "_context", "_resource", "_value")

    def __init__(self, desc: ImageDescriptor | ImageMem | None = None, *where: Where) -> None:
        self._resource: MemoryRecord | None
        self._context: Context | None
        if desc is None:
            if where:
                raise InvalidError("ImageMem: the first argument is an ImageDescriptor")
            self._value, self._resource, self._context = 0, None, None
        elif isinstance(desc, ImageMem):
            if where:
                raise InvalidError("ImageMem: a copy stays where its original is; give no queue, device or context")
            self._value, self._resource, self._context = desc._value, desc._resource, desc._context
        else:
            device, context = resolve(where)
            self._take(_allocate(desc, device, context), desc, device, context)

    def _take(self, raw: int, desc: ImageDescriptor, device: Device, context: Context) -> None:
        """Owns image memory from now on."""
        self._value, self._context = raw, context
        levels: list[int] = []
        images, free, native = context._images, context._backend.free_image, context._native_context
        self._resource = MemoryRecord(
            desc, device, "ImageMem", levels, context._resource, free_owned, images, levels, free, native, raw, desc
        )

    @classmethod
    def _adopted(cls, raw: int, desc: ImageDescriptor, device: Device, context: Context) -> ImageMem:
        """Of memory that the backend made of a native object."""
        memory = cls()
        memory._take(raw, desc, device, context)
        return memory

    def _own(self) -> tuple[MemoryRecord, Context]:
        memory, context = self._resource, self._context
        if memory is None or context is None:
            raise InvalidError("this ImageMem owns no memory: it was made without a descriptor, or closed")
        return memory, context

    def _image_memory(self) -> tuple[int, ImageDescriptor, Context, Device, MemoryRecord]:
        """Raw handle, descriptor, where it was allocated, and what keeps it alive: for copies."""
        memory, context = self._resource, self._context
        if memory is None or context is None:
            memory, context = self._own()
        return self._value, memory.descriptor, context, memory.device, memory

    def _of_level(self, level: int) -> ImageMem:
        """One level of a mipmap, for copies, which keeps the memory. It is not to be closed."""
        handle, (memory, context) = self.get_mip_level_mem_handle(level), self._own()
        part, desc = ImageMem(), memory.descriptor.get_mip_level_desc(level)
        part._value, part._context = handle.raw_handle, context
        part._resource = LevelRecord(desc, part._value, memory)  # type: ignore[assignment]
        return part

    # ------------------------------------------------------------------ BI's members

    def get_handle(self) -> ImageMemHandle:
        """The memory's handle, borrowed."""
        memory, context = self._own()
        if self._value not in memory.levels:  # the context has to know it from now on
            memory.levels.append(self._value)
            context._images[self._value] = BorrowedMemory(
                memory.descriptor, memory.device, "ImageMem", self._value, memory
            )
        return ImageMemHandle(self._value)

    def get_descriptor(self) -> ImageDescriptor:
        """The descriptor it was allocated with."""
        return self._own()[0].descriptor

    def get_device(self) -> Device:
        """The device it was allocated on."""
        return self._own()[0].device

    def get_context(self) -> Context:
        """The context it was allocated in."""
        return self._own()[1]

    def get_range(self) -> Range:
        """(width, height, depth) in pixels; 0 for dimensions that the image does not have."""
        desc = self.get_descriptor()
        return Range(desc.width, desc.height, desc.depth)

    def get_channel_type(self) -> ImageChannelType:
        """Type of a channel."""
        return self.get_descriptor().channel_type

    def get_num_channels(self) -> int:
        """Channels of a pixel."""
        return self.get_descriptor().num_channels

    def get_type(self) -> ImageType:
        """Kind of image."""
        return self.get_descriptor().type

    def get_mip_level_mem_handle(self, level: int) -> ImageMemHandle:
        """Memory of one level of a mipmap, borrowed: it dies with this memory.

        Raises
        ------
        SyclRuntimeError
            This is no mipmap, or it has no such level.
        """
        handle, context = self.get_handle(), self._own()[1]
        return _level(context, handle, context._images[self._value], level)

    # ------------------------------------------------------------------ ownership

    @property
    def closed(self) -> bool:
        """Whether this object owns nothing."""
        return self._resource is None

    def close(self) -> None:
        """Gives up this object's share; the last one frees the memory. A second call does nothing.

        Raises
        ------
        MemoryAllocationError
            The driver did not free it.
        """
        if self._resource is None:
            return
        shares = [self._resource]
        self._resource = self._context = None
        error = let_go(shares, 0)
        if error is not None:
            raise as_error(MemoryAllocationError, error, "image memory was not freed") from error

    def __enter__(self) -> ImageMem:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __copy__(self) -> ImageMem:
        return ImageMem(self)

    def __deepcopy__(self, memo: object) -> ImageMem:
        return ImageMem(self)

    def __reduce__(self) -> Any:
        raise CopyError("image memory cannot be pickled: copy it to an array, and pickle that")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImageMem) and other._resource is self._resource

    def __hash__(self) -> int:
        return hash((ImageMem, id(self._resource)))

    def __bool__(self) -> bool:
        return self._resource is not None

    def __repr__(self) -> str:
        if self._resource is None:
            return "ImageMem()"
        return f"ImageMem({self._resource.descriptor}, handle={self._value:#x})"
