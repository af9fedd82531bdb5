"""What a context knows of its image memory and its images: numbers alone do not tell (R16, R18, R21, R36).

``Context._images`` and ``Context._handles`` hold these records. A record that owns something native is at once the
right and duty to release it: it is held by whoever may free it, and by work in flight that uses it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

from ..model.descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..sycl._lifetime import Rank, Resource

if TYPE_CHECKING:
    from ..sycl.context import Context
    from ..sycl.device import Device

__all__ = ["BorrowedMemory", "HandleRecord", "KnownMemory", "MemoryRecord", "handle_key"]

_IMAGE_MEMORY, _IMAGE_HANDLE = Rank.IMAGE_MEMORY, Rank.IMAGE_HANDLE


class MemoryRecord(Resource):
    """Image memory of a context, owned.

    Attributes:
        descriptor: as allocated.
        device: where it was allocated.
        owner: ``alloc_image_mem``, ``ImageMem`` or ``external``: who may free it.
        levels: raw handles of the levels handed out so far; they end with the memory.
    """

    __slots__ = ("descriptor", "device", "levels", "owner")

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
        Resource.__init__(self, _IMAGE_MEMORY, parent, release, *arguments)
        self.descriptor, self.device, self.owner, self.levels = descriptor, device, owner, levels

    def keep(self) -> MemoryRecord | None:
        """What keeps the memory alive while it is held."""
        return self


class BorrowedMemory:
    """Image memory that the context must not keep alive: that of an ``ImageMem``, and the levels of a mipmap.

    Attributes:
        descriptor: as allocated; of the level for a level.
        device: where it was allocated.
        owner: ``ImageMem`` or ``level``.
    """

    __slots__ = ("_memory", "descriptor", "device", "owner")

    def __init__(self, descriptor: ImageDescriptor, device: Device, owner: str, memory: MemoryRecord) -> None:
        self.descriptor, self.device, self.owner = descriptor, device, owner
        self._memory = weakref.ref(memory)

    def keep(self) -> MemoryRecord | None:
        """What keeps the memory alive while it is held; None if it has ended."""
        return self._memory()


KnownMemory = Union[MemoryRecord, BorrowedMemory]


def free_owned(
    context: weakref.ref[Context], levels: list[int], free: Callable[..., object], native: Any, raw: int, desc: Any
) -> None:
    """Frees the memory of an ``ImageMem``, and takes it and its levels out of the registry if that still lives."""
    owner = context()
    if owner is not None:
        for number in (raw, *levels):
            owner._images.pop(number, None)
    free(native, raw, desc)


class HandleRecord(Resource):
    """An image of a context, which knows it from the beginning; owns the native image and keeps its memory alive.

    Attributes:
        sampler: None for an unsampled image.
        usm: whether it lies over linear memory.
        memory: the USM that it lies over, or the owner of its image memory.
    """

    __slots__ = ("descriptor", "device", "memory", "sampler", "usm")

    def __init__(
        self,
        context: Context,
        device: Device,
        descriptor: ImageDescriptor,
        sampler: BindlessImageSampler | None,
        usm: bool,
        memory: object,
        number: int,
    ) -> None:
        sampled, destroy = sampler is not None, context._backend.destroy_image
        Resource.__init__(self, _IMAGE_HANDLE, context._resource, destroy, context._native_context, number, sampled)
        self.descriptor, self.device, self.sampler, self.usm = descriptor, device, sampler, usm
        self.memory = memory
        context._handles[number << 1 | sampled] = self  # handle_key


def handle_key(raw: int, sampled: bool) -> int:
    """Key of an image in ``Context._handles``: drivers number sampled and unsampled images separately."""
    return raw << 1 | sampled
