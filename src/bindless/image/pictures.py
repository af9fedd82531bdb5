"""Whole pictures of an ``Image``: their shapes, the way to the caller, and the device's own maps of two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..bindless_images.warp_call import sample_picture
from ..kernels import choose
from ..model.aspects import Aspect
from ..model.channels import Channel
from ..model.enums import AddressingMode, CoordinateNormalizationMode, ImageType, Precision
from ..model.image_call import PictureMap
from .area_filter import to_storage
from .array_library import AnyArray, Library
from .device_image import Reader
from .packing import After
from .results import Result
from .row_blocks import in_blocks

if TYPE_CHECKING:
    from .image import Image

__all__ = [
    "bytes_of_pixel",
    "clamped_reader",
    "draw",
    "follow",
    "followed",
    "follows_maps",
    "given_picture",
    "goes_to_device",
    "picture_shape",
]

Array = npt.NDArray[Any]


def clamped_reader(image: Image) -> Reader:
    """The image with the edges clamped, in pixels."""
    edges = (AddressingMode.clamp_to_edge,) * 3
    sampler = replace(image._sampler, addressing=edges, coordinate=CoordinateNormalizationMode.unnormalized)
    return image._native.reader(sampler)


def goes_to_device(image: Image, result: Result) -> bool:
    """Whether the caller gets a picture on the device."""
    return result.on_device or (result.array is None and image._leads_on_device)


def bytes_of_pixel(image: Image) -> int:
    """Of a result: in all its layers."""
    return max(image.num_layers, 1) * image.num_channels * image.dtype.itemsize


def picture_shape(image: Image, sizes: Sequence[int]) -> tuple[int, ...]:
    """Shape of a picture, with the axes of the array that the image was made from."""
    layers = (image.num_layers,) if image._described.is_layered else ()
    channels = (image.num_channels,) if image._has_channel_axis else ()
    return (*layers, *reversed(tuple(sizes)), *channels)


def given_picture(image: Image, result: Result, picture: Array, library: Library | None, *, on_device: bool) -> Any:
    """A picture that was made on the host, for the caller: an array of a library, on the device or not."""
    values: AnyArray = picture.reshape(result.shape)
    after: After = ()
    if result.array is None and on_device:
        target = result.in_usm()
        after = (image._queue.memcpy(target, values),)
        values = target
    return result.given(values, after, library)


def follows_maps(image: Image, *, gradients: bool) -> bool:
    """Whether the device follows maps of the image itself, with the levels of a mipmap chosen by them or not."""
    if image._handle_precision is not Precision.hardware and not image._queue._backend.traits.computes_precisions:
        return False
    desc = image._native.descriptor
    language = image._queue._backend.traits.function_language
    if language is None:
        return True
    has_footprints = gradients and desc.type is ImageType.mipmap
    name = choose.warp(desc, image._described.channel.kind, gradients=has_footprints)
    return image._queue.device.has(Aspect.fp64) and choose.is_available(name, language)


def followed(
    image: Image,
    reader: Reader,
    matrix: npt.NDArray[np.float64],
    sizes: tuple[int, int],
    result: Result,
    *,
    gradients: bool,
) -> Any:
    """A map that the device follows, as the result that the caller gets; see ``_map``."""
    if not goes_to_device(image, result):
        host = result.on_host()
        follow(image, reader, matrix, sizes, host, gradients=gradients)
        return result.given(host, library=image._library)
    with image._native._lock:  # another thread's picture would overwrite this one in the memory that is kept
        values = result.in_usm()
        after = follow(image, reader, matrix, sizes, values, gradients=gradients)
        return result.given(values, after, image._library)


def follow(
    image: Image,
    reader: Reader,
    matrix: npt.NDArray[np.float64],
    sizes: tuple[int, int],
    values: AnyArray,
    *,
    gradients: bool,
) -> After:
    """Every layer through a map from output to input coordinates, made by the device.

    Parameters
    ----------
    reader : Reader
        Of the image; its scale and bias are applied to the coordinates.
    matrix : NDArray[np.float64]
        (3, 3).
    sizes : tuple[int, int]
        (width, height) of the picture.
    values : AnyArray
        Contiguous, with as many elements as the layers of the picture have; on the host this waits.
    gradients : bool
        Whether the level of a mipmap follows from the map.

    Returns
    -------
    After
        The events of values on the device.
    """
    store, described = image._native, image._described
    width, height = sizes
    scale, bias = (1.0, 1.0), (0.0, 0.0)
    if reader.scale is not None and reader.bias is not None:
        (scale_x, scale_y), (bias_x, bias_y) = reader.scale.tolist(), reader.bias.tolist()
        scale, bias = (scale_x, scale_y), (bias_x, bias_y)
    picture = PictureMap(tuple(matrix.ravel().tolist()), width, height, scale, bias)
    layers = values.reshape(described.array_size, height, width, described.num_channels)
    by_level = gradients and store.descriptor.type is ImageType.mipmap
    ready, events = store._uploads.ready, []
    for layer in range(described.array_size):
        out = layers[layer]
        event = sample_picture(
            image._queue, reader.handle, picture, out, layer=layer, gradients=by_level, depends_on=ready
        )
        if event is not None:
            events.append(event)
    return tuple(events)


def draw(
    image: Image,
    reader: Reader,
    sizes: Sequence[int],
    coordinates: Callable[[int, int], tuple[Array, tuple[Array, Array] | None]],
    channel: Channel,
    *,
    codes: bool,
) -> Array:
    """A picture of every layer, block by block, each made, sampled and stored before it leaves the cache.

    Parameters
    ----------
    sizes : Sequence[int]
        Of the picture, in (x, y, z) order.
    coordinates : Callable[[int, int], tuple[Array, tuple[Array, Array] | None]]
        Gives those of a range of rows (slices, pixels), (N, dims), and their gradients.
    channel : Channel
        How the picture is stored.
    codes : bool
        Whether samples are stored codes rather than 0..1 or -1..1.
    """
    layered = image._described.is_layered
    shape = (image.num_layers if layered else 1, *reversed(sizes), image.num_channels)
    result = empty_result(shape, channel.storage)

    def fill(start: int, stop: int) -> None:
        points, gradients = coordinates(start, stop)
        for layer, picture in enumerate(result):
            values = image._native.sample(reader, points, layer if layered else None, None, gradients)
            part = picture[start:stop]
            to_storage(values.reshape(part.shape), channel, codes=codes, out=part)

    # A call whose precision a kernel computes makes a copy of the image.
    copies = image._handle_precision is not Precision.hardware
    in_blocks(fill, sizes[-1], int(np.prod(sizes[:-1])), large=copies)
    return result
