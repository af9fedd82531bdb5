"""``means``: an image in a smaller size, by the device or else by the processor; a method of ``Image``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .area_filter import shrink, to_storage
from .device_resample import shrunk
from .row_blocks import in_blocks

if TYPE_CHECKING:
    from .image import Image

__all__ = ["means"]

Array = npt.NDArray[Any]


def means(image: Image, sizes: tuple[int, ...], *, rounded: bool) -> Array:
    """The image in a smaller size, each pixel the mean of its area, rounded to the array's dtype or not."""
    channel = image._described.channel
    stored = shrunk(image._queue, image._store, sizes, channel, rounded=rounded)
    if stored is not None:
        kept = stored[: image.num_layers] if image._described.is_layered else stored
        return np.ascontiguousarray(kept[..., : image.num_channels])
    axes = ((image.num_layers,) if image._described.is_layered else ()) + sizes[::-1]
    means = shrink(image._store.download(0)[..., : image.num_channels], axes)
    if not rounded:
        return means
    result = np.empty(means.shape, image.dtype)
    in_blocks(
        lambda start, stop: to_storage(means[start:stop], channel, codes=True, out=result[start:stop]),
        len(means),
        means[0].size,
    )
    return result
