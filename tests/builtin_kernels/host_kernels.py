"""The built-in kernels compiled for this processor, so that their arithmetic runs without a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import bindless as bl
from bindless.compiler.llvm.find_toolchain import find_toolchain
from tests.support.needs import c_compiler

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = REPOSITORY / "csrc" / "kernels"
RUNS = bl.kernels_available() and platform.machine() == "x86_64" and sys.platform == "linux"
REASON = "needs a kernel compiler on x86-64 Linux: pip install 'bindless[kernels]'"

CHANNEL_TYPES = [
    "snorm_int8", "snorm_int16", "unorm_int8", "unorm_int16", "signed_int8", "signed_int16", "signed_int32",
    "unsigned_int8", "unsigned_int16", "unsigned_int32", "fp16", "fp32",
]  # fmt: skip
STORAGE = ["i1", "i2", "u1", "u2", "i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4"]
ELEMENTS = ["i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4"]
WORK_ITEMS = 7


class Surface(ctypes.Structure):
    """Target of a handle in host_prelude.cl."""

    _fields_ = (
        ("texels", ctypes.c_void_p),
        ("row_bytes", ctypes.c_int),
        ("rows", ctypes.c_int),
        ("slices", ctypes.c_int),
    )


def format_word(element: str, channels: int, channel_type: str, image_channels: int) -> int:
    """Return the `format` argument; include/format.h describes it."""
    return ELEMENTS.index(element) | channels << 8 | CHANNEL_TYPES.index(channel_type) << 16 | image_channels << 24


def surface_of(texels: np.ndarray) -> Surface:
    """Return a surface over (slices, rows, width, channels); the array must outlive it."""
    slices, rows, width, channels = texels.shape
    return Surface(texels.ctypes.data, width * channels * texels.itemsize, rows, slices)


def compile_library(sources: Mapping[str, tuple[Path, Sequence[str]]], folder: Path, library: Path) -> None:
    """Compile OpenCL C for this processor, with the macros of PTX, into a shared library.

    ``sources``: name of the object file to source and its additional options.
    """
    tools = find_toolchain()
    common = [
        *tools.clang, *tools.headers, "-x", "cl", "-cl-std=CL3.0", "-O0", "-ffp-contract=off", "-fPIC", "-mf16c",
        "-D__NVPTX__", "-Xclang", "-cl-ext=+cl_khr_fp16", "-Xclang", "-finclude-default-header", "-Xclang",
        "-fdeclare-opencl-builtins", f"-I{REPOSITORY / 'include'}", f"-I{SOURCES / 'include'}", "-include",
        str(Path(__file__).with_name("nvptx.h")), "-c",
    ]  # fmt: skip
    objects = {name: str(folder / f"{name}.o") for name in sources}
    commands = [[*common, *own, str(source), "-o", objects[name]] for name, (source, own) in sources.items()]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda command: subprocess.run(command, check=True, timeout=120), commands))
    linked = library.with_suffix(".linked")
    linking = [c_compiler(), "-shared", *sorted(objects.values()), "-o", str(linked)]
    subprocess.run(linking, check=True, timeout=120)
    linked.rename(library)


def catalogue() -> list[Any]:
    """Return the modules of csrc/kernels/catalogue.py."""
    name = "catalogue"
    spec = importlib.util.spec_from_file_location(name, SOURCES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return list(found.MODULES)


def _sources(modules: Sequence[Any]) -> dict[str, tuple[Path, list[str]]]:
    """Return every module of the catalogue, and the functions that a processor lacks."""
    sources = {
        module.name: (SOURCES / "source" / module.source, [f"-D{key}={value}" for key, value in module.defines.items()])
        for module in modules
    }
    return {**sources, "prelude": (Path(__file__).with_name("host_prelude.cl"), [])}


class HostKernels:
    """Every kernel of the catalogue as a callable of this process."""

    def __init__(self, folder: Path) -> None:
        """Compile the kernels in the folder, which processes may share: the first one compiles."""
        import fcntl  # POSIX alone, as RUNS asks

        modules = catalogue()
        self._kernels = {
            kernel.name: [f"{argument.type} {argument.name}" for argument in kernel.arguments]
            for module in modules
            for kernel in module.kernels
        }
        library = folder / "kernels.so"
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                compile_library(_sources(modules), folder, library)
        self._library = ctypes.CDLL(str(library))
        self._library.set_work_item.argtypes = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
        self._library.set_work_item.restype = None

    def exchanges(self, work_items: int) -> list[int]:
        """Number of registers that each work-item of the last launch exchanged with its row of lanes."""
        return [int(self._library.exchanges_of(ctypes.c_uint64(item))) for item in range(work_items)]

    def launch(
        self, kernel: str, *arguments: object, work_items: int = WORK_ITEMS, group: int = 1, row: int = 0
    ) -> None:
        """Run a kernel over a global size; numpy arrays pass as their address, None as a null pointer.

        ``row`` is the last argument of the kernels that have it.
        A group of full rows of lanes runs twice, so that lanes find each other's registers (see host_prelude.cl).
        """
        function = getattr(self._library, kernel)
        function.restype = None
        if "uint row" in self._kernels[kernel]:
            arguments = (*arguments, ctypes.c_uint32(row))
        assert len(arguments) == len(self._kernels[kernel]), f"{kernel} takes {self._kernels[kernel]}"
        native = [
            ctypes.c_void_p(value.ctypes.data)
            if isinstance(value, np.ndarray)
            else ctypes.c_void_p(None)
            if value is None
            else ctypes.c_uint64(ctypes.addressof(value))
            if isinstance(value, Surface)
            else value
            for value in arguments
        ]
        for turn in range(2 if group % 32 == 0 else 1):
            for item in range(work_items):
                self._library.set_work_item(item, work_items, group, turn)
                function(*native)
