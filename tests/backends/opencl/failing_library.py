"""Run programs in separate processes: on OpenCL libraries of the tests, such as ``failing_driver.c``, which injects
failures, and on devices that may end the process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import bindless as bl
from bindless.drivers import opencl as driver
from tests.support.needs import c_compiler

__all__ = ["build", "run", "run_on"]

GENERATED = Path(__file__).resolve().parents[3] / "csrc" / "bindgen" / "generated"


def build(made: Path, source: str = "failing_driver.c") -> Path:
    """Compile a library that wraps the OpenCL library under test; skip the test without a compiler."""
    compiler = c_compiler()
    driver.load()
    behind = str(driver.path())
    found = [behind, f"-Wl,-rpath,{Path(behind).parent}"] if os.path.isabs(behind) else [f"-l:{behind}"]
    options = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-Wl,--no-as-needed", f"-I{GENERATED}"]
    subprocess.run(
        [compiler, *options, Path(__file__).with_name(source), "-o", made, *found, "-ldl", "-lpthread"],
        check=True,
        timeout=120,
    )
    return made


def run(failing: Path, program: str) -> list[str]:
    """Output lines of a program that uses the library."""
    head = f"import ctypes\nlibrary = ctypes.CDLL({str(failing)!r})\n"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", head + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "BINDLESS_LIBOPENCL": str(failing)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def run_on(cl: bl.Device, program: str, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """The finished process of a program on a device; the program's first argument is the device's index."""
    place = bl.get_devices("opencl:*:*").index(cl)
    command = [sys.executable, "-c", textwrap.dedent(program), str(place), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)
