"""The summary of a run names reasons of skipped tests, not each test (``support/skip_reasons.py``)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.skip_reasons import lines_of_reasons

ROOT = Path(__file__).parents[2]


def test_frequent_reasons_come_first() -> None:
    assert lines_of_reasons([]) == []
    assert lines_of_reasons(["Skipped: a", "b", "Skipped: b"]) == ["skipped 2: b", "skipped 1: a"]


def test_lines_are_few_and_short() -> None:
    lines = lines_of_reasons([f"reason {number} {'x' * (300 - number)}" for number in range(200)] + ["two\nlines"] * 2)
    assert len(lines) == 15 and max(map(len, lines)) == 120
    assert lines[0] == "skipped 2: two lines" and lines[-1].startswith("skipped 187: for 187 other reasons")


def test_tracebacks_follow_the_reasons(tmp_path: Path) -> None:
    """What failed is at the end of the output: logs may keep no more."""
    program = tmp_path / "test_outcomes.py"
    program.write_text(
        "import pytest\n\n"
        "@pytest.mark.parametrize('number', range(99))\ndef test_skips(number): pytest.skip('no tool')\n\n"
        "def test_fails(): assert 'this' == 'that'\n"
    )
    configuration = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", *configuration, str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines.count("skipped 99: no tool") == 1 and not [line for line in lines if line.startswith("SKIPPED")]
    failed = next(number for number, line in enumerate(lines) if line.startswith("E ") and "this" in line)
    assert lines.index("skipped 99: no tool") < failed and len(lines) - failed < 15
