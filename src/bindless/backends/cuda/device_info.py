"""Properties of CUDA devices: aspects and information descriptors."""

from __future__ import annotations

from collections.abc import Callable

from ...drivers import cuda as driver
from ...model.aspects import Aspect
from ...model.enums import DeviceType
from ...model.info import (
    execution_capability,
    fp_config,
    global_mem_cache_type,
    local_mem_type,
    memory_order,
    memory_scope,
)
from ..common import handle_table
from ..common.device_info import VECTOR_WIDTHS
from . import external_memory
from .device import Device, cuda_version, driver_release
from .image_handle import MAX_ANISOTROPY

__all__ = ["aspects", "device_info"]

lib = driver.lib

_VENDOR_ID = 0x10DE
_WARP = 32
_CACHE_LINE = 128  # bytes, in four sectors

# The oldest compute capability that the built-in kernels are compiled for.
_KERNELS = (7, 5)

# Aspects by the attribute that must not be 0.
_BY_ATTRIBUTE = {
    Aspect.usm_host_allocations: lib.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
    Aspect.usm_atomic_host_allocations: lib.CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
    Aspect.usm_shared_allocations: lib.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
    Aspect.usm_atomic_shared_allocations: lib.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
}

# Aspects by the oldest compute capability that supports them.
_BY_CAPABILITY = {
    Aspect.gpu: (0, 0),
    Aspect.fp64: (1, 3),
    Aspect.fp16: (5, 3),
    Aspect.atomic64: (6, 0),
    Aspect.online_compiler: (0, 0),
    Aspect.online_linker: (0, 0),
    Aspect.image: _KERNELS,
    Aspect.queue_profiling: (0, 0),
    Aspect.usm_device_allocations: (0, 0),
    Aspect.ext_oneapi_bindless_images: _KERNELS,
    Aspect.ext_oneapi_bindless_images_1d_usm: _KERNELS,
    Aspect.ext_oneapi_bindless_images_2d_usm: _KERNELS,
    Aspect.ext_oneapi_bindless_sampled_image_fetch_1d_usm: _KERNELS,
    Aspect.ext_oneapi_bindless_sampled_image_fetch_1d: _KERNELS,
    Aspect.ext_oneapi_bindless_sampled_image_fetch_2d_usm: _KERNELS,
    Aspect.ext_oneapi_bindless_sampled_image_fetch_2d: _KERNELS,
    Aspect.ext_oneapi_bindless_sampled_image_fetch_3d: _KERNELS,
    Aspect.ext_oneapi_bindless_images_sample_2d_usm: _KERNELS,
    Aspect.ext_oneapi_unique_addressing_per_dim: _KERNELS,
    Aspect.ext_oneapi_mipmap: _KERNELS,
    Aspect.ext_oneapi_mipmap_anisotropy: _KERNELS,
    Aspect.ext_oneapi_mipmap_level_reference: _KERNELS,
    Aspect.ext_oneapi_image_array: _KERNELS,
    Aspect.ext_oneapi_cubemap: _KERNELS,
    Aspect.ext_oneapi_cubemap_seamless_filtering: _KERNELS,
}

# Aspects that this back end does not report, and why:
# usm_system_allocations: some systems let kernels access pageable host memory, at the speed of page faults; arrays are
# copied instead.
# images_sample_1d_usm: linear textures support fetches without filtering only; use a pitched image of height 1.


def aspects(device: Device) -> frozenset[Aspect]:
    """The aspects that a device supports."""
    result = {aspect for aspect, capability in _BY_CAPABILITY.items() if device.capability >= capability}
    result.update(aspect for aspect, attribute in _BY_ATTRIBUTE.items() if device.attribute(attribute))
    if device.gather_limits != (0, 0):
        result.add(Aspect.ext_oneapi_bindless_images_gather)
    if Aspect.usm_shared_allocations in result and Aspect.ext_oneapi_bindless_images in result:
        result.add(Aspect.ext_oneapi_bindless_images_shared_usm)
    return frozenset(result) | external_memory.aspects()


def _attribute(name: str, scale: int = 1) -> Callable[[Device], int]:
    number = getattr(lib, f"CU_DEVICE_ATTRIBUTE_{name}")
    return lambda device: device.attribute(number) * scale


def _work_item_sizes(device: Device) -> tuple[int, int, int]:
    """The largest work-group sizes in SYCL's order: the last dimension varies fastest and is the device's x."""
    x, y, z = (_attribute(f"MAX_BLOCK_DIM_{axis}")(device) for axis in "XYZ")
    return (z, y, x)


def _local_memory(device: Device) -> int:
    """The local memory of a work-group with an opt-in at launch, which this package always uses."""
    return _attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")(device) or _attribute("MAX_SHARED_MEMORY_PER_BLOCK")(device)


def _half_config(device: Device) -> tuple[fp_config, ...]:
    """Half-precision arithmetic supports round to nearest only."""
    if device.capability < _BY_CAPABILITY[Aspect.fp16]:
        return ()
    return (fp_config.denorm, fp_config.inf_nan, fp_config.round_to_nearest, fp_config.fma)


