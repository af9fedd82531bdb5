"""What a context knows of its image memory and its images: numbers alone do not tell (R16, R18, R21, R36)."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..model.descriptor import ImageDescriptor
from ..model.errors import Error
from ..model.sampler import BindlessImageSampler
from ..sycl._lifetime import Resource

if TYPE_CHECKING:
    from ..sycl.context import Context
    from ..sycl.device import Device

__all__ = ["Failures", "HandleRecord", "MemoryRecord", "handle_key", "let_go"]


class MemoryRecord:
    """Image memory of a context, or one level of a mipmap.

    Attributes:
        descriptor: as allocated; of the level for a level.
        device: where it was allocated.
        owner: ``alloc_image_mem``, ``ImageMem``, ``level`` or ``external``: who may free it.
        levels: raw handles of the levels handed out so far; they end with the memory.
        failures: where a release puts its error while somebody can be told of it.
    """

    __slots__ = ("_strong", "_weak", "descriptor", "device", "failures", "levels", "owner")

    def __init__(
        self,
        descriptor: ImageDescriptor,
        device: Device,
        resource: Resource,
        owner: str,
        levels: list[int],
        failures: Failures | None = None,
    ) -> None:
        self.descriptor, self.device, self.owner = descriptor, device, owner
        self.levels, self.failures = levels, failures
        # Memory of ImageMem, and levels, end with their owners: the context must not keep them alive.
        self._strong = resource if owner in ("alloc_image_mem", "external") else None
        self._weak = weakref.ref(resource)

    def keep(self) -> Resource | None:
        """What keeps the memory alive while it is held."""
        return self._weak()


class HandleRecord:
    """An image of a context.

    Attributes:
        sampled, usm: kind of handle, and whether it lies over linear memory.
        resource: owns the native image and keeps its memory alive.
        memory: the USM that it lies over, or the owner of its image memory.
        failures: where a release puts its error while somebody can be told of it.
    """

    __slots__ = ("descriptor", "device", "failures", "memory", "resource", "sampled", "sampler", "usm")

    def __init__(
        self,
        descriptor: ImageDescriptor,
        device: Device,
        sampler: BindlessImageSampler | None,
        usm: bool,
        memory: object,
        resource: Resource,
        failures: Failures,
    ) -> None:
        self.descriptor, self.device, self.sampler, self.usm = descriptor, device, sampler, usm
        self.sampled = sampler is not None
        self.memory, self.resource, self.failures = memory, resource, failures


class Failures:
    """Carries the error of a release from a destructor to the call that caused it, if there is one."""

    __slots__ = ("armed", "errors")

    def __init__(self) -> None:
        self.armed = False
        self.errors: list[Error] = []

    def run(self, release: Callable[..., Any], *arguments: Any) -> None:
        """Releases; the error is kept for the waiting caller, or raised where there is none."""
        try:
            release(*arguments)
        except Error as error:
            if not self.armed:
                raise
            self.errors.append(error)


def handle_key(raw: int, sampled: bool) -> int:
    """Key of an image in ``Context._handles``: drivers number sampled and unsampled images separately."""
    return raw << 1 | sampled


def let_go(drop: Callable[[], Any], failures: Failures) -> Error | None:
    """Drops the last reference that the caller holds, and returns the error of the release, if it happened now.

    Work in flight may hold the object still: then it is released when that work is complete.
    """
    failures.armed = True
    try:
        drop()
    finally:
        failures.armed = False
    return failures.errors.pop() if failures.errors else None


def forget_memory(context: weakref.ref[Context], raw: int, levels: list[int]) -> None:
    """Takes memory and its levels out of the context's registry, if the context still lives."""
    owner = context()
    if owner is not None:
        for number in (raw, *levels):
            owner._images.pop(number, None)
