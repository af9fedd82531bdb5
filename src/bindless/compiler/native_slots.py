"""Native code of kernels, compiled beside the program.

Kernels with the same text share a slot. The driver counts the time that its executor needs for a slot's kernels, and
writes the slot's address to a pipe when a compilation is worth it. One thread reads the pipe, runs the compiler at low
priority, and stores the function's address in the slot: from the next launch on the driver runs it.

Nothing waits for the thread. The end of the process ends the compiler; a fork begins with slots of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import os
import struct
import subprocess
import threading
from collections.abc import Callable

from .native_code import native_function
from .process.child_process import kill

__all__ = ["NativeSlot", "native_slot"]

PATIENCE = 50_000_000  # nanoseconds of the executor: a compilation takes a few times as long
_ADDRESS = struct.Struct("=Q")
_NICE = 10
_JOIN = 2.0  # seconds in which the thread removes the files of a compiler that was ended


class NativeSlot(ctypes.Structure):
    """A ``blr_native_slot_t``: the function, and how the driver asks for it."""

    _fields_ = (("function", ctypes.c_void_p), ("patience", ctypes.c_int64), ("descriptor", ctypes.c_int32))


class _Compilation:
    """The thread, its pipe, and the compiler that it waits for."""

    def __init__(self) -> None:
        self._requests, self.descriptor = os.pipe()
        os.set_blocking(self.descriptor, False)
        self.slots: dict[bytes, NativeSlot] = {}  # by digest of the text
        self.waiting: dict[int, tuple[NativeSlot | None, bytes]] = {}  # by address, with the text
        self._process: subprocess.Popen[bytes] | None = None
        self._ends = self._serves = False
        self._thread = threading.Thread(target=self._serve, name="bindless native code", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            (address,) = _ADDRESS.unpack(os.read(self._requests, _ADDRESS.size))
            self._serves = True  # before it looks whether the process ends, which looks at this afterwards
            if self._ends:
                return
            self.fill(address, self._note)
            self._serves = False

    def fill(self, address: int, note: Callable[[subprocess.Popen[bytes] | None], None]) -> None:
        """Compile the text of a slot, once."""
        slot, text = self.waiting.pop(address, (None, b""))
        if slot is not None:
            slot.function = native_function(text, note)

    def _note(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        if process is None:
            return
        with contextlib.suppress(OSError):  # it has ended
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        if self._ends:
            kill(process)

    def end(self) -> None:
        """End the compiler, also one that starts just now."""
        self._ends = True
        process = self._process
        if process is not None:
            kill(process)
        if self._serves:
            self._thread.join(_JOIN)


_compilation: _Compilation | None = None


def native_slot(text: bytes, wait: bool) -> int:
    """Return the address of the slot of a C text.

    Parameters
    ----------
    text
        The text, as the reference driver writes it.
    wait
        Compile now, and not beside the program.
    """
    global _compilation
    digest = hashlib.sha256(text).digest()
    compilation = _compilation = _compilation or _Compilation()
    slot = compilation.slots.get(digest)
    if slot is None:
        new = NativeSlot(None, PATIENCE, compilation.descriptor)
        slot = compilation.slots.setdefault(digest, new)  # of another thread, perhaps
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(new))  # launches may outlive this module
        compilation.waiting[ctypes.addressof(new)] = new, text
    address = ctypes.addressof(slot)
    if wait:
        compilation.fill(address, lambda _: None)
    return address


def _end() -> None:
    if _compilation is not None:
        _compilation.end()


def _forget() -> None:
    """In a fork: the thread and its compiler belong to the other process."""
    global _compilation
    _compilation = None


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
