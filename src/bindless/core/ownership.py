"""Ownership of native objects: each is released exactly once, after what depends on it, whatever ends it.

A ``Resource`` owns one native object. It ends by ``close()``, when its last owner is dropped, or at interpreter
exit, whichever comes first. A resource holds its parent, so that reference counting alone releases children first.
The garbage collector finalises the objects of a cycle in any order: what it finds is put aside and released, children
first, when the collection has ended.

After a fork the child owns nothing: its copies of the parent's native objects are forgotten, not released.
"""

from __future__ import annotations

import atexit
import gc
import itertools
import sys
from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NoReturn, Protocol, TypeVar
from weakref import WeakSet

from ..model.errors import CopyError, DeviceLostError, Error
from . import fork_guard
from ._submission import Owner, end_fork, expect_end_fork, uninterrupted

__all__ = [
    "ENDED",
    "FORKED",
    "Holder",
    "Rank",
    "Resource",
    "abandon",
    "after_fork",
    "arguments_of",
    "at_exit",
    "forget_event",
    "is_finished",
    "let_go",
    "snapshot",
]

ENDED = "ended with the interpreter"
"""Error text for an object that is used at interpreter exit."""

FORKED = (
    "was made before this process was forked, and a driver does not survive a fork: start processes with "
    "multiprocessing.get_context('spawn'), or make devices, contexts and queues after the fork"
)
"""Error text for an object that is used in the child of a fork."""


class Rank(IntEnum):
    """Order of release of resources that end together."""

    EVENT = 0
    IMAGE_HANDLE = 1
    IMAGE_MEMORY = 2
    LENT_MEMORY = 3
    MEMORY = 4
    EXTERNAL = 5
    KERNEL = 6
    MODULE = 7
    QUEUE = 8
    CONTEXT = 9


_Object = TypeVar("_Object")
_Release = Callable[..., object]

# Every native object alive. Taking a row out of it is what gives the right to release: ``pop`` is atomic.
_live: dict[int, tuple[Rank, _Release, tuple[object, ...]]] = {}
_serial = itertools.count()
_NOTHING = -1  # the key of a resource without a row

# Releases that a caller waits for, with the error of those that failed.
_awaited: dict[int, Error | None] = {}

# What the collector finalised during the collection in progress, and what may go only after it: the last of a context
# that is let go of here shall not take the context with it while others of it are still to be released.
_aside: deque[tuple[Rank, _Release, tuple[object, ...], Resource | None]] = deque()
_collecting = False
_finished = False
# Either of the two: destructors of events, of which there are very many, look at this alone.
events_wait = False

_exit_hooks: list[Callable[[], None]] = []
_fork_hooks: list[Callable[[], None]] = []


class Resource(Owner):
    """The right and duty to release one native object.

    Parameters
    ----------
    rank : Rank
        Its place in the order of release.
    parent : Resource | None
        The resource of the object that it was made from, kept alive until after the release.
    release : _Release
        Called with ``arguments`` exactly once; it must not refer to the owner.
    """

    __slots__ = ("__weakref__", "_key", "parent")

    def __init__(self, rank: Rank, parent: Resource | None, release: _Release, *arguments: object) -> None:
        self._own(rank, parent, release, arguments)

    def _own(self, rank: Rank, parent: Resource | None, release: _Release, arguments: tuple[object, ...]) -> None:
        """``Resource.__init__`` for the constructors of subclasses."""
        self.parent = parent
        self._key = key = next(_serial)
        _live[key] = (rank, release, arguments)

    @property
    def closed(self) -> bool:
        """Whether the native object is gone."""
        return self._key not in _live

    def close(self) -> None:
        """Releases now; a second call does nothing. Raises what the release raises."""
        row = _live.pop(self._key, None)
        if row is not None:
            try:
                row[1](*row[2])
            except DeviceLostError:
                return  # the device is lost, and the object with it; users of the device get the error

    def __reduce__(self) -> NoReturn:
        # Also what copy.copy and copy.deepcopy ask: a copy would release the object a second time.
        raise CopyError("a native object has one owner: what holds it is neither copied deeply nor pickled")

    def detach(self) -> None:
        """Gives the native object away: it will not be released here."""
        _live.pop(self._key, None)

    # Bound here: at exit the module's names are gone.
    def _finalize(
        self,
        _live: dict[int, tuple[Rank, _Release, tuple[object, ...]]] = _live,
        _awaited: dict[int, Error | None] = _awaited,
        _Error: type[Error] = Error,
        _Lost: type[Error] = DeviceLostError,
        _aside: deque[tuple[Rank, _Release, tuple[object, ...], Resource | None]] = _aside,
    ) -> None:
        try:
            key = self._key
        except AttributeError:  # its constructor was interrupted
            return
        row = _live.pop(key, None)
        if row is None:
            return
        if _collecting:
            _aside.append((*row, self.parent))
            if not _collecting:  # another thread has just ended the collection, and emptied it
                _empty_aside()
            return
        try:
            row[1](*row[2])
        except _Error as error:
            if key in _awaited:
                _awaited[key] = error
            elif not isinstance(error, _Lost):
                raise


