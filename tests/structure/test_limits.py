"""No test waits for ever: child processes have time limits, pytest ends hanging tests, and interrupts arrive."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ctrl_c import INTERRUPTED_WAITS

TESTS = Path(__file__).parents[1]
STARTS = ("run", "call", "check_call", "check_output")

HANGING = """
import threading

def test_hangs():
    threading.Event().wait()
"""

IGNORED = f"""
import os, signal, threading, time
from types import SimpleNamespace
assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
queue = event = SimpleNamespace(wait=lambda: time.sleep(60))
{INTERRUPTED_WAITS}
"""


def unlimited(path: Path) -> list[str]:
    """Calls in a file that wait for a process without a time limit."""
    text = path.read_text()
    nodes = list(ast.walk(ast.parse(text))) if "subprocess." in text else []
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    made = {
        ast.unparse(target)
        for node in nodes
        if isinstance(node, ast.Assign) and "subprocess.Popen(" in ast.unparse(node.value)
        for target in node.targets
    }
    found = []
    for call in calls:
        if not isinstance(call.func, ast.Attribute):
            continue
        owner, method = ast.unparse(call.func.value), call.func.attr
        waits = owner in made and method in ("wait", "communicate") and not call.args
        runs = owner == "subprocess" and method in STARTS
        if (waits or runs) and not any(keyword.arg in ("timeout", None) for keyword in call.keywords):
            found.append(f"{path.relative_to(TESTS)}:{call.lineno}: {owner}.{method}")
    return found


def test_processes_have_a_limit() -> None:
    assert [call for path in sorted(TESTS.rglob("*.py")) for call in unlimited(path)] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "timeout=1"], "Timeout"),  # by pytest-timeout
        (["-p", "no:timeout", "-o", "faulthandler_timeout=1"], "test_hangs"),  # by pytest alone
    ],
    ids=["timeout", "faulthandler"],
)
def test_pytest_ends_what_hangs(tmp_path: Path, options: list[str], said: str) -> None:
    """Uses the project's own configuration."""
    program = tmp_path / "test_hanging.py"
    program.write_text(HANGING)
    configuration = ["-c", str(TESTS.parent / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", *configuration, *options, str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS.parent), os.environ.get("PYTHONPATH", "")]),
            "PYTEST_ADDOPTS": "",
        },
    )
    assert done.returncode == 1 and said in done.stdout + done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a process inherits ignored signals on POSIX systems")
def test_interrupts_arrive_where_they_were_ignored() -> None:
    """The child process starts with SIGINT ignored, as under ``nohup``."""
    ignore = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", ignore, sys.executable, "-c", IGNORED], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["interrupted"] * 2, "")
