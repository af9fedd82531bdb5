"""The levels of a mipmap, each made from the one before: every pixel is the mean of the area that it covers.

An axis of even length has pairs; one of odd length 2 t + 1 has pixels that cover 2 + 1/t of the old ones. The means are
those of ``area_filter``. Pixels stay on the device: a back end that computes the means itself does so, on others a
built-in kernel makes two levels at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..bindless_images import ImageMem
from ..kernels import choose
from ..kernels.words import image_word
from ..model.errors import FeatureNotSupportedError
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.device.handle_owner import HeldHandle
from ..sycl.kernel.builtin import builtin_kernel, launch
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from .array_library import AnyArray

__all__ = ["fill_levels"]


def fill_levels(
    memory: ImageMem,
    desc: ImageDescriptor,
    pixels: AnyArray,
    queue: Queue,
    handle_of: Callable[[int], HeldHandle],
    after: Iterable[Event] = (),
) -> Event:
    """Fills all levels of a mipmap from the pixels of level 0.

    Parameters
    ----------
    memory : ImageMem
        Of the mipmap.
    desc : ImageDescriptor
        Its descriptor.
    pixels : AnyArray
        C-contiguous, of the shape and dtype of the descriptor; on the host or the device.
    queue : Queue
        Does the work.
    handle_of : Callable[[int], HeldHandle]
        Gives the handle of a level, which keeps the image until the work is complete.
    after : Iterable[Event], default ()
        What it comes after.

    Returns
    -------
    Event
        Of the last level. Pixels on the host stay unchanged until then.
    """
    means = queue._backend.area_means
    if means is not None:
        mipmap, _, _, _, keep = memory._image_memory()
        native = queue._native
        address = pixels.ctypes.data if isinstance(pixels, np.ndarray) else pixels.address
        return queue._stream.submit(
            lambda waits: means.fill_levels(native, mipmap, address, waits), tuple(after), (keep, pixels)
        )
    first = desc.get_mip_level_desc(0)
    filled = queue.ext_oneapi_copy(pixels, memory.get_mip_level_mem_handle(0), dst_desc=first, depends_on=after)
    name = choose.mipmap_levels(desc.dimensions, queue.context._library.target)
    if name is None:
        raise FeatureNotSupportedError(f"{queue.device.name} has mipmaps, but no kernel that makes their levels")
    return _halve_on_device(desc, builtin_kernel(queue, name), queue, handle_of, filled)


def _halve_on_device(
    desc: ImageDescriptor,
    kernel: Kernel,
    queue: Queue,
    handle_of: Callable[[int], HeldHandle],
    ready: Event,
) -> Event:
    form = np.uint32(image_word(desc.channel, desc.num_channels))
    for level in range(0, desc.num_levels - 1, 2):
        above = desc.get_mip_level_desc(level)
        sizes = (np.uint32(max(n, 1)) for n in (above.width, above.height, above.depth))
        last = min(level + 2, desc.num_levels - 1)
        second = handle_of(last) if last == level + 2 else np.uint64(0)
        x, y, z = desc.get_mip_level_desc(last).extent
        arguments = (handle_of(level), handle_of(level + 1), second, *sizes, form)
        ready = launch(queue, kernel, x * y * z, *arguments, depends_on=ready)
    return ready
