"""The built-in kernels as PTX, SPIR-V and OpenCL C, and the manifest of their build.

A module holds one kernel (``launch`` holds two) and has its name without the prefix: the kernel
``bindless_sample_2d_f`` is in the module ``sample_2d_f``. Files are read on first use. The sources, the meaning of the
arguments and the build command are in ``csrc/kernels``.
"""

from __future__ import annotations

import json
import re
import zlib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from .spirv_specialise import with_constant_argument

__all__ = ["Target", "kernels", "manifest", "module_of", "modules", "source", "specialised"]

_GZIP = 16 + zlib.MAX_WBITS

Target = Literal["ptx", "spirv", "opencl_c"]


@cache
def manifest() -> dict[str, Any]:
    """Return the manifest of the build: ``build``, ``tools``, ``sources`` (path to SHA-256) and ``modules``.

    A module's entry has ``sources``, ``kernels`` (name to its arguments, as OpenCL C) and ``artifacts`` (target to
    ``file`` and the ``sha256`` of its unpacked contents). Do not change it: every caller gets the same object.
    """
    document: dict[str, Any] = json.loads(files(__name__).joinpath("manifest.json").read_text(encoding="utf-8"))
    return document


@cache
def _module_of_kernel() -> dict[str, str]:
    return {kernel: name for name, module in manifest()["modules"].items() for kernel in module["kernels"]}


def modules(target: Target | None = None) -> list[str]:
    """Return the names of all modules, or of those that exist for a target."""
    return [name for name, module in manifest()["modules"].items() if target is None or target in module["artifacts"]]


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
        return _module_of_kernel()[kernel_name]
    except KeyError:
        raise KeyError(
            f"no built-in kernel is named {kernel_name!r}; bindless.kernels.kernels() lists all of them"
        ) from None


@cache
def source(name: str, target: Target) -> bytes:
    """Return the artifact of a module: PTX with a terminating zero byte, SPIR-V, or OpenCL C 1.2.

    In OpenCL C ``image`` is the parameter ``image__bindless_image``, followed by ``image__bindless_sampler`` for a
    sampled image; ``sample_lod`` needs OpenCL C 2.0 and cl_khr_mipmap_image.

    Raises
    ------
    KeyError
        No module has this name.
    ValueError
        The module does not exist for the target.
    """
    entries = manifest()["modules"]
    if name not in entries:
        raise KeyError(f"no built-in module is named {name!r}; bindless.kernels.modules() lists all of them")
    artifacts = entries[name]["artifacts"]
    if target not in artifacts:
        raise ValueError(
            f"the built-in module {name!r} does not exist for target {target!r}, only for {', '.join(artifacts)}"
        )
    data = zlib.decompress(files(__name__).joinpath(artifacts[target]["file"]).read_bytes(), _GZIP)
    return data + b"\0" if target == "ptx" else data


def _argument(kernel_name: str, argument: str) -> int:
    """Return the index of an argument."""
    arguments = [
        declared.split()[-1] for declared in manifest()["modules"][module_of(kernel_name)]["kernels"][kernel_name]
    ]
    if argument not in arguments:
        raise ValueError(
            f"the built-in kernel {kernel_name!r} has no argument {argument!r}: {', '.join(arguments) or 'none'}"
        )
    return arguments.index(argument)


def specialised(
    kernel_name: str, format_word: int | None, target: Literal["ptx", "spirv"] = "ptx", mode_word: int | None = None
) -> bytes:
    """Return a kernel's module with a constant ``format`` argument; PTX has a terminating zero byte.

    The driver then compiles no code for other formats: the kernel is several times shorter and needs half the
    registers. It takes the same arguments, and ignores ``format``.

    Parameters
    ----------
    kernel_name
        Name of the kernel.
    format_word
        Its argument ``format``; None for kernels without.
    target
        Language of the module.
    mode_word
        Its argument ``mode``, which also becomes a constant; None for kernels without.

    Raises
    ------
    KeyError
        No kernel has this name.
    ValueError
        The kernel lacks the target or the argument.
    """
    name = module_of(kernel_name)
    text = source(name, target)
    for argument, word in (("format", format_word), ("mode", mode_word)):
        if word is None:
            continue
        place = _argument(kernel_name, argument)
        if target == "spirv":
            text = with_constant_argument(text, kernel_name, place, word)
        else:
            text = _with_constant_parameter(text, f"{kernel_name}_param_{place}", word)
    return text


def _with_constant_parameter(text: bytes, parameter: str, word: int) -> bytes:
    load = re.compile(rf"ld\.param\.b32(\s+%r\d+), \[{parameter}\];".encode())
    text, loads = load.subn(rf"mov.b32\1, {word & 0xFFFFFFFF:#x};".encode(), text)
    if not loads:
        raise ValueError(f"the PTX of the built-in kernels does not load {parameter}: it was built otherwise")
    return text
