"""A second run of the suite leaves out what passed in the first, and nothing else (``support/passed_tests.py``)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.passed_tests import ROOMS

CONFTEST = """
from tests.support.passed_tests import PassedTests, add_options

def pytest_addoption(parser):
    add_options(parser)

def pytest_configure(config):
    config.pluginmanager.register(PassedTests(config))
"""
CASES = """
import os, subprocess, sys
import pytest

@pytest.fixture
def fails_at_the_end():
    yield
    assert False

@pytest.fixture
def fails_at_the_beginning():
    assert False

@pytest.mark.parametrize("number", [1, 2])
def test_passes(number): pass
def test_starts_a_process(): subprocess.run([sys.executable, "-c", ""], check=True)
def test_fails(): assert False
def test_fails_at_the_end(fails_at_the_end): pass
def test_fails_at_the_beginning(fails_at_the_beginning): pass
def test_skips_itself(): pytest.skip("no tool")
@pytest.mark.skip
def test_is_skipped(): pass
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
@pytest.mark.xfail
def test_passes_unexpectedly(): pass
"""
FIXTURE = """
import os
import pytest

@pytest.fixture(scope="module")
def compiled():
    assert os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ""], {}), 0)[1] == 0

def test_before(): pass
def test_uses_it_first(compiled): pass
def test_uses_it_too(compiled): pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for folder in (ROOMS[0], "other"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        (tmp_path / "tests" / folder / f"test_{folder}_cases.py").write_text(CASES)
        (tmp_path / "tests" / folder / f"test_{folder}_fixture.py").write_text(FIXTURE)
    return tmp_path


def _run(suite: Path, *options: str) -> tuple[set[str], str]:
    """Return the tests that ran, and the summary's line."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("left out ")]
    return set(re.findall(r"\S+\.py::\w+(?:\[\d\])?", done.stdout)), "".join(told)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_failed_was_skipped_or_used_a_process_runs_again(workers: str, suite: Path) -> None:
    pytest.importorskip("xdist")
    every, told = _run(suite, workers, "--write-passed", "passed.json")
    assert len(every) == 26 and not told
    room = f"tests/{ROOMS[0]}/test_{ROOMS[0]}_cases.py"
    proven = {f"{room}::test_passes[{number}]" for number in (1, 2)}
    again, told = _run(suite, workers, "--leave-out-passed", "passed.json")
    assert again == every - proven
    assert told.startswith("left out 2 tests of ") and "passed.json" in told


def test_a_missing_file_or_another_python_leaves_out_nothing(suite: Path) -> None:
    every, told = _run(suite, "-n0", "--leave-out-passed", "passed.json")
    assert len(every) == 26 and told.startswith("left out 0 tests") and "missing" in told
    _run(suite, "-n0", "--write-passed", "passed.json")
    written = json.loads((suite / "passed.json").read_text())
    assert len(written["passed"]) == 2
    written["python"] = [2, 7]
    (suite / "passed.json").write_text(json.dumps(written))
    assert _run(suite, "-n0", "--leave-out-passed", "passed.json")[0] == every


def test_rooms_exist() -> None:
    tests = Path(__file__).parents[1]
    assert all((tests / room).is_dir() for room in ROOMS)
