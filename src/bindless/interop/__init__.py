"""Exchange with other libraries without copies: arrays, the streams that work on them, and a driver's own objects.

What ``UsmArray`` and ``Queue`` offer to others (``__dlpack__``, ``__cuda_array_interface__``,
``__sycl_usm_array_interface__``, ``__cuda_stream__``) they carry themselves; here is what takes from others.
"""

from ..model.native_handle import NativeHandle
from ..sycl._native_streams import order_after_stream, order_stream_after
from ..sycl._usm_import import as_usm_array, from_dlpack
from ._get_native import get_native
from ._make import (
    make_buffer,
    make_context,
    make_device,
    make_event,
    make_kernel,
    make_kernel_bundle,
    make_platform,
    make_queue,
)

__all__ = [
    "NativeHandle",
    "as_usm_array",
    "from_dlpack",
    "get_native",
    "make_buffer",
    "make_context",
    "make_device",
    "make_event",
    "make_kernel",
    "make_kernel_bundle",
    "make_platform",
    "make_queue",
    "order_after_stream",
    "order_stream_after",
]
