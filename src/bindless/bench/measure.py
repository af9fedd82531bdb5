"""Measurement for ``bindless bench``: alternating runs of the peers, and rows of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.errors import FeatureNotSupportedError
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty

__all__ = ["Bench", "Peer", "Row", "Work"]

Work = Callable[[], object]

_BUDGET = 0.35  # seconds for each of ours and its peers together, beside the first call
_MOST_ROUNDS = 15


@dataclass(frozen=True)
class Peer:
    """Somebody else who does the same.

    Attributes
    ----------
    work : Work | float
        One call; or the seconds that it took when it was measured before.
    share : float
        Of our items that a call does.
    wanted : float | None
        The least ratio of its time to ours that the project aims at, or None.
    """

    work: Work | float
    share: float = 1.0
    wanted: float | None = None


@dataclass(frozen=True)
class Row:
    """One line: an operation compared with one peer, or with none.

    Attributes
    ----------
    seconds : float
        Of one call of ours.
    amount : float
        Items or bytes of a call; 0 where the time itself is told.
    unit : str
        Of ``amount``: ``samples``, ``bytes``, ``pixels``; or ``calls``.
    peer, peer_seconds
        Who else did it, and how long that took for as much; empty and 0.0 for nobody.
    bound, bound_seconds
        What nobody can be quicker than, or empty and 0.0.
    wanted : float
        The ratio aimed at, or 0.0; ``wanted_seconds``: the time aimed at, ``wanted_percent``: of the bound.
    size : int
        Bytes of what is copied, or of the image, for plots; 0 where that means nothing.
    """

    operation: str
    seconds: float
    amount: float
    unit: str
    peer: str = ""
    peer_seconds: float = 0.0
    bound: str = ""
    bound_seconds: float = 0.0
    wanted: float = 0.0
    wanted_seconds: float = 0.0
    wanted_percent: float = 0.0
    size: int = 0

    @property
    def ratio(self) -> float | None:
        """The peer's time over ours: above 1 we are faster."""
        return self.peer_seconds / self.seconds if self.peer else None

    @property
    def percent_of_bound(self) -> float | None:
        return 100 * self.bound_seconds / self.seconds if self.bound else None

    @property
    def reached(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.wanted_seconds:
            return self.seconds <= self.wanted_seconds
        ratio, percent = self.ratio, self.percent_of_bound
        if self.wanted_percent and percent is not None:
            return percent >= self.wanted_percent
        return ratio >= self.wanted if self.wanted and ratio is not None else None

    def speed(self, seconds: float) -> str:
        """A time of this row's work as people read it."""
        if self.amount:
            scale, unit = {"bytes": (1e9, "GB/s")}.get(self.unit, (1e6, f"M{self.unit}/s"))
            return f"{_short(self.amount / seconds / scale)} {unit}"
        return f"{_short(seconds * 1e6)} us" if seconds < 1e-3 else f"{_short(seconds * 1e3)} ms"

    @property
    def target(self) -> str:
        """The target and whether it is reached; empty without a target."""
        if self.reached is None:
            return ""
        wanted = f"{self.wanted:.2f}"
        if self.wanted_seconds:
            wanted = f"<= {self.speed(self.wanted_seconds)}"
        elif self.wanted_percent:
            wanted = f"{self.wanted_percent:.0f} %"
        return f"{wanted} {'reached' if self.reached else 'missed'}"

    def document(self) -> dict[str, Any]:
        """For JSON: all fields, and what follows from them."""
        derived = {"ratio": self.ratio, "percent_of_bound": self.percent_of_bound, "reached": self.reached}
        return {**asdict(self), **derived}


def _short(number: float) -> str:
    """Three digits, without an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


@dataclass
class Bench:
    """Measures on one queue.

    Attributes
    ----------
    queue : Queue
        In order, of the device that is measured.
    samples : int
        Of one call of a device function.
    clock : Callable[[], float]
        Seconds; of the wall, or of the processor over all threads.
    rows : list[Row]
        What was measured, in order.
    notes : list[str]
        What could not be, and why.
    """

    queue: Queue
    samples: int
    clock: Callable[[], float] = time.perf_counter
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
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
        wanted_seconds: float = 0.0,
        wanted_percent: float = 0.0,
        size: int = 0,
    ) -> float:
        """The least of several rounds of everybody in turns, so that a busy machine disturbs all alike.

        A peer that fails is left out, with a note; what this device lacks is left out too.

        Parameters
        ----------
        calls : int, default 1
            How often a round calls each work.

        Returns
        -------
        float
            Seconds of one call of ours; infinite where the device lacks it.
        """
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
            except Exception as error:  # whatever another library raises takes away its row alone
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
        }
        # What other drivers do on a processor is theirs: the project's own aims are for GPUs and for its own driver.
        device = self.queue.device
        aims = device.has(Aspect.gpu) or device.backend is Backend.reference
        beside = [name for name in everyone if name]
        for name in beside:
            wanted = (everyone[name].wanted or 0.0) if aims else 0.0
            self.rows.append(Row(**shared, peer=name, peer_seconds=best[name], wanted=wanted))
        wanted_seconds, wanted_percent = (wanted_seconds, wanted_percent) if aims else (0.0, 0.0)
        if not beside or wanted_seconds or wanted_percent:
            self.rows.append(Row(**shared, wanted_seconds=wanted_seconds, wanted_percent=wanted_percent))
        return best[""]

    def told(
        self,
        operation: str,
        seconds: float,
        *,
        amount: float = 0.0,
        unit: str = "calls",
        peer: str = "",
        peer_seconds: float = 0.0,
        wanted_seconds: float = 0.0,
    ) -> None:
        """A row of a time that was measured elsewhere."""
        self.rows.append(Row(operation, seconds, amount, unit, peer, peer_seconds, wanted_seconds=wanted_seconds))

    def traffic(self, nbytes: float) -> float:
        """Seconds that the device needs to move so many bytes, read or written, by its own copy: measured once."""
        if not self._bandwidth:
            size = (256 if self.queue.device.has(Aspect.gpu) else 64) << 20
            with usm_empty((size,), np.uint8, self.queue) as source, usm_empty((size,), np.uint8, self.queue) as target:
                for memory in (source, target):  # pages that nothing was written to lie nowhere
                    self.queue.memset(memory, 1, size).wait()

                def copy() -> None:
                    self.queue.memcpy(target, source, size).wait()

                copy()
                self._bandwidth = 2 * size / min(self._once(copy, 1) for _ in range(7))
        return nbytes / self._bandwidth
