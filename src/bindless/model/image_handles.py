"""Handles of image memory and of images: small values around a number (Obtaining a handle to the image)."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex, TypeVar

from .errors import CopyError, InvalidError
from .image_descriptor import ImageDescriptor
from .message_values import shown

__all__ = ["ImageMemHandle", "SampledImageHandle", "UnsampledImageHandle"]

_UINT64_MAX = 2**64 - 1

_Handle = TypeVar("_Handle", bound="_RawHandle")


def _raw(value: SupportsIndex) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"raw_handle={shown(value)} is not an integer") from None
    if not 0 <= number <= _UINT64_MAX:
        raise InvalidError(f"raw_handle={shown(number)} does not fit 64 bits")
    return number


class _RawHandle:
    """A 64-bit number that names a driver object; 0 names none."""

    __slots__ = ("__weakref__", "_raw_handle")

    def __init__(self, raw_handle: SupportsIndex = 0) -> None:
        self._raw_handle = raw_handle if type(raw_handle) is int and 0 <= raw_handle < 2**64 else _raw(raw_handle)

    @property
    def raw_handle(self) -> int:
        """The number; kernels receive it by value and can load it from arrays of uint64."""
        return self._raw_handle

    @raw_handle.setter
    def raw_handle(self, value: int) -> None:
        self._raw_handle = _raw(value)

    def __int__(self) -> int:
        return self._raw_handle

    __index__ = __int__

    def __bool__(self) -> bool:
        return self._raw_handle != 0

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._raw_handle == self._raw_handle

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._raw_handle))

    def __copy__(self: _Handle) -> _Handle:
        return _same(self)

    def __deepcopy__(self: _Handle, memo: object) -> _Handle:
        return _same(self)

    def __reduce_ex__(self, protocol: object) -> Any:
        raise CopyError(
            f"{self!r} cannot be pickled, for it names an object of this process: pickle its pixels, or an Image"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._raw_handle:#x})"


def _same(handle: _Handle) -> _Handle:
    """An equal handle of the same object."""
    copy = type(handle).__new__(type(handle))
    for kind in type(handle).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if name != "__weakref__":
                setattr(copy, name, getattr(handle, name))
    return copy


class ImageMemHandle(_RawHandle):
    """Handle of opaque image memory; it does not own the memory, and the host cannot dereference it."""

    __slots__ = ()


class _ImageHandle(_RawHandle):
    """Handle of an image. ``create_image`` stores the descriptor in it, until the number is replaced."""

    __slots__ = ("_descriptor",)

    def __init__(self, raw_handle: SupportsIndex = 0, descriptor: ImageDescriptor | None = None) -> None:
        self._raw_handle = raw_handle if type(raw_handle) is int and 0 <= raw_handle < 2**64 else _raw(raw_handle)
        self._descriptor = descriptor

    @property
    def descriptor(self) -> ImageDescriptor | None:
        """Descriptor of the image, or None for a handle made from a bare number."""
        return self._descriptor

    @property
    def raw_handle(self) -> int:
        """The number; kernels receive it by value and can load it from arrays of uint64."""
        return self._raw_handle

    @raw_handle.setter
    def raw_handle(self, value: int) -> None:
        self._raw_handle = _raw(value)
        self._descriptor = None


class UnsampledImageHandle(_ImageHandle):
    """Handle of an image whose pixels kernels fetch and write by integer coordinates."""

    __slots__ = ()

    _sampled = False


class SampledImageHandle(_ImageHandle):
    """Handle of an image with a sampler, read by float coordinates."""

    __slots__ = ()

    _sampled = True
