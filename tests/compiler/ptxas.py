"""Location of NVIDIA's assembler and disassembler: on PATH, or in nvidia-cuda-nvcc and nvidia-cuda-nvdisasm of PyPI."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["assemble", "nvdisasm", "ptxas", "ptxas_version"]


def assemble(text: str, folder: Path) -> None:
    """Check PTX with the assembler, where it is installed."""
    assembler = ptxas()
    if assembler is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc")
    path = folder / "kernel.ptx"
    path.write_text(text)
    for architecture in ("sm_75", "sm_90"):
        command = [assembler, f"-arch={architecture}", str(path), "-o", str(folder / "cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def ptxas() -> str | None:
    """Return the assembler's path, or None."""
    return _tool("ptxas")


def nvdisasm() -> str | None:
    """Return the disassembler's path, or None."""
    return _tool("nvdisasm")


def ptxas_version() -> tuple[int, int]:
    """Return the CUDA version of the assembler."""
    done = subprocess.run([str(ptxas()), "--version"], capture_output=True, text=True, check=True, timeout=60)
    found = re.search(r"release (\d+)\.(\d+)", done.stdout)
    assert found is not None, done.stdout
    return int(found[1]), int(found[2])


def _tool(name: str) -> str | None:
    found = shutil.which(name)
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec and not found else []:
        for path in sorted(Path(folder).glob(f"*/bin/{name}")):
            if os.access(path, os.X_OK):
                return str(path)
    return found
