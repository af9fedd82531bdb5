"""Explanation of every CUresult, and the package's error code for it."""

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
_KERNEL = Errc.kernel

EXPLANATIONS: dict[str, Explanation] = {
    "CUDA_ERROR_INVALID_VALUE": (_INVALID, "an argument is out of range, or NULL where a pointer is needed"),
    "CUDA_ERROR_OUT_OF_MEMORY": (_MEMORY, "not enough device or host memory is left for this request"),
    "CUDA_ERROR_NOT_INITIALIZED": (_RUNTIME, "cuInit has not been called, or it failed"),
    "CUDA_ERROR_DEINITIALIZED": (_RUNTIME, "the driver is shutting down with the process"),
    "CUDA_ERROR_PROFILER_DISABLED": (_RUNTIME, "an external profiler has taken control of profiling"),
    "CUDA_ERROR_PROFILER_NOT_INITIALIZED": (_RUNTIME, "profiling was used before it was initialised"),
    "CUDA_ERROR_PROFILER_ALREADY_STARTED": (_RUNTIME, "profiling is already on"),
    "CUDA_ERROR_PROFILER_ALREADY_STOPPED": (_RUNTIME, "profiling is already off"),
    "CUDA_ERROR_STUB_LIBRARY": (
        _PLATFORM,
        "the toolkit's stub library was opened, which only serves linking; install the NVIDIA driver",
    ),
    "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER": (_UNSUPPORTED, "this call needs a newer NVIDIA driver"),
    "CUDA_ERROR_DEVICE_UNAVAILABLE": (
        _RUNTIME,
        "another process holds the device exclusively, or it is being prepared",
    ),
    "CUDA_ERROR_NO_DEVICE": (_PLATFORM, "the driver found no NVIDIA GPU that it may use"),
    "CUDA_ERROR_INVALID_DEVICE": (_INVALID, "no device has this number, or it cannot do what was asked"),
    "CUDA_ERROR_DEVICE_NOT_LICENSED": (_PLATFORM, "the virtual GPU has no valid licence"),
    "CUDA_ERROR_INVALID_IMAGE": (_BUILD, "the module is neither PTX nor a binary that the driver understands"),
    "CUDA_ERROR_INVALID_CONTEXT": (_INVALID, "no context is current on this thread, or it is not a living context"),
    "CUDA_ERROR_CONTEXT_ALREADY_CURRENT": (_INVALID, "the context is already current on this thread"),
    "CUDA_ERROR_MAP_FAILED": (_RUNTIME, "the resource could not be mapped"),
    "CUDA_ERROR_UNMAP_FAILED": (_RUNTIME, "the resource could not be unmapped"),
    "CUDA_ERROR_ARRAY_IS_MAPPED": (_INVALID, "the array is mapped, so it cannot be destroyed"),
    "CUDA_ERROR_ALREADY_MAPPED": (_INVALID, "the resource is mapped already"),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (_BUILD, "the module holds no code for this GPU's architecture"),
    "CUDA_ERROR_ALREADY_ACQUIRED": (_INVALID, "the resource was acquired already"),
    "CUDA_ERROR_NOT_MAPPED": (_INVALID, "the resource is not mapped"),
    "CUDA_ERROR_NOT_MAPPED_AS_ARRAY": (_INVALID, "the resource is mapped, but not as an array"),
    "CUDA_ERROR_NOT_MAPPED_AS_POINTER": (_INVALID, "the resource is mapped, but not as linear memory"),
    "CUDA_ERROR_ECC_UNCORRECTABLE": (_RUNTIME, "device memory had an error beyond correction; reset the device"),
    "CUDA_ERROR_UNSUPPORTED_LIMIT": (_UNSUPPORTED, "the device does not have this limit"),
    "CUDA_ERROR_CONTEXT_ALREADY_IN_USE": (_INVALID, "the context is current on another thread that may not share it"),
    "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED": (_UNSUPPORTED, "these two devices cannot reach each other's memory"),
    "CUDA_ERROR_INVALID_PTX": (_BUILD, "the PTX did not compile; the build log says where"),
    "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT": (_INVALID, "the OpenGL or Direct3D context is not usable"),
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": (_RUNTIME, "an NVLink transfer had an error beyond correction"),
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": (
        _BUILD,
        "the PTX compiler library of the driver is missing (libnvidia-ptxjitcompiler); reinstall the driver completely",
    ),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (_BUILD, "the PTX is newer than this driver; update the driver"),
    "CUDA_ERROR_JIT_COMPILATION_DISABLED": (_BUILD, "compiling PTX is turned off (CUDA_DISABLE_PTX_JIT)"),
    "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY": (_UNSUPPORTED, "the device does not have this execution affinity"),
    "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC": (_BUILD, "the code synchronises on the device in a way no longer supported"),
    "CUDA_ERROR_CONTAINED": (_RUNTIME, "an error was contained on the device; the process must end and start again"),
    "CUDA_ERROR_INVALID_SOURCE": (_BUILD, "the device code's source is not valid"),
    "CUDA_ERROR_FILE_NOT_FOUND": (_INVALID, "the file does not exist"),
    "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND": (_RUNTIME, "a library of the driver lacks a symbol"),
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": (_RUNTIME, "a library of the driver failed to start"),
    "CUDA_ERROR_OPERATING_SYSTEM": (_RUNTIME, "a call of the operating system failed"),
    "CUDA_ERROR_INVALID_HANDLE": (_INVALID, "a handle is not one, was destroyed, or belongs to another context"),
    "CUDA_ERROR_ILLEGAL_STATE": (_INVALID, "the object is not in a state that allows this call"),
    "CUDA_ERROR_LOSSY_QUERY": (_INVALID, "the answer would leave out part of the state; use the newer query"),
    "CUDA_ERROR_NOT_FOUND": (_INVALID, "nothing has this name: kernel, variable, texture, or symbol"),
    "CUDA_ERROR_NOT_READY": (_RUNTIME, "the work has not completed yet"),
    "CUDA_ERROR_ILLEGAL_ADDRESS": (
        _KERNEL,
        "a kernel used an address outside its memory; the context is lost and the process must start again",
    ),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        _RUNTIME,
        "the launch needs more registers, threads or arguments than there are",
    ),
    "CUDA_ERROR_LAUNCH_TIMEOUT": (_KERNEL, "the kernel ran longer than the system allows; the context is lost"),
    "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING": (
        _INVALID,
        "the kernel uses texturing in a mode the context does not have",
    ),
    "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED": (_INVALID, "peer access from this context is already on"),
    "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED": (_INVALID, "peer access from this context was not turned on"),
    "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE": (_INVALID, "the device's primary context is in use already"),
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": (_INVALID, "the context current on this thread was destroyed"),
    "CUDA_ERROR_ASSERT": (_KERNEL, "an assertion failed in a kernel; the context is lost"),
    "CUDA_ERROR_TOO_MANY_PEERS": (_RUNTIME, "no hardware resources are left for peer access"),
    "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED": (_INVALID, "the host memory is registered already"),
    "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED": (_INVALID, "the host memory was never registered"),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": (
        _KERNEL,
        "a kernel's call stack was damaged or overflowed; the context is lost",
    ),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": (_KERNEL, "a kernel executed an illegal instruction; the context is lost"),
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        _KERNEL,
        "a kernel used an address with the wrong alignment; the context is lost",
    ),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": (
        _KERNEL,
        "a kernel used an address of the wrong memory space; the context is lost",
    ),
    "CUDA_ERROR_INVALID_PC": (_KERNEL, "a kernel's program counter left its code; the context is lost"),
    "CUDA_ERROR_LAUNCH_FAILED": (_KERNEL, "a kernel failed while it ran; the context is lost"),
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": (
        _INVALID,
        "a cooperative launch has more blocks than fit the device at once",
    ),
    "CUDA_ERROR_TENSOR_MEMORY_LEAK": (_KERNEL, "a kernel ended without freeing its tensor memory"),
    "CUDA_ERROR_NOT_PERMITTED": (_INVALID, "the operation is not allowed here"),
    "CUDA_ERROR_NOT_SUPPORTED": (_UNSUPPORTED, "this device, system or driver does not have the feature"),
    "CUDA_ERROR_SYSTEM_NOT_READY": (
        _PLATFORM,
        "a service the GPU depends on is not running, such as the fabric manager",
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        _PLATFORM,
        "the kernel module and the driver library are of different versions; reboot or reinstall the driver",
    ),
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": (
        _PLATFORM,
        "the forward compatibility library is in use, and this GPU is not allowed to use it",
    ),
    "CUDA_ERROR_MPS_CONNECTION_FAILED": (_PLATFORM, "the multi-process service could not be reached"),
    "CUDA_ERROR_MPS_RPC_FAILURE": (_PLATFORM, "a call to the multi-process service failed"),
    "CUDA_ERROR_MPS_SERVER_NOT_READY": (_PLATFORM, "the multi-process service does not accept clients now"),
    "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED": (_PLATFORM, "the multi-process service has all the clients it can have"),
    "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED": (_PLATFORM, "the multi-process service has no connections left"),
    "CUDA_ERROR_MPS_CLIENT_TERMINATED": (_RUNTIME, "the multi-process service ended this client"),
    "CUDA_ERROR_CDP_NOT_SUPPORTED": (_UNSUPPORTED, "kernels cannot launch kernels in this set-up"),
    "CUDA_ERROR_CDP_VERSION_MISMATCH": (_BUILD, "modules use different versions of launching kernels from kernels"),
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": (_INVALID, "this operation is not allowed while the stream is captured"),
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": (_INVALID, "an earlier error made the capture unusable"),
    "CUDA_ERROR_STREAM_CAPTURE_MERGE": (_INVALID, "the call would join two separate captures"),
    "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED": (_INVALID, "the capture did not begin on this stream"),
    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED": (_INVALID, "the capture has branches that were not joined again"),
    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": (_INVALID, "a dependency would cross the border of the capture"),
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": (_INVALID, "the legacy stream would be drawn into the capture"),
    "CUDA_ERROR_CAPTURED_EVENT": (_INVALID, "the event was last recorded in a captured stream"),
    "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD": (_INVALID, "the capture must end on the thread that began it"),
    "CUDA_ERROR_TIMEOUT": (_RUNTIME, "the wait ran out of time"),
    "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE": (_INVALID, "the instantiated graph cannot be changed in this way"),
    "CUDA_ERROR_EXTERNAL_DEVICE": (_RUNTIME, "a device outside the GPU reported an asynchronous error"),
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": (_INVALID, "the kernel cannot run with clusters of this size"),
    "CUDA_ERROR_FUNCTION_NOT_LOADED": (_INVALID, "the kernel is not loaded in the current context"),
    "CUDA_ERROR_INVALID_RESOURCE_TYPE": (_INVALID, "a resource of this kind is not accepted here"),
    "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION": (_INVALID, "the resources cannot be combined like this"),
    "CUDA_ERROR_KEY_ROTATION": (_RUNTIME, "the encryption key of the channel is being changed; try again"),
    "CUDA_ERROR_UNKNOWN": (_RUNTIME, "the driver met an internal error that it does not name"),
}
