"""An image in another size, by the device or else by the processor: methods of ``Image``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..model.channels import Channel
from .area_reduction import fill_means
from .coordinates import grid
from .pictures import clamped_reader, draw

if TYPE_CHECKING:
    from .image import Image

__all__ = ["enlarge", "means"]

Array = npt.NDArray[Any]


def means(image: Image, sizes: tuple[int, ...]) -> Array:
    """The image in a smaller size, each pixel the mean of its area, as float32 without rounding."""
    described = image._described
    layers = (image.num_layers,) if described.is_layered else ()
    result = empty_result((*layers, *reversed(sizes), image.num_channels), np.dtype(np.float32))
    fill_means(image._queue, image._store, described, sizes, result)
    return result


def enlarge(image: Image, sizes: tuple[int, ...], channel: Channel, *, codes: bool) -> Array:
    """Samples at the centres of a grid of ``sizes`` pixels over the whole image, made on the host."""
    axes = [(np.arange(new) + 0.5) * (old / new) for new, old in zip(sizes, image.size)]

    def coordinates(start: int, stop: int) -> tuple[Array, None]:
        return grid([*axes[:-1], axes[-1][start:stop]]).reshape(-1, len(sizes)), None

    return draw(image, clamped_reader(image), sizes, coordinates, channel, codes=codes)
