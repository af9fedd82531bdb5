"""``Lut3D``: colours by a table of three dimensions, on every device."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from ..bindless_images.result_arrays import empty_of_size
from ..bindless_images.scratch_memory import array_in, give_back, room, take
from ..image.array_library import AnyArray, ArrayLike, hand_over
from ..image.default_queue import is_own
from ..image.results import overlap
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.channels import ELEMENTS
from ..model.colour_table import ColourTable
from ..model.errors import ArgumentError
from ..model.filter import CoordinateMap
from ..model.message_values import shown
from ..ndimage.device_call import DeviceCall, device_call
from ..ndimage.repeated import Key, recall
from ..ndimage.source import Input, source_of, wait_unless_ordered
from ..ndimage.target import Output
from ..sampling.array_launch import ArrayLaunch
from ..sampling.packing import contiguous
from ..submission.event import Event
from ..sycl.device.context import Context
from ..sycl.kernel.builtin import builtin_kernel, launch_range
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.array_import import as_usm_array
from ..sycl.usm.functions import new_array
from .cube_file import read_cube

__all__ = ["Lut3D"]

_KERNEL = "bindless_lut3d"
# Bits of the kernel's mode.
_INTERPOLATIONS = {"trilinear": 0, "tetrahedral": 1}
_TABLE, _SHAPER = 2, 4
_TYPES = tuple(map(np.dtype, (np.uint8, np.uint16, np.float16, np.float32)))
_MAX_EDGE, _MAX_SHAPER = 256, 1 << 16
_MAX_CALLS = 64
_NO_MAP = CoordinateMap.pictures()
Domain = tuple[Union[float, Sequence[float]], Union[float, Sequence[float]]]


class _Command(NamedTuple):
    """The command of a back end that has tables, over packed pixels of one shape and types.

    Attributes
    ----------
    queue : Queue
        Does the work.
    described : ColourTable
        The command, apart from the addresses of pixels and values.
    tables : tuple[UsmArray | None, ...]
        Memory that it reads.
    """

    queue: Queue
    described: ColourTable
    tables: tuple[UsmArray | None, ...]

    def submit(self, map_: object, pixels: Any, values: Any, coords: object = None, /, after: Any = ()) -> Event:
        """As that of ``ArrayLaunch``."""
        stream = self.queue._stream
        native, group = stream.native, self.queue._backend.colour_tables
        described = self.described._replace(pixels=_address(pixels), values=_address(values))
        return stream.submit(
            lambda waits: group.map_colours(native, described, waits),  # type: ignore[union-attr,arg-type]
            after,
            (pixels, values, self.tables),
        )


class Lut3D:
    """A table of colours: it maps a picture's colours, linearly between its entries.

    Parameters
    ----------
    table : array_like or None
        Shape (blue, green, red, 3): ``table[b, g, r]`` is the red, green and blue of an input colour. The three sizes
        are equal, 2 to 256. None for a ``shaper`` alone.
    domain : tuple, default (0.0, 1.0)
        Input values at the first and at the last entry, numbers or one for each channel. Values beyond are clamped.
    shaper : array_like, optional
        Shape (entries, 3): what each channel goes through before the table, linear between 2 to 65536 entries.
    shaper_domain : tuple, default (0.0, 1.0)
        Input values at its first and at its last entry.

    Raises
    ------
    ArgumentError
        An array of another shape, values that are not finite, or a domain that is empty.

    Notes
    -----
    Weights are computed in float32. The tables stay on each device that has used them, until the object ends.

    Examples
    --------
    >>> ends = np.array([0.0, 1.0])
    >>> b, g, r = np.meshgrid(ends, ends, ends, indexing="ij")
    >>> invert = bindless.Lut3D(1 - np.stack([r, g, b], -1))
    >>> invert(np.array([[[0, 51, 255]]], np.uint8))
    array([[[255, 204,   0]]], dtype=uint8)
    """

    def __init__(
        self,
        table: Any,
        *,
        domain: Domain = (0.0, 1.0),
        shaper: Any = None,
        shaper_domain: Domain = (0.0, 1.0),
    ) -> None:
        self._table = None if table is None else _entries("table", table, 4, _MAX_EDGE)
        self._shaper = None if shaper is None else _entries("shaper", shaper, 2, _MAX_SHAPER)
        if self._table is None and self._shaper is None:
            raise ArgumentError("table and shaper are None: one of them is needed")
        self._numbers = _place("domain", domain, self._table)
        self._shaper_numbers = _place("shaper_domain", shaper_domain, self._shaper)
        self._copies: weakref.WeakKeyDictionary[Context, dict[int, tuple[UsmArray | None, UsmArray | None]]]
        self._copies = weakref.WeakKeyDictionary()
        self._calls: dict[Any, DeviceCall] = {}  # by layouts of arrays on devices

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Lut3D:
        """Read a file of the type .cube: a table of three dimensions, of one, or one of one before it.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Raises
        ------
        InvalidError
            It is no such file, or has another number of entries than it says.
        OSError
            It cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "negative.cube"
        >>> _ = path.write_text("LUT_1D_SIZE 2\\n1 1 1\\n0 0 0\\n")
        >>> bindless.Lut3D.open(path)(np.float32([[0.25, 0.5, 1.0]]))
        array([[0.75, 0.5 , 0.  ]], dtype=float32)
        """
        cube = read_cube(path)
        return cls(cube.table, domain=cube.domain, shaper=cube.shaper, shaper_domain=cube.shaper_domain)

    @property
    def table(self) -> Array | None:
        """The entries (blue, green, red, 3), float32; a copy. None without a table of three dimensions."""
        return None if self._table is None else self._table.copy()

    def __repr__(self) -> str:
        sizes = [] if self._table is None else ["x".join(map(str, self._table.shape[:3]))]
        return f"<Lut3D {' after '.join(sizes + ([] if self._shaper is None else [str(len(self._shaper))]))}>"

    def __call__(
        self,
        picture: ArrayLike,
        interpolation: str = "tetrahedral",
        *,
        out: Any = None,
        queue: Queue | None = None,
    ) -> Any:
        """The picture with its colours mapped.

        Parameters
        ----------
        picture : array
            Shape (..., 3), or (..., 4) with a fourth channel that stays as it is; of any library. uint8 and uint16
            stand for values from 0 to 1, float16 and float32 for themselves. What is no number counts as the lower end.
        interpolation : {"tetrahedral", "trilinear"}, default "tetrahedral"
            Between the four entries of a tetrahedron, which keeps greys free of other colours, or the eight of a cell.
        out : array or dtype, optional
            Where the result goes, or its type; of the picture's shape.
        queue : Queue, optional
            Computes it; by default one of the device where the picture lies.

        Returns
        -------
        array
            Of the picture's library, shape and dtype. Integers are rounded to the nearest, of two to the even one.

        Raises
        ------
        ArgumentError
            A picture of other channels or types, an unknown interpolation.
        """
        if interpolation not in _INTERPOLATIONS:
            raise ArgumentError(f"interpolation={shown(interpolation)}: it is one of {', '.join(_INTERPOLATIONS)}")
        kind = _INTERPOLATIONS[interpolation]
        key = None if queue is not None else recall("Lut3D", queue, picture, out, 0.0, (kind,))[0]
        call = self._calls.get(key)
        result = None if call is None or call.queue._stream.closed else call.submit(picture, out)
        if result is not None:
            return result
        source = source_of("Lut3D", picture, -1, queue)
        target = Output("Lut3D", source, out, source.shape, "even")
        if source.pixels.shape[-1] not in (3, 4):
            raise ArgumentError(f"picture has {source.pixels.shape[-1]} channels in its last axis: 3 or 4 are needed")
        for name, dtype in (("picture", source.dtype), ("out", target.dtype)):
            if dtype not in _TYPES:
                raise ArgumentError(f"{name} is {dtype}: it is one of {', '.join(map(str, _TYPES))}")
        _require_apart(source.pixels, target.array)
        if not source.on_device:
            return target.deliver(self._on_host(source, target, kind))
        values = self._on_device(source, target, kind, key)
        hand_over(source.value, source.pixels)
        return target.deliver(values)

    def _on_device(self, source: Input, target: Output, kind: int, key: Key | None) -> UsmArray:
        queue, pixels = source.queue, source.pixels
        assert isinstance(pixels, UsmArray)
        packed, after = contiguous(queue, pixels, pixels.shape, source.dtype, "picture")
        values = target.memory(target.dtype, in_usm=True)
        if not isinstance(values, UsmArray):
            values = new_array(pixels.shape, target.dtype, queue)
        run = self._launch(queue, packed, values, kind)
        wait_unless_ordered(queue, (run.submit(_NO_MAP, packed, values, after=after),))
        is_direct = pixels.is_contiguous and (target.array is None or values is target.array)
        if key is not None and is_direct and is_own(queue):
            forms = (pixels.shape, source.dtype), (pixels.shape, target.dtype)
            dims = pixels.ndim, pixels.ndim, pixels.ndim
            call = device_call(key[1], queue, run, _NO_MAP, dims, *forms, None, None, source.library, 0)
            if call is not None:
                if len(self._calls) >= _MAX_CALLS:
                    self._calls.clear()
                self._calls[key] = call
        return values

    def _on_host(self, source: Input, target: Output, kind: int) -> AnyArray:
        queue, pixels = source.queue, np.ascontiguousarray(source.pixels, source.dtype)
        values = target.memory(target.dtype, in_usm=False)
        if not isinstance(values, np.ndarray):
            values = empty_of_size(pixels.size * target.dtype.itemsize)(pixels.shape, target.dtype)
        if queue.device.has(Aspect.usm_system_allocations):
            there, result = as_usm_array(pixels, queue), as_usm_array(values, queue)
            self._launch(queue, there, result, kind).submit(_NO_MAP, there, result).wait()
            return values
        first = room(pixels.nbytes)
        block = take(queue, first + values.nbytes)
        there = array_in(queue, block, 0, pixels.shape, pixels.dtype)
        result = array_in(queue, block, first, values.shape, values.dtype)
        run, after = self._launch(queue, there, result, kind), queue.memcpy(there, pixels)
        queue.memcpy(values, result, depends_on=run.submit(_NO_MAP, there, result, after=after)).wait()
        give_back(queue, block)
        return values

    def _launch(self, queue: Queue, pixels: UsmArray, values: UsmArray, kind: int) -> ArrayLaunch | _Command:
        """The launch or the command over arrays like these."""
        table, shaper = self._tables(queue)
        count = math.prod(pixels.shape[:-1])
        if queue._backend.colour_tables is not None:
            described = ColourTable(
                0, 0, count, pixels.dtype, values.dtype, pixels.shape[-1], kind == _INTERPOLATIONS["tetrahedral"],
                *((0, 0) if table is None else (_address(table), table.shape[0])), self._numbers,
                *((0, 0) if shaper is None else (_address(shaper), shaper.shape[0])), self._shaper_numbers,
            )  # fmt: skip
            return _Command(queue, described, (table, shaper))
        format_ = ELEMENTS[pixels.dtype] | ELEMENTS[values.dtype] << 4 | pixels.shape[-1] << 8
        mode = kind | (0 if table is None else _TABLE) | (0 if shaper is None else _SHAPER)
        before = (
            table, 0 if table is None else table.shape[0], *self._numbers,
            shaper, 0 if shaper is None else shaper.shape[0], *self._shaper_numbers,
        )  # fmt: skip
        kernel = builtin_kernel(queue, _KERNEL, format=format_, mode=mode)
        return ArrayLaunch(queue, launch_range(count), kernel, before, (count, format_, mode))

    def _tables(self, queue: Queue) -> tuple[UsmArray | None, UsmArray | None]:
        """The tables in memory of the queue's device."""
        copies = self._copies.setdefault(queue.context, {})
        tables = copies.get(queue.device._record.index)
        if tables is None:
            entries = self._table
            if entries is not None:  # four floats move at once
                entries = np.concatenate([entries, np.zeros((*entries.shape[:3], 1), np.float32)], -1)
            tables = _upload(queue, entries), _upload(queue, self._shaper)
            copies[queue.device._record.index] = tables
        return tables


