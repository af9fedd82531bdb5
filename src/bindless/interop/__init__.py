"""Exchange with other libraries without copies: arrays, and the streams that work on them.

What ``UsmArray`` and ``Queue`` offer to others (``__dlpack__``, ``__cuda_array_interface__``,
``__sycl_usm_array_interface__``, ``__cuda_stream__``) they carry themselves; here is what takes from others.
"""

from ..sycl._native_streams import order_after_stream, order_stream_after
from ..sycl._usm_import import as_usm_array, from_dlpack

__all__ = ["as_usm_array", "from_dlpack", "order_after_stream", "order_stream_after"]
