"""Exchange with other libraries without copies: arrays, streams, memory, semaphores, and a driver's own objects.

This package imports objects of other libraries. ``UsmArray`` and ``Queue`` export theirs by the protocols
``__dlpack__``, ``__cuda_array_interface__``, ``__sycl_usm_array_interface__`` and ``__cuda_stream__``.
"""

from ..model.native_handle import NativeHandle
from ..submission.foreign_stream import order_stream_after
from ..sycl.device.native_stream import order_after_stream
from ..sycl.queue.external_semaphore import ExternalSemaphore
from ..sycl.usm.array_import import as_usm_array, from_dlpack
from .external_memory import (
    ExternalMem,
    import_external_memory,
    map_external_image_memory,
    map_external_linear_memory,
    release_external_memory,
    supports_importing_handle_type,
    unmap_external_image_memory,
    unmap_external_linear_memory,
)
from .external_semaphore import import_external_semaphore, release_external_semaphore
from .native.get_native import get_native
from .native.make_images import make_sampled_image, make_unsampled_image
from .native.make_kernels import make_kernel, make_kernel_bundle
from .native.make_runtime import (
    make_buffer,
    make_context,
    make_device,
    make_event,
    make_platform,
    make_queue,
)

__all__ = [
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
]


def __dir__() -> list[str]:
    return sorted(__all__)
