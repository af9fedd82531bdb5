"""The end of a buffer: waits, and write-back to the host (ARCH, Host-Device Coordination)."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from ...model.arrays import Array, DType
from ...model.errors import Error
from ...submission.active_streams import sweep
from ...submission.worker_threads import pool
from . import storage as _storage
from .migration import Here, bring, make_rest, move_here, settle
from .storage import Storage, is_pending

__all__ = ["finish", "finish_quietly"]


def finish(
    storage: Storage,
    final: Array | None,
    shape: tuple[int, ...],
    dtype: DType,
    *,
    report: bool,
) -> None:
    """Writes the newest contents to ``final`` if any were written, and ends the storage.

    Waits for everything submitted so far in that case, or where the memory is someone else's, who is given it back with
    the newest contents where the backend's specification leaves them there; else only for what reads the user's memory.

    Parameters
    ----------
    report : bool
        Whether to raise the error of a failed command; else it stays with its queue.
    """
    pool.prepare()
    lost: Error | None = None
    here: Here = []
    place = None
    rest = partial(make_rest, here)
    with _storage.lock:
        if not storage.open or storage.forked:  # after a fork it is the parent's
            return
        try:
            storage.open = False  # nothing more is submitted
            waits = [event for event in storage.uploads if is_pending(event)]
            waits_for_all = storage.waits
            if final is not None and (storage.modified or storage.origin is None or storage.origin.memory is not final):
                place = storage.visible_place(storage.segments, writable=True)
                if storage.host is not None and storage.host.memory is final:
                    place = storage.host
                waits_for_all = True
            try:
                for target in (place, storage.returns):
                    if target is not None:
                        waits += bring(storage, storage.segments, target, here=here)
            except Error as error:  # it ends all the same
                lost = error
            if waits_for_all:
                waits = [*storage.users(), *waits]
        except BaseException:  # interrupted: it can be closed again
            storage.open = True
            pool.later(rest)
            raise
    try:
        move_here(here)
        succeeded = settle(waits, report=False)
    except BaseException:
        storage.open = True
        pool.later(rest)
        raise
    if final is not None and place is not None and place.memory is not final and succeeded and not lost:
        final[...] = place.view(0, shape, dtype, writable=False).reshape(final.shape)
    with _storage.lock:
        _storage.unfinished.discard(storage)
        storage.segments = []
        storage.places = {}
        storage.host = storage.origin = storage.returns = None
        storage.uploads = []
    if storage.adopted:
        sweep()  # a queue holds what its commands used until it looks
    settle(waits, report=report)
    if lost is not None:
        raise lost


def finish_quietly(*rest: Any) -> None:
    """``finish`` with errors printed on the standard error output."""
    try:
        finish(*rest, report=False)
    except Error as error:
        sys.stderr.write(f"bindless: a buffer was not written back: {error}\n")
