"""Measurement for ``bindless bench``: alternating runs of the peers, and rows of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.errors import FeatureNotSupportedError
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty

__all__ = ["ALONE", "CONSTRUCTION", "TRANSFERS", "Bench", "Peer", "Row", "Work"]

Work = Callable[[], object]

# What a row's time includes, besides the call that it names.
ALONE = "the call alone"
CONSTRUCTION = "construction"
TRANSFERS = "upload, download"

_BUDGET = 0.35  # seconds for each measurement and its peers together, in addition to the first call
_MOST_ROUNDS = 15


@dataclass(frozen=True)
class Peer:
    """Another implementation of the measured operation.

    Attributes
    ----------
    work : Work | float
        One call, or its previously measured time in seconds.
    share : float
        Fraction of the measured items that one call of the peer processes.
    goal : float | None
        Target: the least ratio of the peer's time to ours, or None.
    """

    work: Work | float
    share: float = 1.0
    goal: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table: an operation compared with one peer, or without a peer.

    Attributes
    ----------
    seconds : float
        Time of one call of this package.
    amount : float
        Items or bytes of a call; 0 where the row shows the time itself.
    unit : str
        Unit of ``amount``: ``samples``, ``bytes``, ``pixels`` or ``calls``.
    peer, peer_seconds
        Name of the peer, and its time for the same amount; empty and 0.0 without a peer.
    bound, bound_seconds
        Name of the physical limit and its time, or empty and 0.0.
    goal : float
        Target ratio, or 0.0; ``goal_seconds``: target time; ``goal_percent``: target percentage of the bound.
    size : int
        Bytes of the copied data or of the image, for plots; 0 where no size applies.
    includes : str
        Which of construction, upload and download are part of the time.
    """

    operation: str
    seconds: float
    amount: float
    unit: str
    peer: str = ""
    peer_seconds: float = 0.0
    bound: str = ""
    bound_seconds: float = 0.0
    goal: float = 0.0
    goal_seconds: float = 0.0
    goal_percent: float = 0.0
    size: int = 0
    includes: str = ALONE

    @property
    def ratio(self) -> float | None:
        """Ratio of the peer's time to ours; above 1 this package is faster."""
        return self.peer_seconds / self.seconds if self.peer else None

    @property
    def percent_of_bound(self) -> float | None:
        return 100 * self.bound_seconds / self.seconds if self.bound else None

    @property
    def reached(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.goal_seconds:
            return self.seconds <= self.goal_seconds
        ratio, percent = self.ratio, self.percent_of_bound
        if self.goal_percent and percent is not None:
            return percent >= self.goal_percent
        return ratio >= self.goal if self.goal and ratio is not None else None

    def speed(self, seconds: float) -> str:
        """Format the throughput or time of this row."""
        if self.amount:
            scale, unit = {"bytes": (1e9, "GB/s")}.get(self.unit, (1e6, f"M{self.unit}/s"))
            return f"{_short(self.amount / seconds / scale)} {unit}"
        return f"{_short(seconds * 1e6)} us" if seconds < 1e-3 else f"{_short(seconds * 1e3)} ms"

    @property
    def target(self) -> str:
        """Format the target and whether it is met; empty without a target."""
        if self.reached is None:
            return ""
        goal = f"{self.goal:.2f}"
        if self.goal_seconds:
            goal = f"<= {self.speed(self.goal_seconds)}"
        elif self.goal_percent:
            goal = f"{self.goal_percent:.0f} %"
        return f"{goal} {'reached' if self.reached else 'missed'}"

    def document(self) -> dict[str, object]:
        """Return all fields and derived values for JSON, where a goal is ``wanted``, as in earlier files."""
        derived = {"ratio": self.ratio, "percent_of_bound": self.percent_of_bound, "reached": self.reached}
        return {**{key.replace("goal", "wanted"): value for key, value in asdict(self).items()}, **derived}


def _short(number: float) -> str:
    """Format a number with three digits, without an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


@dataclass
class Bench:
    """Measurements on one queue.

    Attributes
    ----------
    queue : Queue
        In-order queue of the measured device.
    samples : int
        Samples of one call of a device function.
    clock : Callable[[], float]
        Clock in seconds: wall time, or processor time over all threads.
    rows : list[Row]
        Results, in order.
    notes : list[str]
        Omitted measurements, with the reason.
    announce : Callable[[str], None]
        Called with the name of each operation before it is measured.
    includes : str
        What the times of rows include that say nothing else.
    """

    queue: Queue
    samples: int
    clock: Callable[[], float] = time.perf_counter
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    announce: Callable[[str], None] = lambda operation: None
    includes: str = ALONE
    _bandwidth: float = 0.0

    def _once(self, work: Work, calls: int) -> float:
        start = self.clock()
        for _ in range(calls):
            work()
        return (self.clock() - start) / calls

    def measure(
        self,
        operation: str,
        ours: Work,
        peers: Mapping[str, Peer] | None = None,
        *,
        amount: float = 0.0,
        unit: str = "calls",
        calls: int = 1,
        bound: str = "",
        bound_seconds: float = 0.0,
        goal_seconds: float = 0.0,
        goal_percent: float = 0.0,
        size: int = 0,
        includes: str = "",
    ) -> float:
        """Measure an operation and its peers in alternating rounds, and keep the shortest round of each.

        Alternation spreads the disturbances of a busy machine evenly. A failing peer is omitted with a note; an
        operation that the device lacks is omitted.

        Parameters
        ----------
        calls : int, default 1
            Number of calls of each work in a round.
        includes : str, optional
            What the time includes; default ``self.includes``.

        Returns
        -------
        float
            Seconds of one call of this package; infinite where the device lacks the operation.
        """
        self.announce(operation)
        everyone: dict[str, Peer] = {"": Peer(ours), **(peers or {})}
        best: dict[str, float] = {}
        start = time.perf_counter()
        works: dict[str, Work] = {}
        for name, peer in list(everyone.items()):
            if not callable(peer.work):
                best[name] = peer.work
                continue
            try:
                peer.work()
                best[name] = self._once(peer.work, calls) / peer.share
                works[name] = peer.work
            except FeatureNotSupportedError as error:
                if not name:
                    self.notes.append(f"{operation}: {error}")
                    return float("inf")
                everyone.pop(name)
            except Exception as error:  # an exception of another library removes only its own row
                if not name:
                    raise
                self.notes.append(f"{operation}, {name}: {type(error).__name__}: {error}")
                everyone.pop(name)
        took = (time.perf_counter() - start) / 2
        rounds = int(min(max(_BUDGET * len(works) / max(took, 1e-6), 2), _MOST_ROUNDS))
        for _ in range(rounds):
            for name, work in works.items():
                best[name] = min(best[name], self._once(work, calls) / everyone[name].share)
        shared: dict[str, Any] = {
            "operation": operation,
            "seconds": best[""],
            "amount": amount,
            "unit": unit,
            "bound": bound,
            "bound_seconds": bound_seconds,
            "size": size,
            "includes": includes or self.includes,
        }
        # Targets apply to GPUs and to the reference driver, not to third-party drivers on processors.
        device = self.queue.device
        aims = device.has(Aspect.gpu) or device.backend is Backend.reference
        beside = [name for name in everyone if name]
        for name in beside:
            goal = (everyone[name].goal or 0.0) if aims else 0.0
            self.rows.append(Row(**shared, peer=name, peer_seconds=best[name], goal=goal))
        goal_seconds, goal_percent = (goal_seconds, goal_percent) if aims else (0.0, 0.0)
        if not beside or goal_seconds or goal_percent:
            self.rows.append(Row(**shared, goal_seconds=goal_seconds, goal_percent=goal_percent))
        return best[""]

    def add(
        self,
        operation: str,
        seconds: float,
        *,
        amount: float = 0.0,
        unit: str = "calls",
        peer: str = "",
        peer_seconds: float = 0.0,
        goal: float = 0.0,
        goal_seconds: float = 0.0,
        includes: str = "",
    ) -> None:
        """Add a row with a time measured elsewhere."""
        row = Row(operation, seconds, amount, unit, peer, peer_seconds, goal=goal, goal_seconds=goal_seconds)
        self.rows.append(replace(row, includes=includes or self.includes))

    def least(self, work: Work, calls: int = 7) -> float:
        """Return the least seconds of a few calls, after one to warm up."""
        work()
        return min(self._once(work, 1) for _ in range(calls))

    def traffic(self, nbytes: float) -> float:
        """Return the seconds of the device's own copy for this number of bytes, read or written; measured once."""
        if not self._bandwidth:
            size = (256 if self.queue.device.has(Aspect.gpu) else 64) << 20
            with usm_empty((size,), np.uint8, self.queue) as source, usm_empty((size,), np.uint8, self.queue) as target:
                for memory in (source, target):  # pages without a write have no physical memory
                    self.queue.memset(memory, 1, size).wait()

                def copy() -> None:
                    self.queue.memcpy(target, source, size).wait()

                copy()
                self._bandwidth = 2 * size / min(self._once(copy, 1) for _ in range(7))
        return nbytes / self._bandwidth
