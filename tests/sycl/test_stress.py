"""Many threads, forks, signals and exits: no deadlock, leak or crash. ``pytest --stress 60`` runs each for a minute."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import bindless as bl

PROGRAM = Path(__file__).with_name("stress.py")

# Mebibytes that a driver may keep for itself; a leak of one image a round would be more.
DRIVER_KEEPS = 64


@pytest.fixture(scope="module")
def seconds(pytestconfig: pytest.Config) -> float:
    """How long each case runs."""
    return float(pytestconfig.getoption("--stress"))


def run(device: bl.Device, case: str, seconds: float, seed: int) -> subprocess.CompletedProcess[str]:
    """One case in a process of its own, which ends itself where it makes no progress."""
    command = [sys.executable, "-W", "error", str(PROGRAM), f"{device.backend}:{device.type}:*", case]
    done = subprocess.run(
        [*command, str(seconds), str(seed)], capture_output=True, text=True, timeout=seconds + 120, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{case}, seed {seed}: {done.stderr[-8000:]}"
    return done


def check(device: bl.Device, case: str, seconds: float, seed: int) -> None:
    """Runs a case: something is done, and as much is alive afterwards as before.

    Used memory is the whole device's. Where it has grown another program may be at work, so it has to grow twice.
    """
    for attempt in range(2):
        result: dict[str, Any] = json.loads(run(device, case, seconds, seed).stdout)
        assert result["done"] > 0
        before, after = result["before"], result["after"]
        grown = after.pop("used_mebibytes", 0) - before.pop("used_mebibytes", 0)
        assert after == before
        if grown <= DRIVER_KEEPS:
            return
        assert attempt == 0, f"{case}, seed {seed}: {grown} MiB more are in use afterwards"


@pytest.mark.parametrize("seed", [1, 2])
def test_sixteen_threads(device, seconds, seed):
    check(device, "threads", seconds / 2, seed)


@pytest.mark.parametrize("seed", [0, 1], ids=["in order", "out of order"])
def test_interrupted_waits(device, seconds, seed):
    check(device, "interrupts", seconds / 2, seed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_of_a_busy_process(device, seconds):
    check(device, "forks", seconds, 1)


def test_leaving_in_the_midst_of_everything(device, seconds):
    stop, seed = time.monotonic() + seconds, 0
    while seed < 2 or time.monotonic() < stop:
        run(device, "leave", seconds, seed)
        seed += 1
