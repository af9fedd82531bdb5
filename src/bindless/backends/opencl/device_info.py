"""Properties of OpenCL devices: aspects, information descriptors, and partitioning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ...drivers import opencl as driver
from ...model.aspects import Aspect
from ...model.enums import DeviceType, UsmKind
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
from .device import Device
from .external_memory import aspects as external_aspects
from .memory import means_of, pitch_align

__all__ = ["aspects", "device_info", "partition"]

lib, ffi = driver.lib, driver.ffi

_OF_TYPE = {
    DeviceType.cpu: Aspect.cpu,
    DeviceType.gpu: Aspect.gpu,
    DeviceType.accelerator: Aspect.accelerator,
    DeviceType.custom: Aspect.custom,
}
_OF_KIND = {
    UsmKind.device: Aspect.usm_device_allocations,
    UsmKind.host: Aspect.usm_host_allocations,
    UsmKind.shared: Aspect.usm_shared_allocations,
}

# Extensions with one aspect each; 64-bit atomics need two extensions.
_EXTENSIONS = {
    Aspect.fp16: {"cl_khr_fp16"},
    Aspect.fp64: {"cl_khr_fp64"},
    Aspect.atomic64: {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"},
}

_ATOMIC = lib.CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL

# Aspects that this back end does not report, and why:
# mipmap and its relatives: they need cl_khr_mipmap_image, which no tested driver offers.
# cubemap, unique_addressing_per_dim: OpenCL does not have them.
# images_1d_usm and its relatives: one-dimensional images over buffers cannot be sampled.


def aspects(device: Device) -> frozenset[Aspect]:
    """The aspects that a device supports."""
    result = {_OF_TYPE[device.type]}
    kinds = means_of(device).kinds(device)
    result.update(_OF_KIND[kind] for kind in kinds)
    result.update(_atomics(device))
    result.update(aspect for aspect, names in _EXTENSIONS.items() if names <= device.extensions)
    if device.number(lib.CL_DEVICE_COMPILER_AVAILABLE):
        result.add(Aspect.online_compiler)
        if device.version >= (1, 2) and device.number(lib.CL_DEVICE_LINKER_AVAILABLE):
            result.add(Aspect.online_linker)
    if device.number(lib.CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & lib.CL_QUEUE_PROFILING_ENABLE:
        result.add(Aspect.queue_profiling)
    if device.type is DeviceType.cpu:
        result.add(Aspect.host_debuggable)
    result.update(external_aspects(device))
    if device.has_images:
        result.add(Aspect.image)
        result.update(IMAGES)
        if device.number(lib.CL_DEVICE_IMAGE_MAX_ARRAY_SIZE):
            result.add(Aspect.ext_oneapi_image_array)
        if device.has_linear_images:
            result.update(LINEAR_IMAGES)
            if UsmKind.shared in kinds:
                result.add(Aspect.ext_oneapi_bindless_images_shared_usm)
    return frozenset(result)


def _atomics(device: Device) -> set[Aspect]:
    """Aspects of atomics in memory shared with the host, and of system allocations."""
    result = set()
    if device.has_usm:
        if device.number(lib.CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) & _ATOMIC:
            result.add(Aspect.usm_atomic_host_allocations)
        if device.number(lib.CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL) & _ATOMIC:
            result.add(Aspect.usm_atomic_shared_allocations)
        system = device.number(lib.CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL)
        if system & lib.CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL:
            result.add(Aspect.usm_system_allocations)
    elif device.svm & lib.CL_DEVICE_SVM_FINE_GRAIN_BUFFER:
        if device.svm & lib.CL_DEVICE_SVM_ATOMICS:
            result.update((Aspect.usm_atomic_host_allocations, Aspect.usm_atomic_shared_allocations))
        if device.svm & lib.CL_DEVICE_SVM_FINE_GRAIN_SYSTEM:
            result.add(Aspect.usm_system_allocations)
    return result


# ---------------------------------------------------------------------- information

_FP = {
    fp_config.denorm: lib.CL_FP_DENORM,
    fp_config.inf_nan: lib.CL_FP_INF_NAN,
    fp_config.round_to_nearest: lib.CL_FP_ROUND_TO_NEAREST,
    fp_config.round_to_zero: lib.CL_FP_ROUND_TO_ZERO,
    fp_config.round_to_inf: lib.CL_FP_ROUND_TO_INF,
    fp_config.fma: lib.CL_FP_FMA,
    fp_config.correctly_rounded_divide_sqrt: lib.CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
    fp_config.soft_float: lib.CL_FP_SOFT_FLOAT,
}
_ORDERS = {
    memory_order.relaxed: lib.CL_DEVICE_ATOMIC_ORDER_RELAXED,
    memory_order.acquire: lib.CL_DEVICE_ATOMIC_ORDER_ACQ_REL,
    memory_order.release: lib.CL_DEVICE_ATOMIC_ORDER_ACQ_REL,
    memory_order.acq_rel: lib.CL_DEVICE_ATOMIC_ORDER_ACQ_REL,
    memory_order.seq_cst: lib.CL_DEVICE_ATOMIC_ORDER_SEQ_CST,
}
_SCOPES = {
    memory_scope.work_item: lib.CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM,
    memory_scope.sub_group: lib.CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP,
    memory_scope.work_group: lib.CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP,
    memory_scope.device: lib.CL_DEVICE_ATOMIC_SCOPE_DEVICE,
    memory_scope.system: lib.CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES,
}
_CACHES = {
    lib.CL_READ_ONLY_CACHE: global_mem_cache_type.read_only,
    lib.CL_READ_WRITE_CACHE: global_mem_cache_type.read_write,
}
_LOCAL = {lib.CL_LOCAL: local_mem_type.local, lib.CL_GLOBAL: local_mem_type.global_}

Answer = Callable[[Device], object]
_Member = TypeVar("_Member")


def _config(name: int) -> Answer:
    return lambda device: tuple(config for config, flag in _FP.items() if device.number(name) & flag)


def _flags(table: dict[_Member, int], name: int, least: frozenset[_Member]) -> Answer:
    """Members whose flag is set; OpenCL before 3.0 has no query, and guarantees the least."""

    def answer(device: Device) -> tuple[_Member, ...]:
        flags = device.number(name) if device.version >= (3, 0) else 0
        return tuple(member for member, flag in table.items() if flags & flag or member in least)

    return answer


def _number(name: int) -> Answer:
    return lambda device: device.number(name)


def _flag(name: int) -> Answer:
    return lambda device: bool(device.number(name))


def _sub_group_sizes(device: Device) -> tuple[int, ...]:
    if "cl_intel_required_subgroup_size" in device.extensions:
        return device.numbers(lib.CL_DEVICE_SUB_GROUP_SIZES_INTEL) or (1,)
    return (1,)


def _sub_groups(device: Device) -> int:
    return device.number(lib.CL_DEVICE_MAX_WORK_GROUP_SIZE) // min(_sub_group_sizes(device))


def _pci_address(device: Device) -> str:
    if "cl_khr_pci_bus_info" not in device.extensions:
        return ""
    numbers = device.numbers(lib.CL_DEVICE_PCI_BUS_INFO_KHR, "cl_uint")
    return "{:04x}:{:02x}:{:02x}.{:x}".format(*numbers) if len(numbers) == 4 else ""


def _execution(device: Device) -> tuple[execution_capability, ...]:
    flags = device.number(lib.CL_DEVICE_EXECUTION_CAPABILITIES)
    listed = {
        execution_capability.exec_kernel: lib.CL_EXEC_KERNEL,
        execution_capability.exec_native_kernel: lib.CL_EXEC_NATIVE_KERNEL,
    }
    return tuple(member for member, flag in listed.items() if flags & flag)


_LEAST_ORDERS = frozenset((memory_order.relaxed,))
_LEAST_SCOPES = frozenset((memory_scope.work_item, memory_scope.sub_group, memory_scope.work_group))

_INFO: dict[str, Answer] = {
    "device_type": lambda device: device.type,
    "name": lambda device: device.name,
    "vendor": lambda device: device.vendor,
    "vendor_id": _number(lib.CL_DEVICE_VENDOR_ID),
    "driver_version": lambda device: device.driver_version,
    "version": lambda device: "{}.{}".format(*device.version),
    "backend_version": lambda device: "{}.{}".format(*device.platform.version),
    "is_available": _flag(lib.CL_DEVICE_AVAILABLE),
    "max_compute_units": _number(lib.CL_DEVICE_MAX_COMPUTE_UNITS),
    "max_work_item_dimensions": _number(lib.CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS),
    # In SYCL's order: the last dimension varies fastest and is the device's first.
    "max_work_item_sizes": lambda device: tuple(reversed(device.work_item_sizes[:3])),
    "max_work_group_size": _number(lib.CL_DEVICE_MAX_WORK_GROUP_SIZE),
    "max_num_sub_groups": _sub_groups,
    "sub_group_sizes": _sub_group_sizes,
    "sub_group_independent_forward_progress": _flag(lib.CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS),
    **{name: _number(getattr(lib, f"CL_DEVICE_{name.upper()}")) for name in VECTOR_WIDTHS},
    "half_fp_config": _config(lib.CL_DEVICE_HALF_FP_CONFIG),
    "single_fp_config": _config(lib.CL_DEVICE_SINGLE_FP_CONFIG),
    "double_fp_config": _config(lib.CL_DEVICE_DOUBLE_FP_CONFIG),
    "atomic_memory_order_capabilities": _flags(_ORDERS, lib.CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, _LEAST_ORDERS),
    "atomic_fence_order_capabilities": _flags(_ORDERS, lib.CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, _LEAST_ORDERS),
    "atomic_memory_scope_capabilities": _flags(_SCOPES, lib.CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, _LEAST_SCOPES),
    "atomic_fence_scope_capabilities": _flags(_SCOPES, lib.CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, _LEAST_SCOPES),
    "execution_capabilities": _execution,
    "max_clock_frequency": _number(lib.CL_DEVICE_MAX_CLOCK_FREQUENCY),
    "address_bits": _number(lib.CL_DEVICE_ADDRESS_BITS),
    "max_mem_alloc_size": _number(lib.CL_DEVICE_MAX_MEM_ALLOC_SIZE),
    "global_mem_size": _number(lib.CL_DEVICE_GLOBAL_MEM_SIZE),
    "global_mem_cache_size": _number(lib.CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
    "global_mem_cache_type": lambda device: _CACHES.get(
        device.number(lib.CL_DEVICE_GLOBAL_MEM_CACHE_TYPE), global_mem_cache_type.none
    ),
    "global_mem_cache_line_size": _number(lib.CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
    "error_correction_support": _flag(lib.CL_DEVICE_ERROR_CORRECTION_SUPPORT),
    "host_unified_memory": _flag(lib.CL_DEVICE_HOST_UNIFIED_MEMORY),
    "local_mem_type": lambda device: _LOCAL.get(device.number(lib.CL_DEVICE_LOCAL_MEM_TYPE), local_mem_type.none),
    "local_mem_size": _number(lib.CL_DEVICE_LOCAL_MEM_SIZE),
    "max_parameter_size": _number(lib.CL_DEVICE_MAX_PARAMETER_SIZE),
    "mem_base_addr_align": _number(lib.CL_DEVICE_MEM_BASE_ADDR_ALIGN),
    "profiling_timer_resolution": _number(lib.CL_DEVICE_PROFILING_TIMER_RESOLUTION),
    "max_samplers": _number(lib.CL_DEVICE_MAX_SAMPLERS),
    # OpenCL defines no limit for one dimension.
    "image1d_max_width": _number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH),
    "image2d_max_width": _number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH),
    "image2d_max_height": _number(lib.CL_DEVICE_IMAGE2D_MAX_HEIGHT),
    "image3d_max_width": _number(lib.CL_DEVICE_IMAGE3D_MAX_WIDTH),
    "image3d_max_height": _number(lib.CL_DEVICE_IMAGE3D_MAX_HEIGHT),
    "image3d_max_depth": _number(lib.CL_DEVICE_IMAGE3D_MAX_DEPTH),
    "image_max_array_size": _number(lib.CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
    "image_max_buffer_size": _number(lib.CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
    "uuid": lambda device: device.uuid,
    "pci_address": _pci_address,
    "image_row_pitch_align": pitch_align,
    "max_image_linear_width": _number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH),
    "max_image_linear_height": _number(lib.CL_DEVICE_IMAGE2D_MAX_HEIGHT),
    # OpenCL defines no limit; the limit follows from the widest pixels.
    "max_image_linear_row_pitch": lambda device: 16 * device.number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH),
    "mipmap_max_anisotropy": lambda device: 0.0,
    "partition_max_sub_devices": _number(lib.CL_DEVICE_PARTITION_MAX_SUB_DEVICES),
    "partition_properties": lambda device: _partitions(device),
    "partition_affinity_domains": lambda device: _domains(device),
}


def device_info(device: Device, name: str) -> object:
    """The value of a member of ``info.device``.

    Raises
    ------
    FeatureNotSupportedError
        OpenCL has no such property.
    """
    return handle_table.answer(_INFO, device, name, "OpenCL", "opencl")


# ---------------------------------------------------------------------- parts

_PARTITIONS = {
    partition_property.partition_equally: lib.CL_DEVICE_PARTITION_EQUALLY,
    partition_property.partition_by_counts: lib.CL_DEVICE_PARTITION_BY_COUNTS,
    partition_property.partition_by_affinity_domain: lib.CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
}
_DOMAINS = {
    partition_affinity_domain.numa: lib.CL_DEVICE_AFFINITY_DOMAIN_NUMA,
    partition_affinity_domain.L4_cache: lib.CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
    partition_affinity_domain.L3_cache: lib.CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
    partition_affinity_domain.L2_cache: lib.CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
    partition_affinity_domain.L1_cache: lib.CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
    partition_affinity_domain.next_partitionable: lib.CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
}


def _partitions(device: Device) -> tuple[partition_property, ...]:
    if device.number(lib.CL_DEVICE_PARTITION_MAX_SUB_DEVICES) < 2:
        return ()
    listed = device.numbers(lib.CL_DEVICE_PARTITION_PROPERTIES, "cl_device_partition_property")
    return tuple(member for member, number in _PARTITIONS.items() if number in listed)


def _domains(device: Device) -> tuple[partition_affinity_domain, ...]:
    flags = device.number(lib.CL_DEVICE_PARTITION_AFFINITY_DOMAIN)
    return tuple(member for member, flag in _DOMAINS.items() if flags & flag)


def partition(
    device: Device, how: partition_property, argument: int | tuple[int, ...] | partition_affinity_domain
) -> Sequence[DeviceRecord]:
    """The driver's sub-devices."""
    if isinstance(argument, tuple):
        listed: tuple[int, ...] = (*argument, lib.CL_DEVICE_PARTITION_BY_COUNTS_LIST_END)
    elif isinstance(argument, partition_affinity_domain):
        listed = (_DOMAINS[argument],)
    else:
        listed = (argument,)
    return tuple(part.record() for part in device.parts((_PARTITIONS[how], *listed)))
