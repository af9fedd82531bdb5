"""``NativeHandle``: a driver's own handle as a number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from .errors import InvalidError
from .message_values import shown

__all__ = ["CountedHandle", "NativeHandle", "as_handle"]


class NativeHandle(int):
    """Handle of a driver object: an int with the address, or for some types the number, in its C type.

    Attributes
    ----------
    type
        The C type, such as ``ze_command_list_handle_t``; empty where unknown.
    """

    type: str = ""

    def __new__(cls, value: int, type: str = "") -> NativeHandle:
        handle = super().__new__(cls, value)
        handle.type = type
        return handle

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeHandle, (int(self), self.type)

    def __repr__(self) -> str:
        return f"<{self.type or 'handle'} {int(self):#x}>"


class CountedHandle(NativeHandle):
    """A handle that holds a reference to a reference-counted object, and keeps it alive.

    Dropping the handle releases the reference. The plain number holds no reference.
    """

    _release: Callable[[], object] | None = None

    @classmethod
    def holding(cls, value: int, type: str, release: Callable[[], object]) -> CountedHandle:
        """Take ownership of a reference; ``release`` releases it."""
        handle = cls(value, type)
        handle._release = release
        return handle

    def __new__(cls, value: int, type: str = "") -> CountedHandle:
        handle = super().__new__(cls, value, type)
        assert isinstance(handle, cls)
        return handle

    def detach(self) -> int:
        """Transfer the reference to the caller, who releases it by the driver's own call; return the number."""
        self._release = None
        return int(self)

    def __del__(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()


# Names of pointer types whose structure has another name.
_NAMES = {"CUctx_st": "CUcontext", "CUstream_st": "CUstream", "CUevent_st": "CUevent", "CUmod_st": "CUmodule",
          "CUfunc_st": "CUfunction"}  # fmt: skip
# Classes of PyOpenCL, whose objects have their handle in ``int_ptr``.
_PYOPENCL = {"Platform": "cl_platform_id", "Device": "cl_device_id", "Context": "cl_context", "Event": "cl_event",
             "CommandQueue": "cl_command_queue", "MemoryObjectHolder": "cl_mem", "Program": "cl_program",
             "_Program": "cl_program", "Kernel": "cl_kernel", "Sampler": "cl_sampler"}  # fmt: skip
# Types that number objects from 0; for all other types 0 is null.
_NUMBERS = ("CUdevice",)


def _number(native: object) -> tuple[int, str] | None:
    """Return value and C type of an int, a pointer of cffi or ctypes, or an object of PyOpenCL or NVIDIA's packages."""
    if isinstance(native, bool):
        return None
    if isinstance(native, NativeHandle):
        return int(native), native.type
    if type(native).__module__ == "_cffi_backend":
        return _of_cffi(native)
    if hasattr(native, "int_ptr"):  # first: any attribute of a PyOpenCL program could be a kernel's name
        names = (_PYOPENCL.get(base.__name__, "") for base in type(native).__mro__)
        return operator.index(native.int_ptr), next(filter(None, names), "")
    protocol = getattr(native, "__cuda_stream__", None)
    if protocol is not None:
        _, value = protocol() if callable(protocol) else protocol
        return operator.index(value) or 1, "CUstream"  # the driver represents the default stream by 1
    if type(native).__module__.startswith("cuda.bindings"):
        return int(native), type(native).__name__  # type: ignore[call-overload]
    value = getattr(native, "value", native)  # ctypes.c_void_p
    if value is None and value is not native:
        return 0, ""
    try:
        return operator.index(value), ""
    except TypeError:
        return None


def _of_cffi(native: object) -> tuple[int, str] | None:
    from _cffi_backend import FFI  # type: ignore[import-untyped]  # quicker than cffi, which has it

    ffi = FFI()
    try:
        kind = ffi.typeof(native)
        if kind.kind != "pointer":
            return None
        value = int(ffi.cast("uintptr_t", native))
    except TypeError:
        return None
    match = re.fullmatch(r"struct _?(\w+) \*", kind.cname)
    name = "" if match is None else match[1]
    return value, name if name.endswith("_handle_t") or name.startswith("cl_") else _NAMES.get(name, "")


def as_handle(native: object, types: tuple[str, ...], name: str = "native") -> NativeHandle:
    """Convert a caller's handle: an int, a pointer of cffi or ctypes, a CUDA stream, or an object of PyOpenCL.

    Parameters
    ----------
    native
        The handle.
    types
        Allowed C types; a value without a type gets the first.
    name
        Name of the argument, for messages.

    Raises
    ------
    InvalidError
        None of these, a null handle, or one of another type.
    """
    names = " or ".join(types)
    number_and_type = _number(native)
    if number_and_type is None:
        raise InvalidError(f"{name}={shown(native)}: it is a {names}, as an int or as a pointer of cffi or ctypes")
    value, type_name = number_and_type
    if not (0 if types[0] in _NUMBERS else 1) <= value < 2**64:
        raise InvalidError(f"{name}={value:#x}: a {names} is not null, and has 64 bits")
    if type_name and type_name not in types:
        raise InvalidError(f"{name}={value:#x} is a {type_name}; it takes a {names}")
    return NativeHandle(value, type_name or types[0])
