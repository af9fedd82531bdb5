"""``resample``: pictures that a device computes from an image, at coordinates from a matrix, an array, or both."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..kernels import choose
from ..kernels.arguments import typed_arguments
from ..kernels.launch_range import picture_range
from ..kernels.manifest import parameters_of
from ..kernels.words import format_word, is_aligned, resampling_mode
from ..model.aspects import Aspect
from ..model.enums import ImageType, Precision
from ..model.errors import InvalidError
from ..model.filter import CoordinateMap
from ..model.resampling import Resampling, Window
from ..sycl.device.handle_owner import HeldSampledHandle
from ..sycl.kernel.builtin import builtin_kernel
from ..sycl.usm import UsmArray
from .call_arguments import ArrayLike, Form, Image, find_image
from .host_resampling import resample_on_host
from .prepared_call import report_error
from .scratch_memory import array_in, give_back, room, take

if TYPE_CHECKING:
    from ..model.image_handles import SampledImageHandle
    from ..model.ranges import NdRange
    from ..submission.event import Event
    from ..sycl.kernel.kernel import Kernel
    from ..sycl.queue.queue import Queue

__all__ = ["PreparedPicture", "resample"]

_NO_WINDOW = Window((0, 0, 0), (0, 0, 0))
_TYPES = (ImageType.standard, ImageType.array, ImageType.mipmap)
_SAMPLES = {type_: Form("resample", "sample", type_, sampled=True, unsampled=False) for type_ in _TYPES}
_FETCHES = {type_: Form("resample", "fetch", type_, sampled=True, unsampled=False) for type_ in _TYPES}


def resample(
    queue: Queue,
    handle: SampledImageHandle,
    picture: Resampling,
    out: ArrayLike,
    *,
    coords: ArrayLike | None = None,
    depends_on: Event | Iterable[Event] = (),
) -> Event | None:
    """A picture of an image.

    Parameters
    ----------
    handle : SampledImageHandle
        Of a standard image, an array or a mipmap, made by ``create_image`` for the queue's device.
    picture : Resampling
        What to compute. The fields for handle, descriptor, addresses and types of arrays follow from the other
        arguments and need not be right.
    out : ArrayLike
        The values: contiguous, ``picture.shape`` reversed times channels; on the host (waits, returns None) or in USM
        (returns the event).
    coords : ArrayLike | None, default None
        Vectors of float32 or float64. Its first element is the first component of the first vector, from which
        ``picture.coords_strides`` lead to the others; their number is that of the image's dimensions.
    depends_on : Event | Iterable[Event], default ()
        Events to wait for first.

    Raises
    ------
    InvalidError
        The handle is no such image of the queue's context.
    FeatureNotSupportedError
        ``Precision.reproducible``, or no double precision: the host computes the picture, and the image lies over USM.
    """
    channels = out.shape[-1]
    prepared = PreparedPicture(queue, handle, picture, out.dtype, channels, None if coords is None else coords.dtype)
    return prepared.draw(picture.map, out, coords, depends_on)


class _Launch(NamedTuple):
    """A launch of a kernel, and the places of those arguments that differ from call to call."""

    kernel: Kernel
    space: NdRange
    arguments: list[Any]
    image: int
    values: int
    coords: int
    matrix: list[tuple[int, int]]
    """Place of an argument, and index of the matrix's entry."""


