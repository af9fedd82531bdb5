"""Bindless images: the texture hardware of GPUs from Python, after the SYCL extension of that name.

Importing this package opens no driver. Each public name is loaded at its first use, and each driver at the first query
of devices.
"""

from __future__ import annotations

import importlib
import os

from .model.lazy_names import homes_of, load

__version__ = "0.2.0"
"""Version of the package: the only place that has it."""

SYCL_EXT_ONEAPI_BINDLESS_IMAGES = 6
"""Implemented revision of the extension for bindless images."""

SYCL_LANGUAGE_VERSION = 202012
"""Implemented version of SYCL, as the macro of this name gives it: SYCL 2020."""

SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO = 3
"""Implemented version of the specification of the Level Zero backend."""

# The public names that each module defines.
_MODULES = {
    "bindless_images": """
        ImageMem alloc_image_mem create_image destroy_image_handle fetch_cubemap fetch_image fetch_image_array
        free_image_mem gather_image get_image_channel_type get_image_memory_support get_image_num_channels
        get_image_range get_mip_level_mem_handle is_image_handle_supported pitched_alloc_device sample_cubemap
        sample_image sample_image_array sample_mipmap write_cubemap write_image write_image_array
    """,
    "bindless_images.sycl_images": """
        HostSampledImageAccessor HostUnsampledImageAccessor SampledImage SampledImageAccessor UnsampledImage
        UnsampledImageAccessor
    """,
    "camera.camera": "Camera",
    "colour": "Lut3D",
    "compiler.build": "build",
    "compiler.get_include": "get_include",
    "compiler.llvm.find_toolchain": "kernels_available",
    "compiler.ptx.inline_assembly": "InlinePtx inline_ptx",
    "image.image": "Image",
    "interop": """
        ExternalMem ExternalSemaphore NativeHandle as_usm_array from_dlpack get_native import_external_memory
        import_external_semaphore make_buffer make_context make_device make_event make_kernel make_kernel_bundle
        make_platform make_queue make_sampled_image make_unsampled_image map_external_image_memory
        map_external_linear_memory order_after_stream order_stream_after release_external_memory
        release_external_semaphore supports_importing_handle_type unmap_external_image_memory
        unmap_external_linear_memory
    """,
    "model": "info",
    "model.aspects": "Aspect",
    "model.enums": """
        AccessMode AddressingMode Backend BundleState CoordinateNormalizationMode CubemapFilteringMode
        DeviceType Errc EventStatus FilteringMode ImageChannelType ImageMemoryHandleType ImageType Interpolation
        Ownership Precision Target UsmKind
    """,
    "model.errors": """
        AccessorError ArgumentError BackendMismatchError BuildError CopyError DeviceLostError Error EventError
        ExceptionList FeatureNotSupportedError InvalidError KernelArgumentError KernelError
        KernelNotSupportedError MemoryAllocationError NdRangeError PlatformError ProfilingError SamplerWarning
        ShapeWarning SyclRuntimeError WaitTimeoutError
    """,
    "model.external": """
        ExternalMemDescriptor ExternalMemHandleType ExternalSemaphoreDescriptor ExternalSemaphoreHandleType
        ResourceFd ResourceWin32Handle ResourceWin32Name
    """,
    "model.image_descriptor": "ImageDescriptor",
    "model.image_handles": "ImageMemHandle SampledImageHandle UnsampledImageHandle",
    "model.module.kernel_file": "KernelFile",
    "model.ranges": "NdRange Range",
    "model.sampler": "BindlessImageSampler",
    "python_kernels.device_function": "DeviceFunction device_function",
    "python_kernels.kernel": "PythonKernel kernel",
    "submission.event": "Event",
    "sycl.buffer.accessor": "Accessor LocalAccessor",
    "sycl.buffer.buffer": "Buffer",
    "sycl.buffer.host_accessor": "HostAccessor",
    "sycl.device.context": "Context",
    "sycl.device.device": "Device",
    "sycl.device.discovery": "get_platforms is_backend_active",
    "sycl.device.platform": "Platform",
    "sycl.device.selector": "get_devices",
    "sycl.kernel.bound_launch": "BoundLaunch",
    "sycl.kernel.bundle": "KernelBundle load_kernel_bundle",
    "sycl.kernel.compile_cuda": "compile_cuda",
    "sycl.kernel.kernel": "Kernel",
    "sycl.kernel.reduction": "Reduction reduction",
    "sycl.queue.command_graph": "CommandGraph",
    "sycl.queue.handler": "Handler",
    "sycl.queue.interop_handle": "InteropHandle",
    "sycl.queue.queue": "Queue",
    "sycl.usm": """
        UsmArray UsmPointer free get_pointer_device get_pointer_type malloc_device malloc_host malloc_shared
        usm_empty
    """,
    "viewer.notebook": "view",
}
_HOMES = homes_of(_MODULES)

_OWN = (
    "SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO",
    "SYCL_EXT_ONEAPI_BINDLESS_IMAGES",
    "SYCL_LANGUAGE_VERSION",
    "__version__",
)

__all__ = sorted((*_OWN, *_HOMES))

# Public packages, imported at their first use.
_PACKAGES = (
    "bricks",
    "cv2",
    "device",
    "drivers",
    "interop",
    "level_zero",
    "ndimage",
    "nvtx",
    "opencl",
    "space",
    "tomography",
)


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        # First: it refuses subinterpreters, before numpy is loaded, which loads in one interpreter of a process only.
        importlib.import_module(f"{__name__}.core._submission")
    return load(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})


if os.environ.get("BINDLESS_NVTX", "0") not in ("", "0"):
    importlib.import_module(f"{__name__}.nvtx").enable()
