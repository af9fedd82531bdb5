"""Properties of Level Zero devices: aspects, information descriptors, and partitioning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...drivers import level_zero as driver
from ...model.aspects import Aspect
from ...model.enums import DeviceType
from ...model.info import (
    execution_capability,
    fp_config,
    global_mem_cache_type,
    local_mem_type,
    memory_order,
    memory_scope,
    partition_affinity_domain,
    partition_property,
)
from ..common import handle_table
from ..common.device_info import VECTOR_WIDTHS
from ..common.image_aspects import IMAGES, LINEAR_IMAGES
from ..contract import DeviceRecord
from . import external_memory
from .device import Device, sub_devices, vendor_name
from .errors import SUCCESS
from .image_handle import pitch_align
from .link import LINKER

__all__ = ["aspects", "device_info", "partition"]

lib, ffi = driver.lib, driver.ffi

_OF_TYPE = {
    DeviceType.cpu: Aspect.cpu,
    DeviceType.gpu: Aspect.gpu,
    DeviceType.accelerator: Aspect.accelerator,
}

_RW, _ATOMIC = lib.ZE_MEMORY_ACCESS_CAP_FLAG_RW, lib.ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC
_CONCURRENT_ATOMIC = lib.ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC

# Aspects of memory: the driver's capabilities of that memory, and the required flags.
_MEMORY = {
    Aspect.usm_device_allocations: ("deviceAllocCapabilities", _RW),
    Aspect.usm_host_allocations: ("hostAllocCapabilities", _RW),
    Aspect.usm_atomic_host_allocations: ("hostAllocCapabilities", _CONCURRENT_ATOMIC),
    Aspect.usm_shared_allocations: ("sharedSingleDeviceAllocCapabilities", _RW),
    Aspect.usm_atomic_shared_allocations: ("sharedSingleDeviceAllocCapabilities", _CONCURRENT_ATOMIC),
    Aspect.usm_system_allocations: ("sharedSystemAllocCapabilities", _RW),
}

_MODULES = {
    Aspect.fp16: lib.ZE_DEVICE_MODULE_FLAG_FP16,
    Aspect.fp64: lib.ZE_DEVICE_MODULE_FLAG_FP64,
    Aspect.atomic64: lib.ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
}

# Aspects of every driver with bindless images.
# Aspects that this back end does not report, and why:
# mipmap and its relatives, cubemap, unique_addressing_per_dim: Level Zero does not have them.
# images_1d_usm: Level Zero has no one-dimensional images over linear memory; use a pitched image of height 1.


def aspects(device: Device) -> frozenset[Aspect]:
    """The aspects that a device supports."""
    result = {_OF_TYPE[device.type]}
    access = device.memory_access
    result.update(aspect for aspect, (name, flags) in _MEMORY.items() if getattr(access, name) & flags == flags)
    result.update(aspect for aspect, flag in _MODULES.items() if device.module.flags & flag)
    if device.module.spirvVersionSupported:
        result.add(Aspect.online_compiler)
        if LINKER in device.driver.extensions:
            result.add(Aspect.online_linker)
    if device.properties.kernelTimestampValidBits:
        result.add(Aspect.queue_profiling)
    if device.type is DeviceType.cpu:
        result.add(Aspect.host_debuggable)
    if device.image.maxImageDims2D:
        result.add(Aspect.image)
        if device.has_bindless_images:
            result.update(_images(device))
    return frozenset(result) | external_memory.aspects(device)


def _images(device: Device) -> set[Aspect]:
    result = set(IMAGES)
    if device.image.maxImageArraySlices:
        result.add(Aspect.ext_oneapi_image_array)
    if device.pitched.maxImageLinearWidth and device.driver.function("zeMemGetPitchFor2dImage") is not None:
        result.update(LINEAR_IMAGES)
        if device.memory_access.sharedSingleDeviceAllocCapabilities & _RW:
            result.add(Aspect.ext_oneapi_bindless_images_shared_usm)
    return result


# ---------------------------------------------------------------------- information

_FP = {
    fp_config.denorm: lib.ZE_DEVICE_FP_FLAG_DENORM,
    fp_config.inf_nan: lib.ZE_DEVICE_FP_FLAG_INF_NAN,
    fp_config.round_to_nearest: lib.ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST,
    fp_config.round_to_zero: lib.ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO,
    fp_config.round_to_inf: lib.ZE_DEVICE_FP_FLAG_ROUND_TO_INF,
    fp_config.fma: lib.ZE_DEVICE_FP_FLAG_FMA,
    fp_config.correctly_rounded_divide_sqrt: lib.ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT,
    fp_config.soft_float: lib.ZE_DEVICE_FP_FLAG_SOFT_FLOAT,
}


def _fp_config(flags: int) -> tuple[fp_config, ...]:
    return tuple(config for config, flag in _FP.items() if flags & flag)


def _work_item_sizes(device: Device) -> tuple[int, int, int]:
    """The largest work-group sizes in SYCL's order: the last dimension varies fastest and is the device's x."""
    limits = device.compute
    return int(limits.maxGroupSizeZ), int(limits.maxGroupSizeY), int(limits.maxGroupSizeX)


def _sub_group_sizes(device: Device) -> tuple[int, ...]:
    limits = device.compute
    return tuple(int(limits.subGroupSizes[place]) for place in range(limits.numSubGroupSizes)) or (1,)


def _cache_line(device: Device) -> int:
    """Bytes of a cache line; the value of all known devices if the driver does not report it."""
    if "ZE_extension_device_cache_line_size" in device.driver.extensions and device.caches:
        line = driver.make_struct("ze_device_cache_line_size_ext_t")
        cache = driver.make_struct("ze_device_cache_properties_t", line)
        if lib.zeDeviceGetCacheProperties(device.handle, ffi.new("uint32_t *", 1), cache) == SUCCESS:
            return int(line.cacheLineSize) or 64
    return 64


def _vector_width(device: Device, name: str) -> int:
    """Elements of a vector; 1 if the driver does not report it."""
    ask = device.driver.function("zeDeviceGetVectorWidthPropertiesExt")
    if ask is None or "ZE_extension_device_vector_width" not in " ".join(device.driver.extensions):
        return 1
    widths, count = driver.make_struct("ze_device_vector_width_properties_ext_t"), ffi.new("uint32_t *", 1)
    return int(getattr(widths, name)) if ask(device.handle, count, widths) == SUCCESS and count[0] else 1


def _vector_widths() -> dict[str, Callable[[Device], object]]:
    return {name: lambda device, name=name: _vector_width(device, name) for name in VECTOR_WIDTHS}  # type: ignore[misc]


_INFO: dict[str, Callable[[Device], object]] = {
    "device_type": lambda device: device.type,
    "name": lambda device: device.name,
    "vendor": vendor_name,
    "vendor_id": lambda device: int(device.properties.vendorId),
    "driver_version": lambda device: device.driver.version,
    "version": lambda device: device.ip_version or "{}.{}".format(*device.driver.api),
    "backend_version": lambda device: "{}.{}".format(*device.driver.api),
    "is_available": lambda device: _is_available(device),
    "max_compute_units": lambda device: device.compute_units,
    "max_work_item_dimensions": lambda device: 3,
    "max_work_item_sizes": _work_item_sizes,
    "max_work_group_size": lambda device: int(device.compute.maxTotalGroupSize),
    "max_num_sub_groups": lambda device: -(-int(device.compute.maxTotalGroupSize) // min(_sub_group_sizes(device))),
    "sub_group_sizes": _sub_group_sizes,
    "sub_group_independent_forward_progress": lambda device: device.type is DeviceType.gpu,
    **_vector_widths(),
    "half_fp_config": lambda device: _fp_config(device.module.fp16flags),
    "single_fp_config": lambda device: _fp_config(device.module.fp32flags),
    "double_fp_config": lambda device: _fp_config(device.module.fp64flags),
    "atomic_memory_order_capabilities": lambda device: tuple(memory_order),
    "atomic_fence_order_capabilities": lambda device: tuple(memory_order),
    "atomic_memory_scope_capabilities": lambda device: tuple(memory_scope),
    "atomic_fence_scope_capabilities": lambda device: tuple(memory_scope),
    "execution_capabilities": lambda device: (execution_capability.exec_kernel,),
    "max_clock_frequency": lambda device: int(device.properties.coreClockRate),
    "address_bits": lambda device: 64,
    "max_mem_alloc_size": lambda device: int(device.properties.maxMemAllocSize),
    "global_mem_size": lambda device: device.memory_size,
    "global_mem_cache_size": lambda device: max((int(cache.cacheSize) for cache in device.caches), default=0),
    "global_mem_cache_type": lambda device: global_mem_cache_type.read_write,
    "global_mem_cache_line_size": _cache_line,
    "error_correction_support": lambda device: bool(device.properties.flags & lib.ZE_DEVICE_PROPERTY_FLAG_ECC),
    "host_unified_memory": lambda device: device.is_integrated,
    "local_mem_type": lambda device: local_mem_type.local,
    "local_mem_size": lambda device: int(device.compute.maxSharedLocalMemory),
    "max_parameter_size": lambda device: int(device.module.maxArgumentsSize),
    "mem_base_addr_align": lambda device: 8 * 4096,
    "profiling_timer_resolution": lambda device: max(round(device.tick), 1),
    "max_samplers": lambda device: int(device.image.maxSamplers),
    "image1d_max_width": lambda device: int(device.image.maxImageDims1D),
    "image2d_max_width": lambda device: int(device.image.maxImageDims2D),
    "image2d_max_height": lambda device: int(device.image.maxImageDims2D),
    "image3d_max_width": lambda device: int(device.image.maxImageDims3D),
    "image3d_max_height": lambda device: int(device.image.maxImageDims3D),
    "image3d_max_depth": lambda device: int(device.image.maxImageDims3D),
    "image_max_array_size": lambda device: int(device.image.maxImageArraySlices),
    "image_max_buffer_size": lambda device: int(device.image.maxImageBufferSize),
    "uuid": lambda device: device.uuid,
    "pci_address": lambda device: device.pci_address,
    "image_row_pitch_align": pitch_align,
    "max_image_linear_width": lambda device: int(device.pitched.maxImageLinearWidth),
    "max_image_linear_height": lambda device: int(device.pitched.maxImageLinearHeight),
    # Level Zero defines no limit; the limit follows from the widest pixels.
    "max_image_linear_row_pitch": lambda device: 16 * int(device.pitched.maxImageLinearWidth),
    "mipmap_max_anisotropy": lambda device: 0.0,
    "partition_max_sub_devices": lambda device: len(device.parts()),
    "partition_properties": lambda device: (partition_property.partition_by_affinity_domain,) if device.parts() else (),
    "partition_affinity_domains": lambda device: (
        (partition_affinity_domain.numa, partition_affinity_domain.next_partitionable) if device.parts() else ()
    ),
}


def _is_available(device: Device) -> bool:
    return bool(lib.zeDeviceGetStatus(device.handle) == SUCCESS)


def device_info(device: Device, name: str) -> object:
    """The value of a member of ``info.device``.

    Raises
    ------
    FeatureNotSupportedError
        Level Zero has no such property.
    """
    return handle_table.answer(_INFO, device, name, "Level Zero", "level_zero")


def partition(
    device: Device, how: partition_property, argument: int | tuple[int, ...] | partition_affinity_domain
) -> Sequence[DeviceRecord]:
    """The driver's sub-devices: tiles with memory of their own, or the sub-devices of tiles."""
    return sub_devices(device)
