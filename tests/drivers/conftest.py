"""Small libraries compiled by the tests, and fresh processes to load them: a process opens each driver once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.needs import c_compiler

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "csrc" / "bindgen" / "generated"
DRIVERS = ("cuda", "level_zero", "opencl", "reference")
VARIABLES = {
    "cuda": "BINDLESS_LIBCUDA",
    "level_zero": "BINDLESS_LIBZE_LOADER",
    "opencl": "BINDLESS_LIBOPENCL",
    "reference": "BINDLESS_LIBREFERENCE",
}

Compile = Callable[..., Path]
Run = Callable[..., str]


@pytest.fixture(scope="session")
def compiler() -> str:
    """The C compiler."""
    return c_compiler()


@pytest.fixture
def compile_library(tmp_path: Path, compiler: str) -> Compile:
    """``compile_library(source, name)``: compile a shared library in a temporary folder and return its path."""

    def build(source: str, name: str = "libfake.so", *options: str) -> Path:
        code = tmp_path / f"{name}.c"
        code.write_text(source)
        library = tmp_path / name
        command = [compiler, "-shared", "-fPIC", "-Wall", "-Werror", f"-I{GENERATED}", *options]
        subprocess.run([*command, "-o", str(library), str(code)], check=True, timeout=120)
        return library

    return build


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """``run_python(code, NAME="value")``: output of a fresh interpreter, which sees only the given driver variables."""

    def run(code: str, *, cwd: Path | None = None, **variables: str) -> str:
        environment: Mapping[str, str] = {
            **{key: value for key, value in os.environ.items() if key not in VARIABLES.values()},
            **variables,
        }
        answer = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            env=environment,
            cwd=cwd or tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    return run
