"""Image instructions in NVIDIA's machine code, and whether the handle of each may differ between the lanes of a warp.

From sm_90 on, texture and surface instructions take handles from uniform registers, of which a warp has one set. For
handles that differ between lanes ptxas makes a loop: ``R2UR P, UR, R`` copies the handle of one lane and selects the
lanes that have the same one, the instruction runs for those, and the loop continues with the rest. An instruction
with a uniform register outside such a loop uses one lane's handle for all lanes. Inside the loop, an instruction runs
once for each lane if the lanes are selected, else once in each round: it must then not change what the loop reads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ImageInstruction", "disassemble", "image_instructions"]

_FUNCTION = re.compile(r"^\.text\.(\S+):$")
_LABEL = re.compile(r"^(\.L\w+):$")
_INSTRUCTION = re.compile(r"^/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z0-9][\w.]*)\s*(.*?)\s*;$")
_IMAGE = re.compile(r"^(TEX|TLD|TLD4|TXD|TMML|TXQ|SULD|SUST|SUATOM|SURED)\b")
_SAMPLES = ("TEX", "TLD", "TXD")
_NO_RESULT = ("ST", "SUST", "SURED", "RED", "BRA", "EXIT", "R2UR", "BAR", "NOP", "WARPSYNC", "BSSY", "BSYNC", "CCTL")
# Widths in registers of results, by a part of the instruction's name.
_WIDE = {"64": 2, "WIDE": 2, "128": 4}


@dataclass
class _Line:
    guard: str
    name: str
    operands: list[str]


@dataclass
class _Function:
    lines: list[_Line] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageInstruction:
    """An image instruction of a kernel.

    Attributes
    ----------
    kernel
        Name of the kernel.
    text
        The instruction.
    uniform
        Whether the handle lies in a uniform register, or in the constant bank.
    selected
        Whether the instruction is in a loop over the lanes' handles and runs for the selected lanes only.
    overwritten
        Registers that the loop reads and that an instruction changes in each round, for all lanes.
    """

    kernel: str
    text: str
    uniform: bool
    selected: bool
    overwritten: tuple[str, ...] = ()

    @property
    def per_lane(self) -> bool:
        """Whether each lane uses its own handle and its own coordinates."""
        return (self.selected or not self.uniform) and not self.overwritten


def disassemble(ptx: bytes, architecture: str, ptxas: str, nvdisasm: str, folder: Path, *options: str) -> str:
    """Assemble PTX for a GPU and return its machine code as text."""
    source, binary = folder / "module.ptx", folder / f"{architecture}.cubin"
    source.write_bytes(ptx.rstrip(b"\0"))
    for command in ([ptxas, *options, f"-arch={architecture}", str(source), "-o", str(binary)],):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        [nvdisasm, "-c", "-ndf", str(binary)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def image_instructions(text: str) -> list[ImageInstruction]:
    """Return the image instructions of all kernels of nvdisasm's output."""
    return [
        _judged(kernel, function, place)
        for kernel, function in _functions(text).items()
        for place, line in enumerate(function.lines)
        if _IMAGE.match(line.name)
    ]


def _functions(text: str) -> dict[str, _Function]:
    found: dict[str, _Function] = {}
    function = _Function()
    for line in map(str.strip, text.splitlines()):
        if match := _FUNCTION.match(line):
            function = found.setdefault(match[1], _Function())
        elif match := _LABEL.match(line):
            function.labels[match[1]] = len(function.lines)
        elif match := _INSTRUCTION.match(line):
            operands = [part.strip() for part in re.split(r",(?![^\[]*\])", match[3])] if match[3] else []
            function.lines.append(_Line(match[1] or "", match[2], operands))
    return found


def _judged(kernel: str, function: _Function, place: int) -> ImageInstruction:
    line = function.lines[place]
    text = (
        f"@{line.guard} {line.name} {', '.join(line.operands)}"
        if line.guard
        else (f"{line.name} {', '.join(line.operands)}")
    )
    handle = _uniform_handle(line)
    constant = ".B" not in line.name and any(part.startswith("0x") for part in line.operands) and not handle
    loop = _selection_loop(function, place, handle) if handle else None
    if loop is None:
        return ImageInstruction(kernel, text, bool(handle) or constant, False)
    return ImageInstruction(kernel, text, True, True, tuple(sorted(_overwritten(function.lines[loop]))))


def _uniform_handle(line: _Line) -> str:
    """The uniform register of the handle: the last one, after results and coordinates; descriptors come in brackets."""
    found = [part for part in line.operands if re.fullmatch(r"UR\d+", part)]
    return found[-1] if found else ""


def _selection_loop(function: _Function, place: int, handle: str) -> slice | None:
    """The smallest loop around an instruction in which R2UR selects the lanes that run it."""
    line = function.lines[place]
    if not line.guard.startswith("!P"):
        return None
    for end in range(place, len(function.lines)):
        branch = function.lines[end]
        if not branch.name.startswith("BRA"):
            continue
        label = re.search(r"\.L\w+", " ".join(branch.operands))
        begin = function.labels.get(label[0], end + 1) if label else end + 1
        if begin > place:
            continue
        number = int(handle[2:])
        copies = [
            other
            for other in function.lines[begin:place]
            if other.name.startswith("R2UR") and other.operands[1:2] in ([f"UR{number}"], [f"UR{number + 1}"])
        ]
        if copies and all(other.operands[0] == line.guard[1:] for other in copies):
            return slice(begin, end + 1)
        return None
    return None


def _overwritten(lines: list[_Line]) -> set[str]:
    """Registers that a loop over handles spoils: an instruction that all lanes run in each round writes them, and the
    loop reads them first, or has a lane's result in them.
    """
    written: set[str] = set()
    needed: set[str] = set()
    results: set[str] = set()
    for line in lines:
        needed |= {name for name in _reads(line) if name not in written}
        if line.guard:
            results |= set(_writes(line))
        else:
            written |= set(_writes(line))
    return (needed | results) & written


def _numbers(part: str, width: int) -> Iterator[str]:
    for name in re.findall(r"(?<![\w.])R(\d+)\b", part):
        yield from (f"R{int(name) + k}" for k in range(width))


def _width(line: _Line) -> int:
    return next((count for part, count in _WIDE.items() if f".{part}" in line.name), 1)


def _writes(line: _Line) -> Iterator[str]:
    if line.name.startswith(_NO_RESULT) or not line.operands:
        return
    plain = _registers_first(line)
    if line.name.startswith(_SAMPLES):  # the results of the lowest two channels are in the second operand
        mask = int(line.operands[-1], 16) if line.operands[-1].startswith("0x") else 15
        count = mask.bit_count()
        yield from _numbers(plain[1], min(count, 2))
        yield from _numbers(plain[0], max(count - 2, 0))
    elif plain and re.fullmatch(r"R\d+(\.reuse)?", plain[0]):
        yield from _numbers(plain[0], _width(line))


def _reads(line: _Line) -> Iterator[str]:
    results = 0 if line.name.startswith(_NO_RESULT) else 2 if line.name.startswith(_SAMPLES) else 1
    for part in _registers_first(line)[results:]:
        yield from _numbers(part, 1)


def _registers_first(line: _Line) -> list[str]:
    """The operands without predicates, which some instructions write before their result."""
    return [part for part in line.operands if not re.fullmatch(r"!?U?P[T\d]", part)]
