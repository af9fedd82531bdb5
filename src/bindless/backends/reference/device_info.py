"""Properties of the reference device: aspects, and the values of ``info.device``."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...drivers.common.cffi_types import FFI, CData
from ...model.aspects import Aspect
from ...model.enums import DeviceType
from ...model.errors import FeatureNotSupportedError
from ...model.info import (
    execution_capability,
    fp_config,
    global_mem_cache_type,
    local_mem_type,
    memory_order,
    memory_scope,
)
from ..common.device_info import VECTOR_WIDTHS
from .external_memory import ASPECTS as EXTERNAL

__all__ = ["ASPECTS", "device_info", "text"]

# Every aspect of BI that the system supports, and the aspects of a processor that runs native code.
ASPECTS: frozenset[Aspect] = frozenset(
    {
        Aspect.cpu,
        Aspect.host_debuggable,
        Aspect.online_compiler,
        Aspect.online_linker,
        Aspect.ext_oneapi_bindless_images_gather,
        Aspect.fp16,
        Aspect.fp64,
        Aspect.atomic64,
        Aspect.image,
        Aspect.queue_profiling,
        Aspect.usm_device_allocations,
        Aspect.usm_host_allocations,
        Aspect.usm_atomic_host_allocations,
        Aspect.usm_shared_allocations,
        Aspect.usm_atomic_shared_allocations,
        Aspect.usm_system_allocations,
    }
    | {
        aspect
        for aspect in Aspect
        if aspect.name.startswith("ext_oneapi_") and not aspect.name.startswith("ext_oneapi_external_")
    }
    | EXTERNAL
)

_ADDRESS_BITS = 64

# Work-items that the kernel executor steps together.
_SUB_GROUPS = (8, 16, 32, 64)

# Not a PCI vendor: the letters "bl".
_VENDOR_ID = 0x626C


def text(characters: CData, ffi: FFI) -> str:
    """The string in a fixed-size field."""
    return str(ffi.string(characters).decode("utf-8", "replace"))


def _cache_size() -> int:
    try:
        size = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0
    return max(size, 0)


def _cache_line_size() -> int:
    try:
        size = os.sysconf("SC_LEVEL1_DCACHE_LINESIZE")
    except (AttributeError, OSError, ValueError):
        return 0
    return max(size, 0)


# Properties of the host's IEEE arithmetic; its rounding mode is not changed.
_FP_CONFIG = (
    fp_config.denorm,
    fp_config.inf_nan,
    fp_config.round_to_nearest,
    fp_config.fma,
    fp_config.correctly_rounded_divide_sqrt,
)

# Functions for the values by name; each takes the driver's properties and its ffi.
_ANSWERS: dict[str, Callable[[CData, FFI], object]] = {
    "device_type": lambda p, ffi: DeviceType.cpu,
    "name": lambda p, ffi: text(p.name, ffi),
    "vendor": lambda p, ffi: text(p.vendor, ffi),
    "vendor_id": lambda p, ffi: _VENDOR_ID,
    "driver_version": lambda p, ffi: text(p.driver_version, ffi),
    "version": lambda p, ffi: text(p.driver_version, ffi),
    "backend_version": lambda p, ffi: text(p.driver_version, ffi),
    "is_available": lambda p, ffi: True,
    "max_compute_units": lambda p, ffi: int(p.compute_units),
    "max_work_item_dimensions": lambda p, ffi: 3,
    "max_work_item_sizes": lambda p, ffi: (int(p.max_work_group_size),) * 3,
    "max_work_group_size": lambda p, ffi: int(p.max_work_group_size),
    "max_num_sub_groups": lambda p, ffi: int(p.max_work_group_size) // min(_SUB_GROUPS),
    "sub_group_sizes": lambda p, ffi: _SUB_GROUPS,
    "sub_group_independent_forward_progress": lambda p, ffi: False,
    **dict.fromkeys(VECTOR_WIDTHS, lambda p, ffi: 1),
    "half_fp_config": lambda p, ffi: _FP_CONFIG,
    "single_fp_config": lambda p, ffi: _FP_CONFIG,
    "double_fp_config": lambda p, ffi: _FP_CONFIG,
    "atomic_memory_order_capabilities": lambda p, ffi: tuple(memory_order),
    "atomic_fence_order_capabilities": lambda p, ffi: tuple(memory_order),
    "atomic_memory_scope_capabilities": lambda p, ffi: tuple(memory_scope),
    "atomic_fence_scope_capabilities": lambda p, ffi: tuple(memory_scope),
    "execution_capabilities": lambda p, ffi: (execution_capability.exec_kernel,),
    "max_clock_frequency": lambda p, ffi: 0,
    "address_bits": lambda p, ffi: _ADDRESS_BITS,
    "max_mem_alloc_size": lambda p, ffi: int(p.max_allocation_size),
    "global_mem_size": lambda p, ffi: int(p.global_memory_size),
    "global_mem_cache_size": lambda p, ffi: _cache_size(),
    "global_mem_cache_type": lambda p, ffi: global_mem_cache_type.read_write,
    "global_mem_cache_line_size": lambda p, ffi: _cache_line_size(),
    "error_correction_support": lambda p, ffi: False,
    "host_unified_memory": lambda p, ffi: True,
    "local_mem_type": lambda p, ffi: local_mem_type.global_,
    "local_mem_size": lambda p, ffi: 64 * 1024,
    "max_parameter_size": lambda p, ffi: 4096,
    "mem_base_addr_align": lambda p, ffi: int(p.image_base_align) * 8,
    "profiling_timer_resolution": lambda p, ffi: int(p.timer_resolution),
    "max_samplers": lambda p, ffi: 2**31 - 1,
    "image1d_max_width": lambda p, ffi: int(p.max_image_1d_width),
    "image2d_max_width": lambda p, ffi: int(p.max_image_2d_width),
    "image2d_max_height": lambda p, ffi: int(p.max_image_2d_height),
    "image3d_max_width": lambda p, ffi: int(p.max_image_3d_width),
    "image3d_max_height": lambda p, ffi: int(p.max_image_3d_height),
    "image3d_max_depth": lambda p, ffi: int(p.max_image_3d_depth),
    "image_max_array_size": lambda p, ffi: int(p.max_image_layers),
    "image_max_buffer_size": lambda p, ffi: int(p.max_image_linear_1d_width),
    "uuid": lambda p, ffi: bytes(ffi.buffer(p.uuid)),
    "pci_address": lambda p, ffi: "",
    "image_row_pitch_align": lambda p, ffi: int(p.image_row_pitch_align),
    "max_image_linear_width": lambda p, ffi: int(p.max_image_linear_width),
    "max_image_linear_height": lambda p, ffi: int(p.max_image_linear_height),
    "max_image_linear_row_pitch": lambda p, ffi: int(p.max_image_linear_row_pitch),
    "mipmap_max_anisotropy": lambda p, ffi: float(p.max_anisotropy),
}


def device_info(properties: CData, ffi: FFI, name: str) -> object:
    """The value of one member of ``model.info.device``."""
    try:
        answer = _ANSWERS[str(name)]
    except KeyError:
        raise FeatureNotSupportedError(
            f"info.device.{name} is not available on the reference device; available: {', '.join(_ANSWERS)}",
            backend="reference",
        ) from None
    return answer(properties, ffi)
