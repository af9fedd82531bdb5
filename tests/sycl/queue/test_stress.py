"""Many threads, forks, signals and exits: no deadlock, leak or crash. ``pytest --stress 60`` runs each for a minute."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import bindless as bl

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests" / "support" / "stress.py"
TYPES = ROOT / "csrc" / "bindgen" / "generated"


@pytest.fixture(scope="module")
def seconds(pytestconfig: pytest.Config) -> float:
    """The run time of each case."""
    return float(pytestconfig.getoption("--stress"))


@pytest.fixture(scope="module")
def variables(device: bl.Device, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment that counts native objects: for CUDA, a library placed in front of the driver's."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if device.backend != "cuda" or "BINDLESS_LIBCUDA" in os.environ or compiler is None:
        return dict(os.environ)
    folder = tmp_path_factory.mktemp("counting")
    library, stub, nothing = folder / "libcounting.so", folder / "libcuda.so.1", folder / "nothing.c"
    nothing.touch()
    shared = [compiler, "-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{TYPES}"]
    # The link needs only this library's name: the loader finds the system's copy.
    subprocess.run([*shared, str(nothing), "-Wl,-soname,libcuda.so.1", "-o", str(stub)], check=True, timeout=120)
    source = str(Path(__file__).with_name("counting_cuda.c"))
    subprocess.run(
        [*shared, source, "-Wl,--no-as-needed", str(stub), "-ldl", "-o", str(library)], check=True, timeout=120
    )
    return {**os.environ, "BINDLESS_LIBCUDA": str(library)}


def run(
    device: bl.Device, case: str, seconds: float, seed: int, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run one case in its own process, which ends itself if it makes no progress."""
    command = [sys.executable, "-W", "error", str(PROGRAM), f"{device.backend}:{device.type}:*", case]
    done = subprocess.run(
        [*command, str(seconds), str(seed)],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
        env=variables,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{case}, seed {seed}: {done.stderr[-8000:]}"
    return done


def check(device: bl.Device, case: str, seconds: float, seed: int, variables: dict[str, str]) -> None:
    """Run a case; check that it does work and leaves no native objects."""
    result: dict[str, Any] = json.loads(run(device, case, seconds, seed, variables).stdout)
    assert result["done"] > 0
    assert result["after"] == result["before"]


@pytest.mark.parametrize("seed", [1, 2])
def test_sixteen_threads(device, seconds, seed, variables):
    check(device, "threads", seconds / 2, seed, variables)


@pytest.mark.parametrize("seed", [0, 1], ids=["in order", "out of order"])
def test_interrupted_waits(device, seconds, seed, variables):
    check(device, "interrupts", seconds / 2, seed, variables)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_of_a_busy_process(device, seconds, variables):
    check(device, "forks", seconds, 1, variables)


def test_leaving_in_the_midst_of_everything(device, seconds, variables):
    stop, seed = time.monotonic() + seconds, 0
    while seed < 2 or time.monotonic() < stop:
        run(device, "leave", seconds, seed, variables)
        seed += 1
