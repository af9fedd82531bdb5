"""C programs that know Level Zero alone, built against the system's header and linked with its loader."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bindless._cli_ze_driver import driver_path

PROGRAMS = Path(__file__).resolve().parents[1] / "c" / "level_zero"
INSTALL = "apt-get install gcc libze1 libze-dev"
LAYER = {"ZE_ENABLE_VALIDATION_LAYER": "1", "ZE_ENABLE_PARAMETER_VALIDATION": "1"}

Guide = Callable[..., str]


def sections() -> list[str]:
    """The names of the guide's sections."""
    text = (PROGRAMS / "guide.h").read_text().partition("#define SECTIONS(X)")[2].partition("#define DECLARE")[0]
    return re.findall(r"X\((\w+)\)", text)


@pytest.fixture(scope="session")
def guide_program() -> Iterator[Path]:
    """The program of tests/c/level_zero, built."""
    compiler = next(
        (name for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and shutil.which(name)), None
    )
    if compiler is None or not Path("/usr/include/level_zero/ze_api.h").exists():
        if "level_zero" in os.environ.get("BINDLESS_REQUIRE", "").split(","):
            pytest.fail(f"BINDLESS_REQUIRE asks for level_zero: {INSTALL}")
        pytest.skip(f"needs a C compiler, the loader and its header: {INSTALL}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "guide"
        command = [compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
        command += ["-o", str(program), *map(str, sorted(PROGRAMS.glob("*.c"))), "-lze_loader", "-lm"]
        subprocess.run(command, check=True)
        yield program


@pytest.fixture
def guide(guide_program: Path) -> Guide:
    """``guide(arguments..., NAME="value")``: what the program prints on the driver of this package.

    Its exit status has to be ``status``, if that is not None.
    """

    def run(*arguments: str, status: int | None = 0, **variables: str) -> str:
        done = subprocess.run(
            [str(guide_program), *arguments],
            env={**os.environ, "ZE_ENABLE_ALT_DRIVERS": str(driver_path()), **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status or (status is None and done.returncode >= 0), (
            f"{done.returncode}: {done.stdout}{done.stderr}"
        )
        return done.stdout + done.stderr

    return run
