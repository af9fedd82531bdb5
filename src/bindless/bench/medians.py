"""Medians of short calls: each call timed alone, in series of one library or in turns with its peers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

from ..model.enums import Backend
from .measure import Bench, Work

__all__ = ["compare", "medians", "nothing", "turns"]

_SERIES, _ROUNDS, _FEWEST = 50, 12, 3
_BUDGET = 0.15  # seconds of a work, after which no round begins


def nothing() -> None:
    """End a series whose calls wait."""


def medians(bench: Bench, works: Mapping[str, Work], end: Work = nothing, series: int = _SERIES) -> dict[str, float]:
    """Time a call of each work, in series that alternate.

    Parameters
    ----------
    works : Mapping[str, Work]
        By name.
    end : Work
        Ends a series, untimed: waits for calls that do not, so that the device's queue never fills up.
    series : int, default 50
        Calls in a row.

    Returns
    -------
    dict[str, float]
        Seconds, by name.
    """
    clock = bench.clock
    times: dict[str, list[float]] = {name: [] for name in works}
    begin = time.perf_counter()
    for number in range(_ROUNDS):
        if number >= _FEWEST and time.perf_counter() - begin > _BUDGET * len(works):
            break
        for name, work in works.items():
            work()
            end()
            for _ in range(series):
                start = clock()
                work()
                times[name].append(clock() - start)
            end()
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def turns(bench: Bench, ours: Work, peer: Work, count: int = _SERIES) -> float:
    """Seconds of a call of ours that follows one of a peer each time; both wait."""
    clock, times = bench.clock, []
    begin = time.perf_counter()
    for number in range(count):
        if number >= _FEWEST and time.perf_counter() - begin > _BUDGET:
            break
        peer()
        start = clock()
        ours()
        times.append(clock() - start)
    return statistics.median(times)


def compare(
    bench: Bench,
    operation: str,
    works: Mapping[str, Work],
    *,
    goal: float = 0.0,
    goal_ratio: float = 0.0,
    end: Work = nothing,
    series: int = _SERIES,
    includes: str = "",
) -> None:
    """Add a row for each peer; the first work is this package's, without a name.

    Parameters
    ----------
    goal : float, default 0.0
        Target of ours on NVIDIA GPUs, in seconds; none if 0.
    goal_ratio : float, default 0.0
        Target of each peer's time divided by ours, where ``goal`` is 0; none if 0.
    end, series
        As of ``medians``.
    includes : str, optional
        As of ``Bench.add``.
    """
    bench.announce(operation)
    seconds_of = medians(bench, works, end, series)
    ours = seconds_of.pop("")
    goal = goal if bench.queue.device.backend is Backend.cuda else 0.0
    for peer, seconds in (seconds_of or {"": 0.0}).items():
        bench.add(
            operation,
            ours,
            peer=peer,
            peer_seconds=seconds,
            goal=goal_ratio,
            goal_seconds=goal,
            includes=includes,
        )
        goal = 0.0
