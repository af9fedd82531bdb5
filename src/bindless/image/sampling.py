"""``sample`` and ``fetch``: methods of ``Image``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..model.host_array import as_array
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, gradient_of, per_item, points_of
from .array_library import AnyArray, ArrayLike, hand_over, leads_on_device, library_of, view
from .computed_sampling import matrix_of_coordinates, sample_computed
from .device_sampling import fetch_on_device, sample_on_device, sample_tensor
from .repetition import SAMPLE, remember, remember_sample
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["fetch", "fetch_native", "sample", "sample_native"]


def sample(
    image: Image,
    coords: ArrayLike,
    *,
    level: ArrayLike | None = None,
    dx: ArrayLike | None = None,
    dy: ArrayLike | None = None,
    layers: ArrayLike | None = None,
    out: Any = None,
) -> Any:
    """The filtered values at any coordinates.

    The arrays may be of any library. With coordinates on the image's device the values stay there: their library's
    current stream comes after the work, and nothing waits.

    The image's ``precision`` decides the accuracy between pixels. ``hardware``: positions are rounded to 1/256 of a
    pixel, so that a linear value is wrong by up to 1/512 of the difference between neighbours along each axis (5 HU in
    a computed tomography). ``exact``: that of float64 to 1e-6 of the range of the pixels. ``reproducible``: as
    ``hardware``, the same bits on every device.

    Parameters
    ----------
    coords : ArrayLike
        Shape (..., dims) in (x, y, z) order; the centre of pixel (i, j) is (i + 0.5, j + 0.5), or that divided by
        the size with normalized coordinates. A cubemap takes directions (..., 3) of any length. A 1D image takes
        (N,) too. NaN reads at 0, with exact precision and cubic filters the image's ``fill``.
    level : ArrayLike, optional
        Level of a mipmap, a number or an array that broadcasts to (...): 1 is half the size.
    dx, dy : ArrayLike, optional
        Instead of a level, the change of ``coords`` from one output pixel to the next in two directions, shape
        (..., dims) or one that broadcasts to it; the level, and with ``max_anisotropy`` the shape of the
        footprint, follow from it.
    layers : ArrayLike, optional
        Layer of each sample, a number or an array that broadcasts to (...). Without it every layer is sampled. On a
        device they are not checked.
    out : ArrayLike, optional
        Array of any library for the values, of their shape and dtype, contiguous.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library of ``coords``, of shape (..., channels), or (layers, ..., channels) where
        all layers are sampled, without the axis of channels where the image's array has none: float32 (float16 of a
        float16 image, integers of an integer image).

    Raises
    ------
    InvalidError
        A shape or an option does not fit the image.

    Examples
    --------
    >>> with bindless.Image(np.eye(3, dtype=np.float32), queue=bindless.Queue("reference")) as image:
    ...     image.sample([[1.0, 0.5], [1.5, 1.5]])
    array([0.5, 1. ], dtype=float32)
    """
    if level is None and dx is None and dy is None and layers is None:
        values = image._pictures.repeat(SAMPLE, None, None, coords, out)
        if values is not None:
            return values
    if (dx is None) != (dy is None):
        raise InvalidError("dx and dy are given together or not at all")
    if level is not None and dx is not None:
        raise InvalidError("level and dx, dy exclude each other: gradients choose the level")
    if (level is not None or dx is not None) and not image._mipmaps:
        raise InvalidError("level, dx and dy need an image made with mipmaps=True")
    return image._store.sample(image, coords, level, dx, dy, layers, out)


def sample_native(
    image: Image,
    coords: ArrayLike,
    level: ArrayLike | None,
    dx: ArrayLike | None,
    dy: ArrayLike | None,
    layers: ArrayLike | None,
    out: Any,
) -> Any:
    """``sample`` of one native image."""
    values = _sample(image, coords, level, dx, dy, layers, out)
    if level is None and dx is None and layers is None and not image._is_computed:
        remember_sample(image, coords, out, values, library_of(coords))
    return values


def _sample(
    image: Image,
    coords: ArrayLike,
    level: ArrayLike | None,
    dx: ArrayLike | None,
    dy: ArrayLike | None,
    layers: ArrayLike | None,
    out: Any,
) -> Any:
    computed = image._is_computed
    if level is None and dx is None and layers is None and type(coords) is not np.ndarray and not computed:
        values = sample_tensor(image, coords, out)
        if values is not NotImplemented:
            return values
    arguments = {"coords": coords, "level": level, "dx": dx, "dy": dy, "layers": layers}
    arrays = {name: view(name, value, image._queue) for name, value in arguments.items() if value is not None}
    leading = coordinate_axes(image, arrays["coords"]).shape[:-1]
    every = _reads_every_layer(image, arrays, layered=image._described.type is ImageType.array)
    result = _result(image, out, every, leading, arrays)
    if computed:
        image._native.memory()  # raises
        values, events = sample_computed(image, arrays, leading, result, every)
        _hand_over_others(arguments, arrays, out)
        library, dtype = library_of(coords), arrays["coords"].dtype
        picture = result.deliver(values, events, library)
        if layers is None:
            matrix, count = matrix_of_coordinates(len(image.size)), math.prod(leading)
            remember(
                image, SAMPLE, (count,), result.shape, out, picture, fixed=matrix, vectors=coords, vectors_dtype=dtype,
                library=library, dtype=image._native.descriptor.value_dtype,
            )  # fmt: skip
        return picture
    reader = image._native.reader(image._sampler)
    if result.on_device or any(isinstance(array, UsmArray) for array in arrays.values()):
        there, after = sample_on_device(image, reader, arrays, leading, result, every)
        _hand_over_others(arguments, arrays, out)
        return result.deliver(there, after, library_of(coords))
    points = points_of(image, as_array("coords", arrays["coords"]), np.float64)
    gradients = None
    if dx is not None:
        gradients = (gradient_of(image, "dx", arrays["dx"], leading), gradient_of(image, "dy", arrays["dy"], leading))
    levels = None if level is None else per_item("level", arrays["level"], leading, np.float32)
    chosen = None if layers is None else per_item("layers", arrays["layers"], leading, np.uint32)

    def read(layer: Any, part: Array | None) -> Array:
        return image._native.sample(reader, points, layer, levels, gradients, part)

    values = _each_layer(image, result, every, chosen, len(points), read)
    return result.deliver(values, library=library_of(coords))


def fetch(image: Image, coords: ArrayLike, *, level: int = 0, layers: ArrayLike | None = None, out: Any = None) -> Any:
    """The values of single pixels, without a sampler.

    The arrays may be of any library, as those of ``sample``.

    Parameters
    ----------
    coords : ArrayLike
        Integers of shape (..., dims) in (x, y, z) order, from 0: (i, j) is ``array[j, i]``. A 1D image takes (N,)
        too; a cubemap takes (x, y) of a face. On a device they are not checked.
    level : int, default 0
        Level of a mipmap.
    layers : ArrayLike, optional
        Layer or face of each pixel, a number or an array that broadcasts to (...). Without it every layer is
        fetched. On a device they are not checked.
    out : ArrayLike, optional
        Array of any library for the values, of their shape and dtype, contiguous.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the library of ``coords``, of shape (..., channels), or (layers, ..., channels),
        without the axis of channels where the image's array has none: float32 of normalized images, else the dtype.

    Raises
    ------
    InvalidError
        Coordinates or layers outside of the image, or no integers.

    Examples
    --------
    >>> with bindless.Image(np.eye(3, dtype=np.float32), queue=bindless.Queue("reference")) as image:
    ...     image.fetch([[1, 1], [2, 1]])
    array([1., 0.], dtype=float32)
    """
    return image._store.fetch(image, coords, level, layers, out)


def fetch_native(image: Image, coords: ArrayLike, level: int, layers: ArrayLike | None, out: Any) -> Any:
    """``fetch`` of one native image."""
    arguments = {"coords": coords, "layers": layers}
    arrays = {name: view(name, value, image._queue) for name, value in arguments.items() if value is not None}
    values = arrays["coords"]
    if values.dtype.kind not in "iu":
        raise InvalidError(f"coords are {values.dtype}; pixels are fetched by integers, sample() takes floats")
    leading = coordinate_axes(image, values, fetch=True).shape[:-1]
    described = image._level(level)
    every = _reads_every_layer(image, arrays, layered=image._described.is_layered)
    result = _result(image, out, every, leading, arrays)
    if result.on_device or any(isinstance(array, UsmArray) for array in arrays.values()):
        fetched, after = fetch_on_device(image, level, arrays, leading, result, every)
        _hand_over_others(arguments, arrays, out)
        return result.deliver(fetched, after, library_of(coords))
    points = points_of(image, as_array("coords", values), values.dtype, fetch=True)
    _require_inside(points, leading, described)
    places = np.ascontiguousarray(points, np.int32)
    chosen = None if layers is None else per_item("layers", arrays["layers"], leading, np.uint32)

    def read(layer: Any, part: Array | None) -> Array:
        pixels: Array = image._native.fetch(places, layer, level, part, image._native.ready)
        return pixels

    return result.deliver(_each_layer(image, result, every, chosen, len(places), read), library=library_of(coords))


def _hand_over_others(arguments: Mapping[str, Any], arrays: Mapping[str, AnyArray], out: Any) -> None:
    """``hand_over`` for the arguments whose library does not get the result: that one comes after the call anyhow."""
    served = library_of(arguments["coords"] if out is None else out)
    for name, array in arrays.items():
        if library_of(arguments[name]) is not served or not leads_on_device(arguments[name], array):
            hand_over(arguments[name], array)


def _result(image: Image, out: Any, every: bool, leading: tuple[int, ...], arrays: Mapping[str, AnyArray]) -> Result:
    """The result: the axes of the layers, of the coordinates, and of the channels where the image's array has one."""
    layers = (image.num_layers,) if every else ()
    channels = (image.num_channels,) if image._has_channel_axis else ()
    dtype = image._native.descriptor.value_dtype
    return Result(image._queue, out, (*layers, *leading, *channels), dtype, arrays.values())


