"""NVRTC, NVIDIA's run-time compiler of CUDA C++: an optional library, opened at run time.

It is part of the CUDA toolkit, or installed by ``pip install nvidia-cuda-nvrtc``. It needs no GPU.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import BuildError, FeatureNotSupportedError, SyclRuntimeError
from .common import library_search

__all__ = ["Program", "architectures", "available", "compile_program", "version"]

_VARIABLE = "BINDLESS_LIBNVRTC"
_NAMES = {
    "linux": ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"),
    "win32": ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"),
}
_COMPILATION = 6  # NVRTC_ERROR_COMPILATION
_OF_THE_SOURCE = (_COMPILATION, 5)  # and NVRTC_ERROR_INVALID_OPTION


@dataclass(frozen=True)
class Program:
    """Result of a compilation.

    Attributes
    ----------
    ptx
        Text with a terminating zero byte.
    cubin
        The binary; empty for a virtual architecture.
    log
        Warnings.
    """

    ptx: bytes
    cubin: bytes
    log: str


@functools.cache
def _library() -> ctypes.CDLL:
    tried: list[str] = []
    for candidate in _candidates():
        try:
            library = ctypes.CDLL(candidate)
            library.nvrtcGetErrorString.restype = ctypes.c_char_p
            return library
        except (OSError, AttributeError) as error:
            tried.append(f"  {candidate}: {error}")
    names = ", ".join(_NAMES.get(sys.platform, ())) or f"no name of it is known on {sys.platform}"
    listed = "\n".join(tried) or f"  nothing was found ({names})"
    raise FeatureNotSupportedError(
        f"NVRTC, which compiles CUDA C++, could not be loaded. Tried:\n{listed}\nInstall it with `pip install "
        f"nvidia-cuda-nvrtc` or the CUDA toolkit, or set {_VARIABLE} to the path of the library. Kernels in OpenCL C "
        "need no NVRTC: `bindless build`.",
        backend="cuda",
    )


def _candidates() -> Iterator[str]:
    chosen = os.environ.get(_VARIABLE)
    if chosen:
        if os.path.isabs(chosen):
            yield chosen
            return
        raise FeatureNotSupportedError(
            f"{_VARIABLE}={chosen}: it is an absolute path; the current directory is never searched", backend="cuda"
        )
    if sys.platform == "linux":
        for name in _NAMES["linux"]:
            yield from library_search.candidates(name)
    else:
        yield from _NAMES.get(sys.platform, ())
    for folder in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        for part in ("lib64", "lib") if folder and os.path.isabs(folder) else ():
            yield os.path.join(str(folder), part, "libnvrtc.so")
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for pattern in ("*/lib/libnvrtc.so.*", "*/bin/nvrtc64_*.dll"):
            yield from sorted(map(str, Path(folder).glob(pattern)), reverse=True)


def available() -> bool:
    """Return whether the library is open or can be opened."""
    try:
        _library()
    except FeatureNotSupportedError:
        return False
    return True


def version() -> tuple[int, int]:
    """Return the CUDA version of the library."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(_library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
    return major.value, minor.value


@functools.cache
def architectures() -> tuple[int, ...]:
    """Return the supported architectures: 75 is sm_75."""
    count = ctypes.c_int()
    library = _library()
    _check(library.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "nvrtcGetNumSupportedArchs")
    numbers = (ctypes.c_int * count.value)()
    _check(library.nvrtcGetSupportedArchs(numbers), "nvrtcGetSupportedArchs")
    return tuple(sorted(numbers))


def compile_program(source: str, name: str, architecture: str, options: Sequence[str] = ()) -> Program:
    """Compile CUDA C++.

    Parameters
    ----------
    source
        The text.
    name
        Name of the source, for messages.
    architecture
        ``sm_90``, or ``compute_90`` for PTX alone.
    options
        Additional NVRTC options.

    Raises
    ------
    FeatureNotSupportedError
        The library is missing; the message explains how to install it.
    BuildError
        The source does not compile; ``log`` holds the compiler's output.
    """
    library = _library()
    program = ctypes.c_void_p()
    _check(
        library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None),
        "nvrtcCreateProgram",
    )
    try:
        words = [f"--gpu-architecture={architecture}", *options]
        packed = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        result = library.nvrtcCompileProgram(program, len(words), packed)
        log = _bytes(library, "ProgramLog", program).rstrip(b"\0").decode("utf-8", "replace").strip()
        if result in _OF_THE_SOURCE:
            said = _said(result)
            raise BuildError(
                f"{name} does not compile for {architecture}: {said}\n{log}",
                log=log or said,
                backend="cuda",
                native_code=result,
                native_name=said,
            )
        _check(result, f"nvrtcCompileProgram\n{log}")
        ptx = _bytes(library, "PTX", program)
        cubin = _bytes(library, "CUBIN", program) if re.match("sm_", architecture) else b""
        return Program(ptx, cubin, log)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), f"nvrtcGet{what}Size")
    data = ctypes.create_string_buffer(size.value)
    _check(getattr(library, f"nvrtcGet{what}")(program, data), f"nvrtcGet{what}")
    return data.raw


def _said(result: int) -> str:
    text: bytes = _library().nvrtcGetErrorString(result)
    return text.decode("ascii", "replace")


def _check(result: int, call: str) -> None:
    if result:
        said = _said(result)
        raise SyclRuntimeError(f"{said}: {call}", backend="cuda", native_code=result, native_name=said)
