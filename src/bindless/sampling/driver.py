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
from ..model.resampling import Strategy
from ..sycl.copy.prepared_copy import command_of
from .plan import Plan, Program

if TYPE_CHECKING:
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


class DriverPlan(Plan):
    """See ``Plan``; the back end has the group ``resampling``."""

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling, strategy: Strategy) -> None:
        super().__init__(queue, handle, picture)
        self._strategy, self._rows = strategy, _ROWS[strategy]
        self._projects = strategy is Strategy.projection
        self._has_vectors = picture.coords_strides != (0, 0)
        self._keep = self.image.keep
        self._stream = queue._stream
        self._place: tuple[bytes, ...] = ()
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
        kinds: tuple[str, ...] = "number", "number" if self._has_vectors else "same", "given", "given"
        places = zip(kinds, command.places, command.sizes[: 3 + len(self._place)])
        return command_of(command, [(kind, place or 0, size, True, False, None) for kind, place, size in places])

    def move(self, first: tuple[int, int, int], window: Window) -> None:
        """See ``Plan.move``."""
        self._place = (_PLACE.pack(*first, *window.origin, *window.whole),)
        self._first, self._window = first, window

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
    ) -> Event | None:
        vectors: Any = None
        if type(out) is np.ndarray:
            values = out.__array_interface__["data"][0] + offset
        else:
            values = (out._owner.address if out._owner.open else out.address) + out._offset + offset  # type: ignore[union-attr]
        if type(coords) is np.ndarray:
            vectors = coords.__array_interface__["data"][0]
        elif coords is not None:
            vectors = (coords._owner.address if coords._owner.open else coords.address) + coords._offset  # type: ignore[union-attr]
        keep = (*self._keep, out, coords)
        event: Event | None = None
        if self._command is not None:
            rows = self._rows.pack(*(_PLANE(map_.matrix) if self._projects else map_.matrix))
            event = self._stream.submit_prepared(self._command, (values, vectors, rows, *self._place), depends_on, keep)
        if event is None:
            event = self._submit_once(map_, values, vectors or 0, depends_on, keep)
        if type(out) is not np.ndarray:
            return event
        event.wait()
        if event._error is not None or event._native is None:
            report_error(event)
        return None

    def program(self, map_: CoordinateMap, *, is_aligned: bool) -> Program | None:
        """See ``Plan.program``."""
        if self._command is None:
            return None
        entries = _PLANE(range(16)) if self._projects else range(16)
        places = tuple([(_ROWS_PLACE, entry) for entry in entries])
        return Program(self._command, (None,) * (_ROWS_PLACE + 1), self._keep, 0, 1, _ROWS_PLACE, places, 1, False)

    def _submit_once(
        self,
        map_: CoordinateMap,
        values: int,
        vectors: int,
        depends_on: Event | Iterable[Event],
        keep: tuple[object, ...],
    ) -> Event:
        """A picture that C code cannot submit, for example one that waits for a task of the host."""
        group, native, strategy = self._queue._backend.resampling, self._queue._native, self._strategy
        assert group is not None
        picture = replace(self._picture, map=map_, values=values, coords=vectors)
        if self._place:
            picture = replace(picture, first=self._first, window=self._window)
        return self._stream.submit(lambda waits: group.resample(native, picture, strategy, waits), depends_on, keep)
