"""``compute``: the values of one block of a result, from the texels that it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..image.array_library import AnyArray, library_of, view
from ..model.arrays import Array, DType
from ..model.resampling import Window
from ..ndimage.casting import cast
from ..ndimage.images import ImageKey
from ..ndimage.places import Places
from ..ndimage.plan import CallPlan, Description, prepare
from ..ndimage.source import element_of, elements_of
from ..ndimage.target import converted, returned
from ..sycl.usm import UsmArray
from . import staging
from .reading import Reader, covers, read
from .spans import Span, texels_of
from .spline_windows import coefficients_around, coefficients_of, samples_around, spans_around
from .staging import staged_empty
from .warp import Block, Warp
from .workspace import Workspace

__all__ = ["compute", "image_ranges"]

_MOST_BYTES = 256 << 20  # of the texels of a block and of its values, above which it is divided
_FILTERED = 3  # arrays of the size of the texels that fit B-splines


class _Row(NamedTuple):
    """A block that comes again, apart from its place and its texels.

    Attributes
    ----------
    plan : CallPlan
        Of one image, whose values are those of the block.
    image : ImageKey
        Key of the image.
    texel : np.dtype
        Of the image, which texels of floats of another size are converted to.
    """

    plan: CallPlan
    image: ImageKey
    texel: DType


def compute(
    warp: Warp,
    block: Block,
    reader: Reader,
    shifts: Array | None,
    workspace: Workspace,
    most_bytes: float | None = None,
    spans: Sequence[Span] | None = None,
) -> Any:
    """The values of a block.

    Parameters
    ----------
    warp : Warp
        Of the whole.
    block : Block
        Slices of the result.
    reader : Reader
        Gives a part of the input.
    moved : NDArray, optional
        Displacements of the block: (axes, ...), whose last axes are those of the result that are mapped.
    workspace : Workspace
        Does the work.
    most_bytes : float, optional
        Bytes of texels and values above which the block is divided.
    spans : Sequence[Span], optional
        Of the block without displacements, if they are known.

    Returns
    -------
    Any
        Array of the library of the reader's parts, or of numpy where nothing is read.
    """
    batch, sizes = block[: warp.batch], warp.input_shape[warp.batch :]
    shape = tuple([part.stop - part.start for part in block])
    if spans is None:
        spans = warp.spans(block, shifts)
    if spans is None:
        return _filled(warp, block, shifts, workspace)
    around = spans_around(workspace, spans, sizes, warp.margin, warp.filter) if warp.is_spline else None
    if around is not None:
        spans = around
    kind: list[object] = [warp.kind, shape, most_bytes, None if shifts is None else shifts.dtype]
    part: list[slice] | None = list(batch)
    for (origin, count), n in zip(spans, warp.whole):
        kind += (count, 0 < origin < n - count)
        if part is not None:
            part = [*part, slice(origin, origin + count)] if 0 <= origin <= n - count else None
    key = tuple(kind)
    row: _Row | None = workspace.rows.get(key)
    if row is None and max(shape) > 1:
        most = min(_MOST_BYTES, workspace.most_bytes) if most_bytes is None else most_bytes
        if not _fits(warp, shape, spans, shifts, workspace, most):
            return _halves(warp, block, reader, shifts, workspace, most)
    texels: Any
    samples: Array | None = None
    if around is not None:
        texels, samples = coefficients_around(workspace, reader, batch, around, warp.margin, warp.filter)
    elif warp.is_spline:
        texels = coefficients_of(workspace, reader, batch, spans, sizes, warp.margin, warp.filter, warp.element)
    elif part is not None:
        texels = reader(tuple(part))
    else:
        indices = [texels_of(span, size, warp.boundary) for span, size in zip(spans, sizes)]
        texels = read(reader, batch, indices, warp.element, warp.filter.fill)
    if workspace.is_staged and not warp.is_spline and texels.nbytes >= staging.SMALLEST:
        texels = workspace.on_way(texels)
    coords = None if shifts is None else _vectors(shifts)
    origins, first = [0, 0, 0], [0, 0, 0]
    for axis, (span, along) in enumerate(zip(reversed(spans), reversed(block))):
        origins[axis], first[axis] = span[0], along.start
    x, y, z = origins
    i, j, k = first
    places = Places(shape[warp.batch :], warp.extended_map, coords, (i, j, k), Window((x, y, z), warp.whole_xyz))
    is_packed = around is not None or type(texels) is np.ndarray
    if row is not None and is_packed:
        if texels.dtype != row.texel:
            texels = cast(texels, row.texel)
        there = workspace.arrays["values", shape, row.plan.computed] if row.plan.in_usm else None
        vectors: AnyArray | None = None
        if coords is not None:
            vectors = coords[::-1] if there is None else workspace.vectors(coords)
        values = row.plan.repeat_part(workspace.queue, texels, places, workspace.images, row.image, vectors, there)
        if values is not None:
            if there is not None:
                values = workspace.result(texels if samples is None else samples, shape, row.plan.computed)
                workspace.queue.memcpy(values, there).wait()
            assert isinstance(values, np.ndarray)
            return (values if values.dtype == warp.element else cast(values, warp.element)).reshape(shape)
    return _sampled(warp, shape, texels, places, workspace, key if is_packed else ())


def image_ranges(warp: Warp, spans: Sequence[Span]) -> list[list[tuple[int, int]]]:
    """The ranges of the input, (start, stop), that spans of the extended input are computed from, for each axis."""
    boundary, margin = warp.boundary, warp.margin
    ranges = []
    for span, size in zip(spans, warp.input_shape[warp.batch :]):
        if warp.is_spline:
            parts = covers(texels_of(span, size + 2 * margin, boundary))
            samples = [samples_around(slice(*part), size, margin, warp.filter) for part in parts]
            ranges.append([part for some in samples for part in covers(some)])
        elif span.origin >= 0 and span.origin + span.size <= size:
            ranges.append([(span.origin, span.origin + span.size)])
        else:
            ranges.append(covers(texels_of(span, size, boundary)))
    return ranges


def _sampled(
    warp: Warp, shape: tuple[int, ...], texels: Any, places: Places, workspace: Workspace, key: tuple[object, ...] = ()
) -> Any:
    """The values of a block, from its texels or their coefficients; ``key``: what the block is repeated for."""
    queue, batch, library = workspace.queue, warp.batch, library_of(texels)
    values = workspace.values(shape, element_of(warp.element)) if library is None else None
    coords = places.coords
    if values is not None and isinstance(coords, np.ndarray):
        coords = workspace.uploaded("displacements", coords)
        places = places._replace(coords=coords)
    array = view("input", texels, queue)
    pixels, on_device = elements_of(array[..., None], warp.filter.fill), isinstance(array, UsmArray)
    described = Description(
        pixels.dtype,
        1,
        warp.dims,
        shape,
        warp.element,
        places.shape,
        tuple(range(batch)),
        on_device or values is not None or isinstance(coords, UsmArray),
        None if coords is None else coords.dtype,
        in_window=True,
        prefilter=False,
    )
    plan = prepare(queue.device, described, warp.filter)
    computed = plan.computed
    result: AnyArray = plan.memory(queue) if values is None or values.dtype != computed else values
    image = plan.run(queue, pixels, result, places, workspace.images)
    is_plain = computed == warp.element and texels.dtype == pixels.dtype
    if key and image is not None and (is_plain or warp.element.kind == "f"):
        workspace.add_row(key, _Row(plan, image, plan.stored))
    result = result.reshape(shape)
    if library is not None:
        return returned(converted(result, warp.element), queue, library, on_device=on_device)
    if isinstance(result, UsmArray):
        copied = workspace.result(texels, shape, computed)
        queue.memcpy(copied, result).wait()
        result = copied
    return converted(result, warp.element)


def _vectors(shifts: Array) -> Array:
    """Displacements as (axes, N), of single or double precision."""
    single = shifts.dtype.kind == "f" and shifts.dtype.itemsize <= 4
    dtype = np.float32 if single else np.float64
    return np.ascontiguousarray(shifts, dtype).reshape(len(shifts), -1)


def _filled(warp: Warp, block: Block, shifts: Array | None, workspace: Workspace) -> Array:
    """A block of the fill value, which the filter rounds and clamps: computed once."""
    dtype, dims = warp.element, warp.dims
    texels = np.zeros((1,) * len(block), np.float32 if warp.is_spline else dtype)
    corner = None if shifts is None else _vectors(shifts[(slice(None),) + (slice(0, 1),) * dims])
    i, j, k = (*(part.start for part in reversed(block[warp.batch :])), 0, 0)[:3]
    places = Places((1,) * dims, warp.extended_map, corner, (i, j, k), Window((0, 0, 0), warp.whole_xyz))
    value = _sampled(warp, (1,) * len(block), texels, places, workspace)
    result = staged_empty(workspace.queue, tuple(part.stop - part.start for part in block), dtype)
    result.fill(value.item())
    return result


def _fits(
    warp: Warp,
    shape: Sequence[int],
    spans: Sequence[Span],
    shifts: Array | None,
    workspace: Workspace,
    most: float,
) -> bool:
    texels = _FILTERED if warp.is_spline else 1
    for span, bound in zip(spans, workspace.extents[warp.dims]):
        if span.size > bound:
            return False
        texels *= span.size
    texels *= math.prod(shape[: warp.batch])
    displacements = 0 if shifts is None else shifts.nbytes
    return (texels + math.prod(shape)) * max(warp.element.itemsize, 4) + displacements <= most


def _halves(warp: Warp, block: Block, reader: Reader, shifts: Array | None, workspace: Workspace, most: float) -> Any:
    """The values of a block that is divided along its longest axis."""
    sizes = [part.stop - part.start for part in block]
    axis = sizes.index(max(sizes))
    middle = block[axis].start + sizes[axis] // 2
    halves = []
    for part in (slice(block[axis].start, middle), slice(middle, block[axis].stop)):
        inside = (*block[:axis], part, *block[axis + 1 :])
        some = shifts
        if shifts is not None and axis >= warp.batch:
            cut = [slice(None)] * shifts.ndim
            along = axis - warp.batch
            cut[along + 1] = slice(part.start - block[axis].start, part.stop - block[axis].start)
            some = shifts[tuple(cut)]
        halves.append(compute(warp, inside, reader, some, workspace, most))
    return np.concatenate(halves, axis)
