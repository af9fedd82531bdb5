"""Results of CUDA driver calls as the package's exceptions."""

from __future__ import annotations

from typing import NoReturn

from ..drivers import cuda as driver
from ..model.enums import Errc
from ..model.errors import DeviceLostError, Error, FeatureNotSupportedError, error_of

__all__ = [
    "NOT_READY",
    "SUCCESS",
    "check",
    "error",
    "fail",
    "release",
]

lib = driver.lib

SUCCESS = lib.CUDA_SUCCESS
NOT_READY = lib.CUDA_ERROR_NOT_READY

# Failures of work that was already submitted: CUDA reports them by whatever call comes next.
_ASYNCHRONOUS = frozenset(
    (
        lib.CUDA_ERROR_ECC_UNCORRECTABLE,
        lib.CUDA_ERROR_NVLINK_UNCORRECTABLE,
        lib.CUDA_ERROR_CONTAINED,
        lib.CUDA_ERROR_ILLEGAL_ADDRESS,
        lib.CUDA_ERROR_LAUNCH_TIMEOUT,
        lib.CUDA_ERROR_ASSERT,
        lib.CUDA_ERROR_HARDWARE_STACK_ERROR,
        lib.CUDA_ERROR_ILLEGAL_INSTRUCTION,
        lib.CUDA_ERROR_MISALIGNED_ADDRESS,
        lib.CUDA_ERROR_INVALID_ADDRESS_SPACE,
        lib.CUDA_ERROR_INVALID_PC,
        lib.CUDA_ERROR_LAUNCH_FAILED,
        lib.CUDA_ERROR_EXTERNAL_DEVICE,
    )
)

# Results that mean that an object to be released went away with its context or with the driver.
_GONE = _ASYNCHRONOUS | frozenset(
    (
        lib.CUDA_ERROR_NOT_INITIALIZED,
        lib.CUDA_ERROR_DEINITIALIZED,
        lib.CUDA_ERROR_INVALID_CONTEXT,
        lib.CUDA_ERROR_CONTEXT_IS_DESTROYED,
    )
)

_LOST = (
    "work submitted earlier failed while it ran, and its CUDA context is lost: every further CUDA call of this process "
    "fails the same way. Check the coordinates, addresses and sizes given to kernels, and start a new process"
)


def error(result: int, call: str, details: object = "", code: Errc | None = None) -> Error:
    """The exception for a result: the driver's name of it, what it means, and the values concerned.

    Args:
        call: the driver's function.
        details: the values concerned and the way out.
        code: instead of the code that belongs to the result; failures of submitted work and functions that
            the driver lacks keep theirs.
    """
    plain = driver.error(result, call)
    if result in _ASYNCHRONOUS:
        return DeviceLostError(f"{plain}: {_LOST}", backend="cuda", native_code=result, native_name=plain.native_name)
    if code is None or isinstance(plain, FeatureNotSupportedError):
        code = plain.code
    message = f"{plain}: {details}" if details else str(plain)
    return error_of(code, message, backend="cuda", native_code=result, native_name=plain.native_name)


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
