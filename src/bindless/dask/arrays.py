"""``affine_transform``, ``resize`` and ``pyramid`` of arrays larger than memory."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.array.core import normalize_chunks
from dask.array.utils import meta_from_array
from dask.highlevelgraph import HighLevelGraph

from ..model.arrays import Array, DType
from ..model.enums import Boundary, Precision
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.message_values import shown
from ..ndimage.arguments import affine_of, filter_of, shape_of
from ..ndimage.errors import left_to_scipy
from ..ndimage.places import Places
from .blocks import Blocks, compute_block
from .chunks import Number, Starts, require_count, starts_of
from .layer import BlockLayer
from .nested import NestedArray
from .planning import keys_of_chunks
from .sources import source_of
from .warp import Warp

__all__ = ["MOST_LEVELS", "affine_transform", "pyramid", "resize", "warp_of"]

MOST_LEVELS = 64  # of a pyramid: no axis is longer than 2**63
_MOST_AXES = 3
_MOST_SIZE = 1 << 31  # along an axis, of the input and of the result
_MOST_BYTES = 1 << 50  # of a result
_FAR = 2.0**53  # positions that double precision counts
_MOST_TEXELS = 1 << 22  # along an axis, whose positions texture units compute in single precision


def affine_transform(
    image: Any,
    matrix: npt.ArrayLike,
    offset: float | Sequence[float] = 0.0,
    output_shape: Sequence[int] | None = None,
    output_chunks: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    *,
    displacement: Any = None,
    precision: Precision | str = Precision.exact,
) -> da.Array:
    """An array under an affine map, and displacements, as a dask array.

    The element at index ``i`` of the result is the input's value at ``matrix @ i + offset + displacement[:, i]``. Each
    block of the result is one task, which reads the part of the input that it needs. The result has the same bits
    whatever its chunks are.

    Parameters
    ----------
    image : array
        dask array, zarr array, data set of HDF5, memory map, or anything with shape, dtype and slicing. The map
        concerns its last axes, up to three; the ones before, such as time and channels, stay as they are.
    matrix : ArrayLike
        For n mapped axes (n, n); (n,), its diagonal; or homogeneous, with the offset in the last column, (n, n + 1) or
        (n + 1, n + 1). n is 3, or the largest number of axes for which the matrix has one of these shapes.
    offset : float | Sequence[float], default 0.0
        One for all mapped axes or one for each, in elements; unused with homogeneous matrices.
    output_shape : Sequence[int], optional
        Shape of the result, of all axes or of the mapped ones; default the input's.
    output_chunks : Any, optional
        Of the result, as dask takes them, for all axes or for the mapped ones; default the input's.
    order : int, default 3
        0, the nearest element; 1, linear; 2 to 5, B-splines through the elements.
    mode : str, default "constant"
        What lies outside, as of ``ndimage.map_coordinates``.
    cval : float, default 0.0
        The value outside with ``constant`` and ``grid-constant``; ``hardware`` has the latter with ``cval=0``.
    displacement : array, optional
        ``(n, *mapped axes of the result)``, of float32 or float64, in elements: array of the same kinds as ``image``.
    precision : Precision | str, default Precision.exact
        ``exact``: weights and sums in single precision. ``hardware``: the device's texture unit, weights of 8 bits.
        ``reproducible``: the bits of the reference device everywhere.

    Returns
    -------
    dask.array.Array
        Of the input's dtype, with blocks of the input's library.

    Raises
    ------
    ArgumentError, InvalidError
        An argument does not fit.
    FeatureNotSupportedError
        Complex numbers, orders 2, 4 and 5 without exact precision, or an axis that is too long for texture units.

    Examples
    --------
    >>> import dask.array as da
    >>> from bindless.dask import affine_transform
    >>> ramp = da.arange(6, chunks=3).astype("float32")
    >>> affine_transform(ramp, [0.5], 0.5, order=1).compute(scheduler="synchronous")
    array([0.5, 1. , 1.5, 2. , 2.5, 3. ], dtype=float32)
    """
    warp = warp_of(image, matrix, offset, output_shape, order, mode, cval, precision)
    chunks = _chunks_of(image, warp, output_chunks)
    return _lazy("affine", image, warp, chunks, displacement)


def warp_of(
    image: Any,
    matrix: npt.ArrayLike,
    offset: float | Sequence[float],
    output_shape: Sequence[int] | None,
    order: int,
    mode: str,
    cval: float,
    precision: Precision | str,
) -> Warp:
    """The description of a call, checked; arguments as of ``affine_transform``."""
    shape, dtype = _described(image)
    form = np.asarray(matrix)
    dims = _mapped_axes(form, len(shape))
    name = "affine_transform"
    whole, shift = affine_of(form, offset, dims, dims)
    if not (np.isfinite(whole).all() and np.isfinite(shift).all()):
        raise InvalidError("matrix or offset has numbers that are not finite")
    batch = shape[: len(shape) - dims]
    sizes = shape if output_shape is None else shape_of(output_shape)
    if len(sizes) == dims:
        sizes = (*batch, *sizes)
    if len(sizes) != len(shape) or sizes[: len(batch)] != batch:
        raise InvalidError(
            f"output_shape={sizes}: the map concerns the last {dims} axes of {shape}, the sizes before stay {batch}"
        )
    filter_ = filter_of(name, order, mode, cval, precision, in_window=True)
    warp = Warp(Places.affine(whole, shift, ()).map, filter_, dims, shape, sizes, dtype.str)
    if warp.uses_unit and warp.boundary is Boundary.border and filter_.fill != 0:
        raise left_to_scipy(name, f"precision={filter_.precision} with mode={mode} and cval={filter_.fill:g}")
    if max(shape) >= _MOST_SIZE or max(sizes) >= _MOST_SIZE:
        raise InvalidError(f"a result of shape {sizes} from {shape}: axes have at most {_MOST_SIZE - 1} elements")
    ends = warp.bounds(tuple(slice(0, max(size, 1)) for size in sizes))
    if not all(abs(place) < _FAR for side in ends for place in side):
        raise InvalidError(f"matrix and offset lead to positions from {ends[0]} to {ends[1]}: they are too far outside")
    if warp.uses_unit and max(warp.whole) >= _MOST_TEXELS:
        raise FeatureNotSupportedError(
            f"an axis of {max(warp.whole)} elements with precision={precision}: texture units have single precision; "
            "give precision='exact'"
        )
    return warp


def _described(image: Any) -> tuple[tuple[int, ...], DType]:
    """The shape and the dtype of an input."""
    source = image if isinstance(image, da.Array) else source_of("image", image)
    shape, dtype = tuple(source.shape), np.dtype(source.dtype)
    if any(size != size for size in shape):
        raise InvalidError(f"image has shape {shape}: sizes of chunks are unknown; call compute_chunk_sizes() first")
    if dtype.kind == "c":
        raise FeatureNotSupportedError(f"image of {dtype}: transform its real and its imaginary part")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise InvalidError(f"image has dtype {dtype}; it is made of real numbers of at most 64 bits")
    if not shape or 0 in shape:
        raise InvalidError(f"image has shape {shape}: it has at least one axis, and elements")
    return tuple(int(size) for size in shape), dtype


def _mapped_axes(matrix: Array, ndim: int) -> int:
    for dims in range(min(ndim, _MOST_AXES), 0, -1):
        if matrix.shape in ((dims,), (dims, dims), (dims, dims + 1), (dims + 1, dims + 1)):
            return dims
    raise InvalidError(
        f"matrix has shape {matrix.shape}; for n mapped axes of {ndim}, 1 to {_MOST_AXES}, it is (n, n), (n,), "
        "(n, n + 1) or (n + 1, n + 1)"
    )


def _chunks_of(image: Any, warp: Warp, request: Any) -> tuple[tuple[int, ...], ...]:
    """Of the result, as dask has them."""
    shape, batch = warp.output_shape, warp.batch
    own = getattr(image, "chunks", None)
    _require_listable(image, warp, own, request)
    if isinstance(image, da.Array):
        along = image.chunks
    elif isinstance(own, tuple) and len(own) == len(warp.input_shape):
        along = normalize_chunks(own, warp.input_shape)
    else:
        along = normalize_chunks("auto", warp.input_shape, dtype=np.dtype(warp.dtype))
    if request is None:
        same = [sizes if new == size else max(sizes) for sizes, size, new in zip(along, warp.input_shape, shape)]
        return tuple(normalize_chunks(tuple(same), shape))
    if isinstance(request, (tuple, list)) and len(request) == warp.dims != len(shape):
        request = (*along[:batch], *request)
    return tuple(normalize_chunks(request, shape, dtype=np.dtype(warp.dtype)))


def _require_listable(image: Any, warp: Warp, own: Any, request: Any) -> None:
    """Refuses chunks that dask would list one by one without end."""
    if not isinstance(image, da.Array):
        _require_parts(warp.input_shape, own, "an image")
        own = own if request is None else request
    _require_parts(warp.output_shape, request if isinstance(image, da.Array) else own, "a result")
    nbytes = math.prod(warp.output_shape) * np.dtype(warp.dtype).itemsize
    if nbytes > _MOST_BYTES:
        raise InvalidError(f"a result of shape {warp.output_shape} has {nbytes} bytes; at most {_MOST_BYTES} are made")


def _require_parts(shape: tuple[int, ...], chunks: Any, what: str) -> None:
    """The same for one array; chunks of other kinds than numbers are few, as ``"auto"``, or listed already."""
    parts = chunks if isinstance(chunks, (tuple, list)) else (chunks,) * len(shape)
    counts = [
        -(-size // part) if isinstance(part, (int, np.integer)) and part > 0 else 1
        for size, part in zip(shape[len(shape) - len(parts) :], parts)
    ]
    for count in counts:  # dask lists them for each axis; blocks are listed when they are computed
        require_count([count], f"{what} of shape {shape}")


def _lazy(name: str, image: Any, warp: Warp, chunks: tuple[tuple[int, ...], ...], displacement: Any) -> da.Array:
    """The result of a transform in chunks."""
    parents: list[da.Array] = []
    field: Any = None
    field_name = ""
    if displacement is not None:
        field = _field_of(displacement, warp, chunks)
        if isinstance(field, da.Array):
            parents.append(field)
            field_name, field = str(field.name), None
    dtype = np.dtype(warp.dtype)
    source, meta = image, np.empty((0,) * len(warp.output_shape), dtype)
    image_starts: tuple[Starts, ...] = ()
    image_name = ""
    if isinstance(image, da.Array):
        meta = meta_from_array(image._meta, ndim=len(warp.output_shape), dtype=dtype)
        if displacement is None:
            parents.append(image)
            source, image_starts, image_name = None, starts_of(image.chunks), image.name
        else:
            source = NestedArray(image)
    else:
        source = source_of("image", image)
    like = None if isinstance(meta, np.ndarray) else meta
    starts = starts_of(chunks)
    blocks = Blocks(warp, starts, source, image_starts, field, bool(field_name), like)
    batch = warp.batch

    def dependencies(numbers: Sequence[Number]) -> Iterator[Iterable[Any]]:
        if image_name:
            return keys_of_chunks(blocks, image_name, numbers)
        return (((field_name, 0, *number[batch:]),) for number in numbers)

    unique = f"bindless-{name}-{uuid.uuid4().hex}"
    layer = BlockLayer(unique, blocks.counts, compute_block, blocks, dependencies if parents else None)
    graph = HighLevelGraph.from_collections(unique, layer, dependencies=parents)
    return da.Array(graph, unique, chunks, meta=meta)


def _field_of(displacement: Any, warp: Warp, chunks: tuple[tuple[int, ...], ...]) -> Any:
    """The displacements, as a dask array in the result's chunks or as an array that blocks read."""
    dims, batch = warp.dims, warp.batch
    field = displacement if isinstance(displacement, da.Array) else source_of("displacement", displacement)
    shape = (dims, *warp.output_shape[batch:])
    if tuple(field.shape) != shape:
        raise InvalidError(
            f"displacement has shape {tuple(field.shape)}; for {dims} mapped axes of the result it is {shape}"
        )
    if np.dtype(field.dtype).kind not in "biuf" or np.dtype(field.dtype).itemsize > 8:
        raise InvalidError(f"displacement has dtype {shown(field.dtype)}; it is made of real numbers")
    if isinstance(field, da.Array):
        return field.rechunk(((dims,), *chunks[batch:]))
    return field


