"""``compute``: the values of one block of a result, from the texels that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.device_limits import limit
from ..model.resampling import Window
from ..ndimage.resampled import resampled
from ..ndimage.source import source_of
from ..ndimage.target import Target
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .reading import Reader, covers, read
from .spans import Span, texels_of
from .spline_windows import coefficients_of, samples_around
from .staging import staged_empty
from .transform import Block, Transform
from .workspace import Workspace

__all__ = ["compute", "image_ranges"]

# Bytes of the texels of a block and of its values, above which it is divided.
_MOST_BYTES = 256 << 20
_EXTENTS = {1: ("image1d_max_width",), 2: ("image2d_max_height", "image2d_max_width"),
            3: ("image3d_max_depth", "image3d_max_height", "image3d_max_width")}  # fmt: skip
_FILTERED = 3  # arrays of the size of the texels that fit B-splines
_OF_DEVICE = 16  # the part of a device's memory that the texels of a block may take: 1/16

FieldReader = Callable[[tuple[slice, ...]], Any]


def compute(
    transform: Transform,
    block: Block,
    reader: Reader,
    field: FieldReader | None,
    workspace: Workspace,
    most_bytes: int | None = None,
) -> Any:
    """The values of a block.

    Parameters
    ----------
    transform : Transform
        Of the whole.
    block : Block
        Slices of the result.
    reader : Reader
        Gives a part of the input.
    field : FieldReader, optional
        Gives a part of the displacements (axes, ...), whose last axes are those of the result that are mapped.
    workspace : Workspace
        Does the work.
    most_bytes : int, optional
        Bytes of texels and values above which the block is divided.

    Returns
    -------
    Any
        Array of the library of the reader's parts, or of numpy where nothing is read.
    """
    most = _most_bytes(workspace.queue) if most_bytes is None else most_bytes
    moved = None if field is None else np.asarray(field((slice(None), *block[transform.kept :])))
    return _compute(transform, block, reader, moved, workspace, most)


def image_ranges(transform: Transform, spans: Sequence[Span]) -> list[list[tuple[int, int]]]:
    """The ranges of the input, (start, stop), that spans of the extended input are computed from, for each axis."""
    boundary, margin = transform.boundary, transform.margin
    found = []
    for span, size in zip(spans, transform.input_shape[transform.kept :]):
        if transform.filter.is_cubic:
            parts = covers(texels_of(span, size + 2 * margin, boundary))
            samples = [samples_around(slice(*part), size, margin, boundary) for part in parts]
            found.append([part for some in samples for part in covers(some)])
        elif span.origin >= 0 and span.origin + span.size <= size:
            found.append([(span.origin, span.origin + span.size)])
        else:
            found.append(covers(texels_of(span, size, boundary)))
    return found


def _most_bytes(queue: Queue) -> int:
    memory = limit(queue.device, "global_mem_size")
    return _MOST_BYTES if memory is None else min(_MOST_BYTES, memory // _OF_DEVICE)


def _compute(
    transform: Transform, block: Block, reader: Reader, moved: npt.NDArray[Any] | None, workspace: Workspace, most: int
) -> Any:
    shape = tuple(part.stop - part.start for part in block)
    spans = transform.spans(block, moved)
    if spans is None:
        return _filled(transform, block, moved, workspace)
    if not _fits(transform, shape, spans, moved, workspace.queue, most) and max(shape) > 1:
        return _halves(transform, block, reader, moved, workspace, most)
    kept, filter_, dtype = block[: transform.kept], transform.filter, np.dtype(transform.dtype)
    sizes = transform.input_shape[transform.kept :]
    if filter_.is_cubic:
        texels = coefficients_of(
            workspace, reader, kept, spans, sizes, transform.margin, filter_, dtype, transform.cval
        )
    else:
        indices = [texels_of(span, size, transform.boundary) for span, size in zip(spans, sizes)]
        texels = workspace.on_way(read(reader, kept, indices, dtype, transform.cval))
    return _sampled(transform, block, spans, texels, moved, workspace)


def _sampled(
    transform: Transform,
    block: Block,
    spans: Sequence[Span],
    texels: Any,
    moved: npt.NDArray[Any] | None,
    workspace: Workspace,
) -> Any:
    """The values of a block, from its texels or their coefficients."""
    queue, dtype = workspace.queue, np.dtype(transform.dtype)
    kept, shape = transform.kept, tuple(part.stop - part.start for part in block)
    places = transform.places(shape[kept:])
    places = places._replace(
        coords=None if moved is None else _vectors(moved),
        first=_xyz([part.start for part in block[kept:]], 0),
        window=Window(_xyz([span.origin for span in spans], 0), _xyz(transform.whole, 1)),
    )
    source = source_of("affine_transform", texels, None, queue)
    values = None if source.library is not None else workspace.values(shape, dtype)
    if values is not None and isinstance(places.coords, np.ndarray):
        places = places._replace(coords=workspace.uploaded("displacements", places.coords))
    target = Target("affine_transform", source, dtype if values is None else values, shape)
    found = resampled(source, target, places, transform.filter, range(kept), workspace, prefilter=False)
    if isinstance(found, UsmArray):
        result = workspace.result(texels, shape, dtype)
        queue.memcpy(result, found).wait()
        return result
    return found


def _xyz(values: Sequence[int], missing: int) -> tuple[int, int, int]:
    """Numbers of the mapped axes, in the order x, y, z; of axes that there are not, the last argument."""
    x, y, z = (*reversed(values), missing, missing)[:3]
    return x, y, z


def _vectors(moved: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Displacements as (axes, N), of single or double precision."""
    single = moved.dtype.kind == "f" and moved.dtype.itemsize <= 4
    dtype = np.float32 if single else np.float64
    return np.ascontiguousarray(moved, dtype).reshape(len(moved), -1)


