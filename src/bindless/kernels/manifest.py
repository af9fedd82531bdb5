"""The manifest: modules, their kernels, and the parameters of each kernel.

``csrc/kernels/build.py`` writes ``manifest.json`` from the catalogue of its modules.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

__all__ = ["FOLDER", "PREFIX", "Parameter", "Target", "kernels", "manifest", "module_of", "modules", "parameters_of"]

FOLDER = Path(__file__).parent
PREFIX = "bindless_"
"""Of kernels, before the name of the module."""

Target = Literal["ptx", "spirv", "opencl_c"]


class Parameter(NamedTuple):
    """A parameter of a kernel, in OpenCL C."""

    type: str
    name: str


@cache
def manifest() -> dict[str, Any]:
    """Return the manifest of the build.

    Do not change it: every caller gets the same object.

    Returns
    -------
    dict
        ``build``, ``tools``, ``commands``, ``sources`` (path to SHA-256), ``archives`` (target to ``file`` and the
        ``sha256`` of its contents) and ``modules``. A module's entry has its ``targets`` and its ``kernels`` (name to
        parameters, as OpenCL C).
    """
    document: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return document


@cache
def _modules_of_kernels() -> dict[str, str]:
    return {kernel: name for name, module in manifest()["modules"].items() for kernel in module["kernels"]}


def modules(target: Target | None = None) -> list[str]:
    """Return the names of all modules, or of those that exist for a target."""
    return [name for name, module in manifest()["modules"].items() if target is None or target in module["targets"]]


def kernels(target: Target | None = None) -> list[str]:
    """Return the names of all kernels, or of those that exist for a target."""
    entries = manifest()["modules"]
    return [kernel for name in modules(target) for kernel in entries[name]["kernels"]]


def module_of(kernel_name: str) -> str:
    """Return the module that holds a kernel.

    Raises
    ------
    KeyError
        No module has a kernel of this name.
    """
    try:
        return _modules_of_kernels()[kernel_name]
    except KeyError:
        raise KeyError(
            f"no built-in kernel is named {kernel_name!r}; bindless.kernels.kernels() lists all of them"
        ) from None


@cache
def parameters_of(kernel_name: str) -> tuple[Parameter, ...]:
    """Return the parameters of a kernel in its order.

    Raises
    ------
    KeyError
        No module has a kernel of this name.
    """
    declarations = manifest()["modules"][module_of(kernel_name)]["kernels"][kernel_name]
    return tuple(Parameter(*declaration.rsplit(" ", 1)) for declaration in declarations)
