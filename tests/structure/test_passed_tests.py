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

ROOT = Path(__file__).parents[2]
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
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("suite")
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
def test_what_failed_was_skipped_or_used_a_process_runs_again(workers: str, suite: Path, tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    passed = tmp_path / "passed.json"  # another folder, as in .ci/run
    every, told = _run(suite, workers, f"--write-passed={passed}")
    assert len(every) == 26 and not told
    room = f"tests/{ROOMS[0]}/test_{ROOMS[0]}_cases.py"
    proven = {f"{room}::test_passes[{number}]" for number in (1, 2)}
    again, told = _run(suite, workers, f"--leave-out-passed={passed}")
    assert again == every - proven
    assert told.startswith("left out 2 tests of ") and "passed.json" in told


def test_a_missing_file_or_another_python_leaves_out_nothing(suite: Path, tmp_path: Path) -> None:
    passed = tmp_path / "passed.json"
    every, told = _run(suite, "-n0", f"--leave-out-passed={passed}")
    assert len(every) == 26 and told.startswith("left out 0 tests") and "missing" in told
    _run(suite, "-n0", f"--write-passed={passed}")
    written = json.loads(passed.read_text())
    assert len(written["passed"]) == 2
    written["python"] = [2, 7]
    passed.write_text(json.dumps(written))
    assert _run(suite, "-n0", f"--leave-out-passed={passed}")[0] == every


def test_options_in_the_environment_are_the_run_s_alone(tmp_path: Path) -> None:
    """Tests start pytest in other folders, where these options are unknown, and must not write the file."""
    program = tmp_path / "test_environment.py"
    program.write_text("import os\n\ndef test_options(): assert 'PYTEST_ADDOPTS' not in os.environ\n")
    written = tmp_path / "other" / "passed.json"
    written.parent.mkdir()
    configuration = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n1", *configuration, str(program)],
        env={**os.environ, "PYTEST_ADDOPTS": f"-p no:cacheprovider --write-passed={written}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert written.exists()


def test_ci_gives_the_options_one_word() -> None:
    """pytest takes an existing file after a space as a test, and then finds neither configuration nor options."""
    for script, option in (("run", "--leave-out-passed"), ("fresh", "--write-passed")):
        lines = (ROOT / ".ci" / script).read_text().splitlines()
        assert re.findall(rf"{option}(.)", "\n".join(line for line in lines if not line.startswith("#"))) == ["="]


def test_rooms_exist() -> None:
    tests = Path(__file__).parents[1]
    assert all((tests / room).is_dir() for room in ROOMS)
