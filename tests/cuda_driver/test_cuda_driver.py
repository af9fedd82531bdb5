"""The CUDA driver of this package: every check of this folder, in a process for each module."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless
from bindless.cli.cuda_driver import driver_folder

HERE = Path(__file__).resolve().parent
CHECKS = [
    (path.stem, name)
    for path in sorted(HERE.glob("*_checks.py"))
    for name in re.findall(r"^def (check_\w+)\(rig: Rig\)", path.read_text(), re.MULTILINE)
]


@functools.lru_cache
def outcomes(module: str) -> dict[str, str | None]:
    """The traceback of each check of a module, or None."""
    search = os.pathsep.join([str(HERE.parents[1]), str(Path(bindless.__file__).parents[1])])
    library = str(driver_folder() / "libcuda.so.1")
    environment = {**os.environ, "BINDLESS_LIBCUDA": library, "PYTHONPATH": search, "BINDLESS_CUDA_ARCH": ""}
    program = [sys.executable, "-m", "tests.cuda_driver.run_checks", module]
    done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, f"the process ended with {done.returncode}"
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("module", "name"), CHECKS)
def test_check(module: str, name: str) -> None:
    failure = outcomes(module)[name]
    if failure is not None:
        pytest.fail(failure, pytrace=False)