def _filled(
    transform: Transform, block: Block, moved: npt.NDArray[Any] | None, workspace: Workspace
) -> npt.NDArray[Any]:
    """A block of the fill value, which the filter rounds and clamps: computed once."""
    dtype, dims = np.dtype(transform.dtype), transform.dims
    one = tuple(slice(part.start, part.start + 1) for part in block)
    texels = np.zeros((1,) * len(block), np.float32 if transform.filter.is_cubic else dtype)
    corner = None if moved is None else moved[(slice(None),) + (slice(0, 1),) * dims]
    value = _sampled(transform, one, [Span(0, 1)] * dims, texels, corner, workspace)
    result = staged_empty(workspace.queue, tuple(part.stop - part.start for part in block), dtype)
    result.fill(value.item())
    return result


def _fits(
    transform: Transform,
    shape: Sequence[int],
    spans: Sequence[Span],
    moved: npt.NDArray[Any] | None,
    queue: Queue,
    most: int,
) -> bool:
    counts = [span.size for span in spans]
    item = np.dtype(transform.dtype).itemsize
    extents = [limit(queue.device, name) for name in _EXTENTS[transform.dims]]
    if any(bound is not None and count > bound for count, bound in zip(counts, extents)):
        return False
    kept = math.prod(shape[: transform.kept])
    texels = math.prod(counts) * kept * (_FILTERED if transform.filter.is_cubic else 1)
    return (texels + math.prod(shape)) * max(item, 4) + (0 if moved is None else moved.nbytes) <= most


def _halves(
    transform: Transform, block: Block, reader: Reader, moved: npt.NDArray[Any] | None, workspace: Workspace, most: int
) -> Any:
    """The values of a block that is divided along its longest axis."""
    sizes = [part.stop - part.start for part in block]
    axis = sizes.index(max(sizes))
    middle = block[axis].start + sizes[axis] // 2
    found = []
    for part in (slice(block[axis].start, middle), slice(middle, block[axis].stop)):
        inside = (*block[:axis], part, *block[axis + 1 :])
        some = moved
        if moved is not None and axis >= transform.kept:
            cut = [slice(None)] * moved.ndim
            along = axis - transform.kept
            cut[along + 1] = slice(part.start - block[axis].start, part.stop - block[axis].start)
            some = moved[tuple(cut)]
        found.append(_compute(transform, inside, reader, some, workspace, most))
    return np.concatenate(found, axis)
