"""``compute``: the values of one block of a result, from the texels that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..image.array_library import AnyArray, library_of, seen
from ..model.arrays import Array
from ..model.resampling import Window
from ..ndimage.places import Places
from ..ndimage.plan import Description, prepare
from ..ndimage.source import elements_of
from ..ndimage.target import converted, returned
from ..sycl.usm import UsmArray
from .reading import Reader, covers, read
from .spans import Span, texels_of
from .spline_windows import coefficients_of, samples_around
from .staging import staged_empty
from .warp import Block, Warp
from .workspace import Workspace

__all__ = ["compute", "image_ranges"]

_MOST_BYTES = 256 << 20  # of the texels of a block and of its values, above which it is divided
_FILTERED = 3  # arrays of the size of the texels that fit B-splines

FieldReader = Callable[[tuple[slice, ...]], Any]


def compute(
    warp: Warp,
    block: Block,
    reader: Reader,
    field: FieldReader | None,
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
    field : FieldReader, optional
        Gives a part of the displacements (axes, ...), whose last axes are those of the result that are mapped.
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
    most = min(_MOST_BYTES, workspace.most_bytes) if most_bytes is None else most_bytes
    moved = None if field is None else np.asarray(field((slice(None), *block[warp.kept :])))
    return _compute(warp, block, reader, moved, workspace, most, spans)


def image_ranges(warp: Warp, spans: Sequence[Span]) -> list[list[tuple[int, int]]]:
    """The ranges of the input, (start, stop), that spans of the extended input are computed from, for each axis."""
    boundary, margin = warp.boundary, warp.margin
    found = []
    for span, size in zip(spans, warp.input_shape[warp.kept :]):
        if warp.is_cubic:
            parts = covers(texels_of(span, size + 2 * margin, boundary))
            samples = [samples_around(slice(*part), size, margin, boundary) for part in parts]
            found.append([part for some in samples for part in covers(some)])
        elif span.origin >= 0 and span.origin + span.size <= size:
            found.append([(span.origin, span.origin + span.size)])
        else:
            found.append(covers(texels_of(span, size, boundary)))
    return found


def _compute(
    warp: Warp,
    block: Block,
    reader: Reader,
    moved: Array | None,
    workspace: Workspace,
    most: float,
    spans: Sequence[Span] | None = None,
) -> Any:
    shape = tuple([part.stop - part.start for part in block])
    if spans is None:
        spans = warp.spans(block, moved)
    if spans is None:
        return _filled(warp, block, moved, workspace)
    if not _fits(warp, shape, spans, moved, workspace, most) and max(shape) > 1:
        return _halves(warp, block, reader, moved, workspace, most)
    kept, sizes = block[: warp.kept], warp.input_shape[warp.kept :]
    if warp.is_cubic:
        texels = coefficients_of(
            workspace, reader, kept, spans, sizes, warp.margin, warp.filter, warp.element, warp.filter.fill
        )
    elif (part := _part_inside(spans, sizes)) is not None:
        texels = workspace.on_way(reader((*kept, *part)))
    else:
        indices = [texels_of(span, size, warp.boundary) for span, size in zip(spans, sizes)]
        texels = workspace.on_way(read(reader, kept, indices, warp.element, warp.filter.fill))
    return _sampled(warp, block, shape, spans, texels, moved, workspace)


def _part_inside(spans: Sequence[Span], sizes: Sequence[int]) -> list[slice] | None:
    """The part of the input that spans are; None where they reach outside."""
    part = []
    for (origin, count), size in zip(spans, sizes):
        if origin < 0 or origin + count > size:
            return None
        part.append(slice(origin, origin + count))
    return part


def _sampled(
    warp: Warp,
    block: Block,
    shape: tuple[int, ...],
    spans: Sequence[Span],
    texels: Any,
    moved: Array | None,
    workspace: Workspace,
) -> Any:
    """The values of a block, from its texels or their coefficients."""
    queue, kept, library = workspace.queue, warp.kept, library_of(texels)
    values = workspace.values(shape, warp.element) if library is None else None
    coords: AnyArray | None = None if moved is None else _vectors(moved)
    if values is not None and isinstance(coords, np.ndarray):
        coords = workspace.uploaded("displacements", coords)
    origin, first = [0, 0, 0], [0, 0, 0]
    for axis, (span, part) in enumerate(zip(reversed(spans), reversed(block))):
        origin[axis], first[axis] = span.origin, part.start
    window = Window((origin[0], origin[1], origin[2]), warp.whole_xyz)
    places = Places(shape[kept:], warp.extended_map, coords, (first[0], first[1], first[2]), window)
    array = seen("input", texels, queue)
    pixels, on_device = elements_of(array[..., None], warp.filter.fill), isinstance(array, UsmArray)
    described = Description(
        pixels.dtype,
        1,
        warp.dims,
        shape,
        warp.element,
        places.shape,
        tuple(range(kept)),
        on_device or values is not None or isinstance(coords, UsmArray),
        None if coords is None else coords.dtype,
        in_window=True,
        prefilter=False,
    )
    plan = prepare(queue.device, described, warp.filter)
    result: AnyArray | None = values if values is not None and plan.computed == warp.element else None
    if result is None:
        result = plan.memory(queue)
    plan.run(queue, pixels, result, places, workspace.images)
    result = result.reshape(shape)
    if library is not None:
        return returned(converted(result, warp.element), queue, library, on_device=on_device)
    if isinstance(result, UsmArray) and result.dtype == warp.element:
        copied = workspace.result(texels, shape, warp.element)
        queue.memcpy(copied, result).wait()
        return copied
    return converted(result, warp.element)


def _vectors(moved: Array) -> Array:
    """Displacements as (axes, N), of single or double precision."""
    single = moved.dtype.kind == "f" and moved.dtype.itemsize <= 4
    dtype = np.float32 if single else np.float64
    return np.ascontiguousarray(moved, dtype).reshape(len(moved), -1)


def _filled(warp: Warp, block: Block, moved: Array | None, workspace: Workspace) -> Array:
    """A block of the fill value, which the filter rounds and clamps: computed once."""
    dtype, dims = warp.element, warp.dims
    one = tuple([slice(part.start, part.start + 1) for part in block])
    texels = np.zeros((1,) * len(block), np.float32 if warp.is_cubic else dtype)
    corner = None if moved is None else moved[(slice(None),) + (slice(0, 1),) * dims]
    value = _sampled(warp, one, (1,) * len(block), [Span(0, 1)] * dims, texels, corner, workspace)
    result = staged_empty(workspace.queue, tuple(part.stop - part.start for part in block), dtype)
    result.fill(value.item())
    return result


def _fits(
    warp: Warp,
    shape: Sequence[int],
    spans: Sequence[Span],
    moved: Array | None,
    workspace: Workspace,
    most: float,
) -> bool:
    texels = _FILTERED if warp.is_cubic else 1
    for span, bound in zip(spans, workspace.extents[warp.dims]):
        if span.size > bound:
            return False
        texels *= span.size
    texels *= math.prod(shape[: warp.kept])
    displacements = 0 if moved is None else moved.nbytes
    return (texels + math.prod(shape)) * max(warp.element.itemsize, 4) + displacements <= most


def _halves(warp: Warp, block: Block, reader: Reader, moved: Array | None, workspace: Workspace, most: float) -> Any:
    """The values of a block that is divided along its longest axis."""
    sizes = [part.stop - part.start for part in block]
    axis = sizes.index(max(sizes))
    middle = block[axis].start + sizes[axis] // 2
    found = []
    for part in (slice(block[axis].start, middle), slice(middle, block[axis].stop)):
        inside = (*block[:axis], part, *block[axis + 1 :])
        some = moved
        if moved is not None and axis >= warp.kept:
            cut = [slice(None)] * moved.ndim
            along = axis - warp.kept
            cut[along + 1] = slice(part.start - block[axis].start, part.stop - block[axis].start)
            some = moved[tuple(cut)]
        found.append(_compute(warp, inside, reader, some, workspace, most))
    return np.concatenate(found, axis)
