"""Lookup of the backend for native handles, and checks of handles and objects."""

from __future__ import annotations

from ...backends import registry
from ...backends.contract import BackendProtocol, InteropProtocol, require_group
from ...backends.contract.reference_counted import CountedProtocol
from ...model.enums import Backend, coerce
from ...model.errors import BackendMismatchError, FeatureNotSupportedError, InvalidError
from ...model.message_values import shown
from ...model.native_handle import NativeHandle, as_handle
from ...sycl.device.context import Context

__all__ = ["backend_for", "handle_for", "interop_of", "require_context"]


def interop_of(backend: BackendProtocol) -> InteropProtocol:
    """The native-handle functions of a backend.

    Raises
    ------
    FeatureNotSupportedError
        The backend has no native handles.
    """
    if backend.interop is None:
        raise FeatureNotSupportedError(
            f"the {backend.backend} backend makes no objects of native handles; other backends do",
            backend=str(backend.backend),
        )
    return backend.interop


def counted_of(backend: BackendProtocol) -> CountedProtocol:
    """The calls of a back end whose native objects count references.

    Raises
    ------
    FeatureNotSupportedError
        Its objects do not.
    """
    return require_group(backend.counted, "reference counts of native objects", backend.backend)


def backend_for(name: Backend | str) -> BackendProtocol:
    """The backend of this name.

    Raises
    ------
    InvalidError
        There is none.
    Error
        Its driver is missing.
    """
    return registry.backend(coerce(Backend, name, "backend"))


def handle_for(backend: BackendProtocol, kind: str, native: object, name: str = "native") -> NativeHandle:
    """A handle that the backend makes an object of this kind of.

    Raises
    ------
    InvalidError
        It is none, null, or one of another C type.
    FeatureNotSupportedError
        The backend makes none of this kind.
    """
    types = interop_of(backend).native_types.get(kind)
    if types is None:
        raise FeatureNotSupportedError(
            f"make_{kind}: the {backend.backend} backend makes no such object of a native handle",
            backend=str(backend.backend),
        )
    return as_handle(native, types, name)


def require_context(backend: BackendProtocol, context: object) -> Context:
    """A context of the backend that can be used.

    Raises
    ------
    InvalidError
        It is none, or was closed.
    BackendMismatchError
        It is another backend's.
    """
    if not isinstance(context, Context):
        raise InvalidError(f"context={shown(context)} is no Context")
    context._native  # noqa: B018  raises if it has ended
    if context._backend is not backend:
        raise BackendMismatchError(
            f"context={shown(context)} is of the {context.backend} backend, the native object of {backend.backend}",
            backend=str(backend.backend),
        )
    return context
