"""B-spline coefficients of arrays, computed where the arrays are.

A back end that has the filter runs it as a command. Elsewhere the kernels ``csrc/kernels/source/spline_rows.cl`` and
``spline_columns.cl`` filter arrays on the device, and C code of the reference driver filters arrays on the host.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..drivers import reference
from ..model.arrays import Array, DType
from ..model.enums import Boundary, coerce
from ..model.errors import InvalidError
from ..model.spline_filter import POLES, SPLINE_BOUNDARIES, SplineFilter
from ..sampling.packing import After, Packing, contiguous
from ..sycl.kernel.builtin import builtin_kernel, launch_range
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .array_library import AnyArray

if TYPE_CHECKING:
    from ..model.ranges import NdRange
    from ..submission.event import Event
    from ..sycl.kernel.kernel import Kernel

__all__ = [
    "LOCAL_SAMPLES",
    "SECOND",
    "DeviceFilter",
    "HostFilter",
    "SplineLaunch",
    "SplineStep",
    "described_filter",
    "filter_by_kernels",
    "filter_samples",
    "local_launches",
    "run_launches",
    "spline_coefficients",
    "spline_launches",
    "spline_steps",
]

_FLOAT32: DType = np.dtype(np.float32)
_SOURCE, _TARGET, SECOND = range(3)  # arrays of launches
_GROUP = 128  # work-items of a group of spline_rows
_CHUNK = 16  # samples of a work-item of spline_rows
LOCAL_SAMPLES = _CHUNK
_MOST_CHANNELS = 4
# Columns are divided into segments until there are this many work-items, unless segments get shorter than the other.
_ENOUGH_ITEMS, _LEAST_SEGMENT = 1 << 16, 64


def spline_coefficients(
    queue: Queue,
    samples: AnyArray,
    dimensions: int,
    boundary: Boundary | str | Sequence[Boundary | str] = Boundary.mirror,
    *,
    margin: int | Sequence[int] = 0,
    fill: float | None = None,
    order: int = 3,
    out: AnyArray | None = None,
    after: After = (),
) -> tuple[AnyArray, After]:
    """Coefficients of the interpolating B-spline, as scipy's ``spline_filter`` computes them.

    Coefficients of a device are computed there, and nothing waits; those of the host by the processor.

    Parameters
    ----------
    queue : Queue
        Does the work of arrays on the device.
    samples : AnyArray
        Shape (..., [[depth,] height,] width, channels), of numbers; one to four channels.
    dimensions : int
        1, 2 or 3: number of axes that are filtered, the last ones before the channels.
    boundary : Boundary | str | Sequence[Boundary | str]
        Continuation of lines beyond their ends: "mirror" (scipy's mirror, constant, grid-constant and wrap),
        "mirrored_repeat" (scipy's reflect and nearest) or "repeat" (scipy's grid-wrap); or one for each filtered axis,
        x first.
    margin : int | Sequence[int]
        Samples that surround the array along each filtered axis before it is filtered; or one for each, x first.
    fill : float, optional
        Value of the margin; default the outermost samples.
    order : int, default 3
        Of the spline: 2, 3, 4 or 5.
    out : AnyArray, optional
        Contiguous float32 array of the result, where the samples are; does not overlap them. Default a new one.
    after : After
        What the work comes after, in a queue out of order.

    Returns
    -------
    tuple[AnyArray, After]
        float32 coefficients of the shape of the samples, with two margins more along each filtered axis; and their
        events, none for arrays on the host.

    Raises
    ------
    InvalidError
        A boundary has no filter, or the arrays have no such axes, channels, types or places.

    Examples
    --------
    >>> import numpy as np
    >>> import bindless as bl
    >>> from bindless.image.spline_filter import spline_coefficients
    >>> line = np.array([0, 0, 1, 0, 0], np.float32)
    >>> coefficients, _ = spline_coefficients(bl.Queue("reference"), line[:, None], 1)
    >>> (coefficients[1:4, 0] @ [1, 4, 1] / 6).round(6).item()
    1.0
    """
    described = described_filter(samples.shape, dimensions, boundary, margin, fill, order)
    return filter_samples(queue, samples, described, out=out, after=after)


def filter_samples(
    queue: Queue, samples: AnyArray, described: SplineFilter, *, out: AnyArray | None = None, after: After = ()
) -> tuple[AnyArray, After]:
    """``spline_coefficients`` by a filter of the samples' shape."""
    dimensions = described.dimensions
    margins = described.margin[:dimensions][::-1]
    first = len(samples.shape) - 1 - dimensions
    filtered = (n + 2 * added for n, added in zip(samples.shape[first:-1], margins))
    shape = (*samples.shape[:first], *filtered, samples.shape[-1])
    if out is not None:
        _check_out(out, samples, shape)
    if isinstance(samples, UsmArray):
        target = usm_empty(shape, _FLOAT32, queue) if out is None else out
        assert isinstance(target, UsmArray)
        if not described.arrays:
            return target, after
        source, after = contiguous(queue, samples, samples.shape, _FLOAT32, "samples", after)
        if queue._backend.spline_filters is not None:
            return target, DeviceFilter(queue, described).run(source, target, target, after)
        return target, filter_by_kernels(queue, described, source, target, after)
    if samples.dtype.kind not in "biuf":
        raise InvalidError(f"samples have dtype {samples.dtype}: B-splines are filtered in float32, from real numbers")
    result = np.empty(shape, _FLOAT32) if out is None else out
    assert isinstance(result, np.ndarray)
    if described.arrays:
        HostFilter(described).run(np.ascontiguousarray(samples, _FLOAT32), result)
    return result, ()


def described_filter(
    shape: tuple[int, ...],
    dimensions: int,
    boundary: Boundary | str | Sequence[Boundary | str] = Boundary.mirror,
    margin: int | Sequence[int] = 0,
    fill: float | None = None,
    order: int = 3,
) -> SplineFilter:
    """The filter of an array of a shape, without addresses."""
    if dimensions not in (1, 2, 3) or len(shape) <= dimensions:
        raise InvalidError(
            f"dimensions={dimensions} of samples of shape {shape}: 1, 2 or 3 axes, and the channels last"
        )
    if not 1 <= shape[-1] <= _MOST_CHANNELS:
        raise InvalidError(f"samples have {shape[-1]} channels in shape {shape}: 1 to {_MOST_CHANNELS}, the last axis")
    single = isinstance(boundary, (str, Boundary))
    names: Sequence[Any] = [boundary] * dimensions if single else list(boundary)
    margins = [margin] * dimensions if isinstance(margin, int) else list(margin)
    if len(names) != dimensions or len(margins) != dimensions:
        raise InvalidError(f"boundary={boundary}, margin={margin}: one each, or {dimensions} in the order x, y, z")
    modes = [coerce(Boundary, name, "boundary") for name in names]
    for mode in modes:
        if mode not in SPLINE_BOUNDARIES:
            raise InvalidError(f"boundary={mode.value!r} has no filter: it is one of {', '.join(SPLINE_BOUNDARIES)}")
    if order not in POLES:
        raise InvalidError(f"order={order} has no filter: it is one of {', '.join(map(str, POLES))}")
    if any(added < 0 for added in margins):
        raise InvalidError(f"margin={margin}: 0 or more samples")
    sizes = shape[-1 - dimensions : -1]
    count = math.prod(shape[: -1 - dimensions])
    if count and 0 in sizes:
        if any(margins):
            raise InvalidError(f"samples of shape {shape} have none that a margin could surround")
        count = 0
    missing = 3 - dimensions
    width, height, depth = (*sizes[::-1], *(1,) * missing)
    along_x, along_y, along_z = (*margins, *(0,) * missing)
    x, y, z = (*modes, *(Boundary.mirror,) * missing)
    extent, surrounded = (width, height, depth), (along_x, along_y, along_z)
    return SplineFilter(0, 0, extent, count, shape[-1], dimensions, surrounded, fill, (x, y, z), order)


def _check_out(out: AnyArray, samples: AnyArray, shape: tuple[int, ...]) -> None:
    packed = out.is_contiguous if isinstance(out, UsmArray) else out.flags.c_contiguous and out.flags.writeable
    if isinstance(out, UsmArray) is not isinstance(samples, UsmArray):
        raise InvalidError("out is on the host and the samples are not, or the samples alone are: both in one place")
    if out.shape != shape or out.dtype != _FLOAT32 or not packed:
        raise InvalidError(f"out {out.dtype} {out.shape}: a contiguous array, float32 {shape}, that can be written")


class HostFilter:
    """The filter of packed float32 arrays of the host, of which the addresses are left open.

    Parameters
    ----------
    described : SplineFilter
        Of at least one array.
    """

    def __init__(self, described: SplineFilter) -> None:
        reference.load()
        self._call = reference.ffi.new("blr_spline_filter_t *", described.fields)

    def run(self, source: Array, target: Array) -> None:
        """Filter one array into another."""
        call = reference.ffi.new("blr_spline_filter_t *", self._call[0])  # another thread may have its own
        call.source = reference.ffi.cast("void *", source.__array_interface__["data"][0])
        call.target = reference.ffi.cast("void *", target.__array_interface__["data"][0])
        status = reference.lib.blrSplineFilter(call)
        if status:
            reference.check(status, "blrSplineFilter")


class DeviceFilter:
    """The filter of arrays on the device, of which the addresses are left open.

    Parameters
    ----------
    queue : Queue
        Does the work.
    described : SplineFilter
        Of at least one array.
    samples : Packing | None
        Makes elements of a layout packed ones of float32, in an in-order queue; None where they are.
    """

    def __init__(self, queue: Queue, described: SplineFilter, samples: Packing | None = None) -> None:
        self._queue, self._described, self._samples = queue, described, samples
        self._filters = queue._backend.spline_filters
        self._launches = [] if self._filters is not None else spline_launches(queue, described)
        self._is_first_in_target = not self._launches or self._launches[0].target == _TARGET

    def run(self, source: UsmArray, target: UsmArray, second: UsmArray, after: After = ()) -> After:
        """Filter one array into another.

        Parameters
        ----------
        target, second : UsmArray
            Packed float32 arrays of the coefficients' shape, apart from the source; the second gets any values.
        after : After
            What the work comes after.
        """
        queue, filters = self._queue, self._filters
        if self._samples is not None:
            _, space, kernel, before, behind = self._samples
            packed = second if self._is_first_in_target else target
            queue.parallel_for(space, kernel, source, *before, packed, *behind)
            source = packed
        if filters is None:
            return run_launches(queue, self._launches, (source, target, second), after)
        native = queue._stream.native  # the stream raises the error of one that has ended, and of memory that was freed
        first, last = source._owner.address + source._offset, target._owner.address + target._offset
        described = self._described._replace(source=first, target=last)
        event = queue._stream.submit(
            lambda waits: filters.spline_filter(native, described, waits),  # type: ignore[arg-type]
            after,
            (source, target),
        )
        return (event,)


class SplineStep(NamedTuple):
    """A launch that filters lines of one array into another, before it is of a queue.

    Attributes
    ----------
    name : str
        The kernel, of rows or of columns.
    items : int
        Work-items of the range (``launch_range``).
    source, target : int
        Which arrays: 0 has the samples, 1 gets the coefficients, 2 is as large as it.
    arguments : tuple[Any, ...]
        After the two arrays.
    """

    name: str
    items: int
    source: int
    target: int
    arguments: tuple[Any, ...]

    def on(self, queue: Queue) -> SplineLaunch:
        """The launch in a queue."""
        kernel = builtin_kernel(queue, self.name)
        return SplineLaunch(kernel, launch_range(self.items), self.source, self.target, self.arguments)


class SplineLaunch(NamedTuple):
    """A ``SplineStep`` of a queue, with its kernel and its range."""

    kernel: Kernel
    space: NdRange
    source: int
    target: int
    arguments: tuple[Any, ...]


def spline_launches(queue: Queue, described: SplineFilter) -> list[SplineLaunch]:
    """The launches of ``spline_steps`` in a queue."""
    return [step.on(queue) for step in spline_steps(described)]


def spline_steps(described: SplineFilter) -> list[SplineStep]:
    """Rows from the source to the target, then columns in place, or by way of a second array where they are divided.

    There is a launch for each pole. Rows of all but the first are filtered from array to array, without a margin.
    """
    width, height, depth = described.size
    channels = described.channels
    inner, steps = width * channels, []
    if described.dimensions > 1 and height > 1:
        steps.append((1, height, inner))
    if described.dimensions > 2 and depth > 1:
        steps.append((2, depth, inner * height))
    floats = width * height * depth * channels * described.arrays
    segments = [_segment(length, floats // length) for _, length, _ in steps]
    poles = described.poles
    moves = (sum(segment < length for segment, (_, length, _) in zip(segments, steps)) + 1) * len(poles) - 1
    now = SECOND if moves % 2 else _TARGET
    launches = [_rows_step(described, poles[0], _SOURCE, now)]
    wide = described._replace(extent=described.size, margin=(0, 0, 0))
    for pole in poles[1:]:
        launches.append(_rows_step(wide, pole, now, _other(now)))
        now = _other(now)
    for (axis, length, stride), segment in zip(steps, segments):
        for pole in poles:
            result = now if segment == length else _other(now)
            boundary = described.boundary[axis]
            launches.append(_columns_step(pole, now, result, floats, stride, length, segment, boundary))
            now = result
    return launches


def _other(array: int) -> int:
    """The array beside the one that has the values now."""
    return _TARGET if array == SECOND else SECOND


def run_launches(queue: Queue, launches: Sequence[SplineLaunch], arrays: Sequence[Any], after: After = ()) -> After:
    """Submit launches, whose arrays are on the device; the last one's event."""
    in_order = queue._stream.in_order
    event: Event | None = None
    for kernel, space, source, target, arguments in launches:
        event = None  # drivers record the events of which a reference exists
        event = queue.parallel_for(space, kernel, arrays[source], arrays[target], *arguments, depends_on=after)
        after = () if in_order else (event,)
    return after if event is None else (event,)


def filter_by_kernels(queue: Queue, described: SplineFilter, source: UsmArray, target: UsmArray, after: After) -> After:
    """The coefficients of an array on the device, by the built-in kernels."""
    launches = spline_launches(queue, described)
    moves = any(SECOND in (launch.source, launch.target) for launch in launches)
    other = usm_empty(target.shape, _FLOAT32, queue) if moves else target
    return run_launches(queue, launches, (source, target, other), after)


def local_launches(queue: Queue, shape: tuple[int, ...], dimensions: int, order: int = 3) -> list[SplineLaunch]:
    """Launches for coefficients that each depend on their chunk of ``LOCAL_SAMPLES`` samples and those next to it.

    The arrays are the samples, which are overwritten, and another one; the last launch writes the coefficients. Their
    first chunk and their last two along each filtered axis depend on where the line ends; for each pole of the order's
    filter there are as many such chunks.

    Parameters
    ----------
    queue : Queue
        In order.
    shape : tuple[int, ...]
        Of both float32 arrays, (..., [[depth,] height,] width), contiguous, of whole chunks along filtered axes.
    dimensions : int
        1, 2 or 3.
    """
    described = described_filter((*shape, 1), dimensions, order=order)
    launches: list[SplineLaunch] = []
    floats, stride = math.prod(shape), 1
    for length in shape[: -1 - dimensions : -1]:
        for pole in described.poles:
            now, then = (_SOURCE, _TARGET) if len(launches) % 2 == 0 else (_TARGET, _SOURCE)
            if stride == 1:
                launches.append(_rows_step(described, pole, now, then).on(queue))
            else:
                step = _columns_step(pole, now, then, floats, stride, length, _CHUNK, Boundary.mirror)
                launches.append(step.on(queue))
        stride *= length
    return launches


def _columns_step(
    pole: float,
    source: int,
    target: int,
    floats: int,
    stride: int,
    length: int,
    segment: int,
    boundary: Boundary,
) -> SplineStep:
    items = floats // length * -(-length // segment)
    end = (1 - pole) / (1 + pole) if boundary is Boundary.mirror else 1 - pole
    arguments = stride, length, segment, SPLINE_BOUNDARIES[boundary], pole, (1 - pole) ** 2, end, items
    return SplineStep("bindless_spline_columns", items, source, target, arguments)


def _rows_step(described: SplineFilter, pole: float, source: int, target: int) -> SplineStep:
    width, height, depth = described.size
    rows = height * depth * described.arrays
    chunks, lanes = -(-width // _CHUNK), _GROUP // described.channels
    across = min(chunks, lanes)
    groups = -(-rows // (lanes // across)) * -(-chunks // across)
    fill = 0.0 if described.fill is None else described.fill
    arguments = (
        *described.extent, *described.margin, described.channels, SPLINE_BOUNDARIES[described.boundary[0]],
        int(described.fill is not None), fill, pole, (1 - pole) ** 2, rows,
    )  # fmt: skip
    return SplineStep("bindless_spline_rows", groups * _GROUP, source, target, arguments)


def _segment(length: int, columns: int) -> int:
    """Samples of a column for each work-item: all of them, or a multiple of a chunk."""
    segments = min(_ENOUGH_ITEMS // columns, length // _LEAST_SEGMENT)
    return length if segments < 2 else -(-length // segments // _CHUNK) * _CHUNK
