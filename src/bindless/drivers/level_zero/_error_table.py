"""Explanation of every ze_result_t, and the package's error code for it."""

from __future__ import annotations

from bindless.model.enums import Errc

from ..common.result_check import Explanation

__all__ = ["EXPLANATIONS"]

_INVALID = Errc.invalid
_RUNTIME = Errc.runtime
_MEMORY = Errc.memory_allocation
_UNSUPPORTED = Errc.feature_not_supported
_BUILD = Errc.build
_PLATFORM = Errc.platform

EXPLANATIONS: dict[str, Explanation] = {
    "ZE_RESULT_NOT_READY": (_RUNTIME, "the work has not completed yet"),
    "ZE_RESULT_ERROR_DEVICE_LOST": (_RUNTIME, "the device hung, was reset, was removed, or its driver was replaced"),
    "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY": (_MEMORY, "the driver ran out of host memory"),
    "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY": (_MEMORY, "not enough device memory is left for this request"),
    "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE": (_BUILD, "the module did not compile; its build log says why"),
    "ZE_RESULT_ERROR_MODULE_LINK_FAILURE": (_BUILD, "the modules did not link; the link log says why"),
    "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET": (_RUNTIME, "the device must be reset before it can be used"),
    "ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE": (_RUNTIME, "the device is in a state of low power"),
    "ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX": (_INVALID, "the device is not a vertex of the fabric"),
    "ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE": (_INVALID, "the vertex of the fabric is not a device"),
    "ZE_RESULT_EXP_ERROR_REMOTE_DEVICE": (_INVALID, "the vertex of the fabric is a device of another system"),
    "ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE": (_INVALID, "the two objects cannot be compared or combined"),
    "ZE_RESULT_EXP_RTAS_BUILD_RETRY": (_RUNTIME, "the acceleration structure needs a larger buffer; build it again"),
    "ZE_RESULT_EXP_RTAS_BUILD_DEFERRED": (_RUNTIME, "the acceleration structure is built by a parallel operation"),
    "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS": (
        _PLATFORM,
        "the process lacks the permission; see who may open /dev/dri",
    ),
    "ZE_RESULT_ERROR_NOT_AVAILABLE": (_RUNTIME, "something else holds the resource, or it is not ready"),
    "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE": (_PLATFORM, "a library that the driver needs is missing or too old"),
    "ZE_RESULT_WARNING_DROPPED_DATA": (_RUNTIME, "some of the recorded data was lost"),
    "ZE_RESULT_ERROR_UNINITIALIZED": (
        _PLATFORM,
        "zeInit has not succeeded: no driver was found, or it could not start",
    ),
    "ZE_RESULT_ERROR_UNSUPPORTED_VERSION": (
        _UNSUPPORTED,
        "the driver does not know this version of the structure or call",
    ),
    "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE": (_UNSUPPORTED, "this device or driver does not have the feature"),
    "ZE_RESULT_ERROR_INVALID_ARGUMENT": (_INVALID, "an argument is out of range"),
    "ZE_RESULT_ERROR_INVALID_NULL_HANDLE": (_INVALID, "a handle is NULL"),
    "ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE": (_INVALID, "the object is still used by the device"),
    "ZE_RESULT_ERROR_INVALID_NULL_POINTER": (_INVALID, "a pointer is NULL that may not be"),
    "ZE_RESULT_ERROR_INVALID_SIZE": (_INVALID, "a size or count is zero or out of range"),
    "ZE_RESULT_ERROR_UNSUPPORTED_SIZE": (_UNSUPPORTED, "the size is larger than the device supports"),
    "ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT": (
        _UNSUPPORTED,
        "the alignment is larger than supported, or no power of two",
    ),
    "ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT": (
        _INVALID,
        "the event or fence is not in a state that allows this",
    ),
    "ZE_RESULT_ERROR_INVALID_ENUMERATION": (_INVALID, "an enumerator is not one of its enum"),
    "ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION": (_UNSUPPORTED, "the device does not support this enumerator"),
    "ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT": (_UNSUPPORTED, "the device cannot make images of this format"),
    "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY": (_BUILD, "the module's binary is damaged or made for another device"),
    "ZE_RESULT_ERROR_INVALID_GLOBAL_NAME": (_INVALID, "the module has no global variable of this name"),
    "ZE_RESULT_ERROR_INVALID_KERNEL_NAME": (_INVALID, "the module has no kernel of this name"),
    "ZE_RESULT_ERROR_INVALID_FUNCTION_NAME": (_INVALID, "the module has no function of this name"),
    "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION": (
        _INVALID,
        "the group size is zero or larger than the device allows",
    ),
    "ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION": (
        _INVALID,
        "the global width is not a multiple of the group size",
    ),
    "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX": (_INVALID, "the kernel has no argument of this number"),
    "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE": (_INVALID, "the size differs from that of the kernel's argument"),
    "ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE": (
        _INVALID,
        "the attribute's value is not one the kernel can have",
    ),
    "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED": (_BUILD, "the module imports symbols and has not been linked yet"),
    "ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE": (_INVALID, "the command list and the queue are of different groups"),
    "ZE_RESULT_ERROR_OVERLAPPING_REGIONS": (_INVALID, "source and destination of the copy overlap"),
    "ZE_RESULT_WARNING_ACTION_REQUIRED": (
        _RUNTIME,
        "the call succeeded, but something must be done for it to take effect",
    ),
    "ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE": (_INVALID, "not a kernel, or not one of this device"),
    "ZE_RESULT_EXT_RTAS_BUILD_RETRY": (_RUNTIME, "the acceleration structure needs a larger buffer; build it again"),
    "ZE_RESULT_EXT_RTAS_BUILD_DEFERRED": (_RUNTIME, "the acceleration structure is built by a parallel operation"),
    "ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE": (_INVALID, "the two objects cannot be compared or combined"),
    "ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED": (
        _PLATFORM,
        "the device runs on emergency firmware; update its firmware",
    ),
    "ZE_RESULT_ERROR_ADDRESS_NOT_FOUND": (_INVALID, "the address belongs to no allocation of this context"),
    "ZE_RESULT_QUERY_TRUE": (_RUNTIME, "the query's answer is yes; no failure"),
    "ZE_RESULT_QUERY_FALSE": (_RUNTIME, "the query's answer is no; no failure"),
    "ZE_RESULT_ERROR_INVALID_GRAPH": (_INVALID, "the recorded graph cannot be used like this"),
    "ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED": (_INVALID, "this operation is not allowed while a graph is recorded"),
    "ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED": (_INVALID, "an earlier error made the recording unusable"),
    "ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT": (_INVALID, "the call would join two separate recordings"),
    "ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING": (_INVALID, "the command list is not recording a graph"),
    "ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS": (_INVALID, "the recording has branches that were not joined again"),
    "ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT": (_INVALID, "the event belongs to the inside of a recorded graph"),
    "ZE_RESULT_ERROR_UNKNOWN": (_RUNTIME, "the driver met an internal error that it does not name"),
    "ZE_RESULT_FORCE_UINT32": (_RUNTIME, "not a result: it only fixes the width of the type"),
}
