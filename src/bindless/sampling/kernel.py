"""``KernelPlan``: pictures that built-in kernels compute, with copies of arrays that lie on the host."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..bindless_images.call_form import ArrayLike
from ..bindless_images.prepared_call import report_error
from ..bindless_images.scratch_memory import array_in, give_back, room, take
from ..kernels import choose
from ..kernels.arguments import typed_arguments
from ..kernels.launch_range import groups_of, picture_range, range_of
from ..kernels.manifest import parameters_of
from ..kernels.words import format_word, resampling_mode
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import ImageType, UsmKind
from ..model.resampling import Resampling, Strategy, Window
from ..sycl.device.handle_owner import HeldSampledHandle
from ..sycl.kernel.builtin import builtin_kernel
from ..sycl.usm import UsmArray, UsmPointer, usm_empty
from .plan import Plan, Program, finish

if TYPE_CHECKING:
    from ..model.filter import CoordinateMap
    from ..model.image_handles import SampledImageHandle
    from ..model.ranges import NdRange
    from ..submission.event import Event
    from ..sycl.kernel.kernel import Kernel
    from ..sycl.queue.queue import Queue

__all__ = ["KernelPlan"]

_NO_WINDOW = Window((0, 0, 0), (0, 0, 0))
_AFFINE = (0.0, 0.0, 0.0, 1.0)
_MAX_STAGED = 1 << 18  # bytes of host arrays that the device reads and writes over the bus
_MAX_SPARE = 4
# Entries of the matrix by the names of the kernels' arguments.
_PLANE = {f"m{row}{column}": 4 * (0, 1, 3)[row] + (0, 1, 3)[column] for row in range(3) for column in range(3)}
_PLACE = [f"{name}_{axis}" for name in ("first", "origin", "whole") for axis in "xyz"]
_SPACE = {f"m{row}{column}": 4 * row + column for row in range(4) for column in range(4)}


class _Launch(NamedTuple):
    """A launch of a kernel, and the places of those arguments that differ from call to call."""

    kernel: Kernel
    space: NdRange
    arguments: list[Any]
    values: int
    coords: int | None
    matrix: tuple[tuple[int, int], ...]
    """Place of an argument, and index of the matrix's entry."""
    place: tuple[int, ...]
    """Places of the arguments first, origin and whole along x, y, z."""


class _Staging(NamedTuple):
    """Memory of the host that the device reads and writes: for values, and for vectors from the first one on."""

    values: UsmArray
    bytes_on_host: Array
    coords: UsmArray | None
    vectors_on_host: Array | None


