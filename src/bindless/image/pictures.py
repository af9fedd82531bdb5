"""``resize`` and ``warp``: methods of ``Image`` that make whole pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..bindless_images.warp_call import sample_picture
from ..model.channels import Channel
from ..model.enums import AddressingMode, CoordinateNormalizationMode, FilteringMode, ImageType
from ..model.errors import InvalidError
from ..model.image_call import PictureMap
from .area_filter import to_storage
from .area_reduction import fill_means
from .arguments import sizes_of
from .array_library import AnyArray
from .builtin_kernels import makes_pictures
from .coordinates import projection_matrix, warp_coordinates
from .device_image import Reader
from .packing import After
from .results import Result
from .row_blocks import in_blocks, require_room

if TYPE_CHECKING:
    from .image import Image

__all__ = ["View", "clamped_reader", "draw", "resize", "warp"]

Array = npt.NDArray[Any]

_MOST_VIEWS = 16  # kept with an image


def resize(image: Image, size: int | Sequence[int], *, out: Any = None) -> Any:
    """The picture in another size.

    Where it shrinks, each pixel is the mean of the area that it covers, so that nothing aliases; where it
    grows, the device's linear filter interpolates between pixel centres, and the edges are clamped. An
    image with ``filtering="nearest"`` keeps its values: each pixel is the nearest one.

    Parameters
    ----------
    size : int | Sequence[int]
        (width, height); (width,) of a 1D image, (width, height, depth) of a 3D one.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library that the image was made from: the array's dtype (integers rounded) and
        axes, in the new size; every layer of an array.

    Raises
    ------
    InvalidError
        The size is not made of positive integers, or the image is a cubemap.

    Examples
    --------
    >>> with bindless.Image(np.arange(4.0), queue=bindless.Queue("reference")) as image:
    ...     image.resize(2)
    array([0.5, 2.5], dtype=float32)
    """
    image._refuse_cubemap("resize")
    sizes = sizes_of(size, len(image.size), "size", "(width, height, depth)")
    require_room(math.prod(sizes), "size", _bytes_of_pixel(image))
    result = Result(image._queue, out, _shape(image, sizes), image.dtype)
    reduced = tuple(min(new, old) for new, old in zip(sizes, image.size))
    if reduced != image.size and image._sampler.filtering is not FilteringMode.nearest:
        return (
            _means(image, sizes, result) if reduced == sizes else _given(image, result, _mixed(image, sizes, reduced))
        )
    if len(sizes) != 2 or not _follows(image, gradients=False):
        return _given(image, result, image._enlarge(sizes, image._described.channel, codes=False))
    steps = np.diag([*(old / new for new, old in zip(sizes, image.size)), 1.0])
    return _followed(image, clamped_reader(image), steps, (sizes[0], sizes[1]), result, gradients=False)


def clamped_reader(image: Image) -> Reader:
    """The image with the edges clamped, in pixels."""
    edges = (AddressingMode.clamp_to_edge,) * 3
    sampler = replace(image._sampler, addressing=edges, coordinate=CoordinateNormalizationMode.unnormalized)
    return image._store.reader(sampler)


def _means(image: Image, sizes: tuple[int, ...], result: Result) -> Any:
    """The image in a smaller size, as the result that the caller gets."""
    layers = (image.num_layers,) if image._described.is_layered else ()
    values = result.in_usm() if _goes_to_device(image, result) else result.on_host()
    pixels = values.reshape((*layers, *reversed(sizes), image.num_channels))
    after = fill_means(image._queue, image._store, image._described, sizes, pixels)
    return result.given(values, after, image._library)


def _mixed(image: Image, sizes: tuple[int, ...], reduced: tuple[int, ...]) -> Array:
    """The image in a size that is smaller along some axes, ``reduced`` along those alone, and larger along others."""
    layered = image._described.is_layered
    with type(image)(image._means(reduced), layers=layered, queue=image._queue, dimensions=len(sizes)) as smaller:
        return smaller._enlarge(sizes, image._described.channel, codes=True)


def _goes_to_device(image: Image, result: Result) -> bool:
    """Whether the caller gets a picture on the device."""
    return result.on_device or (result.array is None and image._leads_on_device)


def warp(image: Image, matrix: npt.ArrayLike, shape: Sequence[int], *, out: Any = None) -> Any:
    """The picture seen through an affine or projective map.

    The matrix maps from the output to the input: output pixel (i, j) reads the image at
    ``matrix @ (i + 0.5, j + 0.5, 1)``, the result of a projective matrix divided by its third component.
    (Invert a matrix that maps input pixels to output pixels.) The input coordinates are those of ``sample``:
    pixels, or 0..1 with normalized coordinates. With mipmaps, the level and the footprint of each pixel
    follow from the matrix, so that parts that shrink do not alias.

    Parameters
    ----------
    matrix : ArrayLike
        (2, 3), affine, or (3, 3), projective.
    shape : Sequence[int]
        (height, width) of the output.
    out : ArrayLike, optional
        Array of any library for the picture, of its shape and dtype, contiguous. Where it lies on the device nothing
        waits.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library that the image was made from, on the device if that array was there:
        shape (height, width[, channels]), with the layers first, in the array's dtype (integers rounded).

    Raises
    ------
    InvalidError
        The image has not two dimensions or is a cubemap, or the matrix or shape is none.

    Examples
    --------
    >>> with bindless.Image(np.eye(2, dtype=np.float32), queue=bindless.Queue("reference")) as image:
    ...     image.warp([[-1, 0, 2], [0, 1, 0]], (2, 2))
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    full = projection_matrix(matrix)
    view = image._views.get(shape) if type(shape) is tuple else None
    if view is None:
        view = _view_of(image, shape)
    width, height = view.sizes
    if image._store._memory is None:
        image._store.memory()  # raises
    reader = view.reader
    if view.follows and out is None and not image._leads_on_device:
        picture: AnyArray = empty_result(view.shape, image._described.dtype)
        _map(image, reader, full, view.sizes, picture, gradients=image._mipmaps)
        return picture if image._library is None else image._library(picture)
    result = Result(image._queue, out, view.shape, image.dtype, kept=image._store.pictures)
    if view.follows:
        return _followed(image, reader, full, view.sizes, result, gradients=image._mipmaps)

    def coordinates(start: int, stop: int) -> tuple[Array, tuple[Array, Array] | None]:
        points, dx, dy = warp_coordinates(full, width, start, stop, gradients=image._mipmaps)
        return points, None if dx is None or dy is None else (dx, dy)

    return _given(
        image, result, draw(image, reader, (width, height), coordinates, image._described.channel, codes=False)
    )


