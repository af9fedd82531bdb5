"""``DriverPlan``: pictures that a driver computes, which reads and writes the arrays where they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindless_images.call_form import ArrayLike
from ..bindless_images.prepared_call import report_error
from ..core._submission import Prepared
from ..model.enums import ImageType, Precision
from ..model.resampling import Strategy
from ..sycl.copy.prepared_copy import command_of
from .plan import Plan, Program, address_of

if TYPE_CHECKING:
    from ..model.arrays import Array
    from ..model.filter import CoordinateMap
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling, Window
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["DriverPlan"]

_ROWS = {Strategy.projection: Struct("9d"), Strategy.resampling: Struct("16d")}
_PLANE = itemgetter(0, 1, 3, 4, 5, 7, 12, 13, 15)  # entries of the rows of x, y and the divisor, without z
_ROWS_PLACE = 2  # after the addresses of values and vectors
_PLACE = Struct("3Q3q3Q")  # first, origin and whole, as the driver has them
_SOMEWHERE = 1  # in place of the address of vectors
# Of the arguments, in the back end's order.
_KINDS = "number", "number", "given", "given", "given", "number"
_ABSENT = "same", 0, 0, True, False, None
_STRIDES = Struct("2q")


class DriverPlan(Plan):
    """See ``Plan``; the back end has the group ``resampling``."""

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling, strategy: Strategy) -> None:
        super().__init__(queue, handle, picture)
        self._strategy, self._rows = strategy, _ROWS[strategy]
        self._projects = strategy is Strategy.projection
        self._has_vectors = picture.coords_strides != (0, 0)
        self._keep = self.image.keep
        self._stream = queue._stream
        self._place: bytes | None = None
        self._strides = _STRIDES.pack(*picture.coords_strides) if self._has_vectors and not picture.fields else None
        is_exact, kind = picture.filter.precision is Precision.exact, self._picture.descriptor.type
        self.reads_memory = (
            strategy is Strategy.resampling and is_exact and kind is ImageType.standard and picture.window is None
        )
        self._no_texels = 0 if self.reads_memory else None
        if picture.window is not None:
            self.move(picture.first, picture.window)
        self._command = None if self._is_empty else self._prepared()

    def _prepared(self) -> Prepared | None:
        """The picture as one call of C code; None where each submission takes Python."""
        stream, group = self._stream, self._queue._backend.resampling
        assert group is not None
        picture = replace(self._picture, coords=_SOMEWHERE) if self._has_vectors else self._picture
        with stream.lock:
            if stream.native is None or stream.closed:
                return None
            command = group.prepare_resampling(stream.native, picture, self._strategy)
        if command is None:
            return None
        uses = True, self._has_vectors, True, self._place is not None, self._strides is not None, self.reads_memory
        slots = []
        for used, kind, place, size in zip(uses, _KINDS, command.places, command.sizes):
            slots.append((kind, place, size, True, False, None) if place and used else _ABSENT)
        return command_of(command, slots)

    def move(self, first: tuple[int, int, int], window: Window) -> None:
        """See ``Plan.move``."""
        self._place = _PLACE.pack(*first, *window.origin, *window.whole)
        self._first, self._window = first, window

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | tuple[Array, ...] | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
        texels: Array | None = None,
    ) -> Event | None:
        vectors: Any = None
        strides = self._strides
        place = self._no_texels if texels is None else texels.__array_interface__["data"][0]
        if type(out) is np.ndarray:
            values = out.__array_interface__["data"][0] + offset
        else:
            values = (out._owner.address if out._owner.open else out.address) + out._offset + offset  # type: ignore[union-attr]
        if type(coords) is np.ndarray:
            vectors = coords.__array_interface__["data"][0]
        elif type(coords) is tuple:
            vectors, *others = map(address_of, coords)
            strides = _STRIDES.pack(1, (others[0] - vectors) // coords[0].itemsize)
        elif coords is not None:
            vectors = (coords._owner.address if coords._owner.open else coords.address) + coords._offset  # type: ignore[union-attr]
        keep = (*self._keep, out, coords, texels)
        event: Event | None = None
        if self._command is not None:
            rows = self._rows.pack(*(_PLANE(map_.matrix) if self._projects else map_.matrix))
            arguments = values, vectors, rows, self._place, strides, place
            event = self._stream.submit_prepared(self._command, arguments, depends_on, keep)
        if event is None:
            event = self._submit_once(map_, values, vectors or 0, strides, place or 0, depends_on, keep)
        if type(out) is not np.ndarray:
            return event
        event.wait()
        if event._error is not None or event._native is None:
            report_error(event)
        return None

    def submit_in_place(
        self, map_: CoordinateMap, out: Array, texels: Array, coords: Array | tuple[Array, Array] | None
    ) -> None:
        """See ``Plan.submit_in_place``."""
        if not self._is_empty:
            self._submit(map_, out, coords, (), texels=texels)

    def program(self, map_: CoordinateMap, *, is_aligned: bool) -> Program | None:
        """See ``Plan.program``."""
        if self._command is None:
            return None
        entries = _PLANE(range(16)) if self._projects else range(16)
        places = tuple([(_ROWS_PLACE, entry) for entry in entries])
        arguments = *(None,) * (_ROWS_PLACE + 1), self._place, self._strides, self._no_texels
        return Program(self._command, arguments, self._keep, 0, 1, _ROWS_PLACE, places, 1, False)

    def _submit_once(
        self,
        map_: CoordinateMap,
        values: int,
        vectors: int,
        strides: bytes | None,
        texels: int,
        depends_on: Event | Iterable[Event],
        keep: tuple[object, ...],
    ) -> Event:
        """A picture that C code cannot submit, for example one that waits for a task of the host."""
        group, native, strategy = self._queue._backend.resampling, self._queue._native, self._strategy
        assert group is not None
        picture = replace(self._picture, map=map_, values=values, coords=vectors, texels=texels)
        if strides is not None:
            picture = replace(picture, coords_strides=_STRIDES.unpack(strides))
        if self._place:
            picture = replace(picture, first=self._first, window=self._window)
        return self._stream.submit(lambda waits: group.resample(native, picture, strategy, waits), depends_on, keep)
