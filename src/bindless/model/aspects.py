"""``Aspect``: boolean properties of devices (SYCL 2020 section 4.6.4.5 and BI's support queries)."""

from __future__ import annotations

from .enums import StringEnum

__all__ = ["Aspect"]


class Aspect(StringEnum):
    """Boolean property of a device, for ``device.has(aspect)``."""

    cpu = "cpu"
    gpu = "gpu"
    accelerator = "accelerator"
    custom = "custom"
    emulated = "emulated"
    host_debuggable = "host_debuggable"
    fp16 = "fp16"
    fp64 = "fp64"
    atomic64 = "atomic64"
    image = "image"
    online_compiler = "online_compiler"
    online_linker = "online_linker"
    queue_profiling = "queue_profiling"
    usm_device_allocations = "usm_device_allocations"
    usm_host_allocations = "usm_host_allocations"
    usm_atomic_host_allocations = "usm_atomic_host_allocations"
    usm_shared_allocations = "usm_shared_allocations"
    usm_atomic_shared_allocations = "usm_atomic_shared_allocations"
    usm_system_allocations = "usm_system_allocations"
    ext_oneapi_bindless_images = "ext_oneapi_bindless_images"
    ext_oneapi_bindless_images_shared_usm = "ext_oneapi_bindless_images_shared_usm"
    ext_oneapi_bindless_images_1d_usm = "ext_oneapi_bindless_images_1d_usm"
    ext_oneapi_bindless_images_2d_usm = "ext_oneapi_bindless_images_2d_usm"
    ext_oneapi_bindless_sampled_image_fetch_1d_usm = "ext_oneapi_bindless_sampled_image_fetch_1d_usm"
    ext_oneapi_bindless_sampled_image_fetch_1d = "ext_oneapi_bindless_sampled_image_fetch_1d"
    ext_oneapi_bindless_sampled_image_fetch_2d_usm = "ext_oneapi_bindless_sampled_image_fetch_2d_usm"
    ext_oneapi_bindless_sampled_image_fetch_2d = "ext_oneapi_bindless_sampled_image_fetch_2d"
    ext_oneapi_bindless_sampled_image_fetch_3d = "ext_oneapi_bindless_sampled_image_fetch_3d"
    ext_oneapi_bindless_images_sample_1d_usm = "ext_oneapi_bindless_images_sample_1d_usm"
    ext_oneapi_bindless_images_sample_2d_usm = "ext_oneapi_bindless_images_sample_2d_usm"
    ext_oneapi_unique_addressing_per_dim = "ext_oneapi_unique_addressing_per_dim"
    ext_oneapi_mipmap = "ext_oneapi_mipmap"
    ext_oneapi_mipmap_anisotropy = "ext_oneapi_mipmap_anisotropy"
    ext_oneapi_mipmap_level_reference = "ext_oneapi_mipmap_level_reference"
    ext_oneapi_image_array = "ext_oneapi_image_array"
    ext_oneapi_cubemap = "ext_oneapi_cubemap"
    ext_oneapi_cubemap_seamless_filtering = "ext_oneapi_cubemap_seamless_filtering"
    ext_oneapi_bindless_images_gather = "ext_oneapi_bindless_images_gather"
    ext_oneapi_external_memory_import = "ext_oneapi_external_memory_import"
    ext_oneapi_external_semaphore_import = "ext_oneapi_external_semaphore_import"
