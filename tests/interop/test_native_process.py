"""The native objects of Level Zero in a process of their own: devices with parts, under the validation layer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.mark.level_zero
def test_native_objects_under_the_validation_layer(pytestconfig: pytest.Config) -> None:
    """Its parameter checks are on, and it has nothing to say; two devices of two parts each."""
    environment = {
        **os.environ,
        "BINDLESS_LEVEL_ZERO_DEVICES": "2x2",
        "ZE_ENABLE_VALIDATION_LAYER": "1",
        "ZE_ENABLE_PARAMETER_VALIDATION": "1",
    }
    tests = str(HERE / "test_native_level_zero.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", "level_zero", tests],
        env=environment,
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout and "skipped" not in done.stdout, done.stdout
    assert done.stderr == ""
