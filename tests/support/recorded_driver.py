"""The recording CUDA driver: fake_cuda.c, a libcuda.so.1 that records its calls and needs no GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.needs import c_compiler

__all__ = ["DEVICE", "compile_driver"]

DEVICE = "cuda:gpu:0"  # the driver's device, with BINDLESS_LIBCUDA set to the library
_SOURCE = Path(__file__).parents[1] / "backends" / "cuda" / "fake_cuda.c"
_TYPES = Path(__file__).parents[2] / "csrc" / "bindgen" / "generated"
_OPTIONS = ["-std=gnu11", "-Werror=implicit-function-declaration", "-O1", "-fPIC", "-shared", "-fvisibility=hidden"]


def compile_driver(folder: Path) -> Path:
    """Compile the driver into a folder; returns the library, for BINDLESS_LIBCUDA."""
    library = folder / "libcuda.so.1"
    command = [c_compiler(), *_OPTIONS, f"-I{_TYPES}", str(_SOURCE), "-o", str(library), "-lpthread"]
    subprocess.run(command, check=True, timeout=120)
    return library
