"""Two runs of the suite on one machine, the first with fewer tools: the second leaves out what the first has proven.

    pytest --write-passed=FILE        writes the tests of ``ROOMS`` that passed, each of their three phases, without
                                      a process: compilers of kernels are processes
    pytest --leave-out-passed=FILE    leaves out the tests that FILE has

With a space instead of "=", pytest takes an existing FILE as a test and searches its folder for the configuration.

The tests of ``ROOMS`` use the device under test alone. Tests that failed, that were skipped, or that started a process
run again, as all tests of other folders do. Without FILE, or with that of another version of Python, all tests run.
``.ci/run`` uses both options.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["ROOMS", "PassedTests", "add_options"]

ROOMS = (
    "bindless_images", "camera", "colour", "conformance", "cv2", "error_messages", "goldens", "image", "model",
    "ndimage", "numerics", "ptx", "sampling", "space", "submission",
)  # fmt: skip
_PYTHON = list(sys.version_info[:2])
_PHASES = {"setup": "passed", "call": "passed", "teardown": "passed"}
_STARTS = ("subprocess.Popen", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system")
_PROCESS = "started a process"  # a property of a test's report
_COUNT = "left_out"  # of a worker, for the main process


def add_options(parser: pytest.Parser) -> None:
    """Add the two options."""
    parser.addoption("--write-passed", metavar="FILE", help="write the tests that passed without tools")
    parser.addoption("--leave-out-passed", metavar="FILE", help="leave out the tests that FILE has")


class PassedTests:
    """The plugin of both options."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._writes = config.getoption("--write-passed")
        self._reads = config.getoption("--leave-out-passed")
        self._rooms = tuple(config.rootpath / "tests" / room for room in ROOMS)
        self._phases: dict[str, dict[str, str]] = {}
        self._with_process: set[str] = set()  # tests, and files whose fixtures started one
        self._processes = 0
        self._left_out = 0
        self._passed, self._reason = self._read() if self._reads else (frozenset(), "")
        if self._writes:
            sys.addaudithook(self._count)

    def _count(self, event: str, _: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self._processes += 1

    def _read(self) -> tuple[frozenset[str], str]:
        try:
            found = json.loads(Path(self._reads).read_text())
        except FileNotFoundError:
            return frozenset(), f"{self._reads} is missing"
        if found["python"] != _PYTHON:
            return frozenset(), f"they passed with Python {'.'.join(map(str, found['python']))}"
        return frozenset(found["passed"]), f"they passed, without a process, in the run that wrote {self._reads}"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect tests that passed before."""
        gone = [item for item in items if item.nodeid in self._passed]
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = [item for item in items if item.nodeid not in self._passed]
        self._left_out = len(gone)

    def pytest_runtest_logstart(self) -> None:
        """Forget the processes of plugins."""
        self._processes = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        """Note in the report of a phase that it started a process."""
        report = yield
        if self._processes:
            report.user_properties = [*report.user_properties, (_PROCESS, report.when)]
        self._processes = 0
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a phase; expected failures count as failures."""
        outcome = "failed" if hasattr(report, "wasxfail") else report.outcome
        self._phases.setdefault(report.nodeid, {})[str(report.when)] = outcome
        if (_PROCESS, report.when) in map(tuple, report.user_properties):
            file = report.nodeid.partition("::")[0]
            self._with_process.add(report.nodeid if report.when == "call" else file)

    def pytest_sessionfinish(self) -> None:
        """Write the file, in the main process."""
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_COUNT] = self._left_out
        elif self._writes:
            passed = sorted(test for test, phases in self._phases.items() if phases == _PHASES and self._is_free(test))
            Path(self._writes).write_text(json.dumps({"python": _PYTHON, "passed": passed}, indent=0))

    def _is_free(self, test: str) -> bool:
        """Return whether a test depends on no tool."""
        file = test.partition("::")[0]
        inside = any(room in (self._config.rootpath / file).parents for room in self._rooms)
        return inside and not {test, file} & self._with_process

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the number of a worker: each collects all tests."""
        self._left_out = max(self._left_out, getattr(node, "workeroutput", {}).get(_COUNT, 0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell how many tests were left out, and why."""
        if self._reads:
            terminalreporter.write_line(f"left out {self._left_out} tests of {', '.join(ROOMS)}: {self._reason}")