class Holder(Resource):
    """A parent that keeps another library's object until its children have been released; it owns nothing native."""

    __slots__ = ("_held",)

    def __init__(self, parent: Resource | None, held: object) -> None:
        self.parent = parent
        self._key = _NOTHING
        self._held = held


def arguments_of(rank: Rank) -> list[tuple[object, ...]]:
    """The arguments of the release functions of one rank, for the resources that are alive."""
    return [row[2] for row in list(_live.values()) if row[0] is rank]


class _Holder(Protocol):
    """A list or a dictionary of resources."""

    def pop(self, index: int, /) -> Resource | None: ...


def let_go(holder: _Holder, index: int) -> Error | None:
    """Takes a resource out of what holds it for the caller, who has no other reference.

    Others may hold the object still, such as work in flight: then it is released when they let go.

    Returns
    -------
    Error | None
        The error of the release, if it happened now and failed.

    Raises
    ------
    LookupError
        It is not there (any more).
    """
    resource = holder.pop(index)
    assert resource is not None
    key = resource._key
    _awaited[key] = None
    del resource
    return _awaited.pop(key, None)


def forget_event(release: _Release, native: object) -> None:
    """Releases a native event from a destructor that found ``events_wait`` true."""
    if not _finished:
        _aside.append((Rank.EVENT, release, (native,), None))
        if not _collecting:
            _empty_aside()


def _empty_aside() -> None:
    rows = []
    while _aside:
        try:
            rows.append(_aside.popleft())
        except IndexError:  # another thread took the last one
            break
    rows.sort(key=lambda row: row[0])
    _release_all(rows)


def _release_all(rows: Sequence[tuple[Any, ...]]) -> None:
    """Release each resource; errors go to the hook of destructors (``sys.unraisablehook``)."""
    for _, release, arguments, *_ in rows:
        try:
            release(*arguments)
        except DeviceLostError:
            continue
        except Error as error:
            sys.stderr.write(f"bindless: a native object was not released: {error}\n")


def _on_collection(phase: str, _: dict[str, int]) -> None:
    global _collecting, events_wait
    _collecting = phase == "start"
    events_wait = _collecting or _finished
    if not _collecting and _aside:
        _empty_aside()


def snapshot(objects: WeakSet[_Object]) -> list[_Object]:
    """The live objects of a set of weak references, which other threads may extend meanwhile."""
    while True:
        try:
            return list(objects)
        except RuntimeError:  # it grew, and is walked again
            continue


def abandon() -> None:
    """Leaves every native object to the end of the process, which is near."""
    _live.clear()
    _aside.clear()


def is_finished() -> bool:
    """Whether the interpreter is ending and everything native has been released."""
    return _finished


def at_exit(hook: Callable[[], None]) -> None:
    """Calls ``hook`` at interpreter exit before native objects are released."""
    _exit_hooks.append(hook)


def after_fork(hook: Callable[[], None]) -> None:
    """Calls ``hook`` in the child of a fork."""
    _fork_hooks.append(hook)


def _finish() -> None:
    global _finished, events_wait
    for hook in _exit_hooks:
        hook()
    _empty_aside()
    rows = []
    for key in list(_live):
        row = _live.pop(key, None)
        if row is not None:
            rows.append(row)
    rows.sort(key=lambda row: row[0])
    _release_all(rows)
    _finished = events_wait = True


def _after_fork_in_child() -> None:
    global _collecting, events_wait
    _live.clear()
    _aside.clear()
    _collecting = events_wait = False
    for hook in _fork_hooks:
        hook()
    end_fork()


gc.callbacks.append(uninterrupted(_on_collection))
atexit.register(_finish)
fork_guard.after_fork(_after_fork_in_child)
expect_end_fork()
