"""``bindless doctor --prove``: comparison of a device with the reference driver, as a report for the project."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model import info
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.errors import Error, FeatureNotSupportedError, InvalidError, KernelNotSupportedError
from ..model.whole_files import write_whole
from ..prove.lane_checks import LaneCheck, lane_checks
from ..prove.runtime_checks import runtime_checks
from ..prove.sampling_checks import Sampling, samplings
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue
from .ls import device_line
from .progress import Progress

__all__ = ["Outcome", "distance", "prove"]


_REFUSALS = (FeatureNotSupportedError, KernelNotSupportedError)


@dataclass(frozen=True)
class Outcome:
    """Result of one check.

    Attributes
    ----------
    name : str
        Of the check.
    family : str
        What it is about.
    result : str
        ``same`` (every bit, or all was right), ``differs`` (from the reference), ``refused`` (the device says that it
        cannot), or ``failed``.
    values : int
        Numbers compared.
    exact : int
        Those whose bits are the same; all NaNs are one.
    worst_ulp : int
        Largest difference in units of the last place, of integers in units.
    worst_error : float
        Largest difference.
    odd : int
        Numbers where only one of the two is finite.
    words : str
        Figures, or the error.
    """

    name: str
    family: str
    result: str
    values: int = 0
    exact: int = 0
    worst_ulp: int = 0
    worst_error: float = 0.0
    odd: int = 0
    words: str = ""


def _order_of(values: Array) -> npt.NDArray[np.int64]:
    """Whole numbers that count the floats from 0 on."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def distance(got: Array, reference: Array) -> dict[str, Any]:
    """Compare two arrays of float32 or integers; return members of an ``Outcome``."""
    if got.dtype != reference.dtype or got.shape != reference.shape:
        raise InvalidError(
            f"the device gives {got.dtype} {got.shape}, the reference {reference.dtype} {reference.shape}"
        )
    if got.dtype.kind != "f":
        apart = np.abs(got.astype(np.int64) - reference.astype(np.int64))
        worst = int(apart.max(initial=0))
        return {"values": got.size, "exact": int((apart == 0).sum()), "worst_ulp": worst, "worst_error": float(worst)}
    got, reference = np.ascontiguousarray(got, np.float32), np.ascontiguousarray(reference, np.float32)
    same = (got.view(np.int32) == reference.view(np.int32)) | (np.isnan(got) & np.isnan(reference))
    finite = np.isfinite(got) & np.isfinite(reference)
    apart = np.abs(_order_of(got[finite]) - _order_of(reference[finite]))
    error = np.abs(got[finite].astype(np.float64) - reference[finite].astype(np.float64))
    return {
        "values": got.size,
        "exact": int(same.sum()),
        "worst_ulp": int(apart.max(initial=0)),
        "worst_error": float(error.max(initial=0.0)),
        "odd": int((~finite & ~same).sum()),
    }


def _sample(sampling: Sampling, queue: Queue, reference: Queue) -> Outcome:
    name, family = str(sampling), sampling.family
    try:
        got = sampling.run(queue)
    except _REFUSALS as error:
        return Outcome(name, family, "refused", words=str(error))
    except Error as error:
        return Outcome(name, family, "failed", words=f"{type(error).__name__}: {error}")
    try:
        figures = distance(got, sampling.run(reference))
    except Error as error:
        return Outcome(name, family, "failed", words=f"not comparable: {error}")
    return Outcome(name, family, "same" if figures["exact"] == figures["values"] else "differs", **figures)


def _lanes(check: LaneCheck, queue: Queue) -> Outcome:
    """The outcome of a check of lane-varying handles, which fails unless every bit is right."""
    name, family = str(check), "handles per lane"
    try:
        figures = distance(*check.run(queue))
    except _REFUSALS as error:
        return Outcome(name, family, "refused", words=str(error))
    except Error as error:
        return Outcome(name, family, "failed", words=f"{type(error).__name__}: {error}")
    return Outcome(name, family, "same" if figures["exact"] == figures["values"] else "failed", **figures)


def _count(queue: Queue) -> int:
    """Number of checks."""
    has_images = queue.device.has(Aspect.ext_oneapi_bindless_images)
    return len(list(runtime_checks(queue))) + len(list(lane_checks(queue))) + has_images * len(list(samplings()))