class PreparedPicture:
    """Pictures of one image of which the map and the arrays are left open.

    Parameters
    ----------
    queue, handle, picture
        As of ``resample``. The map of ``picture`` tells only its centre.
    value_dtype, value_channels
        Of the values.
    coords_dtype : np.dtype | None
        Of the vectors, or None where there are none.

    Raises
    ------
    InvalidError
        The handle is no such image.
    """

    __slots__ = ("_form", "_handle", "_has_vectors", "_launches", "_picture", "_queue")

    def __init__(
        self,
        queue: Queue,
        handle: SampledImageHandle,
        picture: Resampling,
        value_dtype: np.dtype[Any],
        value_channels: int,
        coords_dtype: np.dtype[Any] | None,
    ) -> None:
        desc = handle._descriptor
        if desc is None or desc.type not in _TYPES:
            raise InvalidError(f"resample: {handle!r} is no standard image, array or mipmap that create_image made")
        self._queue, self._handle, self._has_vectors = queue, handle, coords_dtype is not None
        self._form = (_SAMPLES if picture.filter.precision is Precision.hardware else _FETCHES)[desc.type]
        self._picture = replace(
            picture,
            descriptor=desc,
            value_dtype=value_dtype,
            value_channels=value_channels,
            coords=0,
            coords_dtype=picture.coords_dtype if coords_dtype is None else coords_dtype,
        )
        self._launches: dict[tuple[str, int, int], _Launch] = {}

    def draw(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None = None,
        depends_on: Event | Iterable[Event] = (),
    ) -> Event | None:
        """One picture, as ``resample`` makes it; ``out`` and ``coords`` have the dtypes that were prepared."""
        queue = self._queue
        image = find_image(queue, self._form, self._handle, out, None, None)
        if math.prod(self._picture.shape) == 0:
            return None if isinstance(out, np.ndarray) else queue._nothing(depends_on)
        if queue._backend.resampling is not None:
            return self._by_back_end(image, map_, out, coords, depends_on)
        if self._picture.filter.precision is Precision.reproducible or not queue.device.has(Aspect.fp64):
            picture = replace(self._picture, handle=image.raw, descriptor=image.desc, map=map_)
            return resample_on_host(queue, image, picture, out, coords, depends_on, resample)
        return self._by_kernel(image, map_, out, coords, depends_on)

    def _by_back_end(
        self,
        image: Image,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
    ) -> Event | None:
        """By the back end, which reads and writes the arrays where they are."""
        group, native = self._queue._backend.resampling, self._queue._native
        assert group is not None
        vectors = 0 if coords is None else _address(coords)
        picture = replace(self._picture, handle=image.raw, map=map_, values=_address(out), coords=vectors)
        keep = (*image.keep, out, coords)
        event = self._queue._stream.submit(lambda waits: group.resample(native, picture, waits), depends_on, keep)
        if isinstance(out, UsmArray):
            return event
        _finish(event)
        return None

    def _by_kernel(
        self,
        image: Image,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
    ) -> Event | None:
        """By a built-in kernel, with copies of arrays on the host."""
        queue = self._queue
        if isinstance(out, UsmArray) and not isinstance(coords, np.ndarray):
            return self._launch(image, map_, out, coords, depends_on)
        prepared, vectors = self, None
        if isinstance(coords, np.ndarray):
            vectors, first, strides = _packed(coords, self._picture)
            picture = replace(self._picture, coords_strides=strides)
            prepared = PreparedPicture(
                queue, self._handle, picture, picture.value_dtype, picture.value_channels, vectors.dtype
            )
        start = 0 if vectors is None else room(vectors.nbytes)
        block = take(queue, max(start + (out.nbytes if isinstance(out, np.ndarray) else 0), 1))
        there: ArrayLike | None = coords
        if vectors is not None:
            copied = array_in(queue, block, 0, vectors.shape, vectors.dtype)
            if isinstance(out, UsmArray) and np.may_share_memory(vectors, coords):
                vectors = vectors.copy()  # the caller may change them once this returns
            depends_on = queue.memcpy(copied, vectors, depends_on=depends_on)
            there = copied[first:]
        if isinstance(out, UsmArray):
            return prepared._launch(image, map_, out, there, depends_on)  # its vectors keep the block
        values = array_in(queue, block, start, out.shape, out.dtype)
        done = prepared._launch(image, map_, values, there, depends_on)
        _finish(queue.memcpy(out, values, depends_on=done))
        give_back(queue, block)
        return None

    def _launch(
        self,
        image: Image,
        map_: CoordinateMap,
        out: UsmArray,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
    ) -> Event:
        picture, desc, channels = self._picture, image.desc, self._picture.value_channels
        target = self._queue.context._library.target
        name = choose.resampling(desc, picture.filter.precision, target, in_usm=image.usm)
        aligned = is_aligned(out.address, out.dtype, channels)
        format_ = format_word(out.dtype, channels, desc.channel, desc.num_channels, aligned=aligned)
        mode = resampling_mode(picture, map_, has_vectors=self._has_vectors)
        launch = self._launches.get((name, format_, mode))
        if launch is None:
            launch = self._launches[name, format_, mode] = self._prepared_launch(name, format_, mode)
        held = HeldSampledHandle(image.raw)
        held._held = image.keep
        arguments = launch.arguments.copy()
        arguments[launch.image], arguments[launch.values] = held, out
        if coords is not None:
            arguments[launch.coords] = coords.pointer  # type: ignore[union-attr]
        for place, entry in launch.matrix:
            arguments[place] = np.float64(map_.matrix[entry])
        return self._queue.parallel_for(launch.space, launch.kernel, *arguments, depends_on=depends_on)

    def _prepared_launch(self, name: str, format_: int, mode: int) -> _Launch:
        kernel = builtin_kernel(self._queue, name, format=format_, mode=mode)
        parameters = [parameter.name for parameter in parameters_of(name)]
        entries = {f"m{index // 4}{index % 4}": index for index in range(16)}
        values: dict[str, Any] = dict.fromkeys(entries, 0.0) | _numbers_of(self._picture)
        values |= {"image": None, "values": None, "coords": None, "format": format_, "mode": mode}
        return _Launch(
            kernel,
            picture_range(self._picture.shape),
            typed_arguments(name, values),
            parameters.index("image"),
            parameters.index("values"),
            parameters.index("coords"),
            [(place, entries[parameter]) for place, parameter in enumerate(parameters) if parameter in entries],
        )


def _numbers_of(picture: Resampling) -> dict[str, float]:
    """Those arguments of the kernels that are numbers, apart from the formats."""
    desc = picture.descriptor
    numbers: dict[str, float] = {f"m{index // 4}{index % 4}": entry for index, entry in enumerate(picture.map.matrix)}
    numbers |= {"centre": picture.map.centre, "fill": picture.filter.fill, "layer": picture.layer}
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


def _packed(coords: np.ndarray[Any, Any], picture: Resampling) -> tuple[np.ndarray[Any, Any], int, tuple[int, int]]:
    """Vectors on the host without gaps: the elements, which of them is the first, and the strides."""
    count, components = math.prod(picture.shape), picture.descriptor.dimensions
    step, component = picture.coords_strides
    size = coords.dtype.itemsize
    found = as_strided(coords, (count, components), (step * size, component * size))
    if component < 0:
        found = found[:, ::-1]
    if step < 0:
        found = found[::-1]
    planes = abs(component) > abs(step)
    flat = np.ascontiguousarray(found.T if planes else found).reshape(-1)
    steps = (1, count) if planes else (components, 1)
    first = (steps[0] * (count - 1) if step < 0 else 0) + (steps[1] * (components - 1) if component < 0 else 0)
    return flat, first, (-steps[0] if step < 0 else steps[0], -steps[1] if component < 0 else steps[1])


def _address(array: ArrayLike) -> int:
    return int(array.ctypes.data) if isinstance(array, np.ndarray) else array.address


def _finish(event: Event) -> None:
    """Waits; a call that waits reports its own failure, also where the queue has an ``async_handler``."""
    event.wait()
    report_error(event)
