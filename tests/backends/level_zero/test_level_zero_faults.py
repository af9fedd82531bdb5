"""The Level Zero backend on a driver that fails at each call in turn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from bindless.cli.ze_driver import driver_path

pytestmark = [
    pytest.mark.level_zero,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the package's Level Zero driver is for Linux"),
]


def output(program: str) -> str:
    """What a program of this folder prints, which runs on the package's Level Zero driver."""
    root = str(Path(__file__).parents[3])
    paths = os.pathsep.join((str(Path(bl.__file__).parents[1]), root, os.environ.get("PYTHONPATH", "")))
    variables = {"ZE_ENABLE_ALT_DRIVERS": str(driver_path()), "PYTHONPATH": paths, "BINDLESS_CACHE": "0"}
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(program))],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_failing_call_is_an_error_and_leaves_nothing() -> None:
    """Only the package's errors, no crash, and no additional driver objects; for both kinds of lists."""
    found = re.findall(r"(\w+) lists: (\d+) calls, (\d+) errors, none left", output("level_zero_faults.py"))
    assert [kind for kind, _, _ in found] == ["immediate", "regular"]
    assert all(int(errors) > int(calls) // 2 for _, calls, errors in found)


def test_each_failing_call_of_volumes_updates_and_reductions_is_an_error() -> None:
    """The next run is right, and the driver's objects grow no further; reductions where kernels in Python compile."""
    found = re.findall(r"(\w+): (\d+) calls, (\d+) errors, none left", output("operation_faults.py"))
    assert [operation for operation, _, _ in found][:3] == ["volume", "update", "resize"]
    assert len(found) == 3 + bl.kernels_available("python")
    assert all(int(errors) > int(calls) // 2 for _, calls, errors in found)
