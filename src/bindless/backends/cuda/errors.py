"""Results of CUDA driver calls as the package's exceptions."""

from __future__ import annotations

from ...drivers import cuda as driver
from ...model.errors import FeatureNotSupportedError
from ..common.result_codes import Results

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

# Failures of earlier, asynchronous work, which CUDA reports from any later call.
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

# Results for an object that was destroyed with its context or with the driver.
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


_results = Results(
    driver,
    "cuda",
    SUCCESS,
    lost=_ASYNCHRONOUS,
    gone=_GONE,
    advice=_LOST,
    is_absent=lambda result, plain: isinstance(plain, FeatureNotSupportedError),
)
error, fail, check, release = _results.error, _results.fail, _results.check, _results.release
