"""``plot_program``: a module of docs/plots, which is no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

__all__ = ["plot_program"]

PLOTS = Path(__file__).parents[2] / "docs" / "plots"


def plot_program(name: str) -> ModuleType:
    """The module of a file, executed anew."""
    spec = importlib.util.spec_from_file_location(name, PLOTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
