"""Kernels for ranges that their work-groups do not divide: items beyond the range return at once.

A grid of CUDA consists of whole blocks, and PTX has no size of the range but that of the grid. The kernel gets the
sizes of the range by one more parameter, the last, and compares its global id with them before anything else. Kernels
that could observe the items that have gone, or the size of the grid, are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["with_range"]

_COMMENT = re.compile(r'("[^"\n]*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_BRACE = re.compile(r'"[^"\n]*"|[{}]')
_ENTRY = re.compile(r"(?:\.(?:visible|weak)\s+)*\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^)]*)\))?([^{;()]*)\{")
# What depends on the number of groups or on the other items of a group; memory of the module, which a second module
# would not share; functions of other modules; groups of a required size; addresses of code in debug information.
_DEPENDENT = re.compile(
    r"%nctaid|%laneid|%lanemask|%n?warpid|%n?cluster|%\w*smem_size|\.shared\b|\.extern\b|\.reqn\w+|\.section\b"
    r"|\b(?:bar|barrier|mbarrier|shfl|vote|match|redux|elect|activemask|wmma|mma|wgmma|griddepcontrol)\b"
    r"|^\s*(?:\.(?:visible|weak|common)\s+)*\.global\b|^\s*\.(?:visible|weak)\s+\.const\b",
    re.MULTILINE,
)
_PARAMETER = "bindless_range"
_GUARD = """
{
.reg .pred bl_beyond;
.reg .b32 bl_group, bl_items, bl_item;
.reg .b64 bl_id, bl_end;
"""
_COMPARISON = """mov.u32 bl_group, %ctaid.{axis};
mov.u32 bl_items, %ntid.{axis};
mov.u32 bl_item, %tid.{axis};
cvt.u64.u32 bl_id, bl_item;
mad.wide.u32 bl_id, bl_group, bl_items, bl_id;
ld.param.u64 bl_end, [{parameter}+{offset}];
setp.ge.u64 bl_beyond, bl_id, bl_end;
@bl_beyond ret;
"""


def with_range(ptx: str, name: str) -> str | None:
    """Return a module with one kernel of another, which takes the sizes of its range as three more 64-bit numbers.

    Parameters
    ----------
    ptx
        The module.
    name
        The kernel.

    Returns
    -------
    str or None
        The module; its kernel has one more parameter of 24 bytes, aligned to 8. None where results could depend on the
        items that are missing, or on the size of the grid.
    """
    text = _COMMENT.sub(lambda match: match[1] or " ", ptx)
    parts, kernel, last = [], "", 0
    for match, end in _entries(text):
        parts.append(text[last : match.start()])
        if match[1] == name:
            kernel = _guarded(match, text[match.end() : end])
            parts.append(kernel)
        last = end
    module = "".join([*parts, text[last:]])
    return module if kernel and not _DEPENDENT.search(module) else None


def _entries(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The heads of the kernels, and where their bodies end."""
    last = 0
    while match := _ENTRY.search(text, last):
        depth, last = 1, match.end()
        for brace in _BRACE.finditer(text, match.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                last = brace.end()
                break
        else:
            return
        yield match, last


def _guarded(match: re.Match[str], body: str) -> str:
    name, parameters, directives = match.groups()
    listed = [part.strip() for part in (parameters or "").split(",") if part.strip()]
    listed.append(f".param .align 8 .b8 {_PARAMETER}[24]")
    tests = [_COMPARISON.format(axis=axis, parameter=_PARAMETER, offset=8 * index) for index, axis in enumerate("xyz")]
    return f".visible .entry {name}(\n{','.join(listed)}\n){directives}{{{_GUARD}{''.join(tests)}}}\n{body}"
