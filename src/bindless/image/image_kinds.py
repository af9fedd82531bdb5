"""Choice of the class of a new ``Image``: a group where one native image does not do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..sycl.queue.queue import Queue
from .cubemap_levels import CubemapLevels
from .default_queue import queue_of_array
from .image import Image
from .layer_groups import ImageGroup, layers_of_part

__all__ = ["kind_of_image"]


def kind_of_image(array: Any, options: Mapping[str, Any]) -> type[Image]:
    """The class of an image with these options of ``Image``; what is wrong with them, its constructor finds."""
    layers, cubemap, mipmaps = (options.get(name) for name in ("layers", "cubemap", "mipmaps"))
    if layers and cubemap:
        return Image
    if mipmaps:
        return CubemapLevels if cubemap else ImageGroup if layers else Image
    if not layers or not hasattr(array, "__len__"):
        return Image
    queue = options.get("queue")
    if len(array) <= 1 or not (queue is None or isinstance(queue, Queue)):
        return Image
    most = layers_of_part(queue_of_array(array) if queue is None else queue, False)
    return Image if most is None or len(array) <= most else ImageGroup


Image._kind = staticmethod(kind_of_image)
