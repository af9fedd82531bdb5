"""Copies as driver commands, described in C structs."""

from __future__ import annotations

import functools

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData

__all__ = ["CopyCommand", "copy_bytes", "copy_pixels"]

lib, ffi = driver.lib, driver.ffi

CopyCommand = functools.partial[int]
"""A ``Command`` whose first argument is a bindless_copy_t."""

Side = tuple[int, tuple[int, int, int], int]
"""Address of a cl_mem or of memory; the first pixel of an image; bytes into a buffer."""

_NOWHERE = 0, 0, 0


def copy_pixels(
    kind: int, source: Side, target: Side, region: tuple[int, int, int], row: int = 0, between: int = 0
) -> CopyCommand:
    """A copy of pixels, with row pitch and slice pitch of memory next to an image."""
    struct = ffi.new("bindless_copy_t *", (kind, source, target, region, row, between))
    return CopyCommand(lib.bindless_enqueue_copy, struct)


def copy_bytes(
    kind: int, source: int | tuple[CData, int], target: int | tuple[CData, int], nbytes: int, keep: object = None
) -> CopyCommand:
    """A copy between memories, each an address, or a buffer with an offset. ``keep`` lives as long as the command."""
    struct = ffi.new("bindless_copy_t *", (kind, _side(source), _side(target), _NOWHERE, 0, 0, nbytes))
    if keep is None:
        return CopyCommand(lib.bindless_enqueue_copy, struct)
    return CopyCommand(_enqueue_with, struct, keep)


def _enqueue_with(struct: CData, _: object, *command: CData) -> int:
    return int(lib.bindless_enqueue_copy(struct, *command))


def _side(memory: int | tuple[CData, int]) -> Side:
    if isinstance(memory, int):
        return memory, _NOWHERE, 0
    buffer, offset = memory
    return int(ffi.cast("uintptr_t", buffer)), _NOWHERE, offset