class KernelPlan(Plan):
    """See ``Plan``."""

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling, strategy: Strategy) -> None:
        super().__init__(queue, handle, picture)
        picture, desc = self._picture, self.image.desc
        self._has_vectors = picture.coords_strides != (0, 0)
        self._strategy = strategy
        self._is_packed = bool(picture.fields) or picture.coords_strides == (desc.dimensions, 1)
        if strategy is Strategy.projection:
            self._name = choose.warp(desc, desc.channel.kind, gradients=picture.footprints)
        else:
            target = queue.context._library.target
            self._name = choose.resampling(desc, picture.filter.precision, target, in_usm=self.image.usm)
        channels = picture.value_channels
        # Pixels of three channels move by elements, and have no alignment.
        self._alignment = 1 if channels == 3 else channels * picture.value_dtype.itemsize
        # Arrays of images have several pictures in one array, the launches of others take it as it is: in C code the
        # kinds of arguments belong to the kernel.
        self._points = desc.type is ImageType.array
        self._held = HeldSampledHandle(self.image.raw)
        self._held._held = self.image.keep
        self._launches: dict[tuple[bool, bool], _Launch] = {}
        self._nbytes = math.prod(picture.shape) * channels * picture.value_dtype.itemsize
        self._spare: list[_Staging] = []
        self._packed_plan: KernelPlan | None = None
        self._reads_host = queue.device.has(Aspect.usm_host_allocations)

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
    ) -> Event | None:
        if type(out) is np.ndarray or type(coords) is np.ndarray:
            return self._from_host(map_, out, coords, depends_on, offset)
        owner, place = out._owner, out._offset + offset  # type: ignore[union-attr]
        values: object = UsmPointer(owner, place) if self._points or offset else out
        key = map_.matrix[12:] == _AFFINE, (owner.address + place) % self._alignment == 0
        launch = self._launches.get(key)
        if launch is None:
            launch = self._launches[key] = self._prepared(map_, is_aligned=key[1])
        arguments = launch.arguments.copy()
        arguments[launch.values] = values
        if coords is not None:  # a view gives its first address: the strides are arguments of their own
            is_view = type(coords) is UsmArray and not coords._contiguous
            arguments[launch.coords] = coords.pointer if is_view else coords  # type: ignore[index,union-attr]
        for index, entry in launch.matrix:
            arguments[index] = map_.matrix[entry]
        return self._queue.parallel_for(launch.space, launch.kernel, *arguments, depends_on=depends_on)

    def move(self, first: tuple[int, int, int], window: Window) -> None:
        """See ``Plan.move``."""
        self._picture = replace(self._picture, first=first, window=window)
        for plan in (self, self._packed_plan):
            for launch in () if plan is None else plan._launches.values():
                for place, number in zip(launch.place, (*first, *window.origin, *window.whole)):
                    launch.arguments[place] = type(launch.arguments[place])(number)

    def program(self, map_: CoordinateMap, *, is_aligned: bool) -> Program | None:
        """See ``Plan.program``."""
        launch = self._launches.get((map_.matrix[12:] == _AFFINE, is_aligned))
        if launch is None:
            return None
        command = self._queue._stream.find(launch.kernel, launch.space, len(launch.arguments))
        if command is None:
            return None
        coords = -1 if launch.coords is None else launch.coords
        alignment = self._alignment if is_aligned else 1
        arguments = tuple(launch.arguments)
        return Program(command, arguments, (), launch.values, coords, -1, launch.matrix, alignment, True)

    def _prepared(self, map_: CoordinateMap, *, is_aligned: bool) -> _Launch:
        picture, desc, name = self._picture, self.image.desc, self._name
        format_ = format_word(
            picture.value_dtype, picture.value_channels, desc.channel, desc.num_channels, aligned=is_aligned
        )
        projects = self._strategy is Strategy.projection
        mode = None if projects else resampling_mode(picture, map_, has_vectors=self._has_vectors)
        kernel = builtin_kernel(self._queue, name, format=format_, mode=mode)
        parameters = [parameter.name for parameter in parameters_of(name)]
        entries = _PLANE if projects else _SPACE
        values: dict[str, Any] = dict.fromkeys(entries, 0.0) | self._numbers()
        values |= {"image": self._held, "values": None, "coords": None, "format": format_, "mode": mode}
        count = math.prod(picture.shape)
        return _Launch(
            kernel,
            range_of(groups_of(count)) if projects else picture_range(picture.shape),
            typed_arguments(name, values),
            parameters.index("values"),
            None if projects else parameters.index("coords"),
            tuple([(place, entries[parameter]) for place, parameter in enumerate(parameters) if parameter in entries]),
            () if projects else tuple([parameters.index(name) for name in _PLACE if name in parameters]),
        )

    def _numbers(self) -> dict[str, Any]:
        """Those arguments of the kernel that are the same for all launches, apart from the image and the formats."""
        return _numbers_of(self._picture)

    # ------------------------------------------------------------------ arrays of the host

    def _from_host(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int,
    ) -> Event | None:
        """A picture of which an array is on the host: a small one by way of memory that device and host reach."""
        plan, first, vectors = self, 0, None
        if isinstance(coords, np.ndarray):
            strides = self._picture.coords_strides
            if self._is_packed and coords.flags.c_contiguous:
                vectors = coords.reshape(-1)
            else:
                vectors, first, strides = _packed(coords, self._picture)
            if strides != self._picture.coords_strides:
                plan = self._plan_of(strides)
        nbytes = self._nbytes + (0 if vectors is None else vectors.nbytes)
        on_host = isinstance(out, np.ndarray) and (coords is None or vectors is not None)
        if not on_host or not self._reads_host or nbytes > _MAX_STAGED:
            return plan._through_device(map_, out, coords if vectors is None else vectors, first, depends_on, offset)
        try:
            staging = plan._spare.pop()
        except IndexError:
            staging = plan._new_staging(vectors, first)
        if vectors is not None and staging.vectors_on_host is not None:
            staging.vectors_on_host[...] = vectors
        event = plan._submit(map_, staging.values, staging.coords, depends_on)
        assert event is not None
        event.wait()
        if event._error is not None or event._native is None:
            report_error(event)
        out.reshape(-1).view(np.uint8)[offset : offset + self._nbytes] = staging.bytes_on_host
        if len(plan._spare) < _MAX_SPARE:
            plan._spare.append(staging)
        return None

    def _plan_of(self, strides: tuple[int, int]) -> KernelPlan:
        """The plan with vectors at these strides, which follow from those of this one."""
        if self._packed_plan is None:
            picture = replace(self._picture, coords_strides=strides)
            self._packed_plan = self._again(picture)
        return self._packed_plan

    def _again(self, picture: Resampling) -> KernelPlan:
        """The plan of another picture of the same image."""
        return KernelPlan(self._queue, self._handle, picture, self._strategy)

    def _through_device(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        first: int,
        depends_on: Event | Iterable[Event],
        offset: int,
    ) -> Event | None:
        """A picture of which an array is on the host, with copies to and from the device's memory."""
        queue, on_host = self._queue, isinstance(out, np.ndarray)
        vectors = coords if isinstance(coords, np.ndarray) else None
        start = 0 if vectors is None else room(vectors.nbytes)
        block = take(queue, max(start + (self._nbytes if on_host else 0), 1))
        there = coords
        if vectors is not None:
            copied = array_in(queue, block, 0, vectors.shape, vectors.dtype)
            if not on_host:
                vectors = vectors.copy()  # the caller may change them once this returns
            depends_on = queue.memcpy(copied, vectors, depends_on=depends_on)
            there = copied[first:]
        if not on_host:
            return self.submit(map_, out, there, depends_on, offset)  # its vectors keep the block
        part = self._part(out, offset)
        values = array_in(queue, block, start, part.shape, part.dtype)
        event = self.submit(map_, values, there, depends_on)
        assert event is not None
        finish(queue.memcpy(part, values, depends_on=event))
        give_back(queue, block)
        return None

    def _new_staging(self, vectors: Array | None, first: int) -> _Staging:
        queue, picture = self._queue, self._picture
        values = usm_empty(self._nbytes // picture.value_dtype.itemsize, picture.value_dtype, queue, kind=UsmKind.host)
        bytes_on_host = np.asarray(values).view(np.uint8)
        if vectors is None:
            return _Staging(values, bytes_on_host, None, None)
        coords = usm_empty(vectors.shape, vectors.dtype, queue, kind=UsmKind.host)
        return _Staging(values, bytes_on_host, coords[first:] if first else coords, np.asarray(coords))


def _numbers_of(picture: Resampling) -> dict[str, float]:
    """Those arguments of the kernels that are numbers, apart from the formats and the matrix."""
    desc = picture.descriptor
    numbers: dict[str, float] = {"centre": picture.map.centre, "fill": picture.filter.fill, "layer": picture.layer}
    numbers |= dict(zip(("step", "component"), picture.coords_strides))
    window = picture.window or _NO_WINDOW
    for name, values in (
        ("first", picture.first),
        ("scale", picture.scale),
        ("bias", picture.bias),
        ("size", (desc.width, desc.height, desc.depth)),
        ("origin", window.origin),
        ("whole", window.whole),
    ):
        numbers |= {f"{name}_{axis}": value for axis, value in zip("xyz", values)}
    return numbers | dict(zip(("width", "height", "depth"), picture.shape))


def _packed(coords: Array, picture: Resampling) -> tuple[Array, int, tuple[int, int]]:
    """Vectors on the host without gaps: the elements, which of them is the first, and the strides."""
    count, components = math.prod(picture.shape), picture.descriptor.dimensions
    step, component = picture.coords_strides
    size = coords.dtype.itemsize
    vectors = as_strided(coords, (count, components), (step * size, component * size))
    if component < 0:
        vectors = vectors[:, ::-1]
    if step < 0:
        vectors = vectors[::-1]
    planes = abs(component) > abs(step)
    flat = np.ascontiguousarray(vectors.T if planes else vectors).reshape(-1)
    steps = (1, count) if planes else (components, 1)
    first = (steps[0] * (count - 1) if step < 0 else 0) + (steps[1] * (components - 1) if component < 0 else 0)
    return flat, first, (-steps[0] if step < 0 else steps[0], -steps[1] if component < 0 else steps[1])
