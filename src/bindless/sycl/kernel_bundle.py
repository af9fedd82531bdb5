"""``KernelBundle``: a module of kernels in one of a driver's own languages (SYCL 2020 section 4.11)."""

from __future__ import annotations

import operator
import os
import struct
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import InvalidError
from . import _lifetime
from ._where import resolve_where
from .kernel import Kernel

if TYPE_CHECKING:
    from .context import Context
    from .device import Device

__all__ = ["KernelBundle", "load_kernel_bundle"]


class KernelBundle:
    """Kernels built for one device; ``load_kernel_bundle`` makes one.

    Its kernels keep it alive. Closing it unloads them after the commands that run them.
    """

    __slots__ = ("__weakref__", "_kernels", "_lock", "_native", "_open", "_resource", "context", "device")

    def __init__(self, _context: Context, _device: Device, _native: Any) -> None:
        self.context = _context
        self.device = _device
        self._native = _native
        self._lock = threading.RLock()
        self._kernels: dict[str, tuple[Any, Any]] = {}
        self._open = True
        self._resource = _lifetime.Resource(
            _lifetime.Rank.MODULE, _context._resource, _context._backend.release_module, _native
        )

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of its kernels."""
        self._require_open()
        return self.context._backend.kernel_names(self._native)

    def has_kernel(self, name: str) -> bool:
        """Whether it has a kernel of this name."""
        return name in self.kernel_names

    def get_kernel(self, name: str) -> Kernel:
        """The kernel of this name.

        Raises:
            InvalidError: there is none; the message lists the names.
        """
        self._require_open()
        with self._lock:
            if name not in self._kernels:
                names = self.kernel_names
                if name not in names:
                    raise InvalidError(f"no kernel is named {name!r}; this bundle has {', '.join(names) or 'none'}")
                native = self.context._backend.get_kernel(self._native, name)
                self._kernels[name] = native, self.context._backend.kernel_info(native)
            native, record = self._kernels[name]
        return Kernel(self, native, record)

    def _require_open(self) -> None:
        if not self._open:
            raise InvalidError("this kernel bundle was closed: load it again with load_kernel_bundle")
        self.context._native  # noqa: B018  raises if it has ended

    def close(self) -> None:
        """Unloads it after the commands that use it; a second call does nothing."""
        from ._stream import wait_for_users

        with self._lock:
            if not self._open:
                return
            self._open = False
        wait_for_users(self)
        self._resource.close()

    def __enter__(self) -> KernelBundle:
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KernelBundle on {self.device.name!r}{'' if self._open else ', closed'}>"


def load_kernel_bundle(
    source: str | os.PathLike[str] | bytes,
    *where: object,
    specialization: Mapping[int, Any] | None = None,
    options: str = "",
) -> KernelBundle:
    """Builds a module for the device.

    Args:
        source: path of a file, or its contents: PTX or cubin on cuda, SPIR-V elsewhere.
        where: a queue, or a device and a context.
        specialization: values of specialization constants by their number: bool (1 byte), int (4 bytes, 8 where it does
            not fit), float (4 bytes), numpy scalars of the constant's own type, or bytes.
        options: for the driver's compiler.

    Raises:
        InvalidError: the file cannot be read, is empty, or an argument is none of these.
        BuildError: the module does not build; ``log`` holds the compiler's words.
        FeatureNotSupportedError: the device loads no kernels.
    """
    device, context = resolve_where(*where)
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif isinstance(source, (str, os.PathLike)):
        try:
            with open(source, "rb") as file:
                data = file.read()
        except (OSError, ValueError) as error:
            raise InvalidError(f"source={os.fspath(source)!r} cannot be read: {error}") from error
    else:
        raise InvalidError(f"source: a {type(source).__name__} is neither a path nor bytes")
    if not data:
        raise InvalidError("source is empty: it is PTX or cubin on cuda, SPIR-V elsewhere")
    if not isinstance(options, str):
        raise InvalidError(f"options={options!r} is no string")
    constants = {_constant_id(key): _constant(key, value) for key, value in (specialization or {}).items()}
    native = context._backend.load_module(
        context._native, device._record.native, data, specialization=constants or None, options=options
    )
    return KernelBundle(context, device, native)


def _constant_id(key: object) -> int:
    try:
        number = operator.index(key)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise InvalidError(f"specialization: {key!r} is no number of a specialization constant (0 to {2**32 - 1})")
    return number


def _constant(key: object, value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        size = 4 if -(2**31) <= value < 2**32 else 8
        return value.to_bytes(size, "little", signed=value < 0)
    if isinstance(value, float):
        return struct.pack("<f", value)
    raise InvalidError(
        f"specialization[{key}]={value!r}: it is a bool, int, float, numpy scalar, or the constant's bytes"
    )
