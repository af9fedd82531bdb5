"""Modules: errors of builds, and binaries in the cache of modules."""

from __future__ import annotations

from ...model.errors import BuildError, Error

__all__ = ["build_error", "pack", "unpack"]


def build_error(error: Error, said: str) -> BuildError:
    """The error of a driver's call as BuildError, with the words of the compiler or, without any, those of the call."""
    said = said or str(error)
    return BuildError(
        f"{error}:\n{said}",
        log=said,
        backend=error.backend,
        native_code=error.native_code,
        native_name=error.native_name,
    )


def pack(head: bytes, binary: bytes) -> bytes:
    """A binary with what the cache keeps of its build."""
    return len(head).to_bytes(4, "little") + head + binary


def unpack(data: bytes) -> tuple[bytes, bytes]:
    """The arguments of ``pack``."""
    end = 4 + int.from_bytes(data[:4], "little")
    return data[4:end], data[end:]
