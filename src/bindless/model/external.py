"""External memory and semaphores: the handles of other APIs, and their descriptors (External Resource types).

The constructors and ``ExternalSemaphoreDescriptor.check_value`` check requirements R71 and R76, for all backends.
"""

from __future__ import annotations

import operator
import os
import stat
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex, Union

from .enums import StringEnum, coerce
from .errors import FeatureNotSupportedError, InvalidError
from .message_values import shown

__all__ = [
    "ExternalMemDescriptor",
    "ExternalMemHandleType",
    "ExternalSemaphoreDescriptor",
    "ExternalSemaphoreHandleType",
    "Resource",
    "ResourceFd",
    "ResourceWin32Handle",
    "ResourceWin32Name",
]

_UINT64_MAX = 2**64 - 1


class ExternalMemHandleType(StringEnum):
    """Type of an external memory handle (``external_mem_handle_type``)."""

    opaque_fd = "opaque_fd"
    win32_nt_handle = "win32_nt_handle"
    win32_nt_dx12_resource = "win32_nt_dx12_resource"
    dma_buf = "dma_buf"


class ExternalSemaphoreHandleType(StringEnum):
    """Type of an external semaphore handle (``external_semaphore_handle_type``)."""

    opaque_fd = "opaque_fd"
    win32_nt_handle = "win32_nt_handle"
    win32_nt_dx12_fence = "win32_nt_dx12_fence"
    timeline_fd = "timeline_fd"
    timeline_win32_nt_handle = "timeline_win32_nt_handle"


def _integer(value: SupportsIndex, name: str, maximum: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer") from None
    if not 0 <= number <= maximum:
        raise InvalidError(f"{name}={shown(number)}: it is from 0 to {maximum}")
    return number


@dataclass(frozen=True)
class ResourceFd:
    """A POSIX file descriptor. A successful import takes ownership and closes it."""

    file_descriptor: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "file_descriptor", _integer(self.file_descriptor, "file_descriptor", 2**31 - 1))

    def check(self) -> None:
        """Raise ``InvalidError`` for a closed file descriptor, or for a file that cannot be a driver's memory or
        semaphore.
        """
        number = self.file_descriptor
        try:
            mode = os.fstat(number).st_mode
        except OSError as error:
            raise InvalidError(
                f"file descriptor {number} is not open ({error.strerror}): it was closed, or taken over by an import; "
                "ask its exporter for another, or give os.dup of one that you keep"
            ) from None
        for kind, name in _NO_RESOURCES:
            if kind(mode):
                raise InvalidError(
                    f"file descriptor {number} is {name}, not one that a driver exported for its memory or semaphores"
                )


_NO_RESOURCES = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a disk"),
)


@dataclass(frozen=True)
class ResourceWin32Handle:
    """A Windows NT handle, as a number. The caller keeps ownership and closes it."""

    handle: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "handle", _integer(self.handle, "handle", _UINT64_MAX))

    def check(self) -> None:
        """Raise ``InvalidError`` for the null handle."""
        if self.handle == 0:
            raise InvalidError("handle=0: the handle of a resource is needed")


