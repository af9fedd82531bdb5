"""Runs of the C compiler: declarations and macros of the headers, and a program that prints values and layouts."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from manifests import COMPILER, Manifest, Pass

__all__ = ["declarations", "expand", "include_lines", "macro_names", "run_program"]

# Vector registers would add members that portable callers cannot name; the struct's size does not depend on them.
NO_VECTORS = ("-U__SSE__", "-U__SSE2__", "-U__MMX__", "-U__AVX__", "-U__ALTIVEC__", "-U__VEC__")
LINEMARKER = re.compile(r'^# (\d+) "([^"]*)"')


def include_lines(manifest: Manifest) -> str:
    """The include directives of a program that uses the API."""
    return "".join(f"#include <{header}>\n" for header in ("stdbool.h", "stddef.h", *manifest.includes))


def preprocess(manifest: Manifest, headers: Path, which: Pass, options: tuple[str, ...], tail: str = "") -> str:
    """The output of the preprocessor over the headers followed by `tail`."""
    command = [COMPILER, "-E", "-x", "c", "-std=gnu11", *options, f"-I{headers}", *NO_VECTORS]
    command += [f"-D{define}" for define in which.defines]
    answer = subprocess.run([*command, "-"], input=include_lines(manifest) + tail, text=True, capture_output=True)
    if answer.returncode != 0:
        raise SystemExit(f"{manifest.name}: the headers under {headers} do not preprocess:\n{answer.stderr}")
    return answer.stdout


def owned_lines(manifest: Manifest, text: str) -> list[tuple[str, int, str]]:
    """(file, line, text) of the lines that come from the API's own headers."""
    owned = re.compile(manifest.owned)
    lines: list[tuple[str, int, str]] = []
    file, number = "", 0
    for line in text.splitlines():
        marker = LINEMARKER.match(line)
        if marker:
            number, file = int(marker[1]), marker[2]
            continue
        if owned.search(file):
            lines.append((file, number, line))
        number += 1
    return lines


def declarations(manifest: Manifest, headers: Path, which: Pass) -> str:
    """The declarations of the API's own headers in standard C, with macros expanded and attributes removed."""
    lines = owned_lines(manifest, preprocess(manifest, headers, which, ()))
    text = "\n".join(line for _, _, line in lines if not line.lstrip().startswith("#pragma"))
    text = text.replace("__extension__", "").replace("__inline", "inline").replace("__restrict", "")
    return strip_attributes(text)


def strip_attributes(text: str) -> str:
    """Replace `__attribute__((aligned(n)))` by `_Alignas(n)` and remove every other attribute."""
    keyword = "__attribute__"
    parts: list[str] = []
    start = 0
    while (found := text.find(keyword, start)) >= 0:
        parts.append(text[start:found])
        position = text.index("(", found)
        depth = 0
        for end in range(position, len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
        aligned = re.fullmatch(r"\(\(\s*_*aligned_*\s*\((.*)\)\s*\)\)", text[position : end + 1])
        if aligned:
            parts.append(f"_Alignas({aligned[1]})")
        start = end + 1
    return "".join([*parts, text[start:]])


def macro_names(manifest: Manifest, headers: Path) -> tuple[list[str], list[str]]:
    """Names of the object-like and of the function-like macros of the API's own headers, in order."""
    objects: dict[str, None] = {}
    functions: dict[str, None] = {}
    for _, _, line in owned_lines(manifest, preprocess(manifest, headers, manifest.passes[0], ("-dD",))):
        define = re.match(r"#define (\w+)(\(?)", line)
        if define:
            (functions if define[2] else objects)[define[1]] = None
        undefine = re.match(r"#undef (\w+)", line)
        if undefine:
            objects.pop(undefine[1], None)
    return list(objects), list(functions)


def expand(manifest: Manifest, headers: Path, names: list[str]) -> dict[str, str]:
    """The expansion of each macro."""
    tail = "".join(f'\n"@{name}" {name}\n";;"\n' for name in names)
    text = preprocess(manifest, headers, manifest.passes[0], ("-P",), tail)
    found = re.findall(r'"@(\w+)"\s*(.*?)\s*";;"', text, re.DOTALL)
    return {name: " ".join(body.split()) for name, body in found}


def run_program(source: str, headers: Path, which: Pass) -> list[list[str]]:
    """Compile and run a C program; its output, split at tabs."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "probe"
        command = [COMPILER, "-x", "c", "-std=gnu11", "-w", f"-I{headers}", "-o", str(program), "-"]
        command += [f"-D{define}" for define in which.defines]
        built = subprocess.run(command, input=source, text=True, capture_output=True)
        if built.returncode != 0:
            raise SystemExit(f"the probe program does not compile:\n{built.stderr[:4000]}")
        output = subprocess.run([str(program)], check=True, text=True, capture_output=True).stdout
    return [line.split("\t") for line in output.splitlines()]
