"""Local memory arguments of kernels on NVIDIA GPUs.

CUDA gives a launch one block of shared memory after the kernel's own variables; only the module knows its address. A
kernel therefore receives the offset of each argument in that block, and adds the block's address. Offsets are plain
numbers: the driver refuses modules with parameters that point to shared memory (`.ptr .shared`).
"""

from __future__ import annotations

import re

__all__ = ["with_local_arguments"]

_BLOCK = "@__bindless_local_arguments"
_KERNEL = re.compile(r"^define [^@\n]*\bptx_kernel\b[^\n]*\{\n(?:[\w.$]+:[^\n]*\n)?", re.MULTILINE)
_LOCAL = re.compile(r'ptr addrspace\(3\)[\w ]*(?:\(\d+\))?[\w ]*? %("?)([\w.$-]+)\1(?=[,)])')


def with_local_arguments(text: str) -> str:
    """Return LLVM IR whose kernels take offsets for pointers to local memory; arguments must have names."""
    text = _KERNEL.sub(_convert, text)
    if _BLOCK not in text:
        return text
    return f"{text}\n{_BLOCK} = external addrspace(3) global [0 x i8], align 16\n"


def _convert(kernel: re.Match[str]) -> str:
    head = kernel[0]
    names = [match[2] for match in _LOCAL.finditer(head)]
    head = _LOCAL.sub(r"i64 noundef %\2.offset", head)
    lines = [f"  %{name} = getelementptr i8, ptr addrspace(3) {_BLOCK}, i64 %{name}.offset\n" for name in names]
    return head + "".join(lines)
