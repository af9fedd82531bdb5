"""Native code of kernels for the reference driver: C text to a function of this process.

The compiler is clang of the package ziglang, or clang or gcc on ``PATH``. Shared libraries are in the disk cache, by
text, flags, the compiler's file and the processor's features. A library is loaded from a private folder, where its
bytes are written after the cache has verified them.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..model.module.disk_cache import cache
from .llvm.pip_tools import zig

__all__ = ["native_function"]

_FLAGS = (
    "-std=gnu11", "-O2", "-march=native", "-ffp-contract=off", "-fno-fast-math", "-fno-strict-aliasing", "-fwrapv",
    "-fPIC", "-shared", "-nostdlib", "-w",
)  # fmt: skip
_CLANG_FLAGS = ("-fno-sanitize=all", "-mprefer-vector-width=512")
_SECONDS = 120.0
_libraries: dict[bytes, ctypes.CDLL | None] = {}  # never unloaded: launches may run their functions


def native_function(text: bytes) -> int | None:
    """Return the address of the function ``blr_native_kernel`` of a C text; None without a compiler that takes it.

    Parameters
    ----------
    text
        The text, as the reference driver writes it.
    """
    if text not in _libraries:
        data = _library(text)
        _libraries[text] = None if data is None else _load(data)
    library = _libraries[text]
    return None if library is None else ctypes.cast(library.blr_native_kernel, ctypes.c_void_p).value


def _library(text: bytes) -> bytes | None:
    """Return the bytes of the shared library, from the cache or the compiler."""
    command = _compiler()
    if command is None:
        return None
    disk = cache()
    state = os.stat(command[0])
    identity = [command, [state.st_size, state.st_mtime_ns, state.st_ino], _processor()]
    key = (b"native kernel", json.dumps(identity).encode(), text)
    data = disk.get(*key) if disk else None
    if data is None:
        data = _compile(command, text)
        if disk and data is not None:
            disk.put(data, *key)
    return data


def _compile(command: list[str], text: bytes) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="bindless-native-") as folder:
        source, output = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
        source.write_bytes(text)
        try:
            subprocess.run(
                [*command, "-o", str(output), str(source)],
                stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_SECONDS, cwd=folder,
            )  # fmt: skip
            return output.read_bytes()
        except (OSError, subprocess.SubprocessError):
            return None  # the executor runs the kernel


def _load(data: bytes) -> ctypes.CDLL | None:
    with tempfile.TemporaryDirectory(prefix="bindless-native-") as folder:
        path = Path(folder) / "kernel.so"
        path.write_bytes(data)
        try:
            return ctypes.CDLL(str(path))
        except OSError:
            return None


@functools.cache
def _compiler() -> list[str] | None:
    """Return the compiler's command with all flags."""
    if os.name != "posix":
        return None
    if importlib.util.find_spec("ziglang") is not None and os.path.isfile(zig()):
        return [zig(), "cc", *_FLAGS, *_CLANG_FLAGS]
    for name, more in (("clang", _CLANG_FLAGS), ("gcc", ())):
        path = shutil.which(name)
        if path is not None:
            return [os.path.realpath(path), *_FLAGS, *more]
    return None


@functools.cache
def _processor() -> str:
    """Return the processor's model and features; ``-march=native`` follows them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    names = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer", "CPU part")
    return "\n".join(line for line in lines if line.split("\t")[0].strip(" :") in names)
