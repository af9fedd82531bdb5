"""``AreaSource``: an image whose areas have means, computed where the pixels are; ``AreaPlan``: means in one size.

A back end that computes means itself reads them from the image. On GPUs built-in kernels reduce a copy of the pixels in
linear memory. All give the same pixels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindless_images import ImageMem
from ..bindless_images.scratch_memory import array_in, give_back, room, take
from ..core._submission import Prepared
from ..kernels import choose
from ..model.area_mean import AreaMean
from ..model.arrays import DType
from ..model.aspects import Aspect
from ..model.channels import ELEMENTS
from ..model.enums import ImageType
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.copy.image_copy import plan_copy
from ..sycl.copy.prepared_copy import command_of, copy_command
from ..sycl.kernel.builtin import builtin_kernel, launch_range
from ..sycl.kernel.kernel import Kernel
from ..sycl.usm import UsmArray, usm_empty
from .packing import After
from .plan import Program, address_of

if TYPE_CHECKING:
    from ..bindless_images.call_form import ArrayLike
    from ..model.ranges import NdRange
    from ..sycl.queue.queue import Queue

__all__ = ["AreaPlan", "AreaSource", "area_launches", "run_launches"]

Extent = tuple[int, int, int]
Launches = list[tuple["NdRange", list[Any]]]

_SUM = 8  # number of the kernels' type for sums, in addition to those of ELEMENTS
_MOST_PIXELS = 1 << 16  # along an axis: products of sizes fit 32 bits in the kernels
# Pixels of one mean from which on axes are reduced one after the other: by then one work-item has enough to do.
_LARGE_AREA = 1 << 10
_TARGET = 5  # place of the array of means among the arguments of the kernels
_MAX_PLANS = 16
_MAX_COPY = 1 << 24  # bytes of a linear copy that an image keeps; those of larger images take memory for each call


class AreaSource:
    """The plans of an image's means.

    Parameters
    ----------
    queue : Queue
        Does the work.
    memory : ImageMem
        Of the image.
    described : ImageDescriptor
        The descriptor as the user gave it; it has the layers and channels of the means.
    """

    def __init__(self, queue: Queue, memory: ImageMem, described: ImageDescriptor) -> None:
        self._level = _Level(queue, memory, described)
        self._plans: dict[tuple[Extent, DType], AreaPlan] = {}

    def plan(self, size: Extent, dtype: DType) -> AreaPlan | None:
        """The plan of means in a size; None where the processor is to compute them.

        Parameters
        ----------
        size : Extent
            Pixels of the means in (x, y, z) order, none more than the image's; z counts layers where there are some.
        dtype : DType
            The image's, or float32 for means of stored codes that are not rounded.
        """
        plan = self._plans.get((size, dtype))
        if plan is None:
            plan = _new_plan(self._level, size, dtype)
            if plan is not None:
                if len(self._plans) >= _MAX_PLANS:
                    self._plans.clear()
                self._plans[size, dtype] = plan
        return plan


class _Level:
    """The first level of an image as means read it. Plans refer to it; a cycle would keep the memory."""

    def __init__(self, queue: Queue, memory: ImageMem, described: ImageDescriptor) -> None:
        self.queue, self.memory, self.described = queue, memory, described
        stored = memory.get_descriptor()
        self.is_mipmap = stored.type is ImageType.mipmap
        self.stored = stored.get_mip_level_desc(0) if self.is_mipmap else stored
        self.copy_bytes = math.prod(self.stored.shape) * self.stored.dtype.itemsize
        self._copy: UsmArray | None = None

    def copy(self) -> UsmArray | None:
        """Memory of the device for the pixels, which later commands use again; None where each call takes its own."""
        if self._copy is None and self.queue._stream.in_order and self.copy_bytes <= _MAX_COPY:
            self._copy = usm_empty(self.stored.shape, self.stored.dtype, self.queue)
        return self._copy

    @property
    def place(self) -> tuple[Any, dict[str, Any]]:
        """The memory that ``ext_oneapi_copy`` reads, and its keywords."""
        if self.is_mipmap:
            return self.memory.get_mip_level_mem_handle(0), {"src_desc": self.stored}
        return self.memory, {}


class AreaPlan:
    """Means of an image in one size: everything that does not depend on the array of the result."""

    def submit(self, values: ArrayLike, after: After) -> Event:
        """Compute the means in a contiguous array."""
        raise NotImplementedError

    def programs(self) -> list[Program]:
        """The commands as C code repeats them, of which the last one writes the means; none where Python submits them.

        The plan was submitted before.
        """
        raise NotImplementedError


def _new_plan(level: _Level, size: Extent, dtype: DType) -> AreaPlan | None:
    queue, described = level.queue, level.described
    if queue._backend.area_means is not None:
        return _DriverPlan(level, size, dtype)
    device, kind = queue.device, described.dtype
    if not device.is_gpu() or dtype != kind or max(described.extent) >= _MOST_PIXELS:
        return None
    name = choose.area_means(kind, has_doubles=device.has(Aspect.fp64))
    return None if name is None else _KernelPlan(level, size, builtin_kernel(queue, name))


class _DriverPlan(AreaPlan):
    """Means that a back end computes of the image's own memory."""

    def __init__(self, level: _Level, size: Extent, dtype: DType) -> None:
        self._queue, described = level.queue, level.described
        raw, stored, _, _, self._keep = level.memory._image_memory()
        if level.is_mipmap:
            raw = level.memory.get_mip_level_mem_handle(0).raw_handle
        kind, channels = described.channel_type, described.num_channels
        self._mean = AreaMean(raw, 0, described.extent, size, kind, stored.num_channels, channels, dtype)
        self._command = self._prepared()

    def _prepared(self) -> Prepared | None:
        stream, means = self._queue._stream, self._queue._backend.area_means
        assert means is not None
        with stream.lock:
            if stream.native is None or stream.closed:
                return None
            command = means.prepare_area_mean(stream.native, self._mean)
        if command is None:
            return None
        return command_of(command, [("number", command.places[0] or 0, command.sizes[0], True, False, None)])

    def submit(self, values: ArrayLike, after: After) -> Event:
        """See ``AreaPlan.submit``."""
        queue, address, keep = self._queue, address_of(values), (self._keep, values)
        event: Event | None = None
        if self._command is not None:
            event = queue._stream.submit_prepared(self._command, (address,), after, keep)
        if event is None:
            means, mean, native = queue._backend.area_means, self._mean._replace(means=address), queue._native
            assert means is not None
            event = queue._stream.submit(lambda waits: means.area_mean(native, mean, waits), after, keep)
        return event

    def programs(self) -> list[Program]:
        """See ``AreaPlan.programs``."""
        if self._command is None:
            return []
        return [Program(self._command, (None,), (self._keep,), 0, -1, -1, (), self._mean.dtype.itemsize, False)]


