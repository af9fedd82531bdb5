"""Signatures of kernels in PTX: names, parameters, required work-group size.

The driver reports only sizes of parameters, and none before CUDA 12.4; the module's text has the rest.
"""

from __future__ import annotations

import re

from .description import KernelSignature, Parameter

__all__ = ["entries", "is_ptx", "target_of"]

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(rb"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^)]*)\))?([^{;]*)")
_PARAMETER = re.compile(
    rb"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)(\s+\.ptr)?(?:\s+\.(shared|global|const|local))?"
    rb"(?:\s+\.align\s+\d+)?\s+([A-Za-z_$%][\w$]*)\s*(?:\[\s*(\d+)\s*\])?"
)
_TARGET = re.compile(rb"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
_REQUIRED = re.compile(rb"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def _parameter(text: bytes) -> Parameter | None:
    match = _PARAMETER.match(text.strip())
    if match is None:
        return None
    _, bits, pointer, space, name, count = match.groups()
    size = int(bits) // 8 * (int(count) if count is not None else 1)
    kind = "value" if pointer is None else "local" if space == b"shared" else "pointer"
    return Parameter(name.decode("ascii"), "", kind, size)


def _entry(match: re.Match[bytes]) -> KernelSignature:
    name, declaration, directives = match.groups()
    texts = [text for text in (declaration or b"").split(b",") if text.strip()]
    parameters = [parameter for text in texts if (parameter := _parameter(text)) is not None]
    required = _REQUIRED.search(directives)
    return KernelSignature(
        name.decode("ascii"),
        tuple(parameters) if len(parameters) == len(texts) else None,
        tuple(int(size or 1) for size in required.groups()) if required else None,
    )


def entries(source: bytes) -> dict[str, KernelSignature]:
    """Parse the kernels of a module by name; empty for a binary module."""
    if b".entry" not in source or b"\0" in source.rstrip(b"\0"):
        return {}
    return {entry.name: entry for entry in map(_entry, _ENTRY.finditer(_COMMENT.sub(b"", source)))}


def is_ptx(source: bytes) -> bool:
    """Return whether the bytes are a module's text."""
    return _TARGET.search(source) is not None


def target_of(source: bytes) -> tuple[int, int] | None:
    """Return the compute capability of a module's target: (7, 5) for sm_75; None without a target."""
    match = _TARGET.search(source)
    return (int(match[1]) // 10, int(match[1]) % 10) if match else None