def _reads_every_layer(image: Image, arrays: Mapping[str, AnyArray], *, layered: bool) -> bool:
    """Whether each layer is read at all coordinates; layers that are given are checked where the host sees them."""
    layers = arrays.get("layers")
    if layers is None:
        return layered
    if not layered:
        raise InvalidError(f"layers={shown(layers)}: there are none to choose; layers=True makes them")
    if layers.dtype.kind not in "iu":
        raise InvalidError(f"layers have dtype {layers.dtype}; they are integers")
    if isinstance(layers, np.ndarray) and layers.size:
        first, last, count = layers.min(), layers.max(), image.num_layers
        if not (first >= 0 and last < count):
            raise InvalidError(f"layers run from {first} to {last}; this image has 0 to {count - 1}")
    return False


def _require_inside(points: Array, leading: tuple[int, ...], described: ImageDescriptor) -> None:
    for axis, extent in enumerate((described.width, described.height, described.depth)[: points.shape[1]]):
        along = points[:, axis]
        if along.size and not (along.min() >= 0 and along.max() < extent):
            first = int(np.flatnonzero((along < 0) | (along >= extent))[0])
            place = ", ".join(map(str, np.unravel_index(first, leading)))
            raise InvalidError(
                f"coords[{place or '()'}] is {tuple(map(int, points[first]))}; {'xyz'[axis]} is 0 to {extent - 1}"
            )


def _each_layer(
    image: Image, result: Result, every: bool, layer: Any, count: int, read: Callable[[Any, Array | None], Array]
) -> Array:
    """Calls ``read`` for the chosen layers, or once for each layer of the image.

    Parameters
    ----------
    layer : Any
        None, a layer or (N,) layers, where not every one is read.
    count : int
        N, how many coordinates there are.
    read : Callable[[Any, Array | None], Array]
        Gives (N, channels), in the array given.
    """
    if not every and result.array is None:
        return read(layer, None).reshape(result.shape)
    values = result.on_host()
    for number, part in enumerate(values.reshape(image.num_layers if every else 1, count, image.num_channels)):
        read(number if every else layer, part)
    return values