class _KernelPlan(AreaPlan):
    """Means that kernels compute of a copy of the pixels in linear memory of the device."""

    def __init__(self, level: _Level, size: Extent, kernel: Kernel) -> None:
        self._level, self._size, self._kernel = level, size, kernel
        self._pixels = level.copy()
        self._launches = None if self._pixels is None else self._launches_of(self._pixels)

    def _launches_of(self, pixels: UsmArray) -> Launches:
        described = self._level.described
        return area_launches(self._level.queue, pixels, described.extent, self._size, described)

    def submit(self, values: ArrayLike, after: After) -> Event:
        """See ``AreaPlan.submit``; waits where the result is on the host, and for memory that this call takes."""
        level, queue, on_host = self._level, self._level.queue, isinstance(values, np.ndarray)
        start = room(level.copy_bytes) if self._pixels is None else 0
        nbytes = start + (values.nbytes if on_host else 0)
        block = take(queue, nbytes) if nbytes else None
        pixels, means = self._pixels, values
        if block is not None and pixels is None:
            pixels = array_in(queue, block, 0, level.stored.shape, level.stored.dtype)
        if block is not None and on_host:
            means = array_in(queue, block, start, values.shape, values.dtype)
        assert pixels is not None
        memory, keywords = level.place
        copied = queue.ext_oneapi_copy(memory, pixels, depends_on=after, **keywords)
        done = run_launches(queue, self._kernel, self._launches or self._launches_of(pixels), means, copied)
        if means is not values:
            done = queue.memcpy(values, means, depends_on=done)
        if block is not None:
            done.wait()
            give_back(queue, block)
        return done

    def programs(self) -> list[Program]:
        """See ``AreaPlan.programs``."""
        if self._launches is None or self._pixels is None:
            return []
        queue, (memory, keywords) = self._level.queue, self._level.place
        regions, keep = plan_copy(queue, memory, self._pixels, **keywords)
        copy = copy_command(queue, regions[0]) if len(regions) == 1 else None
        commands = [queue._stream.find(self._kernel, space, len(rest)) for space, rest in self._launches]
        if copy is None:
            return []
        programs = [Program(copy, (), (*keep, self._pixels), -1, -1, -1, (), 1, True)]
        for command, (_, arguments) in zip(commands, self._launches):
            if command is None:
                return []
            target = _TARGET if arguments[_TARGET] is None else -1
            alignment = self._level.described.dtype.itemsize
            programs.append(Program(command, tuple(arguments), (), target, -1, -1, (), alignment, True))
        return programs


