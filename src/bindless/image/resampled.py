"""Resampling of an ``Image``: its source, its map as a matrix and an array of vectors, and one picture for each layer.

Positions are those of ``Resampling``. The device computes them; arrays of vectors are read where they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bindless_images.resample import PreparedPicture
from ..model.enums import Boundary, CoordinateNormalizationMode, Interpolation, Precision
from ..model.errors import InvalidError
from ..model.filter import CoordinateMap, Filter
from ..model.resampling import Resampling
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .array_library import AnyArray
from .packing import After, pack, packs

if TYPE_CHECKING:
    from .device_image import ImageStore, Reader
    from .image import Image

__all__ = ["NO_VECTORS", "Source", "Vectors", "draw_resampled", "homogeneous", "rescale", "source_of", "vectors_of"]

Array = npt.NDArray[Any]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_FLOAT32 = np.dtype(np.float32)
_MOST_PREPARED = 64  # kept with a source


class Source(NamedTuple):
    """Source of an image's pictures: its pixels, and the filter that reads them.

    Attributes
    ----------
    store : ImageStore
        The pixels, or the coefficients of B-splines.
    reader : Reader
        Sampled handle of the store.
    filter : Filter
        Filter, as ``Resampling`` takes it.
    margin : tuple[int, ...]
        Texels of the store before the image's first one, for (x, y, z).
    unit : tuple[float, ...] | None
        Texels for each unit of the user's coordinates, for (x, y, z), where that is not 1.
    largest : float | None
        Largest code of a normalized image whose texels are codes here.
    prepared : dict[tuple[Any, ...], PreparedPicture]
        Pictures that were drawn before.
    """

    store: ImageStore
    reader: Reader
    filter: Filter
    margin: tuple[int, ...]
    unit: tuple[float, ...] | None
    largest: float | None
    prepared: dict[tuple[Any, ...], PreparedPicture]


class Vectors(NamedTuple):
    """Vectors that are added to positions.

    Attributes
    ----------
    array : AnyArray | None
        Contiguous float32 or float64, or None.
    strides : tuple[int, int]
        Elements between two picture elements, and between two components.
    """

    array: AnyArray | None
    strides: tuple[int, int] = (0, 0)


NO_VECTORS = Vectors(None)


def source_of(image: Image, *, edges: bool = False) -> Source:
    """The source of an image with its own filter, or with ``edges``, except of B-splines, with clamped edges."""
    kept: Source | None = image._sources.get(edges)
    if kept is not None and (image._coefficients is None or image._coefficients.ready_store(image)[0] is kept.store):
        return kept
    source = image._sources[edges] = _new_source(image, edges)
    return source


def _new_source(image: Image, edges: bool) -> Source:
    wanted, channel = image._filter, image._described.channel
    largest = float(np.iinfo(channel.storage.name).max) if channel.normalized else None
    cubic, precision = wanted.interpolation is Interpolation.cubic, wanted.arithmetic
    sampler, unit = image._sampler, None
    if edges:
        wanted = wanted if cubic else wanted.with_boundary(Boundary.edge)
        coordinate = CoordinateNormalizationMode.unnormalized
        sampler = replace(sampler, addressing=wanted.addressing, coordinate=coordinate)
    if sampler.is_normalized and (cubic or precision is Precision.exact):  # texels have other sizes than the sampler
        sampler = replace(sampler, coordinate=CoordinateNormalizationMode.unnormalized)
        unit = tuple(float(size) for size in image.size)
    store, fill = image._native, wanted.fill
    margin: tuple[int, ...] = (0, 0, 0)
    if image._coefficients is not None:
        store, margin = image._coefficients.ready_store(image)
    elif largest is not None:
        fill, largest = fill / largest, None
    filter_ = replace(wanted, precision=precision, fill=fill)
    return Source(store, store.reader(sampler), filter_, margin, unit, largest if cubic else None, {})


def homogeneous(matrix: Any, dims: int, name: str = "matrix") -> npt.NDArray[np.float64]:
    """A matrix (dims + 1, dims + 1) of one of that shape, projective, or (dims, dims + 1), affine.

    Raises
    ------
    InvalidError
        Another shape, or entries that are not finite numbers.
    """
    try:
        values = np.asarray(matrix, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name} is not made of numbers") from None
    if values.shape not in ((dims, dims + 1), (dims + 1, dims + 1)):
        raise InvalidError(
            f"{name} has shape {values.shape}; it is {(dims, dims + 1)}, affine, or {(dims + 1, dims + 1)}, projective"
        )
    if not np.isfinite(values).all():
        raise InvalidError(f"{name}={values.tolist()} has entries that are not finite")
    if len(values) == dims + 1:
        return values
    return np.vstack([values, [0.0] * dims + [1.0]])


def _texel_matrix(source: Source, matrix: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Sixteen numbers, to texels of the source, of a matrix (dims + 1, dims + 1) to the user's coordinates."""
    dims = len(matrix) - 1
    if dims == 3 and source.unit is None and source.margin == (0, 0, 0):
        return tuple(matrix.ravel().tolist())
    full = np.eye(4)
    full[:dims, :dims], full[:dims, 3] = matrix[:dims, :dims], matrix[:dims, dims]
    full[3, :dims], full[3, 3] = matrix[dims, :dims], matrix[dims, dims]
    for axis in range(dims):
        if source.unit is not None:
            full[axis] *= source.unit[axis]
        if source.margin[axis]:
            full[axis] += source.margin[axis] * full[3]
    return tuple(full.ravel().tolist())