class View(NamedTuple):
    """A picture by ``warp``, as far as its shape decides it.

    Attributes
    ----------
    sizes : tuple[int, int]
        (width, height).
    shape : tuple[int, ...]
        Of the array.
    reader : Reader
        Of the image.
    follows : bool
        Whether the device follows the map itself.
    """

    sizes: tuple[int, int]
    shape: tuple[int, ...]
    reader: Reader
    follows: bool


def _view_of(image: Image, shape: Sequence[int]) -> View:
    """The view for a shape, kept with the image."""
    image._refuse_cubemap("warp")
    if len(image.size) != 2:
        raise InvalidError(f"warp needs a two-dimensional image; this one has {len(image.size)} dimensions")
    height, width = sizes_of(shape, 2, "shape", "(height, width)")
    require_room(height * width, "shape", _bytes_of_pixel(image))
    reader = image._store.reader(image._sampler)
    whole = _shape(image, (width, height))
    view = View((width, height), whole, reader, _follows(image, gradients=image._mipmaps))
    if len(image._views) >= _MOST_VIEWS:
        image._views.clear()
    image._views[height, width] = view
    return view


def _bytes_of_pixel(image: Image) -> int:
    """Of a result: in all its layers."""
    return max(image.num_layers, 1) * image.num_channels * image.dtype.itemsize


def _shape(image: Image, sizes: Sequence[int]) -> tuple[int, ...]:
    """Shape of a picture, with the axes of the array that the image was made from."""
    layers = (image.num_layers,) if image._described.is_layered else ()
    channels = (image.num_channels,) if image._has_channel_axis else ()
    return (*layers, *reversed(tuple(sizes)), *channels)


def _given(image: Image, result: Result, picture: Array) -> Any:
    """A picture that was made on the host, for the caller."""
    values: AnyArray = picture.reshape(result.shape)
    after: After = ()
    if result.array is None and image._leads_on_device:
        target = result.in_usm()
        after = (image._queue.memcpy(target, values),)
        values = target
    return result.given(values, after, image._library)


def _follows(image: Image, *, gradients: bool) -> bool:
    """Whether the device follows maps of the image itself, with the levels of a mipmap chosen by them or not."""
    desc = image._store.descriptor
    operation = "warp_grad" if gradients and desc.type is ImageType.mipmap else "warp"
    geometry = "2d_array" if desc.type is ImageType.array else "2d"
    return makes_pictures(image._queue, f"{operation}_{geometry}_{image._described.channel.kind}")


def _followed(
    image: Image,
    reader: Reader,
    matrix: npt.NDArray[np.float64],
    sizes: tuple[int, int],
    result: Result,
    *,
    gradients: bool,
) -> Any:
    """A map that the device follows, as the result that the caller gets; see ``_map``."""
    if not _goes_to_device(image, result):
        host = result.on_host()
        _map(image, reader, matrix, sizes, host, gradients=gradients)
        return result.given(host, library=image._library)
    with image._store._lock:  # another thread's picture would overwrite this one in the memory that is kept
        values = result.in_usm()
        after = _map(image, reader, matrix, sizes, values, gradients=gradients)
        return result.given(values, after, image._library)


def _map(
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
    store, described = image._store, image._described
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
            values = image._store.sample(reader, points, layer if layered else None, None, gradients)
            part = picture[start:stop]
            to_storage(values.reshape(part.shape), channel, codes=codes, out=part)

    in_blocks(fill, sizes[-1], int(np.prod(sizes[:-1])))
    return result
