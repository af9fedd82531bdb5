"""Native code of kernels for the reference driver: C text to a function of this process.

The compiler is clang of the package ziglang, or clang or gcc on ``PATH``, or ``BINDLESS_REFERENCE_NATIVE_CC``. Shared
libraries are in the disk cache, by text, flags, the compiler's file and the processor's features. A library is loaded
from a private folder, where its bytes are written after the cache has verified them.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..model.module.disk_cache import cache
from .llvm.pip_tools import zig
from .process.child_process import end, start

__all__ = ["gains", "has_compiler", "native_function"]

_FLAGS = (
    "-std=gnu11", "-O2", "-march=native", "-ffp-contract=off", "-fno-fast-math", "-fno-strict-aliasing", "-fwrapv",
    "-fPIC", "-shared", "-nostdlib", "-w",
)  # fmt: skip
_CLANG_FLAGS = ("-fno-sanitize=all", "-mprefer-vector-width=512")
SECONDS = 120.0
_loaded: list[ctypes.CDLL] = []  # never unloaded: launches may run their functions
_failed = False  # the compiler has; it is not asked again

Note = Callable[["subprocess.Popen[bytes] | None"], None]


def native_function(text: bytes, note: Note) -> int | None:
    """Return the address of the function ``blr_native_kernel`` of a C text; None without a compiler that takes it.

    Parameters
    ----------
    text
        The text, as the reference driver writes it.
    note
        Gets the compiler's process when it runs, and None when it has ended.
    """
    data = _library(text, note)
    library = None if data is None else _load(data)
    if library is None:
        return None
    _loaded.append(library)
    return ctypes.cast(library.blr_native_kernel, ctypes.c_void_p).value


def has_compiler() -> bool:
    """Whether a compiler is there that has not failed."""
    return not _failed and _compiler() is not None


def gains(text: bytes) -> bool:
    """Whether the compiler's code of a text is faster than the executor.

    That of gcc is not, where vectors of lanes pass between a kernel and the driver's image instructions: rays through a
    volume take 2.6 times the executor's time with it, and half of it with clang.
    """
    command = _compiler()
    return command is not None and (_CLANG_FLAGS[0] in command or b"f->image(f" not in text)


def _library(text: bytes, note: Note) -> bytes | None:
    """Return the bytes of the shared library, from the cache or the compiler."""
    command = _compiler()
    if command is None:
        return None
    try:
        state = os.stat(command[0])
    except OSError as error:
        _fail(str(error))
        return None
    disk = cache()
    identity = [command, [state.st_size, state.st_mtime_ns, state.st_ino], _processor()]
    key = (b"native kernel", json.dumps(identity).encode(), text)
    data = disk.get(*key) if disk else None
    if data is None and not _failed:
        data = _compile(command, text, note)
        if disk and data is not None:
            disk.put(data, *key)
    return data


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    """Yield a folder for one library; a fork does not remove it at its end."""
    folder = tempfile.mkdtemp(prefix="bindless-native-")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compile(command: list[str], text: bytes, note: Note) -> bytes | None:
    try:
        with _private_folder() as folder:
            source, output = folder / "kernel.c", folder / "kernel.so"
            source.write_bytes(text)
            process = start(
                [*command, "-o", str(output), str(source)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder,
            )  # fmt: skip
            try:
                note(process)
                _, messages = process.communicate(timeout=SECONDS)
            finally:
                end(process)
                note(None)
            if process.returncode < 0:
                return None  # this process ends, or someone else has ended the compiler
            if process.returncode != 0:
                _fail(messages.decode(errors="replace").strip().partition("\n")[0])
                return None
            return output.read_bytes()
    except subprocess.TimeoutExpired:
        _fail(f"{command[0]} takes longer than {SECONDS:g} seconds")
        return None
    except OSError as error:
        _fail(str(error))
        return None


def _fail(reason: str) -> None:
    """Say once that kernels run without native code."""
    global _failed
    if not _failed:
        _failed = True
        print(f"bindless: kernels run without native code: {reason}", file=sys.stderr)


def _load(data: bytes) -> ctypes.CDLL | None:
    try:
        with _private_folder() as folder:
            path = folder / "kernel.so"
            path.write_bytes(data)
            return ctypes.CDLL(str(path))
    except OSError as error:
        _fail(str(error))
        return None


@functools.cache
def _compiler() -> list[str] | None:
    """Return the compiler's command with all flags."""
    if os.name != "posix":
        return None
    chosen = os.environ.get("BINDLESS_REFERENCE_NATIVE_CC")
    if not chosen and importlib.util.find_spec("ziglang") is not None and os.path.isfile(zig()):
        return [zig(), "cc", *_FLAGS, *_CLANG_FLAGS]
    for name in (chosen,) if chosen else ("clang", "gcc"):
        path = shutil.which(name)
        if path is not None:
            return [os.path.realpath(path), *_FLAGS, *(_CLANG_FLAGS if "clang" in os.path.basename(name) else ())]
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