def area_launches(queue: Queue, pixels: UsmArray, extent: Extent, size: Extent, described: ImageDescriptor) -> Launches:
    """Ranges and arguments of the built-in kernel that computes means of packed pixels on the device.

    The kernel is ``area_codes`` for integers of 8 and 16 bits, ``area_reals`` for halves and floats.

    Parameters
    ----------
    pixels : UsmArray
        Contiguous; its last axis counts channels.
    extent, size : Extent
        Pixels of both in (x, y, z) order; z counts layers where there are some.
    described : ImageDescriptor
        Of the means, which have the first ones of the channels.

    Returns
    -------
    Launches
        Of one launch, or one for each axis; that of the means has None in their place.
    """
    element, lowest = ELEMENTS[described.dtype], int(described.channel.normalized and described.dtype.kind == "i")
    ratios = [(new // (divisor := math.gcd(old, new)), old // divisor) for old, new in zip(extent, size)]
    divisor = np.uint64(math.prod(total for _, total in ratios))
    axes = [axis for axis in range(3) if extent[axis] != size[axis]]
    together = math.prod(extent) <= _LARGE_AREA * math.prod(size) or len(axes) < 2
    sums, channels = np.dtype(np.float64 if described.dtype.kind == "f" else np.uint64), described.num_channels
    source, kind, lengths, launches = pixels, element, extent, []
    for group in [axes] if together else [[axis] for axis in axes]:
        last = together or group == axes[-1:]
        x, y, z = (size[axis] if axis in group else lengths[axis] for axis in range(3))
        target = None if last else usm_empty((x * y * z, channels), sums, queue)
        result = element if last else _SUM
        steps = [ratios[axis] if axis in group else (1, 1) for axis in range(3)]
        numbers = (result, channels, x, y, z, *(part for step in steps for part in step), lowest)
        arguments = [
            source, *map(np.uint32, (kind, source.shape[-1], *lengths[:2])), target, *map(np.uint32, numbers), divisor,
        ]  # fmt: skip
        launches.append((launch_range(x * y * z), arguments))
        if target is not None:
            source, kind, lengths = target, result, (x, y, z)
    return launches


def run_launches(queue: Queue, kernel: Kernel, launches: Launches, means: ArrayLike, after: Event) -> Event:
    """Submit launches of ``area_launches`` for an array of means on the device."""
    for space, arguments in launches:
        values = [means if argument is None else argument for argument in arguments]
        after = queue.parallel_for(space, kernel, *values, depends_on=after)
    return after