@dataclass(frozen=True)
class ResourceWin32Name:
    """The name of a Windows NT object."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or "\0" in self.name:
            raise InvalidError(f"name={self.name!r}: the name of an object is a text that is not empty")

    def check(self) -> None:
        """Check nothing: only the driver can check a name."""


Resource = Union[ResourceFd, ResourceWin32Handle, ResourceWin32Name]

_WIN32 = (ResourceWin32Handle, ResourceWin32Name)
_RESOURCES_OF: dict[StringEnum, tuple[type, ...]] = {
    ExternalMemHandleType.opaque_fd: (ResourceFd,),
    ExternalMemHandleType.dma_buf: (ResourceFd,),
    ExternalMemHandleType.win32_nt_handle: _WIN32,
    ExternalMemHandleType.win32_nt_dx12_resource: _WIN32,
    ExternalSemaphoreHandleType.opaque_fd: (ResourceFd,),
    ExternalSemaphoreHandleType.timeline_fd: (ResourceFd,),
    ExternalSemaphoreHandleType.win32_nt_handle: _WIN32,
    ExternalSemaphoreHandleType.win32_nt_dx12_fence: _WIN32,
    ExternalSemaphoreHandleType.timeline_win32_nt_handle: _WIN32,
}
# Enums of equal strings are equal keys: handle types of the same name allow the same resources.


def _check_fit(resource: object, handle_type: StringEnum) -> None:
    allowed = _RESOURCES_OF[handle_type]
    if not isinstance(resource, allowed):
        names = " or ".join(kind.__name__ for kind in allowed)
        raise InvalidError(f"handle_type={handle_type} needs {names}, not {resource!r}")


def _check_system(handle_type: StringEnum) -> None:
    """Check that the handle type exists on this operating system."""
    windows = sys.platform == "win32"
    if ("win32" in handle_type.value) != windows:
        here = (
            "Windows, where handles are 'win32_nt_handle' and similar"
            if windows
            else f"{sys.platform}, where they are 'opaque_fd' and similar"
        )
        raise FeatureNotSupportedError(f"handle_type={handle_type} does not exist on {here}")


@dataclass(frozen=True)
class ExternalMemDescriptor:
    """External memory to import (``external_mem_descriptor``).

    Parameters
    ----------
    resource
        The exporter's handle.
    handle_type
        Type of the handle.
    size_in_bytes
        Size in bytes of the whole memory, as its exporter allocated it: ``VkMemoryAllocateInfo.allocationSize``.
    dedicated
        Whether the exporter allocated it for a single image or buffer (Vulkan's dedicated allocation, a
        resource of DirectX 12). CUDA needs it; other backends ignore it.

    Raises
    ------
    InvalidError
        The handle type does not fit the resource, or the size is 0.
    """

    resource: Resource
    handle_type: ExternalMemHandleType
    size_in_bytes: int
    dedicated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "handle_type", coerce(ExternalMemHandleType, self.handle_type, "handle_type"))
        object.__setattr__(self, "size_in_bytes", _integer(self.size_in_bytes, "size_in_bytes", _UINT64_MAX))
        object.__setattr__(self, "dedicated", bool(self.dedicated))
        _check_fit(self.resource, self.handle_type)
        if self.size_in_bytes == 0:
            raise InvalidError("size_in_bytes=0: external memory has at least 1 byte")

    @property
    def external_resource(self) -> Resource:
        """The specification's name of ``resource``."""
        return self.resource

    def check(self) -> None:
        """Check the conditions that can change until the import.

        Raises
        ------
        InvalidError
            The file descriptor is closed, or not a resource.
        FeatureNotSupportedError
            The handle type belongs to another operating system.
        """
        _check_system(self.handle_type)
        self.resource.check()


@dataclass(frozen=True)
class ExternalSemaphoreDescriptor:
    """An external semaphore to import (``external_semaphore_descriptor``).

    Parameters
    ----------
    resource
        The exporter's handle.
    handle_type
        Type of the handle.

    Raises
    ------
    InvalidError
        The handle type does not fit the resource.
    """

    resource: Resource
    handle_type: ExternalSemaphoreHandleType

    def __post_init__(self) -> None:
        object.__setattr__(self, "handle_type", coerce(ExternalSemaphoreHandleType, self.handle_type, "handle_type"))
        _check_fit(self.resource, self.handle_type)

    @property
    def external_resource(self) -> Resource:
        """The specification's name of ``resource``."""
        return self.resource

    @cached_property
    def has_values(self) -> bool:
        """Whether waits and signals take a value: true for timelines and fences, false for binary semaphores."""
        return self.handle_type not in (
            ExternalSemaphoreHandleType.opaque_fd,
            ExternalSemaphoreHandleType.win32_nt_handle,
        )

    def check(self) -> None:
        """See ``ExternalMemDescriptor.check``."""
        _check_system(self.handle_type)
        self.resource.check()

    def check_value(self, value: SupportsIndex | None) -> int | None:
        """Check and convert the value of a wait or signal.

        Raises
        ------
        InvalidError
            A value for a binary semaphore, none for another one (R76), or one that exceeds 64 bits.
        """
        has_values = self.has_values
        if has_values and type(value) is int and 0 <= value <= _UINT64_MAX:
            return value
        if has_values and value is None:
            raise InvalidError(
                f"value: a {self.handle_type} semaphore is waited for and signalled with a value; give one"
            )
        if not has_values and value is not None:
            raise InvalidError(
                f"value={shown(value)}: a binary semaphore ({self.handle_type}) is signalled or not, and takes no "
                "value; import a timeline as timeline_fd, or leave the value out"
            )
        return None if value is None else _integer(value, "value", _UINT64_MAX)
