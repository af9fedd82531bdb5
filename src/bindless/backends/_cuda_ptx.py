"""What PTX says of its kernels: names, parameters, and the work-group they require.

The driver gives only sizes of parameters, and none before CUDA 12.4; the text of a module has the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PtxEntry", "PtxParameter", "entries"]

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(rb"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^)]*)\))?([^{;]*)")
_PARAMETER = re.compile(
    rb"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)(\s+\.ptr)?(?:\s+\.(shared|global|const|local))?"
    rb"(?:\s+\.align\s+\d+)?\s+([A-Za-z_$%][\w$]*)\s*(?:\[\s*(\d+)\s*\])?"
)
_REQUIRED = re.compile(rb"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


@dataclass(frozen=True)
class PtxParameter:
    """One parameter: ``kind`` is value, pointer or local, as in ``KernelArgument``."""

    name: str
    kind: str
    size: int


@dataclass(frozen=True)
class PtxEntry:
    """A kernel; ``parameters`` is None where one of them is of a form that is not understood."""

    name: str
    parameters: tuple[PtxParameter, ...] | None
    required_work_group_size: tuple[int, ...] | None


def _parameter(text: bytes) -> PtxParameter | None:
    found = _PARAMETER.match(text.strip())
    if found is None:
        return None
    _, bits, pointer, space, name, count = found.groups()
    size = int(bits) // 8 * (int(count) if count is not None else 1)
    kind = "value" if pointer is None else "local" if space == b"shared" else "pointer"
    return PtxParameter(name.decode("ascii"), kind, size)


def _entry(found: re.Match[bytes]) -> PtxEntry:
    name, parameters, directives = found.groups()
    listed = [_parameter(text) for text in (parameters or b"").split(b",") if text.strip()]
    known = [parameter for parameter in listed if parameter is not None]
    required = _REQUIRED.search(directives)
    return PtxEntry(
        name.decode("ascii"),
        tuple(known) if len(known) == len(listed) else None,
        tuple(int(size or 1) for size in required.groups()) if required else None,
    )


def entries(source: bytes) -> dict[str, PtxEntry]:
    """The kernels of a module by name; none for a binary module."""
    if b".entry" not in source or b"\0" in source.rstrip(b"\0"):
        return {}
    return {entry.name: entry for entry in map(_entry, _ENTRY.finditer(_COMMENT.sub(b"", source)))}
