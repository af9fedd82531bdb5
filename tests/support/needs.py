"""What tests need and a machine may lack: where it is, or a skip that says what to install.

BINDLESS_REQUIRE names what must be there (``conftest.py``): a test that lacks it fails.
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
    """Ends a test that lacks something: it is skipped, or fails where BINDLESS_REQUIRE has the name."""
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
