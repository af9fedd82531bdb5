"""Results of Level Zero calls as the package's exceptions."""

from __future__ import annotations

from typing import NoReturn

from ..drivers import level_zero as driver
from ..model.enums import Errc
from ..model.errors import DeviceLostError, Error, error_of

__all__ = ["NOT_READY", "SUCCESS", "check", "error", "fail", "release"]

lib = driver.lib

SUCCESS = lib.ZE_RESULT_SUCCESS
NOT_READY = lib.ZE_RESULT_NOT_READY

# Results after which a context is of no use any more.
_LOST = frozenset((lib.ZE_RESULT_ERROR_DEVICE_LOST, lib.ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET))

# Results that mean that an object to be released went away with its context or with the driver.
_GONE = _LOST | frozenset((lib.ZE_RESULT_ERROR_UNINITIALIZED, lib.ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE))

# Results that mean that the driver does not have a function, whatever it was called with.
_ABSENT = frozenset((lib.ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, lib.ZE_RESULT_ERROR_UNSUPPORTED_VERSION))

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
            f"{plain}: {_LOST_ADVICE}", backend="level_zero", native_code=result, native_name=plain.native_name
        )
    if code is None or result in _ABSENT:
        code = plain.code
    message = f"{plain}: {details}" if details else str(plain)
    return error_of(code, message, backend="level_zero", native_code=result, native_name=plain.native_name)


def fail(result: int, call: str, details: object = "", code: Errc | None = None) -> NoReturn:
    """Raises the exception for a result."""
    raise error(result, call, details, code)


def check(result: int, call: str, details: object = "", code: Errc | None = None) -> None:
    """Raises unless the result is success."""
    if result != SUCCESS:
        raise error(result, call, details, code)


def release(result: int, call: str) -> None:
    """Like ``check`` for calls that give something back: what is gone already is no failure."""
    if result != SUCCESS and result not in _GONE:
        raise error(result, call)
