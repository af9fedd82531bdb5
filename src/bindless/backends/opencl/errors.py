"""Results of OpenCL calls as the package's exceptions."""

from __future__ import annotations

from typing import Any

from ...drivers import opencl as driver
from ...model.enums import Errc
from ..common.result_codes import DEVICE_LOST, Results

__all__ = ["SUCCESS", "check", "error", "fail", "made", "release"]

lib, ffi = driver.lib, driver.ffi

SUCCESS = lib.CL_SUCCESS

# NVIDIA's driver says so of a kernel that left its memory.
_NVIDIA_FAULT = -9999

# Results after which a context is of no use any more.
_LOST = frozenset((lib.CL_DEVICE_NOT_AVAILABLE, lib.CL_CONTEXT_TERMINATED_KHR, _NVIDIA_FAULT))

# Results that mean that the driver does not have a function, whatever it was called with.
_ABSENT = frozenset((lib.CL_INVALID_OPERATION,))

_results = Results(
    driver,
    "opencl",
    SUCCESS,
    lost=_LOST,
    gone=_LOST,
    advice=DEVICE_LOST,
    is_absent=lambda result, plain: result in _ABSENT and plain.code is Errc.feature_not_supported,
)
error, fail, check, release = _results.error, _results.fail, _results.check, _results.release


def made(call: str, *arguments: Any, details: object = "", code: Errc | None = None) -> Any:
    """What a function of the driver makes, whose last argument is the place of its result."""
    slot = ffi.new("cl_int *")
    found = getattr(lib, call)(*arguments, slot)
    if slot[0] != SUCCESS:
        raise error(slot[0], call, details, code)
    if found == ffi.NULL:  # a loader that lacks the function cannot say so
        raise error(lib.CL_INVALID_OPERATION, call, details, code)
    return found
