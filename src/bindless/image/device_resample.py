"""Resampling on the device: maps of an image and means of areas. Only the result is copied to the host.

The arithmetic is that of the processor's functions (``coordinates``, ``area_filter``), operation by operation: both
give the same pictures. Every function answers None where the device has no kernel for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..bindless_images.warp_call import sample_picture
from ..model.channels import ELEMENTS, Channel
from ..model.enums import ImageType
from ..model.image_call import PictureMap
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .area_filter import precision, sums_need_double
from .builtin_kernels import builtin_kernel, launch, makes_pictures
from .device_image import ImageStore, Reader

__all__ = ["mapped", "shrunk"]

Array = npt.NDArray[Any]

_DOUBLE = 8  # the number of float64, in addition to those of ELEMENTS


def mapped(
    queue: Queue,
    store: ImageStore,
    reader: Reader,
    matrix: npt.NDArray[np.float64],
    sizes: tuple[int, int],
    described: ImageDescriptor,
    *,
    gradients: bool,
) -> Array | None:
    """An image of two dimensions seen through a map from output to input coordinates.

    Parameters
    ----------
    store : ImageStore
        Of the image.
    reader : Reader
        Of the store; its scale and bias are applied to the coordinates.
    matrix : NDArray[np.float64]
        (3, 3).
    sizes : tuple[int, int]
        (width, height) of the picture.
    described : ImageDescriptor
        The descriptor as the user gave it; it has the layers and channels of the result.
    gradients : bool
        Whether the level of a mipmap follows from the map.

    Returns
    -------
    Array | None
        (layers, height, width, channels) of the channel's storage dtype.
    """
    desc, channel, layers = store.descriptor, described.channel, described.array_size
    layered = desc.type is ImageType.array
    gradients = gradients and desc.type is ImageType.mipmap
    operation = "warp_grad" if gradients else "warp"
    if not makes_pictures(queue, f"{operation}_{'2d_array' if layered else '2d'}_{channel.kind}"):
        return None
    width, height = sizes
    shape = (layers, height, width, described.num_channels)
    picture = PictureMap(tuple(matrix.ravel().tolist()), width, height)
    if reader.scale is not None and reader.bias is not None:
        (scale_x, scale_y), (bias_x, bias_y) = reader.scale.tolist(), reader.bias.tolist()
        picture = replace(picture, scale=(scale_x, scale_y), bias=(bias_x, bias_y))
    result = empty_result(shape, channel.storage)
    for layer in range(layers):
        sample_picture(queue, reader.handle, picture, result[layer], layer=layer, gradients=gradients)
    return result


def shrunk(queue: Queue, store: ImageStore, sizes: Sequence[int], channel: Channel, *, rounded: bool) -> Array | None:
    """The means of the areas that the pixels of a smaller image cover.

    Parameters
    ----------
    store : ImageStore
        Of the image.
    sizes : Sequence[int]
        New, in (x, y, z) order, none larger than the image's.
    channel : Channel
        How the image is stored.
    rounded : bool
        Whether means are rounded to the channel's storage dtype; else they come as ``shrink`` gives them.

    Returns
    -------
    Array | None
        ([layers,] [depth,] [height,] width, channels), channels and layers as they are stored.
    """
    mean = precision(channel.storage)
    kind = "f64" if mean == np.float64 else "f32"
    if builtin_kernel(queue, f"area_{kind}") is None:
        return None
    source: UsmArray = store.copy_to_device()
    shape = list(source.shape)
    spatial = len(shape) - 1 - len(sizes)  # axes of layers
    element = ELEMENTS[channel.storage]
    limits = (0.0, 0.0)
    if channel.storage.kind != "f":
        whole = np.iinfo(channel.storage.name)
        limits = (float(-whole.max if channel.normalized and whole.min < 0 else whole.min), float(whole.max))
    done: tuple[Event, ...] = ()
    for axis, size in zip(range(spatial, len(shape) - 1), reversed(sizes)):
        length, last = shape[axis], axis == len(shape) - 2
        if size == length and not last:
            continue
        shape[axis] = size
        dtype = channel.storage if last and rounded else mean
        target = usm_empty(shape, dtype, queue)
        long = "_long" if kind == "f32" and sums_need_double(length, size) else ""
        kernel = builtin_kernel(queue, f"area_{kind}{long}")
        assert kernel is not None
        to = _DOUBLE if dtype == np.float64 else ELEMENTS[dtype]
        outer, inner = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
        numbers = map(np.uint32, (length, size, inner))
        arguments = (source, np.uint32(element), target, np.uint32(to), np.uint64(outer), *numbers, *limits)
        done = (launch(queue, kernel, target.size, *arguments, depends_on=done),)
        source, element = target, to
    result = empty_result(source.shape, source.dtype)
    queue.memcpy(result, source, depends_on=done).wait()
    return result
