"""Bindless images: memory, images, and the functions that read and write them (sycl_ext_oneapi_bindless_images).

Steps of a device function over an array of coordinates: ``device_functions`` and ``dispatch`` check the call,
``call_arguments`` makes a ``model.image_call.ImageCall``, and the back end runs it. If the device cannot reach host
memory, arrays go through ``scratch_memory``, or large ones piece by piece while the device works. Large results use
the memory of earlier results that were dropped (``result_arrays``).
"""

from .device_functions import (
    fetch_cubemap,
    fetch_image,
    fetch_image_array,
    sample_cubemap,
    sample_image,
    sample_image_array,
    sample_mipmap,
    write_cubemap,
    write_image,
    write_image_array,
)
from .gather import gather_image
from .handles import create_image, destroy_image_handle
from .image_mem import (
    ImageMem,
    alloc_image_mem,
    free_image_mem,
    get_image_channel_type,
    get_image_num_channels,
    get_image_range,
    get_mip_level_mem_handle,
)
from .pitched_memory import pitched_alloc_device
from .support_queries import get_image_memory_support, is_image_handle_supported

__all__ = [
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
]
