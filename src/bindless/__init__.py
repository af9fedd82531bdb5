"""Bindless images: the texture hardware of GPUs from Python, after the SYCL extension of that name.

Importing this package opens no driver. Each public name is loaded at its first use, and each driver at the first query
of devices.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bindless_images import (
        ImageMem,
        alloc_image_mem,
        create_image,
        destroy_image_handle,
        fetch_cubemap,
        fetch_image,
        fetch_image_array,
        free_image_mem,
        gather_image,
        get_image_channel_type,
        get_image_memory_support,
        get_image_num_channels,
        get_image_range,
        get_mip_level_mem_handle,
        is_image_handle_supported,
        pitched_alloc_device,
        sample_cubemap,
        sample_image,
        sample_image_array,
        sample_mipmap,
        write_cubemap,
        write_image,
        write_image_array,
    )
    from .bindless_images.sycl_images import (
        HostSampledImageAccessor,
        HostUnsampledImageAccessor,
        SampledImage,
        SampledImageAccessor,
        UnsampledImage,
        UnsampledImageAccessor,
    )
    from .compiler.build import build
    from .compiler.get_include import get_include
    from .compiler.llvm.find_toolchain import kernels_available
    from .compiler.ptx.inline_assembly import InlinePtx, inline_ptx
    from .image.image import Image
    from .interop import (
        ExternalMem,
        ExternalSemaphore,
        NativeHandle,
        as_usm_array,
        from_dlpack,
        get_native,
        import_external_memory,
        import_external_semaphore,
        make_buffer,
        make_context,
        make_device,
        make_event,
        make_kernel,
        make_kernel_bundle,
        make_platform,
        make_queue,
        make_sampled_image,
        make_unsampled_image,
        map_external_image_memory,
        map_external_linear_memory,
        order_after_stream,
        order_stream_after,
        release_external_memory,
        release_external_semaphore,
        supports_importing_handle_type,
        unmap_external_image_memory,
        unmap_external_linear_memory,
    )
    from .model import info
    from .model.aspects import Aspect
    from .model.enums import (
        AccessMode,
        AddressingMode,
        Backend,
        BundleState,
        CoordinateNormalizationMode,
        CubemapFilteringMode,
        DeviceType,
        Errc,
        EventStatus,
        FilteringMode,
        ImageChannelType,
        ImageMemoryHandleType,
        ImageType,
        Interpolation,
        Ownership,
        Precision,
        Target,
        UsmKind,
    )
    from .model.errors import (
        AccessorError,
        ArgumentError,
        BackendMismatchError,
        BuildError,
        DeviceLostError,
        Error,
        EventError,
        ExceptionList,
        FeatureNotSupportedError,
        InvalidError,
        KernelArgumentError,
        KernelError,
        KernelNotSupportedError,
        MemoryAllocationError,
        NdRangeError,
        PlatformError,
        ProfilingError,
        SamplerWarning,
        ShapeWarning,
        SyclRuntimeError,
        WaitTimeoutError,
    )
    from .model.external import (
        ExternalMemDescriptor,
        ExternalMemHandleType,
        ExternalSemaphoreDescriptor,
        ExternalSemaphoreHandleType,
        ResourceFd,
        ResourceWin32Handle,
        ResourceWin32Name,
    )
    from .model.image_descriptor import ImageDescriptor
    from .model.image_handles import ImageMemHandle, SampledImageHandle, UnsampledImageHandle
    from .model.module.kernel_file import KernelFile
    from .model.ranges import NdRange, Range
    from .model.sampler import BindlessImageSampler
    from .python_kernels.device_function import DeviceFunction, device_function
    from .python_kernels.kernel import PythonKernel, kernel
    from .submission.event import Event
    from .sycl.buffer.accessor import Accessor, LocalAccessor
    from .sycl.buffer.buffer import Buffer
    from .sycl.buffer.host_accessor import HostAccessor
    from .sycl.device.context import Context
    from .sycl.device.device import Device
    from .sycl.device.discovery import get_platforms, is_backend_active
    from .sycl.device.platform import Platform
    from .sycl.device.selector import get_devices
    from .sycl.kernel.bound_launch import BoundLaunch
    from .sycl.kernel.bundle import KernelBundle, load_kernel_bundle
    from .sycl.kernel.compile_cuda import compile_cuda
    from .sycl.kernel.kernel import Kernel
    from .sycl.kernel.reduction import Reduction, reduction
    from .sycl.queue.command_graph import CommandGraph
    from .sycl.queue.handler import Handler
    from .sycl.queue.interop_handle import InteropHandle
    from .sycl.queue.queue import Queue
    from .sycl.usm import (
        UsmArray,
        UsmPointer,
        free,
        get_pointer_device,
        get_pointer_type,
        malloc_device,
        malloc_host,
        malloc_shared,
        usm_empty,
    )

__version__ = "0.2.0"
"""Version of the package: the only place that has it."""

SYCL_EXT_ONEAPI_BINDLESS_IMAGES = 6
"""Implemented revision of the extension for bindless images."""

SYCL_LANGUAGE_VERSION = 202012
"""Implemented version of SYCL, as the macro of this name gives it: SYCL 2020."""

SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO = 3
"""Implemented version of the specification of the Level Zero backend."""

# The module that defines each public name.
_MODULES = {
    "compiler.build": ("build",),
    "compiler.llvm.find_toolchain": ("kernels_available",),
    "compiler.get_include": ("get_include",),
    "compiler.ptx.inline_assembly": ("InlinePtx", "inline_ptx"),
    "image.image": ("Image",),
    "bindless_images": (
        "ImageMem",
        "alloc_image_mem",
        "create_image",
        "destroy_image_handle",
        "fetch_cubemap",
        "fetch_image",
        "fetch_image_array",
        "free_image_mem",
        "gather_image",
        "get_image_channel_type",
        "get_image_memory_support",
        "get_image_num_channels",
        "get_image_range",
        "get_mip_level_mem_handle",
        "is_image_handle_supported",
        "pitched_alloc_device",
        "sample_cubemap",
        "sample_image",
        "sample_image_array",
        "sample_mipmap",
        "write_cubemap",
        "write_image",
        "write_image_array",
    ),
    "bindless_images.sycl_images": (
        "HostSampledImageAccessor",
        "HostUnsampledImageAccessor",
        "SampledImage",
        "SampledImageAccessor",
        "UnsampledImage",
        "UnsampledImageAccessor",
    ),
    "interop": (
        "ExternalMem",
        "ExternalSemaphore",
        "NativeHandle",
        "as_usm_array",
        "from_dlpack",
        "get_native",
        "import_external_memory",
        "import_external_semaphore",
        "make_buffer",
        "make_context",
        "make_device",
        "make_event",
        "make_kernel",
        "make_kernel_bundle",
        "make_platform",
        "make_queue",
        "make_sampled_image",
        "make_unsampled_image",
        "map_external_image_memory",
        "map_external_linear_memory",
        "order_after_stream",
        "order_stream_after",
        "release_external_memory",
        "release_external_semaphore",
        "supports_importing_handle_type",
        "unmap_external_image_memory",
        "unmap_external_linear_memory",
    ),
    "model": ("info",),
    "model.aspects": ("Aspect",),
    "model.image_descriptor": ("ImageDescriptor",),
    "model.enums": (
        "AccessMode",
        "AddressingMode",
        "Backend",
        "BundleState",
        "CoordinateNormalizationMode",
        "CubemapFilteringMode",
        "DeviceType",
        "Errc",
        "EventStatus",
        "FilteringMode",
        "ImageChannelType",
        "ImageMemoryHandleType",
        "ImageType",
        "Interpolation",
        "Ownership",
        "Precision",
        "Target",
        "UsmKind",
    ),
    "model.errors": (
        "AccessorError",
        "ArgumentError",
        "BackendMismatchError",
        "BuildError",
        "CopyError",
        "DeviceLostError",
        "Error",
        "EventError",
        "ExceptionList",
        "FeatureNotSupportedError",
        "InvalidError",
        "KernelArgumentError",
        "KernelError",
        "KernelNotSupportedError",
        "MemoryAllocationError",
        "NdRangeError",
        "PlatformError",
        "ProfilingError",
        "SamplerWarning",
        "ShapeWarning",
        "SyclRuntimeError",
        "WaitTimeoutError",
    ),
    "model.external": (
        "ExternalMemDescriptor",
        "ExternalMemHandleType",
        "ExternalSemaphoreDescriptor",
        "ExternalSemaphoreHandleType",
        "ResourceFd",
        "ResourceWin32Handle",
        "ResourceWin32Name",
    ),
    "model.image_handles": ("ImageMemHandle", "SampledImageHandle", "UnsampledImageHandle"),
    "model.module.kernel_file": ("KernelFile",),
    "model.ranges": ("NdRange", "Range"),
    "model.sampler": ("BindlessImageSampler",),
    "sycl.buffer.accessor": ("Accessor", "LocalAccessor"),
    "sycl.kernel.bound_launch": ("BoundLaunch",),
    "sycl.buffer.buffer": ("Buffer",),
    "sycl.queue.command_graph": ("CommandGraph",),
    "sycl.device.context": ("Context",),
    "sycl.kernel.compile_cuda": ("compile_cuda",),
    "sycl.device.device": ("Device",),
    "sycl.device.discovery": ("get_platforms", "is_backend_active"),
    "submission.event": ("Event",),
    "sycl.queue.handler": ("Handler",),
    "sycl.buffer.host_accessor": ("HostAccessor",),
    "sycl.queue.interop_handle": ("InteropHandle",),
    "sycl.kernel.kernel": ("Kernel",),
    "sycl.kernel.reduction": ("Reduction", "reduction"),
    "sycl.kernel.bundle": ("KernelBundle", "load_kernel_bundle"),
    "sycl.device.platform": ("Platform",),
    "sycl.device.selector": ("get_devices",),
    "sycl.queue.queue": ("Queue",),
    "python_kernels.device_function": ("DeviceFunction", "device_function"),
    "python_kernels.kernel": ("PythonKernel", "kernel"),
    "sycl.usm": (
        "UsmArray",
        "UsmPointer",
        "free",
        "get_pointer_device",
        "get_pointer_type",
        "malloc_device",
        "malloc_host",
        "malloc_shared",
        "usm_empty",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO",
    "SYCL_EXT_ONEAPI_BINDLESS_IMAGES",
    "SYCL_LANGUAGE_VERSION",
    "AccessMode",
    "Accessor",
    "AccessorError",
    "AddressingMode",
    "ArgumentError",
    "Aspect",
    "Backend",
    "BackendMismatchError",
    "BindlessImageSampler",
    "BoundLaunch",
    "Buffer",
    "BuildError",
    "BundleState",
    "CommandGraph",
    "Context",
    "CoordinateNormalizationMode",
    "CopyError",
    "CubemapFilteringMode",
    "Device",
    "DeviceFunction",
    "DeviceLostError",
    "DeviceType",
    "Errc",
    "Error",
    "Event",
    "EventError",
    "EventStatus",
    "ExceptionList",
    "ExternalMem",
    "ExternalMemDescriptor",
    "ExternalMemHandleType",
    "ExternalSemaphore",
    "ExternalSemaphoreDescriptor",
    "ExternalSemaphoreHandleType",
    "FeatureNotSupportedError",
    "FilteringMode",
    "Handler",
    "HostAccessor",
    "HostSampledImageAccessor",
    "HostUnsampledImageAccessor",
    "Image",
    "ImageChannelType",
    "ImageDescriptor",
    "ImageMem",
    "ImageMemHandle",
    "ImageMemoryHandleType",
    "ImageType",
    "InlinePtx",
    "InteropHandle",
    "Interpolation",
    "InvalidError",
    "Kernel",
    "KernelArgumentError",
    "KernelBundle",
    "KernelError",
    "KernelFile",
    "KernelNotSupportedError",
    "LocalAccessor",
    "MemoryAllocationError",
    "NativeHandle",
    "NdRange",
    "NdRangeError",
    "Ownership",
    "Platform",
    "PlatformError",
    "Precision",
    "ProfilingError",
    "PythonKernel",
    "Queue",
    "Range",
    "Reduction",
    "ResourceFd",
    "ResourceWin32Handle",
    "ResourceWin32Name",
    "SampledImage",
    "SampledImageAccessor",
    "SampledImageHandle",
    "SamplerWarning",
    "ShapeWarning",
    "SyclRuntimeError",
    "Target",
    "UnsampledImage",
    "UnsampledImageAccessor",
    "UnsampledImageHandle",
    "UsmArray",
    "UsmKind",
    "UsmPointer",
    "WaitTimeoutError",
    "__version__",
    "alloc_image_mem",
    "as_usm_array",
    "build",
    "compile_cuda",
    "create_image",
    "destroy_image_handle",
    "device_function",
    "fetch_cubemap",
    "fetch_image",
    "fetch_image_array",
    "free",
    "free_image_mem",
    "from_dlpack",
    "gather_image",
    "get_devices",
    "get_image_channel_type",
    "get_image_memory_support",
    "get_image_num_channels",
    "get_image_range",
    "get_include",
    "get_mip_level_mem_handle",
    "get_native",
    "get_platforms",
    "get_pointer_device",
    "get_pointer_type",
    "import_external_memory",
    "import_external_semaphore",
    "info",
    "inline_ptx",
    "is_backend_active",
    "is_image_handle_supported",
    "kernel",
    "kernels_available",
    "load_kernel_bundle",
    "make_buffer",
    "make_context",
    "make_device",
    "make_event",
    "make_kernel",
    "make_kernel_bundle",
    "make_platform",
    "make_queue",
    "make_sampled_image",
    "make_unsampled_image",
    "malloc_device",
    "malloc_host",
    "malloc_shared",
    "map_external_image_memory",
    "map_external_linear_memory",
    "order_after_stream",
    "order_stream_after",
    "pitched_alloc_device",
    "reduction",
    "release_external_memory",
    "release_external_semaphore",
    "sample_cubemap",
    "sample_image",
    "sample_image_array",
    "sample_mipmap",
    "supports_importing_handle_type",
    "unmap_external_image_memory",
    "unmap_external_linear_memory",
    "usm_empty",
    "write_cubemap",
    "write_image",
    "write_image_array",
]


# Public packages, imported at their first use.
_PACKAGES = ("device", "drivers", "interop", "level_zero", "ndimage", "nvtx", "opencl")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # First: it refuses subinterpreters, before numpy is loaded, which loads in one interpreter of a process only.
    importlib.import_module(f"{__name__}.core._submission")
    module = importlib.import_module(f"{__name__}.{home}")
    if name == "info":
        module = importlib.import_module(f"{__name__}.model.info")
        value: Any = module
    else:
        value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})


if os.environ.get("BINDLESS_NVTX", "0") not in ("", "0"):
    importlib.import_module(f"{__name__}.nvtx").enable()