def _require_apart(pixels: AnyArray, out: AnyArray | None) -> None:
    """Arrays are the same or share no memory."""
    if out is None or type(out) is not type(pixels) or not overlap(pixels, out):
        return
    if (_address(pixels), pixels.strides) != (_address(out), out.strides):
        raise ArgumentError("out shares memory with picture: give another array, or the picture itself")


def _address(array: AnyArray) -> int:
    return array.address if isinstance(array, UsmArray) else int(array.__array_interface__["data"][0])


def _upload(queue: Queue, entries: Array | None) -> UsmArray | None:
    if entries is None:
        return None
    memory = usm_empty(entries.shape, entries.dtype, queue)
    queue.memcpy(memory, np.ascontiguousarray(entries)).wait()
    return memory


def _entries(name: str, entries: Any, ndim: int, most: int) -> Array:
    array = np.array(entries, np.float32)
    sizes = set(array.shape[:-1])
    if array.ndim != ndim or array.shape[-1] != 3 or len(sizes) != 1 or not 2 <= max(sizes) <= most:
        axes = "(blue, green, red, 3) with three equal sizes" if ndim == 4 else "(entries, 3)"
        raise ArgumentError(f"{name} has shape {array.shape}: {axes} from 2 to {most} is needed")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} has entries that are not finite")
    return array


def _place(name: str, domain: Any, entries: Array | None) -> tuple[float, ...]:
    """The first values of a domain, and the factors from values to places in a table."""
    try:
        first, last = (np.broadcast_to(np.asarray(end, np.float64), 3) for end in domain)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}={shown(domain)}: two numbers, or three for each end, are needed") from None
    if not (np.isfinite(first).all() and np.isfinite(last).all() and (first < last).all()):
        raise ArgumentError(f"{name}={shown(domain)}: the first value is less than the last one, both finite")
    intervals = 1 if entries is None else len(entries) - 1
    return (*map(float, first), *map(float, intervals / (last - first)))
