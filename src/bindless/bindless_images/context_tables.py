"""Records of the image memory and images of a context, by raw handle (R16, R18, R21, R36).

``Context._images`` and ``Context._handles`` are tables of these records, by raw handle. What ``alloc_image_mem`` and
``create_image`` made is owned by its table (``Listed``); the memory of an ``ImageMem`` is owned by that.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Union

from ..backends.contract import BackendProtocol, NativeContext
from ..core.ownership import Rank, Resource
from ..model.enums import Precision
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..submission.handle_table import Listed

if TYPE_CHECKING:
    from ..submission.owners import StreamContext
    from ..sycl.device.device import Device

_IMAGE_MEMORY, _IMAGE_HANDLE = Rank.IMAGE_MEMORY, Rank.IMAGE_HANDLE

NOTHING = object()
"""``passed`` of memory of which no image was made."""

__all__ = [
    "BorrowedMemory",
    "HandleRecord",
    "KnownMemory",
    "LevelRecord",
    "ListedMemory",
    "MemoryRecord",
    "free_owned",
    "handle_key",
]


class MemoryRecord(Resource):
    """The right and duty to free image memory: held by an ``ImageMem``, and by all that uses the memory.

    Attributes
    ----------
    descriptor : ImageDescriptor
        As allocated.
    device : Device
        Where it was allocated.
    owner : str
        ``alloc_image_mem``, ``ImageMem`` or ``external``: who may free it.
    number : int
        Its raw handle.
    levels : list[int]
        Raw handles of the levels handed out so far; they end with the memory. Of an ``ImageMem`` its own, too.
    passed : object
        The sampler of the last image made of it, or None of an unsampled one: such another needs no check.
    """

    __slots__ = ("descriptor", "device", "levels", "number", "owner", "passed")

    def __init__(
        self,
        descriptor: ImageDescriptor,
        device: Device,
        owner: str,
        levels: list[int],
        parent: Resource,
        release: Callable[..., object],
        *arguments: Any,
    ) -> None:
        self._own(_IMAGE_MEMORY, parent, release, arguments)
        self.descriptor, self.device, self.owner, self.levels = descriptor, device, owner, levels
        self.number: int = arguments[-2]
        self.passed: object = NOTHING

    def keep(self, _: StreamContext) -> MemoryRecord | None:
        """A reference that keeps the memory alive."""
        return self

    def end(self, *_: object) -> None:
        """Of a table that lets go of it: it ends with its last holder."""


def free_owned(
    images: dict[int, KnownMemory], levels: list[int], free: Callable[..., object], native: Any, raw: int, desc: Any
) -> None:
    """Free the memory of an ``ImageMem`` and remove its records from the context."""
    for number in levels:
        images.pop(number, None)
    free(native, raw, desc)


class ListedMemory(Listed):
    """Image memory of ``alloc_image_mem``; the attributes are those of ``MemoryRecord``."""

    __slots__ = ("descriptor", "device", "levels", "passed")

    owner = "alloc_image_mem"

    def __init__(self, descriptor: ImageDescriptor, device: Device, number: int) -> None:
        self.descriptor = descriptor
        self.device = device
        self.number = number
        self.passed: object = NOTHING
        self.levels: Sequence[int] = ()
        self._held = None
        self._unheld = True

    def _hold(self, context: StreamContext) -> MemoryRecord:
        self.levels = levels = list[int]()
        free, native, desc = context._backend.free_image, context._native_context, self.descriptor
        return MemoryRecord(desc, self.device, self.owner, levels, context._resource, free, native, self.number, desc)

    def _release(self, backend: BackendProtocol, native: NativeContext) -> None:
        backend.free_image(native, self.number, self.descriptor)


class BorrowedMemory:
    """Image memory that the context must not keep alive: that of an ``ImageMem``, and the levels of a mipmap.

    Attributes
    ----------
    descriptor : ImageDescriptor
        As allocated; of the level for a level.
    device : Device
        Where it was allocated.
    owner : str
        ``ImageMem`` or ``level``.
    number, passed
        As of ``MemoryRecord``.
    """

    __slots__ = ("_memory", "descriptor", "device", "number", "owner", "passed")

    def __init__(
        self, descriptor: ImageDescriptor, device: Device, owner: str, number: int, memory: MemoryRecord
    ) -> None:
        self.descriptor, self.device, self.owner, self.number = descriptor, device, owner, number
        self.passed: object = NOTHING
        self._memory = weakref.ref(memory)

    def keep(self, _: StreamContext) -> MemoryRecord | None:
        """A reference that keeps the memory alive; None after its end."""
        return self._memory()

    def end(self, *_: object) -> None:
        """Of a table that lets go of it: it was not the table's."""


class LevelRecord:
    """One level of a mipmap, which keeps the whole; attributes as of ``MemoryRecord``."""

    __slots__ = ("__weakref__", "_memory", "descriptor", "device", "number")

    def __init__(self, descriptor: ImageDescriptor, number: int, memory: MemoryRecord) -> None:
        self.descriptor, self.device, self.number, self._memory = descriptor, memory.device, number, memory


KnownMemory = Union[MemoryRecord, ListedMemory, BorrowedMemory]


class HandleRecord(Listed):
    """An image; keeps its memory alive.

    Attributes
    ----------
    sampler : BindlessImageSampler | None
        None for an unsampled image.
    usm : bool
        Whether it lies over linear memory.
    memory : object
        The USM that it lies over, or the owner of its image memory.
    source : int | None
        Raw handle of the image memory; in USM the bytes between rows, or 0. None of a view with other formats.
    precision : Precision
        Arithmetic of the built-in functions, unless a call gives another.
    fill : float
        Value of texels outside, with ``clamp_to_border``.
    """

    __slots__ = ("descriptor", "device", "fill", "memory", "precision", "sampler", "source", "usm")

    def __init__(
        self,
        device: Device,
        descriptor: ImageDescriptor,
        sampler: BindlessImageSampler | None,
        usm: bool,
        memory: object,
        number: int,
        source: int | None = None,
        precision: Precision = Precision.hardware,
        fill: float = 0.0,
    ) -> None:
        self.descriptor = descriptor
        self.device = device
        self.sampler = sampler
        self.source = source
        self.precision = precision
        self.fill = fill
        self.usm = usm
        self.memory = memory
        self.number = number
        self._held = None
        self._unheld = True

    def _hold(self, context: StreamContext) -> Resource:
        arguments = context._native_context, self.number, self.sampler is not None
        return Resource(_IMAGE_HANDLE, context._resource, context._backend.destroy_image, *arguments)

    def _release(self, backend: BackendProtocol, native: NativeContext) -> None:
        backend.destroy_image(native, self.number, self.sampler is not None)


def handle_key(raw: int, sampled: bool) -> int:
    """Key of an image in ``Context._handles``: drivers number sampled and unsampled images separately."""
    return raw << 1 | sampled