def resize(
    image: Any,
    shape: Sequence[int],
    output_chunks: Any = None,
    order: int = 1,
    *,
    precision: Precision | str = Precision.exact,
) -> da.Array:
    """An array in another size, as a dask array.

    The outer edges of the outermost elements stay where they are. Values are interpolated: before an array shrinks to
    less than half its size, take a level of its ``pyramid``.

    Parameters
    ----------
    image : array
        As of ``affine_transform``.
    shape : Sequence[int]
        Sizes of all axes, or of the last ones, up to three; axes before the last three stay as they are.
    output_chunks, precision : Any
        As of ``affine_transform``.
    order : int, default 1
        As of ``affine_transform``, whose default differs.

    Returns
    -------
    dask.array.Array
        As of ``affine_transform``.

    Raises
    ------
    ArgumentError, InvalidError, FeatureNotSupportedError
        As of ``affine_transform``.

    Examples
    --------
    >>> import dask.array as da
    >>> from bindless.dask import resize
    >>> resize(da.arange(3, chunks=3).astype("float32"), (6,)).compute(scheduler="synchronous")
    array([0.  , 0.25, 0.75, 1.25, 1.75, 2.  ], dtype=float32)
    """
    whole, _ = _described(image)
    target = shape_of(shape)
    if len(target) > len(whole) or 0 in target:
        raise InvalidError(f"shape={target}: sizes of at least 1 for at most the {len(whole)} axes of the image")
    dims = min(len(target), _MOST_AXES)
    steps = np.array([old / new for old, new in zip(whole[len(whole) - dims :], target[len(target) - dims :])])
    target = (*whole[: len(whole) - len(target)], *target)
    warp = warp_of(image, np.diag(steps), (0.5 * steps - 0.5).tolist(), target, order, "nearest", 0.0, precision)
    return _lazy("resize", image, warp, _chunks_of(image, warp, output_chunks), None)


