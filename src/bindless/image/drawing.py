"""Pictures of an ``Image``: their frames, their sources, and the one way of ``warp``, ``remap`` and ``resize``."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..bindless_images.scratch_memory import leave_array
from ..model.arrays import DType
from ..model.aspects import Aspect
from ..model.enums import Boundary, CoordinateNormalizationMode, FilteringMode, ImageType, Interpolation, Precision
from ..model.resampling import FieldKind
from ..sampling.fields import Field, kind_of_fields, numbers_of_fields, pack_fields
from ..sampling.packing import After
from ..sampling.row_blocks import require_room
from ..sampling.source import Source
from ..sampling.vectors import vectors_of
from ..sycl.usm import UsmArray
from .arguments import reason_of_dimensions, shape_order, sizes_of
from .array_library import AnyArray, Library
from .repetition import forget_uploads
from .results import Result

if TYPE_CHECKING:
    from .device_image import ImageStore
    from .image import Image

__all__ = ["Frame", "Moves", "draw", "frame_of", "source_of"]

Moves = Union[AnyArray, tuple[Field, ...]]

_INTEGERS = {int}
_MAX_FRAMES = 32
_UNLOCKED = contextlib.nullcontext()


class Frame(NamedTuple):
    """The shape of a picture, read once.

    Attributes
    ----------
    sizes : tuple[int, ...]
        Sizes in (x, y, z) order.
    shape : tuple[int, ...]
        Shape of the array, with the axes of the array that the image was made from.
    vectors : tuple[int, ...]
        Shape of a displacement.
    steps : NDArray[np.float64]
        Matrix from pixels of the picture, as the whole image in another size, to the image's.
    reduced : tuple[int, ...]
        Sizes no larger than those of the image.
    keeps_values : bool
        Whether a picture of the whole image has values of pixels, or is enlarged alone: nothing is averaged.
    """

    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    vectors: tuple[int, ...]
    steps: npt.NDArray[np.float64]
    reduced: tuple[int, ...]
    keeps_values: bool


def frame_of(image: Image, shape: int | Sequence[int], method: str) -> Frame:
    """The frame of a picture of a shape.

    Raises
    ------
    InvalidError
        The image is a cubemap, or the shape is not made of positive integers.
    MemoryAllocationError
        There is not so much memory.
    """
    keeps = type(shape) is tuple and {*map(type, shape)} == _INTEGERS
    frame: Frame | None = image._frames.get(shape) if keeps else None  # type: ignore[call-overload]
    if frame is not None:
        return frame
    image._refuse_cubemap(method)
    size = image._size
    dims = len(size)
    count = len(shape) if isinstance(shape, (tuple, list)) else 0
    sizes = sizes_of(shape, dims, "shape", shape_order(dims), reason_of_dimensions(image, count))[::-1]
    require_room(math.prod(sizes), "shape", image._pixel_bytes)
    reduced = tuple(min(new, old) for new, old in zip(sizes, size))
    frame = Frame(
        sizes,
        (*image._layer_axis, *sizes[::-1], *image._channel_axis),
        (*sizes[::-1], dims),
        np.diag([*(old / new for new, old in zip(sizes, size)), 1.0]),
        reduced,
        reduced == size or image._sampler.filtering is FilteringMode.nearest,
    )
    if keeps:
        if len(image._frames) >= _MAX_FRAMES:
            image._frames.clear()
        image._frames[shape] = frame  # type: ignore[index]
    return frame


def source_of(image: Image, *, edges: bool = False, footprints: bool = False) -> tuple[ImageStore, Source]:
    """What pictures of an image are computed from: the store with its pixels or coefficients, and its source.

    Parameters
    ----------
    edges : bool
        Whether pixels outside are the outermost ones, except of B-splines.
    footprints : bool
        Whether the levels of a mipmap of two dimensions follow from the map.
    """
    cached = image._sources.get((edges, footprints))
    if cached is not None and (image._coefficients is None or image._coefficients.ready_store(image)[0] is cached[0]):
        return cached
    image._sources[edges, footprints] = pair = _new_source(image, edges, footprints)
    return pair


def _new_source(image: Image, edges: bool, footprints: bool) -> tuple[ImageStore, Source]:
    if image._planes is not None:
        return image._planes.source(image, edges)
    filter_, channel = image._filter, image._described.channel
    largest = float(np.iinfo(channel.storage.name).max) if channel.normalized else None
    cubic, precision = filter_.interpolation is Interpolation.cubic, filter_.arithmetic
    sampler, unit, store = image._sampler, None, image._native
    store.memory()  # raises
    levels = footprints and store.descriptor.type is ImageType.mipmap and len(image.size) == 2
    if edges:
        filter_ = filter_ if cubic else filter_.with_boundary(Boundary.edge)
        coordinate = CoordinateNormalizationMode.unnormalized
        sampler = replace(sampler, addressing=filter_.addressing, coordinate=coordinate)
    # Texels have other sizes than the sampler; levels are samples of the handle in every precision.
    if sampler.is_normalized and (cubic or (precision is Precision.exact and not levels)):
        sampler = replace(sampler, coordinate=CoordinateNormalizationMode.unnormalized)
        unit = tuple(float(size) for size in image.size)
    margin: tuple[int, ...] = (0, 0, 0)
    fill = filter_.fill
    if image._coefficients is not None:
        store, margin = image._coefficients.ready_store(image)
    elif largest is not None:
        fill, largest = fill / largest, None
    reader = store.reader(sampler)
    (scale_x, scale_y, scale_z), (bias_x, bias_y, bias_z) = (
        (*numbers, rest, rest, rest)[:3] for numbers, rest in zip(reader.units, (1.0, 0.0))
    )
    return store, Source(
        image._queue,
        reader.handle,
        replace(filter_, precision=precision, fill=fill),
        len(image.size),
        (scale_x, scale_y, scale_z),
        (bias_x, bias_y, bias_z),
        margin,
        unit,
        largest if cubic else None,
        levels,
        image._queue.device.has(Aspect.usm_system_allocations),
    )


def draw(
    image: Image,
    matrix: Any,
    sizes: tuple[int, ...],
    shape: tuple[int, ...],
    out: Any,
    library: Library | None,
    *,
    moves: Moves | None = None,
    name: str = "",
    on_device: bool = False,
    edges: bool = False,
    dtype: DType | None = None,
) -> Any:
    """A picture of every layer, as the result that the caller gets.

    Parameters
    ----------
    matrix : ArrayLike
        (d, d + 1) or (d + 1, d + 1), to the image's coordinates; of a layered image also one for each layer.
    sizes : tuple[int, ...]
        Sizes of the picture, in (x, y, z) order; (N,) for N elements in any arrangement.
    shape : tuple[int, ...]
        Shape of the result.
    out : array
        Array for the picture, as the caller gave it, or None.
    library : Library | None
        Library whose array the result becomes.
    moves : Moves | None
        Vectors (..., d), added to the positions; or fields, to the first of which the matrix leads, and the last of
        which to the image's coordinates.
    name : str
        Name of the argument that has the vectors, for errors.
    on_device : bool
        Whether a new result lies on the device.
    edges : bool
        Whether pixels outside are the outermost ones, except of B-splines.
    dtype : np.dtype | None
        Of the result; default the image's.

    Raises
    ------
    InvalidError
        The image was closed, or an argument does not fit it.
    """
    native, described, queue = image._native, image._described, image._queue
    if native._memory is None:
        native.memory()  # raises
    dtype = image._dtype if dtype is None else dtype
    if image._planes is not None:
        picture = image._planes.draw_apart(
            image, matrix, sizes, shape, out, library, moves, name, on_device, edges, dtype
        )  # fmt: skip
        if picture is not None:
            return picture
    footprints = not edges and (moves is None or (isinstance(moves, tuple) and moves[0].has_footprints))
    pair = image._sources.get((edges, footprints)) if image._coefficients is None else None
    store, source = pair or source_of(image, edges=edges, footprints=footprints)
    forget_uploads(store, store._uploads)  # C code repeats no launch that waits for one
    layers, channels = described.array_size, described.num_channels
    several = described.is_layered and np.ndim(matrix) == 3
    fields, vectors = (moves, None) if isinstance(moves, tuple) else (None, moves)
    maps = source.maps_of(matrix, layers) if several else (source.map_of(matrix, has_fields=fields is not None),)
    inputs = [vectors] if fields is None else []  # fields are packed before the result is written
    in_usm = isinstance(vectors, UsmArray) if fields is None else any(field.on_device for field in fields)
    in_order = queue._stream.in_order
    result = None if out is None else Result(queue, out, shape, dtype, inputs, native.pictures)
    target = on_device if result is None or result.array is None else type(result.array) is UsmArray
    with native._lock if target else _UNLOCKED:  # another thread would overwrite memory that is kept for results
        if result is not None:
            host = result.array if type(result.array) is np.ndarray else None
            values = result.in_usm() if target or in_usm else result.on_host() if host is None else host
        elif target or in_usm:
            values = Result(queue, None, shape, dtype).in_usm()
        else:
            values = empty_result(shape, dtype)
        after: After = store._uploads.ready
        kind, array = None, None
        if fields is not None:
            there = (target or in_usm) and not source.footprints  # the host follows a lens with footprints
            array, packed = pack_fields(queue, source.fields_of(fields), on_device=there)
            after, kind = (*after, *packed), (array.dtype, (numbers_of_fields(fields), 0), kind_of_fields(fields))
        elif vectors is not None:
            there = target or in_usm
            if there and not in_usm and source.reads_host:
                vectors, there = np.array(vectors), False  # the caller's may change
            read, after = vectors_of(queue, source.unit, name, vectors, on_device=there, after=after)
            array, kind = read.array, (read.array.dtype, read.strides, FieldKind.none)
        nbytes = values.nbytes // layers
        events: After = ()
        for layer in range(layers if values.nbytes else 0):
            plan = source.plans.get((sizes, layer, dtype, channels, kind))
            if plan is None:
                plan = source.add_plan(sizes, layer, dtype, channels, kind)
            event = plan.submit(maps[layer if several else 0], values, array, after, layer * nbytes)
            if event is not None and not in_order:
                events += (event,)
            event = None  # drivers record the events of which a reference exists
        if fields is not None:
            leave_array(queue, array)
        if result is not None:
            return out if values is result.array and result.is_own else result.deliver(values, events, library)
        if in_usm and not target:
            copied = empty_result(shape, dtype)
            queue.memcpy(copied, values, depends_on=events).wait()
            values = copied
        return values if library is None else library(values)
