"""Optional requirements of tests: find a tool, or skip the test and name the package to install.

BINDLESS_REQUIRE (``conftest.py``) names mandatory requirements: a test that lacks one fails.
"""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

__all__ = ["c_compiler", "lacks", "required", "spirv_tool"]


def required() -> tuple[str, ...]:
    """The names in BINDLESS_REQUIRE."""
    return tuple(name.strip() for name in os.environ.get("BINDLESS_REQUIRE", "").split(",") if name.strip())


def lacks(name: str, install: str) -> NoReturn:
    """End a test that lacks a requirement: a skip, or a failure if BINDLESS_REQUIRE has the name."""
    if name in required():
        pytest.fail(f"BINDLESS_REQUIRE asks for {name}, and it is missing: {install}", pytrace=False)
    pytest.skip(f"needs {name}: {install}")


def c_compiler() -> str:
    """The C compiler: CC, or the first of the usual names."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    lacks("c_compiler", "apt install gcc libc6-dev, or set CC")


def spirv_tool(name: str) -> str:
    """A program of SPIRV-Tools."""
    return shutil.which(name) or lacks("spirv_tools", "apt install spirv-tools")
