"""``bindless.level_zero`` on a driver that fails at each call in turn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless as bl
from bindless.cli.ze_driver import driver_path

HERE = Path(__file__).parent


@pytest.mark.level_zero
@pytest.mark.on_level_zero
def test_each_failing_call_is_an_error_and_leaves_nothing() -> None:
    paths = os.pathsep.join((str(Path(bl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")))
    variables = {"ZE_ENABLE_ALT_DRIVERS": str(driver_path()), "PYTHONPATH": paths, "BINDLESS_CACHE": "0"}
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, str(HERE / "failing_calls.py")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"(\d+) calls, (\d+) errors, none left\n", done.stdout)
    assert found and int(found[2]) > int(found[1]) // 2 > 80, done.stdout
