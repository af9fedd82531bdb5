"""Explanation of every blr_result_t, and the package's error code for it."""

from __future__ import annotations

from bindless.model.enums import Errc

from ..common.result_check import Explanation

__all__ = ["EXPLANATIONS"]

EXPLANATIONS: dict[str, Explanation] = {
    "BLR_RESULT_NOT_READY": (Errc.runtime, "the work has not completed yet"),
    "BLR_RESULT_INVALID_ARGUMENT": (Errc.invalid, "an argument is out of range, or NULL where a pointer is needed"),
    "BLR_RESULT_INVALID_HANDLE": (Errc.invalid, "a handle is NULL, was destroyed, or is of another kind or context"),
    "BLR_RESULT_INVALID_SIZE": (Errc.invalid, "a size, offset or extent is out of range"),
    "BLR_RESULT_INVALID_FORMAT": (Errc.invalid, "channel type, channel count and element type do not go together"),
    "BLR_RESULT_OUT_OF_MEMORY": (Errc.memory_allocation, "not enough memory is left for this request"),
    "BLR_RESULT_UNSUPPORTED": (Errc.feature_not_supported, "the device's properties exclude this"),
    "BLR_RESULT_IN_USE": (Errc.invalid, "submitted work or another object still uses it"),
    "BLR_RESULT_DEPENDENCY_FAILED": (Errc.runtime, "the command did not run: an event that it waited for failed"),
    "BLR_RESULT_OUT_OF_RANGE": (Errc.invalid, "a coordinate, layer or face lies outside the image"),
    "BLR_RESULT_TIMEOUT": (Errc.runtime, "the wait ran out of time"),
    "BLR_RESULT_UNKNOWN": (Errc.runtime, "the driver met an internal error that it does not name"),
    "BLR_RESULT_BUILD_FAILED": (Errc.build, "the module is not valid, or needs something that is not supported"),
    "BLR_RESULT_KERNEL_FAULT": (Errc.kernel, "a kernel made an invalid access, such as one outside all allocations"),
}
