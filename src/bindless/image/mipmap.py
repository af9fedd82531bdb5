"""The levels of a mipmap, each made from the one before: every pixel is the mean of the area that it covers.

An axis of even length has pairs; one of odd length 2 t + 1 has pixels that cover 2 + 1/t of the old ones. The means are
those of ``area_filter``. Pixels stay on the device: a back end that computes the means itself does so, on others a
built-in kernel makes two levels at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..backends.contract.area_means import AreaMeansProtocol
from ..bindless_images import ImageMem
from ..kernels import choose
from ..kernels.launch_range import GROUP
from ..kernels.words import image_word
from ..model.errors import FeatureNotSupportedError
from ..model.image_descriptor import ImageDescriptor
from ..model.ranges import NdRange
from ..sampling.packing import After
from ..submission.event import Event
from ..sycl.copy.prepared_copy import submit_levels
from ..sycl.device.handle_owner import HeldHandle
from ..sycl.kernel.builtin import builtin_kernel, launch_range
from ..sycl.queue.queue import Queue
from .array_library import AnyArray

__all__ = ["LevelLaunches", "fill_levels"]


def fill_levels(
    memory: ImageMem,
    means: AreaMeansProtocol,
    pixels: AnyArray,
    queue: Queue,
    after: Iterable[Event] = (),
    *,
    again: bool = False,
) -> Event:
    """Fills all levels of a mipmap from the pixels of level 0, by a back end that computes means.

    Parameters
    ----------
    memory : ImageMem
        Of the mipmap.
    means : AreaMeansProtocol
        Of the queue's back end.
    pixels : AnyArray
        C-contiguous, of the shape and dtype of the first level; on the host or the device.
    queue : Queue
        Does the work.
    after : Iterable[Event], default ()
        What it comes after.
    again : bool
        Whether C code repeats it.

    Returns
    -------
    Event
        Of the last level. Pixels on the host stay unchanged until then.
    """
    mipmap, _, _, _, keep = memory._image_memory()
    native = queue._native
    address = pixels.ctypes.data if isinstance(pixels, np.ndarray) else pixels.address
    if again and queue._stream.prepares:
        prepared = means.prepare_levels(native, mipmap, address)
        event = submit_levels(queue, pixels, memory, prepared, tuple(after))
        if event is not None:
            return event
    return queue._stream.submit(
        lambda waits: means.fill_levels(native, mipmap, address, waits), tuple(after), (keep, pixels)
    )


class LevelLaunches:
    """The launches that make the levels of a mipmap from its first one.

    Parameters
    ----------
    desc : ImageDescriptor
        Of the mipmap.
    queue : Queue
        Does the work.
    handle_of : Callable[[int], HeldHandle]
        Gives the handle of a level, which keeps the image.

    Raises
    ------
    FeatureNotSupportedError
        The device has no kernel for levels.
    """

    def __init__(self, desc: ImageDescriptor, queue: Queue, handle_of: Callable[[int], HeldHandle]) -> None:
        name = choose.mipmap_levels(desc.dimensions, queue.context._library.target)
        if name is None:
            raise FeatureNotSupportedError(f"{queue.device.name} has mipmaps, but no kernel that makes their levels")
        self._queue, self._kernel = queue, builtin_kernel(queue, name)
        self._launches = list(_launches(desc, handle_of))

    def run(self, ready: Event | None = None) -> Event:
        """Make the levels after ``ready``, which is not needed in a queue in order, and give the event of the last."""
        queue, kernel = self._queue, self._kernel
        after: After = () if ready is None or queue._stream.in_order else (ready,)
        for space, arguments in self._launches:
            ready = None  # drivers record the events of which a reference exists
            ready = queue.parallel_for(space, kernel, *arguments, depends_on=after)
            after = after and (ready,)
        assert ready is not None
        return ready


def _launches(
    desc: ImageDescriptor, handle_of: Callable[[int], HeldHandle]
) -> Iterator[tuple[NdRange, tuple[object, ...]]]:
    """Ranges and arguments: each launch makes two levels, the last one may make one."""
    form = np.uint32(image_word(desc.channel, desc.num_channels))
    for level in range(0, desc.num_levels - 1, 2):
        above = desc.get_mip_level_desc(level)
        sizes = (np.uint32(max(n, 1)) for n in (above.width, above.height, above.depth))
        last = min(level + 2, desc.num_levels - 1)
        second = handle_of(last) if last == level + 2 else np.uint64(0)
        x, y, z = desc.get_mip_level_desc(last).extent
        # C code knows prepared launches by kernel and range, and one level has other types of arguments than two.
        items = x * y * z + (0 if last == level + 2 else GROUP)
        yield launch_range(items), (handle_of(level), handle_of(level + 1), second, *sizes, form)
