"""Location of NVIDIA's assembler: on PATH, or in the wheel nvidia-cuda-nvcc."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

__all__ = ["ptxas"]


def ptxas() -> str | None:
    """Return its path, or None."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec and not found else []:
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            if os.access(path, os.X_OK):
                return str(path)
    return found
