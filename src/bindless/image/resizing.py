"""``resize``: a method of ``Image`` that makes the picture in another size, by the device or else by the processor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..model.channels import Channel
from ..model.enums import FilteringMode
from ..model.filter import Filter
from .area_filter import to_storage
from .area_reduction import fill_means
from .arguments import reason_of_dimensions, shape_order, sizes_of
from .coordinates import grid
from .mapped_pictures import mapped_picture
from .options import ImageOptions
from .pictures import (
    bytes_of_pixel,
    clamped_reader,
    draw,
    followed,
    follows_maps,
    given_picture,
    goes_to_device,
    picture_shape,
)
from .results import Result
from .row_blocks import require_room

if TYPE_CHECKING:
    from .image import Image

__all__ = ["resize", "resize_native"]

Array = npt.NDArray[Any]


def resize(image: Image, shape: int | Sequence[int], *, out: Any = None) -> Any:
    """The picture in another size.

    Where it shrinks, each pixel is the mean of the area that it covers, so that nothing aliases; where it
    grows, the image's filter interpolates between pixel centres, and the edges are clamped; those of
    ``filtering="cubic"`` follow the image's addressing. An image with ``filtering="nearest"`` keeps its values: each
    pixel is the nearest one.

    Parameters
    ----------
    shape : int | Sequence[int]
        (height, width) of the picture; (width,) of a 1D image, (depth, height, width) of a 3D one.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library that the image was made from: the array's dtype (integers rounded) and
        axes, in the new shape; every layer of an array.

    Raises
    ------
    InvalidError
        The shape is not made of positive integers, or the image is a cubemap.

    Examples
    --------
    >>> with bindless.Image(np.arange(4.0), queue=bindless.Queue("reference")) as image:
    ...     image.resize(2)
    array([0.5, 2.5], dtype=float32)
    """
    image._refuse_cubemap("resize")
    sizes = sizes_of(
        shape,
        len(image.size),
        "shape",
        shape_order(len(image.size)),
        reason_of_dimensions(image, len(shape) if isinstance(shape, (tuple, list)) else 0),
    )[::-1]
    require_room(math.prod(sizes), "shape", bytes_of_pixel(image))
    return image._store.resize(image, sizes, out)


def resize_native(image: Image, sizes: tuple[int, ...], out: Any) -> Any:
    """``resize`` of one native image."""
    result = Result(image._queue, out, picture_shape(image, sizes), image.dtype)
    reduced = tuple(min(new, old) for new, old in zip(sizes, image.size))
    from_host = partial(given_picture, image, result, library=image._library, on_device=image._leads_on_device)
    if reduced != image.size and image._sampler.filtering is not FilteringMode.nearest:
        return _means(image, sizes, result) if reduced == sizes else from_host(_mixed(image, sizes, reduced))
    if image._is_computed:
        steps = np.diag([*(old / new for new, old in zip(sizes, image.size)), 1.0])
        return mapped_picture(image, [steps], sizes, "shape", None, result, image._library, edges=True)
    if len(sizes) != 2 or not follows_maps(image, gradients=False):
        return from_host(_enlarged(image, sizes, image._described.channel, codes=False))
    steps = np.diag([*(old / new for new, old in zip(sizes, image.size)), 1.0])
    return followed(image, clamped_reader(image), steps, (sizes[0], sizes[1]), result, gradients=False)


def _means(image: Image, sizes: tuple[int, ...], result: Result) -> Any:
    """The image in a smaller size, as the result that the caller gets."""
    layers = (image.num_layers,) if image._described.is_layered else ()
    values = result.in_usm() if goes_to_device(image, result) else result.on_host()
    pixels = values.reshape((*layers, *reversed(sizes), image.num_channels))
    after = fill_means(image._queue, image._native, image._described, sizes, pixels)
    return result.given(values, after, image._library)


def _mixed(image: Image, sizes: tuple[int, ...], reduced: tuple[int, ...]) -> Array:
    """The image in a size that is smaller along some axes, ``reduced`` along those alone, and larger along others."""
    channel = image._described.channel
    filter_ = image._filter if image._is_computed else Filter()
    options = ImageOptions(filter_, layers=image._described.is_layered, dimensions=len(sizes))
    with type(image)._of(_unrounded_means(image, reduced), options, image._queue) as smaller:
        if image._is_computed:
            return to_storage(smaller.resize(sizes[::-1]), channel, codes=True)
        return _enlarged(smaller, sizes, channel, codes=True)


def _unrounded_means(image: Image, sizes: tuple[int, ...]) -> Array:
    """The image in a smaller size, each pixel the mean of its area, as float32 without rounding."""
    described = image._described
    layers = (image.num_layers,) if described.is_layered else ()
    result = empty_result((*layers, *reversed(sizes), image.num_channels), np.dtype(np.float32))
    fill_means(image._queue, image._native, described, sizes, result)
    return result


def _enlarged(image: Image, sizes: tuple[int, ...], channel: Channel, *, codes: bool) -> Array:
    """Samples at the centres of a grid of ``sizes`` pixels over the whole image, made on the host."""
    axes = [(np.arange(new) + 0.5) * (old / new) for new, old in zip(sizes, image.size)]

    def coordinates(start: int, stop: int) -> tuple[Array, None]:
        return grid([*axes[:-1], axes[-1][start:stop]]).reshape(-1, len(sizes)), None

    return draw(image, clamped_reader(image), sizes, coordinates, channel, codes=codes)
