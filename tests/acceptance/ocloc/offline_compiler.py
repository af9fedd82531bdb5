"""Intel's offline compiler: SPIR-V to code for its GPUs, and the kernel descriptions in its output.

The output is an ELF file. Its section ``.ze_info`` describes each kernel: its image accesses and its arguments. Only
the kernel's instructions show whether it writes images.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Argument", "Binary", "compile_all"]

_AT_ONCE = min(os.cpu_count() or 1, 8)
_BATCH = 10
# variables of the program, added by the compiler
_SYMBOLS = "Intel_Symbol_Table_Void_Program"
# Messages to the texture unit's data port: of Xe2 and later, and of Xe.
_IMAGE_WRITE = re.compile(r"store_quad\.tgm|store\.tgm|[Tt]yped surface write")


@dataclass(frozen=True)
class Argument:
    """Kernel argument: name, if the module has it, address space (``__private`` for values) and size in bytes."""

    name: str
    space: str
    size: int


@dataclass(frozen=True)
class Binary:
    """Output of the compiler for one module and one device.

    Attributes
    ----------
    flags
        Flags of each kernel, such as ``has_sample``; this module adds ``writes_images``.
    arguments
        Arguments of each kernel, in order.
    """

    flags: Mapping[str, frozenset[str]]
    arguments: Mapping[str, tuple[Argument, ...]]


def compile_all(modules: Mapping[str, bytes], device: str, folder: Path) -> dict[str, Binary]:
    """Compile every module for a device; raise AssertionError with the compiler's message if it refuses one."""
    folder.mkdir()
    names = list(modules)
    for name in names:
        (folder / f"{name}.spv").write_bytes(modules[name])
    batches = [names[at : at + _BATCH] for at in range(0, len(names), _BATCH)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda pair: _compile(f"batch{pair[0]}", pair[1], device, folder), enumerate(batches)))
        found = pool.map(lambda name: _read(_output(folder, f"batch*/{name}_*.bin"), device), names)
        return dict(zip(names, found))


def _compile(batch: str, names: Sequence[str], device: str, folder: Path) -> None:
    """Compile many modules in one process: starting the compiler takes longer than a module."""
    lines = [f"-file {name}.spv -device {device} -spirv_input -output {name}" for name in names]
    (folder / f"{batch}.txt").write_text("\n".join(lines) + "\n")
    command = [_ocloc(), "multi", f"{batch}.txt"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=290)
    numbers = re.findall(r"Command number (\d+)", done.stdout)
    last = names[int(numbers[-1]) - 1] if numbers else batch
    said = (done.stdout[done.stdout.rfind("Command number") :] + done.stderr).strip()
    assert done.returncode == 0, f"{last}.spv for {device}, status {done.returncode}: {said}"
    missing = [name for name in names if not list((folder / batch).glob(f"{name}_*.bin"))]
    assert not missing, f"no code for {device} from {', '.join(missing)}: {said}"


def _output(folder: Path, pattern: str) -> Path:
    """Return the file of a module: the compiler adds a suffix, so names of longer modules match the pattern too."""
    return min(folder.glob(pattern), key=lambda file: len(file.name))


def _ocloc() -> str:
    found = shutil.which("ocloc")
    assert found is not None
    return found


def _read(file: Path, device: str) -> Binary:
    info = _sections(file.read_bytes())[".ze_info"].decode()
    flags, arguments = _flags(info), _arguments(info)
    dump = file.with_suffix(".dump")
    command = [_ocloc(), "disasm", "-file", str(file), "-device", device, "-dump", str(dump)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    for kernel, found in flags.items():
        if _IMAGE_WRITE.search((dump / f".text.{kernel}.asm").read_text()):
            found.add("writes_images")
    shutil.rmtree(dump)
    return Binary({kernel: frozenset(found) for kernel, found in flags.items()}, arguments)


def _sections(elf: bytes) -> dict[str, bytes]:
    """Return the contents of the sections by name."""
    assert elf[:5] == b"\x7fELF\x02"
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names_index = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
    names = elf[rows[names_index][4] :]
    return {names[row[0] : names.index(b"\0", row[0])].decode(): elf[row[4] : row[4] + row[5]] for row in rows}


def _flags(info: str) -> dict[str, set[str]]:
    """Return the ``has_...`` flags of each kernel; the text is YAML with an indentation of two spaces."""
    found: dict[str, set[str]] = {}
    for entry in _entries(info, "kernels"):
        flags = re.findall(r"^ {6}(has_\w+): +true$", entry, re.MULTILINE)
        found[_name(entry)] = set(flags)
    found.pop(_SYMBOLS, None)
    return found


def _arguments(info: str) -> dict[str, tuple[Argument, ...]]:
    found: dict[str, tuple[Argument, ...]] = dict.fromkeys(_flags(info), ())
    for entry in _entries(info, "kernels_misc_info"):
        rows = re.findall(
            r"- index: +(\d+)\n(?: +name: +(\w+)\n)? +address_qualifier: (\w+)\n"
            r"(?: +\w+: [^\n]*\n)*? +type_name: +'[^;']*;(\d+)'",
            entry,
        )
        assert [int(row[0]) for row in rows] == list(range(len(rows)))
        found[_name(entry)] = tuple(Argument(name, space, int(size)) for _, name, space, size in rows)
    return found


def _entries(info: str, section: str) -> list[str]:
    """Return the list under a name of the outermost level."""
    found = re.search(rf"^{section}:\n((?: .*\n)+)", info, re.MULTILINE)
    return re.split(r"^  - (?=name:)", found[1], flags=re.MULTILINE)[1:] if found else []


def _name(entry: str) -> str:
    found = re.match(r"name: +(\S+)", entry)
    assert found is not None
    return found[1]
