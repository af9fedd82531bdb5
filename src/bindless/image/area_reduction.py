"""Reduced images: the means of areas, computed by a plan, or by the processor after a copy; with the same pixels."""

from __future__ import annotations

import numpy as np

from ..model.image_descriptor import ImageDescriptor
from ..sampling.area import AreaPlan, AreaSource
from ..sampling.packing import After
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .area_filter import area_means
from .array_library import AnyArray
from .device_image import ImageStore

__all__ = ["fill_means"]


def fill_means(
    queue: Queue, store: ImageStore, described: ImageDescriptor, sizes: tuple[int, ...], values: AnyArray
) -> tuple[After, AreaPlan | None]:
    """Makes an image smaller: each pixel is the mean of the area that it covers.

    Parameters
    ----------
    store : ImageStore
        Of the image.
    described : ImageDescriptor
        The descriptor as the user gave it; it has the layers and channels of the result.
    sizes : tuple[int, ...]
        New, in (x, y, z) order, none larger than the image's.
    values : AnyArray
        Shape ([layers,] [depth,] [height,] width, channels), contiguous, of the image's dtype, or float32 for means of
        stored codes that are not rounded. On the host this waits.

    Returns
    -------
    tuple[After, AreaPlan | None]
        The events of values on the device; and the plan, None where the processor has computed the means.
    """
    width, height, depth = (*sizes, 1, 1)[:3]
    size = (width, height, described.array_size if described.is_layered else depth)
    if store.areas is None:
        store.areas = AreaSource(queue, store.memory(), described)
    plan = store.areas.plan(size, values.dtype)
    if plan is not None:
        done = plan.submit(values, store.ready)
        if isinstance(values, UsmArray):
            return (done,), plan
        done.wait()
        return (), plan
    result = values if isinstance(values, np.ndarray) else np.empty(values.shape, values.dtype)
    area_means(store.download(0), described.extent, size, described.channel, result)
    return () if result is values else (queue.memcpy(values, result),), None
