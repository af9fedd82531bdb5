"""``resize``: a method of ``Image`` that makes the picture in another size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..model.arrays import Array
from ..model.filter import Filter
from ..sampling.area import AreaPlan
from ..sampling.codes import to_storage
from ..sycl.usm import UsmArray
from .area_reduction import fill_means
from .drawing import Frame, draw, frame_of
from .options import ImageOptions
from .repetition import RESIZE, remember, remember_means
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["resize", "resize_native"]


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
    picture = image._pictures.repeat(RESIZE, None, shape, None, out)
    if picture is not None:
        return picture
    frame = frame_of(image, shape, "resize")
    return image._store.resize(image, frame, shape, out)


def resize_native(image: Image, frame: Frame, shape: object, out: Any) -> Any:
    """``resize`` of one native image; ``shape`` as the caller gave it."""
    if frame.keeps_values:
        picture = draw(
            image, frame.steps, frame.sizes, frame.shape, out, image._library, on_device=image._leads_on_device,
            edges=True,
        )  # fmt: skip
        remember(
            image, RESIZE, frame.sizes, frame.shape, out, picture, frame=shape, fixed=frame.steps,
            library=image._library, edges=True,
        )  # fmt: skip
        return picture
    if image._described.channel.is_sampled_only:
        with _floats(image) as plain:
            return plain.resize(frame.sizes[::-1], out=out)
    result = Result(image._queue, out, frame.shape, image.dtype)
    if frame.reduced != frame.sizes:
        return _mixed(image, frame, result)
    picture, plan = _means(image, frame, result)
    if plan is not None:
        remember_means(image, plan, frame, shape, out, picture)
    return picture


def _floats(image: Image) -> Image:
    """The values of an image that samplers alone read as an image of floats, whose memory has means."""
    places = np.stack(np.meshgrid(*map(np.arange, image.size[::-1]), indexing="ij")[::-1], -1)
    values = np.asarray(image.fetch(places), np.float32)
    options = replace(image._options, channel_type=None, mipmaps=False, max_anisotropy=0.0)
    return type(image)._of(values, options, image._queue)


def _means(image: Image, frame: Frame, result: Result) -> tuple[Any, AreaPlan | None]:
    """The image in a smaller size, as the result that the caller gets, and its plan."""
    on_device = result.on_device or (result.array is None and image._leads_on_device)
    values = result.in_usm() if on_device else result.on_host()
    pixels = values.reshape((*image._layer_axis, *frame.sizes[::-1], image.num_channels))
    after, plan = fill_means(image._queue, image._native, image._described, frame.sizes, pixels)
    return result.deliver(values, after, image._library), plan


def _mixed(image: Image, frame: Frame, result: Result) -> Any:
    """The image in a size that is smaller along some axes, reduced along those alone first, and larger along others."""
    described, queue = image._described, image._queue
    filter_ = image._filter if image._filter.is_computed else Filter()
    options = ImageOptions(filter_, layers=described.is_layered, dimensions=len(frame.sizes))
    with type(image)._of(_unrounded_means(image, frame.reduced), options, queue) as smaller:
        picture = to_storage(smaller.resize(frame.sizes[::-1]), described.channel, codes=True).reshape(frame.shape)
    if result.array is not None or not image._leads_on_device:
        return result.deliver(picture, (), image._library)
    target: UsmArray = result.in_usm()
    return result.deliver(target, (queue.memcpy(target, picture),), image._library)


def _unrounded_means(image: Image, sizes: tuple[int, ...]) -> Array:
    """The image in a smaller size, each pixel the mean of its area, as float32 without rounding."""
    result = empty_result((*image._layer_axis, *reversed(sizes), image.num_channels), np.dtype(np.float32))
    fill_means(image._queue, image._native, image._described, sizes, result)
    return result