def vectors_of(
    queue: Queue, source: Source, name: str, array: AnyArray, shape: tuple[int, ...], *, on_device: bool, after: After
) -> tuple[Vectors, After]:
    """An argument of vectors as the device reads them, in place where it can be.

    Parameters
    ----------
    shape : tuple[int, ...]
        (..., dims), of the argument.
    on_device : bool
        Whether they go to the device.
    after : After
        What work on the device comes after, in a queue out of order.

    Raises
    ------
    InvalidError
        Elements of the device that are not numbers that become float32.
    """
    if not isinstance(array, UsmArray):
        if array.dtype.kind not in "iuf":
            raise InvalidError(f"{name} has dtype {array.dtype}; it is made of numbers")
        values = array.astype(array.dtype if array.dtype in _FLOATS else _FLOAT32, copy=False).reshape(shape)
        if source.unit is not None:
            values = values * np.asarray(source.unit, values.dtype)
        components = np.moveaxis(values, -1, 0)
        if not (values.flags.c_contiguous or components.flags.c_contiguous):
            values = np.ascontiguousarray(values)
        strides = _strides(shape, by_component=not values.flags.c_contiguous)
        if not on_device or not values.size:
            return Vectors(values, strides), after
        packed = np.array(values if values.flags.c_contiguous else components, order="C")  # the caller's may change
        target = usm_empty(packed.shape, packed.dtype, queue)
        return Vectors(target, strides), (queue.memcpy(target, packed, depends_on=after),)
    given = array.reshape(shape) if array.is_contiguous and tuple(array.shape) != shape else array
    if source.unit is None and array.dtype in _FLOATS:
        if given.is_contiguous:
            return Vectors(given, _strides(shape)), after
        planes = given.transpose(given.ndim - 1, *range(given.ndim - 1))
        if planes.is_contiguous:
            return Vectors(planes, _strides(shape, by_component=True)), after
    if not packs(array.dtype, _FLOAT32):
        raise InvalidError(f"{name} is {array.dtype} on a device, where it does not become float32: convert it first")
    target = usm_empty(shape, _FLOAT32, queue)
    units = (1.0,) if source.unit is None else tuple(1 / size for size in source.unit)
    return Vectors(target, _strides(shape)), pack(queue, given, target, after, (units, (0.0,)))


def _strides(shape: tuple[int, ...], *, by_component: bool = False) -> tuple[int, int]:
    return (1, math.prod(shape[:-1])) if by_component else (shape[-1], 1)


def draw_resampled(
    queue: Queue,
    source: Source,
    matrices: Sequence[npt.NDArray[np.float64]],
    sizes: Sequence[int],
    vectors: Vectors,
    layers: Iterable[int],
    pictures: Sequence[AnyArray],
    after: After,
) -> After:
    """Computes pictures; those on the host are there when this returns.

    Parameters
    ----------
    matrices : Sequence[NDArray[np.float64]]
        (dims + 1, dims + 1), from picture elements to the user's coordinates: one for all layers, or one for each.
    sizes : Sequence[int]
        Of a picture, in (x, y, z) order.
    vectors : Vectors
        Added to the positions.
    layers : Iterable[int]
        Layer of each picture; 0 of an image without layers.
    pictures : Sequence[AnyArray]
        Each contiguous, with channels as its last axis.
    after : After
        What they come after, in a queue out of order.

    Returns
    -------
    After
        The events of pictures on the device.
    """
    maps = [CoordinateMap.pictures(_texel_matrix(source, matrix)) for matrix in matrices]
    array = vectors.array
    events: After = ()
    for number, (layer, values) in enumerate(zip(layers, pictures)):
        prepared = _prepared(queue, source, sizes, vectors, layer, values)
        map_ = maps[number if len(maps) > 1 else 0]
        event = prepared.draw(map_, values, array, (*source.store.ready, *after))
        if event is not None:
            events += (event,)
    return events


def _prepared(
    queue: Queue, source: Source, sizes: Sequence[int], vectors: Vectors, layer: int, values: AnyArray
) -> PreparedPicture:
    """The picture of a layer, kept with the source."""
    dtype = None if vectors.array is None else vectors.array.dtype
    key = (tuple(sizes), layer, values.dtype, values.shape[-1], dtype, vectors.strides)
    kept = source.prepared
    if (found := kept.get(key)) is not None:
        return found
    handle = source.reader.handle
    assert handle.descriptor is not None
    width, height, depth = (*sizes, 1, 1)[:3]
    scale, bias = (_three(number, rest) for number, rest in zip(source.reader.units, (1.0, 0.0)))
    picture = Resampling(
        handle=0,
        descriptor=handle.descriptor,
        shape=(width, height, depth),
        values=0,
        value_dtype=values.dtype,
        value_channels=values.shape[-1],
        layer=layer,
        coords_strides=vectors.strides,
        scale=scale,
        bias=bias,
        filter=source.filter,
        map=CoordinateMap.pictures(),
    )
    made = PreparedPicture(queue, handle, picture, values.dtype, values.shape[-1], dtype)
    if len(kept) >= _MOST_PREPARED:
        kept.clear()
    kept[key] = made
    return made


def _three(numbers: Sequence[float], rest: float) -> tuple[float, float, float]:
    x, y, z = (*numbers, rest, rest, rest)[:3]
    return x, y, z


def rescale(queue: Queue, source: Source, values: AnyArray, after: After) -> After:
    """Divides values by the largest code where they are in codes; those on the host are ready at once."""
    if source.largest is None or not values.size:
        return after
    if not isinstance(values, UsmArray):
        values /= values.dtype.type(source.largest)
        return after
    flat = values.reshape(-1, 1)
    return pack(queue, flat, flat, after, ((source.largest,), (0.0,)))
