"""Lines of the source in SPIR-V, by which the reference device names the place of a wrong access.

LLVM's SPIR-V code generator drops the lines of its debug information. They pass it as decorations of the results of
loads, of samples and of the addresses of stores, and become the instruction ``OpLine`` in the finished module.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

__all__ = ["with_decorations", "with_lines"]

_LOCATION = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+),[^\n]*?scope: (!\d+)", re.MULTILINE)
_SCOPE = re.compile(
    r"^(!\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\([^\n]*?file: (!\d+)", re.MULTILINE
)
_FILE = re.compile(r'^(!\d+) = (?:distinct )?!DIFile\(filename: "([^"\n]*)"', re.MULTILINE)
_DEBUG = re.compile(r",? !dbg !\d+")
_ACCESS = re.compile(
    r"^  (?:(?P<result>\S+) = )?(?:(?P<verb>load|store|atomicrmw|cmpxchg)\b|(?:tail )?call [^@\n]*@__bindless_)"
    r"[^\n]*!dbg (?P<node>!\d+)"
)
_ADDRESS = re.compile(r"\bptr(?: addrspace\(\d\))? (%(?:\"[^\"\n]*\"|[\w.$-]+))(?=, align|$)")
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_USER_SEMANTIC = 5635
_HEADER = 5
_NAME, _STRING, _DECORATE, _DECORATE_STRING, _LINE = 5, 7, 71, 5632, 8
_BEFORE_NAMES = (17, 10, 11, 14, 15, 16, 331, 7, 4, 3, 2)
_FUNCTION_CALL, _LOAD, _STORE = 57, 61, 62
_ATOMIC_STORE = 228
_ATOMICS = range(227, 243)


def with_decorations(text: str) -> str:
    """Return optimised LLVM IR whose accesses are decorated with their lines, and without debug information."""
    if "!DILocation" not in text:
        return text
    files, scopes = dict(_FILE.findall(text)), dict(_SCOPE.findall(text))
    places = {
        node: f"{line} {files[scopes[scope]]}" for node, line, scope in _LOCATION.findall(text) if scope in scopes
    }
    notes: dict[str, str] = {}  # of a result, the place
    for line in text.split("\n"):
        match = _ACCESS.match(line)
        place = places.get(match["node"]) if match is not None else None
        if match is None or place is None:
            continue
        if match["verb"] in ("load", "atomicrmw", None) and match["result"]:
            notes.setdefault(match["result"], place)
        elif match["verb"] is not None:
            address = _ADDRESS.findall(_DEBUG.sub("", line))
            if address:
                notes.setdefault(address[-1], place)
    return _decorated(text, notes)


def _decorated(text: str, notes: dict[str, str]) -> str:
    """Add metadata to the instructions of the results; names are those of one function."""
    number = max(map(int, _NUMBER.findall(text)), default=0) + 1
    nodes: dict[str, int] = {}
    lines, added = [], []
    for line in text.split("\n"):
        if line.startswith("!llvm.dbg.cu") or line.lstrip().startswith("#dbg_"):
            continue
        plain = re.sub(r" !dbg !\d+(?= \{$)", "", line) if line.startswith("define") else _DEBUG.sub("", line)
        result, _, rest = plain.strip().partition(" = ")
        if result in notes and rest.startswith(("load", "getelementptr", "atomicrmw", "tail call", "call")):
            place = notes[result]
            if place not in nodes:
                nodes[place] = number
                added += [f"!{number} = !{{!{number + 1}}}", f'!{number + 1} = !{{i32 {_USER_SEMANTIC}, !"{place}"}}']
                number += 2
            plain += f", !spirv.Decorations !{nodes[place]}"
        lines.append(plain)
    return "\n".join([*lines, *added, ""])


def with_lines(data: bytes) -> bytes:
    """Return a module with ``OpLine`` in place of the decorations."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    places: dict[int, str] = {}
    code: list[tuple[int, ...]] = []
    for instruction in _instructions(words):
        if instruction[0] & 0xFFFF in (_DECORATE, _DECORATE_STRING) and instruction[2] == _USER_SEMANTIC:
            text = struct.pack(f"<{len(instruction) - 3}I", *instruction[3:])
            places[instruction[1]] = text.partition(b"\0")[0].decode(errors="replace")
        else:
            code.append(instruction)
    if not places:
        return data
    bound, strings = words[3], dict[str, int]()
    for place in places.values():
        file = place.partition(" ")[2]
        if file not in strings:
            strings[file] = bound
            bound += 1
    output: list[int] = [*words[:3], bound, words[4]]
    named = False
    for instruction in code:
        opcode = instruction[0] & 0xFFFF
        if not named and opcode not in _BEFORE_NAMES:
            for file, number in strings.items():
                output += _string(number, file)
            named = True
        note = next((places[word] for word in _ids(opcode, instruction) if word in places), None)
        if note is not None:
            line, _, file = note.partition(" ")
            output += [4 << 16 | _LINE, strings[file], int(line), 0]
        output += instruction
    return struct.pack(f"<{len(output)}I", *output)


def _instructions(words: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    place = _HEADER
    while place < len(words):
        length = words[place] >> 16
        yield words[place : place + length]
        place += length


def _ids(opcode: int, instruction: tuple[int, ...]) -> tuple[int, ...]:
    """Return the result and the address of an access; nothing for other instructions."""
    if opcode in (_STORE, _ATOMIC_STORE):
        return (instruction[1],)
    if opcode == _FUNCTION_CALL:
        return (instruction[2],)
    if opcode == _LOAD or opcode in _ATOMICS:
        return (instruction[2], instruction[3])
    return ()


def _string(number: int, text: str) -> list[int]:
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 4)
    return [(2 + len(data) // 4) << 16 | _STRING, number, *struct.unpack(f"<{len(data) // 4}I", data)]