def _outcomes(queue: Queue, reference: Queue, journal: Any, progress: Progress) -> Iterable[Outcome]:
    """All checks, each told to the journal before it begins: a driver that crashes leaves the culprit's name there."""
    for name, check in runtime_checks(queue):
        progress.step(name)
        print(name, file=journal, flush=True)
        try:
            yield Outcome(name, "runtime", "same", words=check(queue))
        except _REFUSALS as error:
            yield Outcome(name, "runtime", "refused", words=str(error))
        except (Error, AssertionError) as error:
            yield Outcome(name, "runtime", "failed", words=f"{type(error).__name__}: {error}")
    for lane_check in lane_checks(queue):
        progress.step(str(lane_check))
        print(lane_check, file=journal, flush=True)
        yield _lanes(lane_check, queue)
    if not queue.device.has(Aspect.ext_oneapi_bindless_images):
        return
    for sampling in samplings():
        progress.step(str(sampling))
        print(sampling, file=journal, flush=True)
        yield _sample(sampling, queue, reference)


def _about(device: Device) -> dict[str, Any]:
    answers: dict[str, str] = {}
    for name in info.device:
        try:
            answers[str(name)] = str(device.get_info(name))
        except Error as error:
            answers[str(name)] = f"not told: {type(error).__name__}"
    return {
        "line": device_line(device),
        "backend": str(device.backend),
        "name": device.name,
        "vendor": device.vendor,
        "driver": device.driver_version,
        "platform": device.platform.name,
        "aspects": sorted(map(str, device.aspects)),
        "info": answers,
    }


def _system() -> dict[str, str]:
    from .. import __version__

    return {
        "bindless": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "processor": platform.machine(),
    }


def _lines(about: dict[str, Any], outcomes: list[Outcome]) -> Iterable[str]:
    yield about["device"]["line"]
    yield ", ".join(f"{name} {value}" for name, value in about["system"].items())
    yield f"beside {about['reference']}"
    yield f"aspects: {', '.join(about['device']['aspects'])}"
    yield ""
    head = f"{'checks':<22}{'same':>7}{'differ':>8}{'refused':>9}{'failed':>8}"
    yield f"{head}{'values':>10}{'exact %':>10}{'worst ulp':>12}"
    for family in dict.fromkeys(outcome.family for outcome in outcomes):
        those = [outcome for outcome in outcomes if outcome.family == family]
        counts = [sum(item.result == result for item in those) for result in ("same", "differs", "refused", "failed")]
        values, exact = sum(item.values for item in those), sum(item.exact for item in those)
        share = f"{100 * exact / values:.4f}" if values else "-"
        same, differ, refused, failed = counts
        worst = max(item.worst_ulp for item in those)
        yield f"{family:<22}{same:>7}{differ:>8}{refused:>9}{failed:>8}{values:>10}{share:>10}{worst:>12}"
    for title, result in (("failed", "failed"), ("refused", "refused"), ("most different", "differs")):
        those = [outcome for outcome in outcomes if outcome.result == result]
        if result == "differs":
            those = sorted(those, key=lambda item: -item.worst_error)[:40]
        if those:
            yield ""
            yield title
        for item in those:
            figures = f"{item.worst_ulp} ulp, {item.worst_error:.4g}, {item.odd} odd" if item.values else item.words
            yield f"  {item.name}: {figures}"
    yield ""
    for item in outcomes:
        if item.family == "runtime" and item.result == "same":
            yield f"{item.name}: {item.words}"


def prove(folder: Path, selector: str | None) -> int:
    """Runs every check on a device and beside the reference driver, and writes ``report.json`` and ``report.txt``.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    selector : str | None
        Of the device; None is the default one.

    Returns
    -------
    int
        The exit code: 0 where nothing failed. Differences in sampling and refusals only appear in the report: texture
        units differ.
    """
    device = Device(selector)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with (
        Queue(device, in_order=True) as queue,
        Queue("reference:*:*", in_order=True) as reference,
        (folder / "journal.txt").open("w", encoding="utf-8") as journal,
    ):
        about = {"system": _system(), "device": _about(device), "reference": device_line(reference.device)}
        with Progress("doctor --prove", _count(queue)) as progress:
            outcomes = list(_outcomes(queue, reference, journal, progress))
    text = "\n".join(_lines(about, outcomes)) + "\n"
    report = {**about, "seconds": round(time.monotonic() - began, 1), "checks": [asdict(item) for item in outcomes]}
    write_whole(folder / "report.json", (json.dumps(report, indent=1) + "\n").encode())
    write_whole(folder / "report.txt", text.encode())
    print(text, end="")
    failed = sum(outcome.result == "failed" for outcome in outcomes)
    print(f"\n{len(outcomes)} checks, {failed} failed; send {folder}/report.json to the project")
    return 1 if failed else 0
