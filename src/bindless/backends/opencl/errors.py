"""Results of OpenCL calls as the package's exceptions."""

from __future__ import annotations

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ..common.result_codes import DEVICE_LOST, Results

__all__ = ["SUCCESS", "check", "create", "error", "fail", "release"]

lib, ffi = driver.lib, driver.ffi

SUCCESS = lib.CL_SUCCESS

# NVIDIA's driver returns this for a kernel with an out-of-bounds access.
_NVIDIA_FAULT = -9999

# Results that make a context unusable.
_LOST = frozenset((lib.CL_DEVICE_NOT_AVAILABLE, lib.CL_CONTEXT_TERMINATED_KHR, _NVIDIA_FAULT))

# Results of a function that the driver does not have, for any arguments.
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


def create(call: str, *arguments: object, details: object = "", code: Errc | None = None) -> CData:
    """The object that a driver function creates; the function returns its result code through its last argument."""
    slot = ffi.new("cl_int *")
    handle = getattr(lib, call)(*arguments, slot)
    if slot[0] != SUCCESS:
        raise error(slot[0], call, details, code)
    if handle == ffi.NULL:  # A loader without the function cannot set the result code.
        raise error(lib.CL_INVALID_OPERATION, call, details, code)
    return handle