def pyramid(image: Any, levels: int | None = None) -> list[da.Array]:
    """An array and its reductions to a half, a quarter and so on, as dask arrays.

    An element of a level is the mean of two elements along each of the last axes, up to three, of the level before; of
    an odd number the last one counts twice. Axes of one element stay as they are.

    Parameters
    ----------
    image : array
        As of ``affine_transform``.
    levels : int, optional
        Number of arrays; default until one chunk holds the mapped axes.

    Returns
    -------
    list[dask.array.Array]
        The image, then its reductions, with chunks of the same size.

    Raises
    ------
    InvalidError
        ``levels`` is not 1 to 64, or as of ``affine_transform``.

    Examples
    --------
    >>> import dask.array as da
    >>> from bindless.dask import pyramid
    >>> levels = pyramid(da.arange(8, chunks=2).astype("float32"))
    >>> [level.compute(scheduler="synchronous").tolist() for level in levels[1:]]
    [[0.5, 2.5, 4.5, 6.5], [1.5, 5.5]]
    """
    whole, _ = _described(image)
    if levels is not None and not 1 <= levels <= MOST_LEVELS:
        raise InvalidError(f"levels={levels}: 1, the image itself, to {MOST_LEVELS}")
    first = image if isinstance(image, da.Array) else _as_dask(image)
    parts, now = [first], image
    sizes = [max(along) for along in first.chunks]
    dims = min(len(whole), _MOST_AXES)
    while len(parts) < (math.inf if levels is None else levels):
        shape = parts[-1].shape[-dims:]
        if levels is None and all(size <= chunk for size, chunk in zip(shape, sizes[-dims:])):
            break
        now = _halved(now, dims, tuple(sizes))
        parts.append(now)
    return parts


def _as_dask(image: Any) -> da.Array:
    source, chunks = source_of("image", image), getattr(image, "chunks", None) or "auto"
    _require_parts(tuple(source.shape), chunks, "an image")
    return da.from_array(source, chunks=chunks, asarray=True)


def _halved(image: Any, dims: int, sizes: tuple[int, ...]) -> da.Array:
    warp = halving(image, dims)
    chunks = normalize_chunks(tuple(min(size, most) for size, most in zip(warp.output_shape, sizes)), warp.output_shape)
    return _lazy("level", image, warp, tuple(chunks), None)


def halving(image: Any, dims: int) -> Warp:
    """The transform from a level of a pyramid to the next one."""
    whole, _ = _described(image)
    steps = np.array([2.0 if size > 1 else 1.0 for size in whole[-dims:]])
    target = (*whole[:-dims], *((size + 1) // 2 for size in whole[-dims:]))
    return warp_of(image, np.diag(steps), ((steps - 1) / 2).tolist(), target, 1, "nearest", 0.0, Precision.exact)
