"""The committed bindings compared with the real headers: none missing, none stale, equal struct layouts.

The project does not contain the vendors' headers. The reference driver's header is always present; for the others
``csrc/bindgen/check`` fetches them and runs this file with BINDLESS_HEADERS set.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import lacks

from .conftest import DRIVERS, GENERATED, ROOT
from .test_declarations import member, module, table

INCLUDES = {
    "cuda": ("cuda.h",),
    "level_zero": ("level_zero/ze_api.h", "level_zero/loader/ze_loader.h"),
    "opencl": ("CL/cl.h", "CL/cl_ext.h"),
    "reference": (
        "bindless/reference.h",
        "bindless/reference_colours.h",
        "bindless/reference_projections.h",
        "bindless/reference_pyramids.h",
    ),
}
# CUDA declares superseded structs for the driver's own use only.
DEFINES = {"cuda": ("-D__CUDA_API_VERSION_INTERNAL",)}
PREFIXES = {"cuda": "cu", "level_zero": "ze", "opencl": "cl", "reference": "blr"}


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def headers(driver: str) -> Path:
    """The include folder of the driver's headers."""
    if driver == "reference":
        return ROOT / "include"
    folder = Path(os.environ.get("BINDLESS_HEADERS", "/nonexistent"))
    if (folder / INCLUDES[driver][0]).exists():
        return folder
    lacks("headers", "run csrc/bindgen/fetch_headers.py DIR, and set BINDLESS_HEADERS=DIR")


def includes(driver: str) -> str:
    return "#include <stdbool.h>\n" + "".join(f"#include <{name}>\n" for name in INCLUDES[driver])


def preprocessed(driver: str, headers: Path, compiler: str, *options: str) -> str:
    command = [compiler, "-E", "-P", "-x", "c", f"-I{headers}", *options, "-"]
    return subprocess.run(
        command, input=includes(driver), capture_output=True, text=True, check=True, timeout=120
    ).stdout


def declared_names(text: str, driver: str) -> set[str]:
    """Function names found by a regular expression: an API name before a parenthesis, outside structs."""
    flat = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", text))
    flat = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", flat)
    names = set()
    for statement in flat.split(";"):
        if statement.lstrip().startswith("typedef"):
            continue
        found = re.search(rf"\b({PREFIXES[driver]}l?[A-Z]\w*)\s*\(", statement)
        if found:
            names.add(found[1])
    return names


def test_every_function_of_the_header_has_its_symbol_in_the_table(driver: str, headers: Path, compiler: str) -> None:
    symbols = set(table(driver).values())
    expected = declared_names(preprocessed(driver, headers, compiler), driver)
    assert len(expected) >= 40
    assert expected <= symbols
    if driver == "cuda":
        superseded = declared_names(preprocessed(driver, headers, compiler, *DEFINES["cuda"]), driver)
        assert len(expected) == 449
        assert symbols == expected | superseded
    elif driver == "level_zero":
        assert sum(1 for name in expected if re.match("ze[A-Z]", name)) == 248
        assert symbols == expected
    else:
        assert symbols == expected


def defined_structs(text: str) -> int:
    """Number of structs and unions at the outermost level, counted by braces."""
    count = depth = start = 0
    for match in re.finditer(r"[{};]", text):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if match[0] == ";" and depth == 0:
            count += bool(re.match(r"\s*(?:typedef\s+)?(?:struct|union)\s*\w*\s*\{", text[start : match.end()]))
            start = match.end()
    return count


def test_every_struct_of_the_header_is_in_the_layout(driver: str, headers: Path, compiler: str) -> None:
    library = "#include <stdlib.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\nint border;\n"
    command = [compiler, "-E", "-P", "-x", "c", f"-I{headers}", *DEFINES.get(driver, ()), "-"]
    source = library + includes(driver)
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True, timeout=120).stdout
    vendor = text.split("int border;")[1]
    assert defined_structs(vendor) == sum(1 for line in layout_lines(driver) if line.count("\t") == 2)


def test_the_committed_bindings_are_what_the_generator_makes(driver: str, headers: Path) -> None:
    command = [
        sys.executable,
        str(ROOT / "csrc" / "bindgen" / "generate.py"),
        driver,
        "--headers",
        str(headers),
        "--check",
    ]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_structs_are_laid_out_as_by_the_real_header(driver: str, headers: Path, compiler: str, tmp_path: Path) -> None:
    """A program that includes the real header prints the layout of every struct that cffi lists; both must agree."""
    ffi = module(driver).ffi
    plain, structs, unions = ffi.list_types()
    tags = [f"struct {name}" for name in structs] + [f"union {name}" for name in unions]
    theirs = [ctype for ctype in [*plain, *tags] if not ctype.removeprefix("struct ").startswith("bindless_")]
    complete = [ctype for ctype in theirs if is_complete(ffi, ctype)]
    assert len(complete) >= sum(1 for line in layout_lines(driver) if line.count("\t") == 2)
    lines = []
    for ctype in complete:
        lines.append(f'printf("%zu\\n", sizeof({ctype}));')
        lines += [f'printf("%zu\\n", offsetof({ctype}, {path}));' for path in paths(ffi.typeof(ctype))]
    source = includes(driver) + "#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "}\n"
    program = tmp_path / "layout"
    command = [compiler, "-x", "c", "-w", f"-I{headers}", *DEFINES.get(driver, ()), "-o", str(program), "-"]
    subprocess.run(command, input=source, text=True, check=True, timeout=120)
    printed = iter(
        subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=120).stdout.split()
    )
    for ctype in complete:
        assert (ctype, ffi.sizeof(ctype)) == (ctype, int(next(printed)))
        for path in paths(ffi.typeof(ctype)):
            assert (ctype, path, ffi.offsetof(ctype, *path.split("."))) == (ctype, path, int(next(printed)))
    assert next(printed, None) is None


def is_complete(ffi: Any, ctype: str) -> bool:
    """Whether a type is a struct or union with members; opaque types have no size, function types no object."""
    try:
        return ffi.typeof(ctype).kind in ("struct", "union") and ffi.sizeof(ctype) > 0
    except ffi.error:
        return False


def layout_lines(driver: str) -> list[str]:
    return [line for line in (GENERATED / f"{driver}_layout.txt").read_text().splitlines() if not line.startswith("#")]


def paths(ctype: Any) -> list[str]:
    """Names of members; unnamed structs and unions contribute their own members."""
    found: list[str] = []
    for label, inner in ctype.fields:
        if label:
            found.append(label)
            assert member(ctype, label) is not None
        else:
            found.extend(paths(inner.type))
    return found
