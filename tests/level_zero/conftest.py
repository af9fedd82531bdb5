"""Checks of the Level Zero driver through the real loader, with its validation layer, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bindless
from bindless.drivers import level_zero

HERE = Path(__file__).resolve().parent
DRIVER = Path(bindless.__file__).parent / "drivers" / "libze_bindless.so"

Checker = Callable[[str, str], None]


class _Worker:
    def __init__(self) -> None:
        environment = {
            **os.environ,
            "ZE_ENABLE_ALT_DRIVERS": str(DRIVER),
            "ZE_ENABLE_VALIDATION_LAYER": "1",
            "ZE_ENABLE_PARAMETER_VALIDATION": "1",
            "PYTHONPATH": os.pathsep.join([str(Path(bindless.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def check(self, module: str, name: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{module} {name}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            pytest.fail(f"the process ended with {self.process.wait()}")
        failure = json.loads(answer)
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="session")
def check() -> Iterator[Checker]:
    """``check(module, function)``: runs ``function(rig)`` of a module of this folder in the process of the checks."""
    workers: list[_Worker] = []

    def run(module: str, name: str) -> None:
        if not level_zero.available():
            required = "level_zero" in os.environ.get("BINDLESS_REQUIRE", "")
            (pytest.fail if required else pytest.skip)("needs the Level Zero loader: apt install libze1")
        if not workers or workers[-1].process.poll() is not None:
            workers.append(_Worker())
        workers[-1].check(module, name)

    yield run
    for worker in workers:
        worker.close()
