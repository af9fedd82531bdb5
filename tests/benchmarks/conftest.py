"""Benchmarks print ratios against peers measured in the same run; no benchmark fails for being slow.

pytest tests/benchmarks --device reference -q
"""

from __future__ import annotations

import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bindless import kernels

C_PROGRAM = Path(__file__).with_name("driver_costs.c")
Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the closing table: ``seconds`` of one call of this package, and by peer the ratio peer / ours."""

    name: str
    seconds: float
    rate: str
    ratios: Mapping[str, float]
    target: str
    each: float = 0.0  # number of calls in ``seconds``, if the table also shows the difference per call
    processor: float = 0.0  # processor time of this thread within ``seconds``, if the table shows it
    processor_ratios: Mapping[str, float] = field(default_factory=dict)

    def peer(self, name: str) -> str:
        """Format the ratio to a peer, and on request the additional time of one call of this package."""
        told = f"{name} {self.ratios[name]:.2f}{self._more(self.seconds, self.ratios[name])}"
        if name in self.processor_ratios:
            ratio = self.processor_ratios[name]
            told += f" [processor {ratio:.2f}{self._more(self.processor, ratio)}]"
        return told

    def _more(self, seconds: float, ratio: float) -> str:
        return f" ({seconds * (1 - ratio) / self.each * 1e6:+.2f} us a call)" if self.each else ""


_ROWS: list[Row] = []


def show_row(name: str, seconds: float, rate: str, ratios: Mapping[str, float], target: str) -> None:
    """Add a line to the closing table that was measured elsewhere."""
    _ROWS.append(Row(name, seconds, rate, ratios, target))


def _once(work: Work, calls: int) -> tuple[float, float]:
    """Return the wall time of a call and the processor time of this thread, in seconds."""
    start, processor = time.perf_counter(), time.thread_time()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls, (time.thread_time() - processor) / calls


@pytest.fixture
def compare(benchmark: Any, request: pytest.FixtureRequest) -> Callable[..., Mapping[str, float]]:
    """``compare(ours, peers)``: medians of interleaved rounds, so that a busy machine affects all alike.

    ``items`` of one call turn the time into a rate; ``calls`` is the number of calls in a round; ``target`` is the text
    of the target; ``known`` has seconds of peers measured by another program; ``each`` is the number of driver calls in
    one call of this package, for the difference per call. ``least`` takes the shortest round instead of the median, for
    calls of microseconds on a busy processor, and adds this thread's processor time.
    """

    def run(
        ours: Work,
        peers: Mapping[str, Work],
        *,
        name: str | None = None,
        calls: int = 1,
        rounds: int = 7,
        items: float = 0.0,
        unit: str = "items",
        target: str = "",
        known: Mapping[str, float] | None = None,
        each: float = 0.0,
        least: bool = False,
    ) -> Mapping[str, float]:
        everyone = {"ours": ours, **peers}
        for work in everyone.values():
            work()
        times: dict[str, list[tuple[float, float]]] = {key: [] for key in everyone}
        for _ in range(rounds):
            for key, work in everyone.items():
                times[key].append(_once(work, calls))
        middle: Callable[[list[float]], float] = min if least else statistics.median
        seconds = {key: middle([wall for wall, _ in values]) for key, values in times.items()}
        processor = {key: middle([own for _, own in values]) for key, values in times.items()} if least else {}
        ratios = {key: value / seconds["ours"] for key, value in {**seconds, **(known or {})}.items() if key != "ours"}
        own = {key: value / processor["ours"] for key, value in processor.items() if key != "ours"}
        rate = f"{items / seconds['ours'] / 1e6:.1f} M{unit}/s" if items else ""
        _ROWS.append(
            Row(name or request.node.name, seconds["ours"], rate, ratios, target, each, processor.get("ours", 0.0), own)
        )
        benchmark.extra_info.update({f"{_ROWS[-1].name}: ratio {key}": value for key, value in ratios.items()})
        nonlocal timed
        if not timed:  # pytest-benchmark keeps one timing per test; the ratios are in its extra_info
            timed = True
            benchmark.pedantic(ours, rounds=1, iterations=1)
        return ratios

    timed = False
    return run


@pytest.fixture(scope="session")
def driver_costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Seconds of the driver's own calls from a C program, by name."""
    folder = tmp_path_factory.mktemp("costs")
    program, module = folder / "costs", folder / "launch.ptx"
    module.write_bytes(kernels.source(kernels.module_of("bindless_empty"), "ptx"))
    include = next((p for p in ("/usr/local/cuda/include", "/usr/include") if Path(p, "cuda.h").exists()), None)
    if include is None:
        pytest.skip("needs cuda.h: install the CUDA toolkit")
    subprocess.run(["cc", "-O2", f"-I{include}", str(C_PROGRAM), "-o", str(program), "-ldl"], check=True, timeout=120)
    text = subprocess.run([str(program), str(module)], check=True, capture_output=True, text=True, timeout=120).stdout
    return {name: float(value) * 1e-9 for name, value in re.findall(r"^(\w+) ([0-9.]+)$", text, re.M)}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _ROWS:
        return
    terminalreporter.section("ratios: time of the peer / our time, above 1 we are faster")
    for row in _ROWS:
        peers = ", ".join(map(row.peer, row.ratios))
        terminalreporter.write_line(
            f"{row.name:58s} {row.seconds * 1e6:12.2f} us  {row.rate:>18s}  {peers}"
            + (f"  [{row.target}]" if row.target else "")
        )
