"""Interpretation of a kernel in plain Python: each work-item is a call of its function.

Work-items run one after the other in the order of their ids. Where the kernel waits for its group (``barrier``, group
functions), each work-item of a group has a thread, and one of them runs at a time.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from ..model.arrays import Array
from ..model.combiners import identity_of
from ..model.errors import InvalidError, SyclRuntimeError
from ..model.message_values import shown
from ..model.ranges import NdRange, RangeLike, as_range
from ..sycl.buffer.accessor import Accessor, LocalAccessor
from ..sycl.kernel.arguments import no_groups
from ..sycl.kernel.reduction import Reduction
from ..sycl.usm.array import UsmArray
from . import groups
from .declaration import rule_of
from .reducer import Reducer
from .work_item import Group, WorkItem, interpreting

__all__ = ["run"]

_WAITING = ("barrier", *(name for name in groups.__all__ if name not in ("sub_group_size", "sub_group_local_id")))


def run(function: Callable[..., object], index_space: RangeLike | NdRange, arguments: tuple[object, ...]) -> None:
    """Call the function for each work-item.

    Parameters
    ----------
    function
        Of the kernel.
    index_space
        A range or an ``NdRange``. A plain range has no functions of work-groups.
    arguments
        Of the launch. A ``UsmArray`` is copied to the host, and back at the end.

    Raises
    ------
    InvalidError
        An argument that the host does not reach.
    KernelArgumentError, NdRangeError
        Local memory, or a call of a function of work-groups, over a plain range.
    """
    whole, local = _ranges(index_space)
    reductions = [value for value in arguments if isinstance(value, Reduction)]
    arrays = [value for value in (*arguments, *(one.variable for one in reductions)) if isinstance(value, UsmArray)]
    copies = {id(array): array.numpy() for array in arrays}
    for one in reductions:
        if one.initialize_to_identity:
            copies[id(one.variable)][...] = identity_of(one.combiner, one.dtype)
    is_named = isinstance(index_space, NdRange)
    shares = any(isinstance(value, LocalAccessor) for value in arguments)
    if shares and not is_named:
        raise no_groups(function.__name__)
    waits = _waits(function, set()) or shares
    try:
        for start in itertools.product(*(range(0, size, step) for size, step in zip(whole, local))):
            group = Group(int(np.prod(local)), is_named)
            parameters = [_argument(value, copies) for value in arguments]
            items = [
                WorkItem(tuple(map(sum, zip(start, place))), whole, place, local, group) for place in _places(local)
            ]
            _run_group(function, items, parameters, waits)
    finally:
        interpreting(None)
        for array in arrays:
            array.copy_from(copies[id(array)])


def _ranges(index_space: RangeLike | NdRange) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(index_space, NdRange):
        return tuple(index_space.global_range), tuple(index_space.local_range)
    whole = tuple(as_range(index_space))
    return whole, (1,) * len(whole)


def _places(local: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, local))


def _argument(value: object, copies: dict[int, Array]) -> object:
    """Return the argument that the function receives in a group."""
    if isinstance(value, UsmArray):
        return _with_fields(copies[id(value)])
    if isinstance(value, Reduction) and isinstance(value.variable, UsmArray):
        return Reducer(copies[id(value.variable)].reshape(-1), value.combiner)
    if isinstance(value, LocalAccessor):
        return _with_fields(np.zeros(value.shape, np.uint8 if value.dtype is None else value.dtype))
    if isinstance(value, (Accessor, Reduction)):
        raise InvalidError(f"{shown(value)} belongs to a command group: pass the array that its buffer is made of")
    if isinstance(value, float):
        return np.float32(value)
    return _with_fields(value)


def _with_fields(value: object) -> object:
    """Structured values whose fields are attributes too: ``bodies[i].mass``."""
    if not isinstance(value, (np.ndarray, np.void)) or value.dtype.names is None:
        return value
    records = np.asarray(value).view(np.recarray)
    return records if records.shape else records[()]


def _waits(function: Any, codes: set[CodeType]) -> bool:
    """Whether a function, or one that it calls, names a function that waits for the group."""
    plain = getattr(function, "__wrapped__", function)
    code = getattr(plain, "__code__", None)
    if code is None or code in codes:
        return False
    codes.add(code)
    values = dict(getattr(plain, "__globals__", {}))
    if plain.__closure__:
        values.update(zip(code.co_freevars, (cell.cell_contents for cell in plain.__closure__)))
    for name in _names(code):
        value = values.get(name)
        if name in _WAITING or (rule_of(value) is not None and value.__name__ in _WAITING):  # type: ignore[union-attr]
            return True
        if rule_of(value) is None and hasattr(value, "__wrapped__") and _waits(value, codes):
            return True
    return False


def _names(code: CodeType) -> set[str]:
    return {*code.co_names, *code.co_freevars}


def _run_group(function: Callable[..., object], items: list[WorkItem], parameters: list[object], waits: bool) -> None:
    if not waits or len(items) == 1:
        for item in items:
            _call(function, item, parameters)
        return
    _Together(function, items, parameters).run()


def _call(function: Callable[..., object], item: WorkItem, parameters: list[object]) -> None:
    """Call the function for one work-item, which the traceback of an exception names (from Python 3.11 on)."""
    interpreting(item)
    try:
        function(*parameters)
    except Exception as error:
        if hasattr(error, "add_note"):
            error.add_note(f"kernel {function.__name__!r}, {item.name}")
        raise


class _Together:
    """Work-items of a group in threads, one of which runs at a time, in the order of their places."""

    def __init__(self, function: Callable[..., object], items: list[WorkItem], parameters: list[object]) -> None:
        self._function, self._items, self._parameters = function, items, parameters
        self._turns = [threading.Semaphore(0) for _ in items]
        self._ended = [False] * len(items)
        self._waiting = [False] * len(items)
        self._done = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run all work-items to their end; the first exception is raised again."""
        self._items[0].group.meeting = self._meet
        threads = [
            threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(len(self._items))
        ]
        for number, thread in enumerate(threads):
            try:
                thread.start()
            except RuntimeError as error:
                self._error = SyclRuntimeError(f"no threads for {len(threads)} work-items of a group: {error}")
                for turn, started in zip(self._turns, threads[:number]):
                    turn.release()
                    started.join()
                raise self._error from error
        self._turns[0].release()
        self._done.wait()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def _work(self, number: int) -> None:
        self._turns[number].acquire()
        try:
            if self._error is None:
                _call(self._function, self._items[number], self._parameters)
        except BaseException as error:  # raised again by run
            self._error = self._error or error
        self._ended[number] = True
        self._pass_on()

    def _meet(self) -> None:
        """Wait until all work-items of the group are here."""
        from .work_item import current

        number = current().number
        self._waiting[number] = True
        self._pass_on()
        self._turns[number].acquire()
        if self._error is not None:
            raise _Stopped

    def _pass_on(self) -> None:
        """Let the next work-item run: one that does not wait, or after a meeting the first one."""
        for number in range(len(self._items)):
            if not (self._ended[number] or self._waiting[number]):
                self._turns[number].release()
                return
        if all(self._ended):
            self._done.set()
            return
        if any(self._ended) and self._error is None:
            self._error = InvalidError("some work-items of a group wait at a barrier that others do not reach")
        self._waiting = [False] * len(self._items)
        first = next(number for number, ended in enumerate(self._ended) if not ended)
        self._turns[first].release()


class _Stopped(BaseException):
    """Ends a work-item after an exception of another one."""
