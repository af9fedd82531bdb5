"""C programs that use Level Zero alone, built with the system's header and loader; and checks in Python.

Checks run in a separate process (worker.py), because a process opens the loader once.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bindless
from bindless.cli.ze_driver import driver_path
from bindless.drivers import level_zero
from tests.support.needs import c_compiler, lacks

PROGRAMS = Path(__file__).resolve().parents[1] / "c" / "level_zero"
INSTALL = "apt-get install gcc libze1 libze-dev"
LIMIT = 120  # seconds per check
LAYER = {"ZE_ENABLE_VALIDATION_LAYER": "1", "ZE_ENABLE_PARAMETER_VALIDATION": "1"}

Guide = Callable[..., str]
Checker = Callable[[str, str], None]


class Worker:
    """The process that runs the checks, with the validation layer on."""

    def __init__(self) -> None:
        search = os.pathsep.join([str(Path(bindless.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **LAYER, "ZE_ENABLE_ALT_DRIVERS": str(driver_path()), "PYTHONPATH": search},
        )

    def check(self, module: str, name: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{module} {name}\n")
        self.process.stdin.flush()
        limit = threading.Timer(LIMIT, self.process.kill)
        limit.start()
        answer = self.process.stdout.readline()
        limit.cancel()
        if not answer:
            pytest.fail(f"the process ended with {self.process.wait(LIMIT)}")
        failure = json.loads(answer)
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()


@pytest.fixture(scope="session")
def check() -> Iterator[Checker]:
    """``check(module, function)``: run ``function(rig)`` of a module of this folder in the worker process."""
    workers: list[Worker] = []

    def run(module: str, name: str) -> None:
        if not level_zero.available():
            lacks("level_zero", INSTALL)
        if not workers or workers[-1].process.poll() is not None:
            workers.append(Worker())
        workers[-1].check(module, name)

    yield run
    for worker in workers:
        worker.close()


def sections() -> list[str]:
    """Names of the guide's sections."""
    text = (PROGRAMS / "guide.h").read_text().partition("#define SECTIONS(X)")[2].partition("#define DECLARE")[0]
    return re.findall(r"X\((\w+)\)", text)


@pytest.fixture(scope="session")
def guide_program() -> Iterator[Path]:
    """The program of tests/c/level_zero, built."""
    compiler = c_compiler()
    if not Path("/usr/include/level_zero/ze_api.h").exists():
        lacks("level_zero", INSTALL)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "guide"
        command = [compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
        command += ["-o", str(program), *map(str, sorted(PROGRAMS.glob("*.c"))), "-lze_loader", "-lm"]
        subprocess.run(command, check=True, timeout=120)
        yield program


@pytest.fixture
def guide(guide_program: Path) -> Guide:
    """``guide(arguments..., NAME="value")``: the program's output on the package's driver.

    The exit status must be ``status``, unless that is None.
    """

    def run(*arguments: str, status: int | None = 0, **variables: str) -> str:
        done = subprocess.run(
            [str(guide_program), *arguments],
            env={**os.environ, "ZE_ENABLE_ALT_DRIVERS": str(driver_path()), **variables},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == status or (status is None and done.returncode >= 0), (
            f"{done.returncode}: {done.stdout}{done.stderr}"
        )
        return done.stdout + done.stderr

    return run
