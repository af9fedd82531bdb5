"""Results of OpenCL calls as the package's exceptions."""

from __future__ import annotations

from typing import Any, NoReturn

from ..drivers import opencl as driver
from ..model.enums import Errc
from ..model.errors import DeviceLostError, Error, error_of

__all__ = ["SUCCESS", "check", "error", "fail", "made", "release"]

lib, ffi = driver.lib, driver.ffi

SUCCESS = lib.CL_SUCCESS

# NVIDIA's driver says so of a kernel that left its memory.
_NVIDIA_FAULT = -9999

# Results after which a context is of no use any more.
_LOST = frozenset((lib.CL_DEVICE_NOT_AVAILABLE, lib.CL_CONTEXT_TERMINATED_KHR, _NVIDIA_FAULT))

# Results that mean that the driver does not have a function, whatever it was called with.
_ABSENT = frozenset((lib.CL_INVALID_OPERATION,))

_LOST_ADVICE = (
    "the device hung or was reset, and everything made on it is lost: every further call of this process fails the "
    "same way. Check the coordinates, addresses and sizes given to kernels, and start a new process"
)


def error(result: int, call: str, details: object = "", code: Errc | None = None) -> Error:
    """The exception for a result: the driver's name of it, what it means, and the values concerned.

    Args:
        call: the driver's function.
        details: the values concerned and the way out.
        code: instead of the code that belongs to the result; a lost device and functions that the driver lacks keep
            theirs.
    """
    plain = driver.error(result, call)
    if result in _LOST:
        return DeviceLostError(
            f"{plain}: {_LOST_ADVICE}", backend="opencl", native_code=result, native_name=plain.native_name
        )
    if code is None or (result in _ABSENT and plain.code is Errc.feature_not_supported):
        code = plain.code
    message = f"{plain}: {details}" if details else str(plain)
    return error_of(code, message, backend="opencl", native_code=result, native_name=plain.native_name)


def fail(result: int, call: str, details: object = "", code: Errc | None = None) -> NoReturn:
    """Raises the exception for a result."""
    raise error(result, call, details, code)


def check(result: int, call: str, details: object = "", code: Errc | None = None) -> None:
    """Raises unless the result is success."""
    if result != SUCCESS:
        raise error(result, call, details, code)


def made(call: str, *arguments: Any, details: object = "", code: Errc | None = None) -> Any:
    """What a function of the driver makes, whose last argument is the place of its result."""
    slot = ffi.new("cl_int *")
    found = getattr(lib, call)(*arguments, slot)
    if slot[0] != SUCCESS:
        raise error(slot[0], call, details, code)
    if found == ffi.NULL:  # a loader that lacks the function cannot say so
        raise error(lib.CL_INVALID_OPERATION, call, details, code)
    return found


def release(result: int, call: str) -> None:
    """Like ``check`` for calls that give something back: what is gone already is no failure."""
    if result != SUCCESS and result not in _LOST:
        raise error(result, call)
