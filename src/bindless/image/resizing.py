"""An image in another size, by the device or else by the processor: methods of ``Image``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..model.channels import Channel
from ..model.enums import AddressingMode, CoordinateNormalizationMode
from .area_reduction import fill_means
from .coordinates import grid

if TYPE_CHECKING:
    from .image import Image

__all__ = ["enlarge", "means"]

Array = npt.NDArray[Any]


def means(image: Image, sizes: tuple[int, ...], *, rounded: bool) -> Array:
    """The image in a smaller size, each pixel the mean of its area, rounded to the array's dtype or not."""
    described = image._described
    layers = (image.num_layers,) if described.is_layered else ()
    dtype = described.dtype if rounded else np.dtype(np.float32)
    result = empty_result((*layers, *reversed(sizes), image.num_channels), dtype)
    fill_means(image._queue, image._store, described, sizes, result)
    return result


def enlarge(image: Image, sizes: tuple[int, ...], channel: Channel, *, codes: bool) -> Array:
    """Samples at the centres of a grid of ``sizes`` pixels over the whole image."""
    sampler = replace(
        image._sampler,
        addressing=(AddressingMode.clamp_to_edge,) * 3,
        coordinate=CoordinateNormalizationMode.unnormalized,
    )
    reader = image._store.reader(sampler)
    if len(sizes) == 2 and not codes:
        steps = np.diag([*(old / new for new, old in zip(sizes, image.size)), 1.0])
        picture = image._mapped(reader, steps, (sizes[0], sizes[1]), gradients=False)
        if picture is not None:
            return picture
    axes = [(np.arange(new) + 0.5) * (old / new) for new, old in zip(sizes, image.size)]

    def coordinates(start: int, stop: int) -> tuple[Array, None]:
        return grid([*axes[:-1], axes[-1][start:stop]]).reshape(-1, len(sizes)), None

    return image._draw(reader, sizes, coordinates, channel, codes=codes)
