"""Explanation of every OpenCL error code, and the package's error code for it."""

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
    "CL_DEVICE_NOT_FOUND": (_PLATFORM, "the platform has no device of this type"),
    "CL_DEVICE_NOT_AVAILABLE": (_PLATFORM, "the device is there, but cannot be used now"),
    "CL_COMPILER_NOT_AVAILABLE": (_BUILD, "the platform has no compiler for source code"),
    "CL_MEM_OBJECT_ALLOCATION_FAILURE": (_MEMORY, "memory for a buffer or image could not be allocated"),
    "CL_OUT_OF_RESOURCES": (_RUNTIME, "the device ran out of resources, or a kernel failed on it"),
    "CL_OUT_OF_HOST_MEMORY": (_MEMORY, "the driver ran out of host memory"),
    "CL_PROFILING_INFO_NOT_AVAILABLE": (
        Errc.profiling,
        "the queue was made without profiling, or the event is not complete",
    ),
    "CL_MEM_COPY_OVERLAP": (_INVALID, "source and destination of the copy overlap"),
    "CL_IMAGE_FORMAT_MISMATCH": (_INVALID, "the two images have different formats"),
    "CL_IMAGE_FORMAT_NOT_SUPPORTED": (_UNSUPPORTED, "the device cannot make images of this format"),
    "CL_BUILD_PROGRAM_FAILURE": (_BUILD, "the program did not build; its build log says why"),
    "CL_MAP_FAILURE": (_RUNTIME, "the memory could not be mapped to the host"),
    "CL_MISALIGNED_SUB_BUFFER_OFFSET": (_INVALID, "the sub-buffer's offset is not aligned as the device needs"),
    "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST": (_RUNTIME, "an event that was waited for ended with an error"),
    "CL_COMPILE_PROGRAM_FAILURE": (_BUILD, "the program did not compile; its build log says why"),
    "CL_LINKER_NOT_AVAILABLE": (_BUILD, "the platform has no linker for programs"),
    "CL_LINK_PROGRAM_FAILURE": (_BUILD, "the programs did not link; the build log says why"),
    "CL_DEVICE_PARTITION_FAILED": (_RUNTIME, "the device could not be divided further"),
    "CL_KERNEL_ARG_INFO_NOT_AVAILABLE": (_UNSUPPORTED, "the program was built without information on kernel arguments"),
    "CL_INVALID_VALUE": (_INVALID, "an argument is out of range, or NULL where a pointer is needed"),
    "CL_INVALID_DEVICE_TYPE": (_INVALID, "no such type of device"),
    "CL_INVALID_PLATFORM": (_INVALID, "not a platform of this library"),
    "CL_INVALID_DEVICE": (_INVALID, "not a device, or not one of this context"),
    "CL_INVALID_CONTEXT": (_INVALID, "not a context, or objects of different contexts are mixed"),
    "CL_INVALID_QUEUE_PROPERTIES": (_UNSUPPORTED, "the device's queues cannot have these properties"),
    "CL_INVALID_COMMAND_QUEUE": (_INVALID, "not a command queue"),
    "CL_INVALID_HOST_PTR": (_INVALID, "the host pointer and the flags contradict each other"),
    "CL_INVALID_MEM_OBJECT": (_INVALID, "not a buffer or image of this context"),
    "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR": (_INVALID, "channel order and channel type do not go together"),
    "CL_INVALID_IMAGE_SIZE": (_INVALID, "the image is larger than the device allows, or has an empty side"),
    "CL_INVALID_SAMPLER": (_INVALID, "not a sampler of this context"),
    "CL_INVALID_BINARY": (_BUILD, "the program binary is damaged or made for another device"),
    "CL_INVALID_BUILD_OPTIONS": (_BUILD, "the compiler does not accept these options"),
    "CL_INVALID_PROGRAM": (_INVALID, "not a program of this context"),
    "CL_INVALID_PROGRAM_EXECUTABLE": (_INVALID, "the program has not been built for this device"),
    "CL_INVALID_KERNEL_NAME": (_INVALID, "the program has no kernel of this name"),
    "CL_INVALID_KERNEL_DEFINITION": (_INVALID, "the kernel's signature differs between devices"),
    "CL_INVALID_KERNEL": (_INVALID, "not a kernel"),
    "CL_INVALID_ARG_INDEX": (_INVALID, "the kernel has no argument of this number"),
    "CL_INVALID_ARG_VALUE": (_INVALID, "the value does not fit the kernel's argument"),
    "CL_INVALID_ARG_SIZE": (_INVALID, "the size differs from that of the kernel's argument"),
    "CL_INVALID_KERNEL_ARGS": (_INVALID, "an argument of the kernel has not been set"),
    "CL_INVALID_WORK_DIMENSION": (_INVALID, "a range has one to three dimensions"),
    "CL_INVALID_WORK_GROUP_SIZE": (_INVALID, "the local range does not divide the global one, or is too large"),
    "CL_INVALID_WORK_ITEM_SIZE": (_INVALID, "the local range is too large in one dimension"),
    "CL_INVALID_GLOBAL_OFFSET": (_INVALID, "the global offset goes beyond the address range"),
    "CL_INVALID_EVENT_WAIT_LIST": (
        _INVALID,
        "the list of events and its length contradict each other, or one is no event",
    ),
    "CL_INVALID_EVENT": (_INVALID, "not an event of this context"),
    "CL_INVALID_OPERATION": (_INVALID, "the object or device does not allow this operation"),
    "CL_INVALID_GL_OBJECT": (_INVALID, "not an OpenGL object that can be shared"),
    "CL_INVALID_BUFFER_SIZE": (_INVALID, "the buffer is empty or larger than the device allows"),
    "CL_INVALID_MIP_LEVEL": (_INVALID, "the image has no such mip level"),
    "CL_INVALID_GLOBAL_WORK_SIZE": (_INVALID, "the global range is empty or too large"),
    "CL_INVALID_PROPERTY": (_INVALID, "a property is unknown or has an impossible value"),
    "CL_INVALID_IMAGE_DESCRIPTOR": (_INVALID, "the members of the image description contradict each other"),
    "CL_INVALID_COMPILER_OPTIONS": (_BUILD, "the compiler does not accept these options"),
    "CL_INVALID_LINKER_OPTIONS": (_BUILD, "the linker does not accept these options"),
    "CL_INVALID_DEVICE_PARTITION_COUNT": (_INVALID, "the device cannot be divided into this many parts"),
    "CL_INVALID_PIPE_SIZE": (_INVALID, "the pipe's packet is empty or too large"),
    "CL_INVALID_DEVICE_QUEUE": (_INVALID, "not a queue of the device's own"),
    "CL_INVALID_SPEC_ID": (_INVALID, "the program has no specialization constant of this number"),
    "CL_MAX_SIZE_RESTRICTION_EXCEEDED": (_INVALID, "an argument exceeds the size that the kernel declares"),
    "CL_PLATFORM_NOT_FOUND_KHR": (
        _PLATFORM,
        "the OpenCL loader found no platform; install an OpenCL driver, or set OCL_ICD_VENDORS to one",
    ),
    "CL_CONTEXT_TERMINATED_KHR": (_RUNTIME, "the context was terminated"),
    "CL_DEVICE_PARTITION_FAILED_EXT": (_RUNTIME, "the device could not be divided as asked"),
    "CL_INVALID_PARTITION_COUNT_EXT": (_INVALID, "the device cannot be divided into this many parts"),
    "CL_INVALID_PARTITION_NAME_EXT": (_INVALID, "a part of the device is named that does not exist"),
    "CL_GRALLOC_RESOURCE_NOT_ACQUIRED_IMG": (_INVALID, "the gralloc buffer was used before it was acquired"),
    "CL_INVALID_GRALLOC_OBJECT_IMG": (_INVALID, "not a gralloc buffer that can be shared"),
    "CL_INVALID_SEMAPHORE_KHR": (_INVALID, "not a semaphore of this context"),
    "CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM": (Errc.kernel, "the kernel ended itself and reported a failure"),
    "CL_INVALID_ACCELERATOR_INTEL": (_INVALID, "not an accelerator of this context"),
    "CL_INVALID_ACCELERATOR_TYPE_INTEL": (_INVALID, "no such type of accelerator"),
    "CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL": (_INVALID, "the accelerator's description is not valid"),
    "CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL": (_UNSUPPORTED, "the device has no accelerator of this type"),
    "CL_CANCELLED_IMG": (_RUNTIME, "the command was cancelled"),
}
