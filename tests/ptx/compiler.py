"""The PTX compiler through its C interface, and modules that it makes for the reference device."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl

SOURCES = Path(__file__).parents[2] / "csrc" / "ptx"


class Parameter(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
        ("is_pointer", ctypes.c_bool),
        ("is_array", ctypes.c_bool),
    ]


class Entry(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("parameters", ctypes.POINTER(Parameter)),
        ("parameter_count", ctypes.c_uint32),
        ("parameter_bytes", ctypes.c_uint64),
        ("shared_bytes", ctypes.c_uint64),
        ("uses_dynamic_shared", ctypes.c_bool),
        ("reads_launch", ctypes.c_bool),
        ("reqntid", ctypes.c_uint32 * 3),
        ("maxntid", ctypes.c_uint32 * 3),
        ("local_bytes", ctypes.c_uint64),
    ]


class Global(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
        ("is_const", ctypes.c_bool),
        ("is_managed", ctypes.c_bool),
        ("kind", ctypes.c_uint32),
    ]


class Function(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_uint64)]


class Relocation(ctypes.Structure):
    _fields_ = [
        ("offset", ctypes.c_uint64),
        ("addend", ctypes.c_uint64),
        ("size", ctypes.c_uint32),
        ("shift", ctypes.c_uint32),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("memory_limit", ctypes.c_size_t),
        ("target", ctypes.c_uint32),
        ("heap_bytes", ctypes.c_uint64),
        ("only_reads", ctypes.c_bool),
    ]


class Compiled(ctypes.Structure):
    _fields_ = [
        ("words", ctypes.POINTER(ctypes.c_uint32)),
        ("word_count", ctypes.c_size_t),
        ("isa", ctypes.c_uint32),
        ("target", ctypes.c_uint32),
        ("entries", ctypes.POINTER(Entry)),
        ("entry_count", ctypes.c_uint32),
        ("globals", ctypes.POINTER(Global)),
        ("global_count", ctypes.c_uint32),
        ("functions", ctypes.POINTER(Function)),
        ("function_count", ctypes.c_uint32),
        ("globals_bytes", ctypes.c_uint64),
        ("globals_alignment", ctypes.c_uint64),
        ("globals_image", ctypes.POINTER(ctypes.c_uint8)),
        ("relocations", ctypes.POINTER(Relocation)),
        ("relocation_count", ctypes.c_uint32),
        ("log", ctypes.c_char_p),
        ("memory", ctypes.c_void_p),
    ]


class PtxError(Exception):
    """The log of a text that the compiler refuses."""


class Compiler:
    """The compiler as a shared library, built in a folder."""

    def __init__(self, folder: Path) -> None:
        library = folder / "bindless_ptx.so"
        command = [*os.environ.get("CC", "cc").split(), "-std=c11", "-O1", "-g", "-shared", "-fPIC", f"-I{SOURCES}"]
        files = sorted(str(file) for file in SOURCES.rglob("*.c"))
        subprocess.run([*command, *files, "-o", str(library)], check=True, timeout=300)
        self._library = ctypes.CDLL(str(library))
        self._library.bindless_ptx_link.restype = ctypes.c_bool

    def compile(self, *texts: str | bytes, memory_limit: int = 0, target: int = 0, heap_bytes: int = 0) -> Compiled:
        """Compile texts as one module. The result lives as long as the process, as its memory does."""
        encoded = [text.encode() if isinstance(text, str) else text for text in texts]
        pointers = (ctypes.c_char_p * len(encoded))(*encoded)
        sizes = (ctypes.c_size_t * len(encoded))(*map(len, encoded))
        options, result = Options(memory_limit, target, heap_bytes), Compiled()
        done = self._library.bindless_ptx_link(
            pointers, sizes, len(encoded), ctypes.byref(options), ctypes.byref(result)
        )
        if not done:
            log = str(result.log.decode())
            self._library.bindless_ptx_destroy(ctypes.byref(result))
            raise PtxError(log)
        return result


class Module:
    """A compiled module on a device, with its variables in memory."""

    def __init__(self, compiled: Compiled, queue: bl.Queue) -> None:
        self.compiled, self.queue = compiled, queue
        self.words = ctypes.string_at(compiled.words, compiled.word_count * 4)
        self.memory = bl.usm_empty((int(compiled.globals_bytes) + int(compiled.globals_alignment),), np.uint8, queue)
        start = -int(self.memory.pointer) % int(compiled.globals_alignment)
        self.base = int(self.memory.pointer) + start
        self._start = start
        if compiled.globals_bytes:
            self.memory.copy_from(self._image())
        self.bundle = bl.load_kernel_bundle(self.words, queue, specialization={0: np.uint64(self.base)})
        self.entries = {entry.name.decode(): entry for entry in compiled.entries[: compiled.entry_count]}

    def _image(self) -> npt.NDArray[np.uint8]:
        compiled = self.compiled
        image = np.zeros(self.memory.shape, np.uint8)
        bytes_ = np.frombuffer(ctypes.string_at(compiled.globals_image, compiled.globals_bytes), np.uint8)
        image[self._start : self._start + bytes_.size] = bytes_
        for row in compiled.relocations[: compiled.relocation_count]:
            value = ((self.base + row.addend) & (2**64 - 1)) >> row.shift
            at = self._start + row.offset
            image[at : at + row.size] = np.frombuffer(value.to_bytes(8, "little"), np.uint8)[: row.size]
        return image

    def variable(self, name: str) -> npt.NDArray[np.uint8]:
        """The bytes of a variable."""
        for row in self.compiled.globals[: self.compiled.global_count]:
            if row.name.decode() == name:
                at = self._start + int(row.offset)
                return np.asarray(self.memory.numpy(self.queue))[at : at + int(row.size)]
        raise KeyError(name)

    def launch(self, name: str, grid: Any, block: Any, *arguments: Any, shared: int = 0) -> list[npt.NDArray[Any]]:
        """Run a kernel; arrays are copied to the device and back."""
        entry, passed, arrays = self.entries[name], [], []
        for argument, parameter in zip(arguments, entry.parameters[: entry.parameter_count], strict=True):
            if isinstance(argument, np.ndarray) and not parameter.is_array:
                memory = bl.usm_empty(argument.shape, argument.dtype, self.queue)
                memory.copy_from(argument)
                arrays.append(memory)
                passed.append(memory)
            elif isinstance(argument, np.ndarray):
                passed.append(argument.tobytes())
            else:
                passed.append(argument)
        if entry.reads_launch:
            passed += [np.uint64(0), np.uint64(shared | (entry.shared_bytes + shared + 127) // 128 * 128 << 32)]
        if entry.uses_dynamic_shared:
            passed.append(bl.LocalAccessor((max(shared, 1),), np.uint8))
        grid, block = _three(grid), _three(block)
        sizes = tuple(a * b for a, b in zip(grid, block, strict=True))
        kernel = self.bundle.get_kernel(name)
        self.queue.parallel_for(bl.NdRange(sizes[::-1], block[::-1]), kernel, *passed).wait_and_throw()
        return [np.asarray(memory.numpy(self.queue)) for memory in arrays]


def _three(size: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return (*sizes, *(1 for _ in range(3 - len(sizes))))
