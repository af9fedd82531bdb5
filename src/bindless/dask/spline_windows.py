"""``coefficients_of``: those of B-splines for a part of an array, the same bits whatever the part.

The recursion that fits B-splines (docs/numerics.md) has no end, so that its bits depend on where it begins. Here
lines are divided into segments of 32 samples from the first one of the array on, and each is fitted from 64 samples,
16 before it and 16 after it: a coefficient depends on these 64 samples alone. Samples further away would change it by
less than 1e-9 of their range. Where the filter has two poles there are twice as many samples before and after it. On
devices with their own memory the segments have 16 samples (``local_launches``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image.spline_filter import LOCAL_SAMPLES, HostFilter, described_filter, local_launches, run_launches
from ..model.arrays import DType
from ..model.enums import Boundary, Precision
from ..model.filter import Filter
from ..model.spline_filter import POLES
from ..sycl.usm import UsmArray
from . import staging
from .reading import Indices, Reader, covers, read
from .spans import Span, texels_of
from .workspace import Workspace

__all__ = ["coefficients_around", "coefficients_of", "samples_around", "spans_around"]

SEGMENT, AROUND = 32, 16
_MOST_SAMPLES = 1 << 24  # of the windows that are filtered at a time

Floats = npt.NDArray[np.float32]


def coefficients_of(
    workspace: Workspace,
    reader: Reader,
    batch: Sequence[slice],
    spans: Sequence[Span],
    sizes: Sequence[int],
    margin: int,
    filter_: Filter,
    dtype: DType,
) -> Floats | UsmArray:
    """Coefficients of spans along the last axes.

    Parameters
    ----------
    workspace : Workspace
        Does the work.
    reader, dtype : Any
        As of ``read``.
    spans : Sequence[Span]
        In the array, extended by the margin.
    sizes : Sequence[int]
        Texels of the array, not extended, along these axes.
    margin : int
        Texels by which it is extended at each end.
    filter_ : Filter
        Says what lies outside, and the precision.
    """
    boundary = filter_.boundary[0]
    on_device = filter_.precision is not Precision.reproducible and not workspace.shares_memory
    if not on_device:
        part: list[slice] = []
        for (origin, count), size in zip(spans, sizes):
            if not 0 <= origin <= size + 2 * margin - count:
                break
            part.append(slice(origin, origin + count))
        else:
            return _of_part(reader, batch, part, sizes, margin, filter_, dtype)
    texels = [texels_of(span, size + 2 * margin, boundary) for span, size in zip(spans, sizes)]
    ranges = [covers(axis) for axis in texels]
    if not all(ranges):
        shape = [part.stop - part.start for part in batch]
        return np.full([*shape, *(span.size for span in spans)], filter_.fill, np.float32)

    if on_device and all(covered == [(axis[0], axis[-1] + 1)] for covered, axis in zip(ranges, texels)):
        inside = [slice(*covered[0]) for covered in ranges]
        return _on_device(workspace, reader, batch, inside, sizes, margin, filter_, dtype)

    def computed(part: tuple[slice, ...]) -> Floats:
        inside = part[len(batch) :]
        if on_device:
            return _on_device(workspace, reader, batch, inside, sizes, margin, filter_, dtype).numpy()
        return _of_part(reader, batch, inside, sizes, margin, filter_, dtype)

    result: Floats = read(computed, batch, texels, np.dtype(np.float32), filter_.fill)
    return result


def _on_device(
    workspace: Workspace,
    reader: Reader,
    batch: Sequence[slice],
    part: Sequence[slice],
    sizes: Sequence[int],
    margin: int,
    filter_: Filter,
    dtype: DType,
) -> UsmArray:
    """Coefficients at indices of the extended array, in memory that the next ones overwrite."""
    around = [_around(inside.start, inside.stop, filter_) for inside in part]
    boundary = filter_.boundary[0]
    indices = [texels_of(Span(start - margin, count), size, boundary) for (start, count), size in zip(around, sizes)]
    parts, _ = _filtered(workspace, read(reader, batch, indices, dtype, filter_.fill), len(part), filter_)
    cut = tuple(slice(inside.start - start, inside.stop - start) for inside, (start, _) in zip(part, around))
    return parts[(slice(None),) * len(batch) + cut]


def _poles(filter_: Filter) -> int:
    """The number of those of its B-splines' filter."""
    return len(POLES[filter_.spline_order])


