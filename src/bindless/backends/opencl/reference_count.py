"""References to native objects: validation of handles, the driver's reference counts, and references held here."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from ...model.native_handle import CountedHandle, NativeHandle
from .device import all_platforms
from .errors import SUCCESS, check, error
from .fork_guard import in_fork, refuse_in_fork

__all__ = ["Reference", "checked", "handle_of", "held", "property_of", "reference_count", "retain"]

lib, ffi = driver.lib, driver.ffi

# For each C type: the object's name in the driver's functions, its information function, and the query.
_COUNTS = {
    "cl_device_id": ("Device", "clGetDeviceInfo", lib.CL_DEVICE_REFERENCE_COUNT),
    "cl_context": ("Context", "clGetContextInfo", lib.CL_CONTEXT_REFERENCE_COUNT),
    "cl_command_queue": ("CommandQueue", "clGetCommandQueueInfo", lib.CL_QUEUE_REFERENCE_COUNT),
    "cl_event": ("Event", "clGetEventInfo", lib.CL_EVENT_REFERENCE_COUNT),
    "cl_mem": ("MemObject", "clGetMemObjectInfo", lib.CL_MEM_REFERENCE_COUNT),
    "cl_program": ("Program", "clGetProgramInfo", lib.CL_PROGRAM_REFERENCE_COUNT),
    "cl_kernel": ("Kernel", "clGetKernelInfo", lib.CL_KERNEL_REFERENCE_COUNT),
    "cl_sampler": ("Sampler", "clGetSamplerInfo", lib.CL_SAMPLER_REFERENCE_COUNT),
}
_POINTER = 8
_UNSEEN = -1


# ---------------------------------------------------------------------- whether it is one


def _first_word(address: int) -> int | None:
    """The first word behind a pointer; None for an invalid pointer, where a direct read would end the process."""
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError:
        return _UNSEEN  # This system does not allow the read.
    try:
        return int.from_bytes(os.pread(memory, _POINTER, address), "little")
    except (OSError, OverflowError):
        return None
    finally:
        os.close(memory)


def checked(handle: NativeHandle) -> CData:
    """The driver's pointer of a handle.

    Every object of an installable driver begins with the address of the driver's function table, as its platform does,
    and loses it at its end. So most invalid or released objects are detected before a driver dereferences them.

    Raises
    ------
    InvalidError
        the handle is not an object of any platform.
    """
    refuse_in_fork()
    words = {_first_word(int(ffi.cast("uintptr_t", platform.handle))) for platform in all_platforms()}
    word = _first_word(int(handle))
    if int(handle) % _POINTER or word is None or (word not in words and word != _UNSEEN):
        raise InvalidError(
            f"{handle!r} is no object of an OpenCL platform here: it was released too often or too early, or its "
            "number is another thing's; keep a reference until the call returns",
            backend="opencl",
        )
    return ffi.cast(handle.type, int(handle))


def property_of(call: str, native: CData, name: int, element: str, handle: NativeHandle) -> CData:
    """The driver's property of an object, as an array of elements.

    Raises
    ------
    InvalidError
        the driver does not know the object.
    """
    size = ffi.new("size_t *")
    ask = getattr(lib, call)
    result = ask(native, name, 0, ffi.NULL, size)
    if result == SUCCESS:
        values = ffi.new(f"{element}[]", size[0] // ffi.sizeof(element))
        result = ask(native, name, size[0], values, ffi.NULL)
    if result != SUCCESS:
        plain = error(result, call, f"{handle!r} is no {handle.type} that can be used")
        raise InvalidError(str(plain), backend="opencl", native_code=plain.native_code, native_name=plain.native_name)
    return values


def handle_of(native: CData, type_: str) -> NativeHandle:
    """A pointer of the driver as a handle."""
    return NativeHandle(int(ffi.cast("uintptr_t", native)), type_)


# ---------------------------------------------------------------------- references


def reference_count(handle: NativeHandle) -> int:
    """The driver's reference count of an object.

    Raises
    ------
    InvalidError
        the type has no reference counts, or the handle is not an object of it.
    """
    if handle.type not in _COUNTS:
        raise InvalidError(
            f"{handle!r}: references are counted of {', '.join(_COUNTS)}; name its type, "
            "NativeHandle(number, 'cl_mem')" + ("; platforms have none" if handle.type == "cl_platform_id" else ""),
            backend="opencl",
        )
    _, call, name = _COUNTS[handle.type]
    return int(property_of(call, checked(handle), name, "cl_uint", handle)[0])


def retain(native: CData, type_: str) -> None:
    """Retain an object."""
    call = f"clRetain{_COUNTS[type_][0]}"
    check(getattr(lib, call)(native), call)


class Reference:
    """A reference to a native object, released with its last holder.

    Attributes
    ----------
    native
        driver's pointer; None after its release.
    type
        C type of the object.
    """

    __slots__ = ("_release", "native", "type")

    def __init__(self, native: CData, type_: str, owned: bool) -> None:
        """Take over the caller's reference if ``owned``, otherwise retain the object."""
        if not owned:
            retain(native, type_)
        self.native = native
        self.type = type_
        self._release = getattr(lib, f"clRelease{_COUNTS[type_][0]}")

    def close(self) -> None:
        """Release the reference; a second call does nothing."""
        native, self.native = self.native, None
        if native is not None and not in_fork():
            self._release(native)

    # Bound here, because the module's names are gone at exit.
    def __del__(self, _in_fork: Callable[[], bool] = in_fork) -> None:
        native, self.native = getattr(self, "native", None), None
        if native is not None and not _in_fork():
            self._release(native)


def held(native: CData, type_: str, then: Callable[[], object] | None = None) -> CountedHandle:
    """A handle with its own reference; ``then`` is called after its release."""
    retain(native, type_)
    give_back, forked = getattr(lib, f"clRelease{_COUNTS[type_][0]}"), in_fork

    def release() -> None:
        if not forked():
            give_back(native)
            if then is not None:
                then()

    return CountedHandle.holding(int(ffi.cast("uintptr_t", native)), type_, release)
