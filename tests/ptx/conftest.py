"""Fixtures: the compiler, and the programs of this folder on the reference device.

The files ``programs/*.ptx`` are NVRTC 13's output for the files ``*.cu`` beside them (``compute_80``, C++17,
``-default-device``, ``--device-int128``); those of ``barriers.cu`` are for ``compute_80`` and ``compute_90``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import bindless as bl
from tests.ptx.compiler import Compiler, Module

PROGRAMS = Path(__file__).parent / "programs"
Load = Callable[[str], Module]


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Compiler(tmp_path_factory.mktemp("ptx"))


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("PTX becomes SPIR-V, which the reference device executes")


@pytest.fixture
def load(compiler: Compiler, queue: bl.Queue) -> Load:
    """``load(text)``: a module from PTX, or from the name of a program."""

    def call(text: str) -> Module:
        source = text if "\n" in text else (PROGRAMS / f"{text}.ptx").read_text()
        return Module(compiler.compile(source), queue)

    return call
