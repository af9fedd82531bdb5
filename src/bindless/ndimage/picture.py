"""``draw``: an array becomes an image of the device, and the device computes values of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..image.array_library import AnyArray
from ..image.device_image import ImageStore
from ..image.options import image_options
from ..image.plan import planned
from ..model.enums import AddressingMode, FilteringMode, Interpolation, Precision
from ..model.filter import CoordinateMap, Filter
from ..model.image_descriptor import ImageDescriptor
from ..model.resampling import Resampling, Window
from ..sampling.prepare import resample
from ..sycl.queue.queue import Queue
from .places import Places

__all__ = ["Images", "draw"]


class Images(Protocol):
    """Image memory that outlives a call, for calls that follow each other in an in-order queue."""

    def filled(
        self, pixels: AnyArray, described: ImageDescriptor, stored: ImageDescriptor, window: Window | None
    ) -> ImageStore:
        """An image with the pixels of an array, which its owner closes.

        Parameters
        ----------
        pixels : AnyArray
            Shape of ``described``; read by commands of the queue after the call, too.
        described, stored : ImageDescriptor
            As of ``Plan``.
        window : Window | None
            The image as a part of a larger one.
        """


def _unit(stored: np.dtype[Any]) -> float:
    """The value of the largest code of a normalized image of these elements, as which it is filtered."""
    return 1.0 if stored.kind == "f" else float(np.iinfo(stored).max)


def draw(
    queue: Queue,
    pixels: AnyArray,
    stored: np.dtype[Any],
    values: AnyArray,
    places: Places,
    filter_: Filter,
    images: Images | None = None,
) -> None:
    """Computes the values of layers, with up to four channels.

    Parameters
    ----------
    queue : Queue
        Does the work.
    pixels : AnyArray
        Shape (layers, ..., channels).
    stored : np.dtype[Any]
        Elements of the image that is made of them.
    values : AnyArray
        Shape (layers, *places.shape, channels), contiguous; filled when the call returns, or on a device by commands
        of the queue.
    places, filter_ : Any
        Where and how.
    images : Images, optional
        Gives the memory of the image; default new memory.
    """
    dims, layered = pixels.ndim - 2, len(pixels) > 1
    if not layered:
        pixels = pixels[0]
    exact = filter_.precision is Precision.exact
    filters = not exact and filter_.interpolation is not Interpolation.nearest
    channel_type = None
    if stored.kind in "iu" and not filters:
        channel_type = f"{'un' if stored.kind == 'u' else ''}signed_int{8 * stored.itemsize}"
    filtering = FilteringMode.linear if filters else FilteringMode.nearest
    addressing = filter_.addressing if places.window is None else AddressingMode.clamp_to_edge
    options = image_options(addressing, filtering, channel_type=channel_type, layers=layered, dimensions=dims)
    plan = planned(queue.device, tuple(pixels.shape), stored, options)
    if images is None:
        store = ImageStore.filled(pixels, plan.described, plan.stored, queue)
    else:
        store = images.filled(pixels, plan.described, plan.stored, places.window)
    try:
        reader = store.reader(plan.sampler)
        scale_x, scale_y, scale_z = (*reader.units[0], 1.0, 1.0)[:3]
        bias_x, bias_y, bias_z = (*reader.units[1], 0.0, 0.0)[:3]
        width, height, depth = (*reversed(places.shape), 1, 1)[:3]
        picture = Resampling(
            handle=0,
            descriptor=store.descriptor,
            shape=(width, height, depth),
            values=0,
            value_dtype=values.dtype,
            value_channels=values.shape[-1],
            filter=replace(
                filter_, fill=filter_.fill / _unit(stored) if filters and places.window is not None else filter_.fill
            ),
            map=CoordinateMap.pictures(tuple(places.matrix.ravel().tolist()), places.centre),
            scale=(scale_x, scale_y, scale_z),
            bias=(bias_x, bias_y, bias_z),
            rounding="away",
            first=places.first,
            window=places.window,
        )
        coords: AnyArray | None = None
        if places.coords is not None:
            count = places.coords.shape[1]
            picture = replace(picture, coords_dtype=places.coords.dtype, coords_strides=(1, -count))
            coords = places.coords[::-1]
        for layer in range(len(values)):
            one = replace(picture, layer=layer)
            resample(queue, reader.handle, one, values[layer], coords=coords, depends_on=store.ready)
    finally:
        if images is None:
            store.close()