def _around(start: int, stop: int, filter_: Filter) -> Span:
    """The chunks of samples that coefficients depend on, by kernels."""
    step = LOCAL_SAMPLES
    more = _poles(filter_) * step
    first = start // step * step - more
    return Span(first, -(-stop // step) * step + 2 * more - first)


def spans_around(
    workspace: Workspace, spans: Sequence[Span], sizes: Sequence[int], margin: int, filter_: Filter
) -> list[Span] | None:
    """The spans of the samples that kernels compute coefficients of; None of the host's, and where some lie outside.

    Spans that end at the same chunks have the same samples, and images of one size.

    Parameters
    ----------
    spans, sizes, margin, filter_
        As of ``coefficients_of``.
    """
    if filter_.precision is Precision.reproducible or workspace.shares_memory:
        return None
    result = [_around(origin, origin + count, filter_) for origin, count in spans]
    for (start, count), size in zip(result, sizes):
        if start < margin or start + count - margin > size:
            return None
    return result


def coefficients_around(
    workspace: Workspace, reader: Reader, batch: Sequence[slice], around: Sequence[Span], margin: int, filter_: Filter
) -> tuple[UsmArray, Floats]:
    """Coefficients of ``spans_around``, those at the ends wrong, in memory that the next ones overwrite; their samples.

    Parameters
    ----------
    reader, batch, margin, filter_
        As of ``coefficients_of``.
    """
    inside = [slice(start - margin, start - margin + count) for start, count in around]
    return _filtered(workspace, reader((*batch, *inside)), len(around), filter_)


def _filtered(workspace: Workspace, texels: Any, dims: int, filter_: Filter) -> tuple[UsmArray, Floats]:
    """Coefficients of whole chunks, and the samples on the host."""
    queue, samples = workspace.queue, texels
    if type(samples) is not np.ndarray or samples.dtype != np.float32:
        samples = _host(texels)
    if workspace.is_staged and samples.nbytes >= staging.SMALLEST:
        samples = workspace.on_way(samples)
    source = workspace.arrays["samples", samples.shape, samples.dtype]
    queue.memcpy(source, np.ascontiguousarray(samples))
    arrays = source, workspace.arrays["lines", source.shape, source.dtype]
    key = "lines", source.shape, dims, filter_.spline_order
    launches = workspace.rows.get(key)
    if launches is None:
        launches = local_launches(queue, source.shape, dims, filter_.spline_order)
        workspace.add_row(key, launches)
    run_launches(queue, launches, arrays)
    return arrays[launches[-1].target], samples


def _of_part(
    reader: Reader,
    batch: Sequence[slice],
    part: Sequence[slice],
    sizes: Sequence[int],
    margin: int,
    filter_: Filter,
    dtype: DType,
) -> Floats:
    """Coefficients at indices of the extended array."""
    inner: list[slice] = []
    order, boundary = filter_.spline_order, filter_.boundary[0]
    poles = len(POLES[order])
    around = AROUND * poles
    for inside, size in zip(part, sizes):
        start = inside.start // SEGMENT * SEGMENT - around - margin
        stop = ((inside.stop - 1) // SEGMENT + 1) * SEGMENT + around - margin
        if start < 0 or stop > size:
            indices = [_samples_of(inside, size, margin, boundary, poles) for inside, size in zip(part, sizes)]
            texels = read(reader, batch, indices, dtype, filter_.fill)
            break
        inner.append(slice(start, stop))
    else:
        texels = reader((*batch, *inner))
    samples = texels.astype(np.float32, copy=False) if type(texels) is np.ndarray else _host(texels)
    for axis, inside in enumerate(part, len(batch)):
        samples = _along(samples, axis, inside, order, around)
    return samples


def samples_around(inside: slice, size: int, margin: int, filter_: Filter) -> Indices:
    """The samples that coefficients at indices of the extended array are computed from, on any device.

    Indices in the array, not extended; -1 for the fill value.
    """
    return _samples_of(inside, size, margin, filter_.boundary[0], _poles(filter_), LOCAL_SAMPLES)


def _samples_of(inside: slice, size: int, margin: int, boundary: Boundary, poles: int, more: int = 0) -> Indices:
    """The samples of whole segments and their surroundings, and so many more at the end for each pole."""
    first, last = inside.start // SEGMENT, (inside.stop - 1) // SEGMENT
    start, stop = first * SEGMENT - AROUND * poles - margin, (last + 1) * SEGMENT + (AROUND + more) * poles - margin
    return texels_of(Span(start, stop - start), size, boundary)


def _host(array: Any) -> Floats:
    if isinstance(array, np.ndarray):
        return array.astype(np.float32, copy=False)
    get = getattr(array, "get", None)  # CuPy
    return np.asarray(array if get is None else get(), np.float32)


def _along(samples: Floats, axis: int, inside: slice, order: int, around: int) -> Floats:
    """Coefficients along one axis, of samples from so many before the first segment to as many after the last one."""
    lines = samples.swapaxes(axis, -1)
    rows = math.prod(lines.shape[:-1])
    segments = (lines.shape[-1] - 2 * around) // SEGMENT
    result = np.empty((*lines.shape[:-1], segments * SEGMENT), np.float32)
    lines, into = lines.reshape(rows, -1), result.reshape(rows, segments, SEGMENT)
    length = SEGMENT + 2 * around
    most = max(_MOST_SAMPLES // (segments * length), 1)
    for first in range(0, rows, most):
        some = lines[first : first + most]
        windows = np.lib.stride_tricks.sliding_window_view(some, length, axis=1)[:, ::SEGMENT]
        packed = np.ascontiguousarray(windows)
        filtered = np.empty_like(packed)
        _filter_of(len(some) * segments, length, order).run(packed, filtered)
        into[first : first + most] = filtered[:, :, around:-around]
    from_first = inside.start - inside.start // SEGMENT * SEGMENT
    cut: Floats = result[..., from_first : from_first + inside.stop - inside.start].swapaxes(axis, -1)
    return cut


@lru_cache(64)
def _filter_of(count: int, length: int, order: int) -> HostFilter:
    """The filter of lines."""
    return HostFilter(described_filter((count, length, 1), 1, order=order))