_FULL_CONFIG = tuple(config for config in fp_config if config is not fp_config.soft_float)


def _orders(device: Device) -> tuple[memory_order, ...]:
    """Memory orders; sequential consistency needs the memory model of compute capability 7.0."""
    if device.capability >= (7, 0):
        return tuple(memory_order)
    return (memory_order.relaxed, memory_order.acquire, memory_order.release, memory_order.acq_rel)


def _scopes(device: Device) -> tuple[memory_scope, ...]:
    return tuple(memory_scope) if device.capability >= (6, 0) else tuple(memory_scope)[:-1]


_INFO: dict[str, Callable[[Device], object]] = {
    "device_type": lambda device: DeviceType.gpu,
    "name": lambda device: device.name,
    "vendor": lambda device: device.vendor,
    "vendor_id": lambda device: _VENDOR_ID,
    "driver_version": lambda device: driver_release(),
    "version": lambda device: "{}.{}".format(*device.capability),
    "backend_version": lambda device: cuda_version(),
    "is_available": lambda device: _attribute("COMPUTE_MODE")(device) != lib.CU_COMPUTEMODE_PROHIBITED,
    "max_compute_units": _attribute("MULTIPROCESSOR_COUNT"),
    "max_work_item_dimensions": lambda device: 3,
    "max_work_item_sizes": _work_item_sizes,
    "max_work_group_size": _attribute("MAX_THREADS_PER_BLOCK"),
    "max_num_sub_groups": lambda device: _attribute("MAX_THREADS_PER_BLOCK")(device) // _WARP,
    "sub_group_sizes": lambda device: (_WARP,),
    "sub_group_independent_forward_progress": lambda device: device.capability >= (7, 0),
    # Work-items are the lanes of a processor that has no vectors of its own.
    **dict.fromkeys(VECTOR_WIDTHS, lambda device: 1),
    "half_fp_config": _half_config,
    "single_fp_config": lambda device: _FULL_CONFIG,
    "double_fp_config": lambda device: _FULL_CONFIG,
    "atomic_memory_order_capabilities": _orders,
    "atomic_fence_order_capabilities": _orders,
    "atomic_memory_scope_capabilities": _scopes,
    "atomic_fence_scope_capabilities": _scopes,
    "execution_capabilities": lambda device: (execution_capability.exec_kernel,),
    "max_clock_frequency": lambda device: _attribute("CLOCK_RATE")(device) // 1000,
    "address_bits": lambda device: 64,
    "max_mem_alloc_size": lambda device: device.memory_size,
    "global_mem_size": lambda device: device.memory_size,
    "global_mem_cache_size": _attribute("L2_CACHE_SIZE"),
    "global_mem_cache_type": lambda device: global_mem_cache_type.read_write,
    "global_mem_cache_line_size": lambda device: _CACHE_LINE,
    "error_correction_support": lambda device: bool(_attribute("ECC_ENABLED")(device)),
    "host_unified_memory": lambda device: bool(_attribute("INTEGRATED")(device)),
    "local_mem_type": lambda device: local_mem_type.local,
    "local_mem_size": _local_memory,
    "max_parameter_size": lambda device: 4096,
    "mem_base_addr_align": _attribute("TEXTURE_ALIGNMENT", 8),
    "profiling_timer_resolution": lambda device: 500,
    # Textures bound to one kernel. Bindless textures are passed by number, and there may be more of them.
    "max_samplers": lambda device: 256,
    "image1d_max_width": _attribute("MAXIMUM_TEXTURE1D_WIDTH"),
    "image2d_max_width": _attribute("MAXIMUM_TEXTURE2D_WIDTH"),
    "image2d_max_height": _attribute("MAXIMUM_TEXTURE2D_HEIGHT"),
    "image3d_max_width": _attribute("MAXIMUM_TEXTURE3D_WIDTH"),
    "image3d_max_height": _attribute("MAXIMUM_TEXTURE3D_HEIGHT"),
    "image3d_max_depth": _attribute("MAXIMUM_TEXTURE3D_DEPTH"),
    "image_max_array_size": _attribute("MAXIMUM_TEXTURE2D_LAYERED_LAYERS"),
    "image_max_buffer_size": _attribute("MAXIMUM_TEXTURE1D_LINEAR_WIDTH"),
    "uuid": lambda device: device.uuid,
    "pci_address": lambda device: device.pci_address,
    "image_row_pitch_align": _attribute("TEXTURE_PITCH_ALIGNMENT"),
    "max_image_linear_width": _attribute("MAXIMUM_TEXTURE2D_LINEAR_WIDTH"),
    "max_image_linear_height": _attribute("MAXIMUM_TEXTURE2D_LINEAR_HEIGHT"),
    "max_image_linear_row_pitch": _attribute("MAXIMUM_TEXTURE2D_LINEAR_PITCH"),
    "mipmap_max_anisotropy": lambda device: float(MAX_ANISOTROPY),
}


def device_info(device: Device, name: str) -> object:
    """The value of a member of ``info.device``.

    Raises
    ------
    FeatureNotSupportedError
        CUDA has no such property.
    """
    return handle_table.answer(_INFO, device, name, "CUDA", "cuda")
