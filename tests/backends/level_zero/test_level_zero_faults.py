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

PROGRAM = Path(__file__).with_name("level_zero_faults.py")


@pytest.mark.level_zero
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the package's Level Zero driver is for Linux")
def test_each_failing_call_is_an_error_and_leaves_nothing() -> None:
    """Only the package's errors, no crash, and no additional driver objects; for both kinds of lists."""
    paths = os.pathsep.join((str(Path(bl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")))
    variables = {"ZE_ENABLE_ALT_DRIVERS": str(driver_path()), "PYTHONPATH": paths, "BINDLESS_CACHE": "0"}
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, env=environment, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(r"(\w+) lists: (\d+) calls, (\d+) errors, none left", done.stdout)
    assert [kind for kind, _, _ in found] == ["immediate", "regular"]
    assert all(int(errors) > int(calls) // 2 for _, calls, errors in found)
