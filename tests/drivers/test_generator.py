"""The generator on a header written for the test: declarations that it parses, refuses, and generates reproducibly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import DRIVERS, GENERATED, ROOT

HEADER = """
#ifndef TINY_H
#define TINY_H
#include <stdint.h>
#define TNY_API __attribute__((visibility("default")))
#define TNY_NUMBER (1u << 31)
#define TNY_LARGE 0xFFFFFFFFFFFFFFFFULL
#define TNY_LEAST (-9223372036854775807LL - 1)
#define TNY_RATIO 2.5f
#define TNY_NAME "tiny \\"quoted\\""
#define TNY_HANDLE ((tny_object_t)0x2)
#define TNY_ALIAS TNY_TWO
#define TNY_MAKE(a) (a)
#define TNY_TYPE int
#define tnyOpen tnyOpen_v2
typedef struct tny_object *tny_object_t;
typedef enum { TNY_ONE = 1, TNY_TWO, TNY_MINUS = -5 } tny_kind_t;
typedef enum tny_flags { TNY_A = 1, TNY_B = 1 << 4 } tny_flags_t;
enum { TNY_LONELY = 77 };
typedef struct tny_early tny_early_t;
typedef struct tny_box {
    char tag;
    _Alignas(32) float corner[4];
    union { uint64_t whole; struct { uint32_t low, high; }; };
    struct { int depth; } inner;
    tny_kind_t kind;
    uint8_t pad[64 - sizeof(uint64_t)];
} tny_box_t;
struct tny_early { void *next; tny_box_t *box; };
typedef void (*tny_call_t)(tny_object_t object, const tny_early_t *early, tny_kind_t kind);
TNY_API int tnyOpen(const char *name, tny_flags_t flags, tny_object_t *object) __attribute__((deprecated));
TNY_API int tnyCall(tny_object_t, tny_call_t call, void (*plain)(int, void *), uint32_t sizes[3]);
TNY_API void tnyClose(tny_object_t object);
TNY_API tny_object_t tnyMake(int from, int *errcode_ret);
TNY_API tny_box_t tnyBox(void);
static inline int tnyInline(void) { return 1; }
int otherFunction(int x);
#endif
"""


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The generator's modules, which import each other as top-level modules."""
    folder = str(ROOT / "csrc" / "bindgen")
    before = set(sys.modules)
    monkeypatch.syspath_prepend(folder)
    try:
        import emit_c
        import emit_python
        import emit_report
        import manifests
        import probe

        yield type(
            "Generator",
            (),
            {**vars(manifests), **vars(probe), **vars(emit_c), **vars(emit_python), **vars(emit_report)},
        )
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
                del sys.modules[name]


def manifest(generator: Any, **changes: Any) -> Any:
    settings = {
        "name": "reference",
        "title": "tiny",
        "includes": ("tiny.h",),
        "owned": r"/tiny\.h$",
        "function": r"^tny[A-Z]\w*$",
        "alias": r"^tny[A-Z]\w*$",
        "result": "int",
        "missing": "TNY_TWO",
        "unloaded": "TNY_ONE",
        "error_parameter": "errcode_ret",
        **changes,
    }
    return generator.Manifest(**settings)


@pytest.fixture
def api(generator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "tiny.h").write_text(HEADER)
    monkeypatch.setitem(generator.read_api.__globals__, "version_of", lambda api: "1.0")
    return generator.read_api(manifest(generator), tmp_path)


def test_functions(api: Any) -> None:
    found = {f.name: (f.symbol, f.result, [p.name for p in f.parameters], f.result_python) for f in api.functions}
    assert found == {
        "tnyOpen": ("tnyOpen_v2", "int", ["name", "flags", "object"], "int"),
        "tnyOpen_v2": ("tnyOpen_v2", "int", ["name", "flags", "object"], "int"),
        "tnyCall": ("tnyCall", "int", ["arg0", "call", "plain", "sizes"], "int"),
        "tnyClose": ("tnyClose", "void", ["object"], "None"),
        "tnyMake": ("tnyMake", "tny_object_t", ["from", "errcode_ret"], "CData"),
        "tnyBox": ("tnyBox", "tny_box_t", [], "CData"),
    }


def test_constants_have_the_compilers_values(api: Any) -> None:
    assert {c.name: c.value for c in api.constants} == {
        "TNY_NUMBER": 1 << 31,
        "TNY_LARGE": (1 << 64) - 1,
        "TNY_LEAST": -(1 << 63),
        "TNY_RATIO": 2.5,
        "TNY_NAME": 'tiny "quoted"',
        "TNY_HANDLE": 2,
        "TNY_ALIAS": 2,
    }


def test_enums(api: Any) -> None:
    assert [(e.name, e.flags, dict(e.members)) for e in api.enumerations] == [
        ("tny_kind_t", False, {"TNY_ONE": 1, "TNY_TWO": 2, "TNY_MINUS": -5}),
        ("tny_flags_t", True, {"TNY_A": 1, "TNY_B": 16}),
        ("", False, {"TNY_LONELY": 77}),
    ]


def test_layouts_are_the_compilers(api: Any) -> None:
    box, early = api.records
    assert (box.name, box.size, box.alignment) == ("tny_box_t", 128, 32)
    assert {f.path: (f.offset, f.size) for f in box.fields} == {
        "tag": (0, 1),
        "corner": (32, 16),
        "whole": (48, 8),
        "low": (48, 4),
        "high": (52, 4),
        "inner": (56, 4),
        "inner.depth": (56, 4),
        "kind": (60, 4),
        "pad": (64, 56),
    }
    assert (early.name, early.c_name, early.size) == ("tny_early_t", "tny_early_t", 16)


def test_what_is_left_out_is_reported_with_its_reason(api: Any, generator: Any) -> None:
    reasons = dict(api.skipped)
    assert set(reasons) == {"TINY_H", "TNY_API", "TNY_MAKE", "TNY_TYPE", "tnyInline", "otherFunction"}
    report = generator.report_md(manifest(generator, not_generated={"tinier.h": "too small"}), api)
    assert all(f"`{name}`" in report for name in reasons)
    assert "- tinier.h: too small" in report
    assert "`tnyOpen` is `tnyOpen_v2`" in report


def test_wrappers_compile_without_a_warning_and_work(api: Any, generator: Any, tmp_path: Path, compiler: str) -> None:
    """A program calls the wrappers before loading, with a library that lacks two functions, and with a complete one."""
    (tmp_path / "reference_types.h").write_text(generator.types_h(api))
    (tmp_path / "wrappers.c").write_text(generator.wrappers_c(manifest(generator), api))
    (tmp_path / "library.c").write_text(
        '#include "tiny.h"\n#include <stddef.h>\n'
        "int tnyOpen_v2(const char *n, tny_flags_t f, tny_object_t *o) { *o = (tny_object_t)n; return (int)f; }\n"
        "tny_box_t tnyBox(void) { tny_box_t box = {.tag = 'x', .corner = {1, 2, 3, 4}}; return box; }\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "wrappers.c"\n#include <assert.h>\n'
        "int main(int argc, char **argv) {\n"
        "  char message[512]; int code = 0; tny_object_t object = NULL; (void)argc;\n"
        '  assert(tnyOpen("a", TNY_B, &object) == TNY_ONE);\n'
        '  assert(!bindless_open("/nowhere/lib.so", message, sizeof message) && message[0]);\n'
        "  assert(bindless_open(argv[1], message, sizeof message));\n"
        '  assert(tnyOpen("a", TNY_B, &object) == TNY_B && object != NULL);\n'
        '  assert(tnyOpen_v2("a", TNY_A, &object) == TNY_A);\n'
        "  assert(tnyCall(object, NULL, NULL, NULL) == TNY_TWO);\n"
        "  assert(tnyMake(1, &code) == NULL && code == TNY_TWO && tnyMake(1, NULL) == NULL);\n"
        "  tnyClose(object);\n"
        "  assert(tnyBox().tag == 'x' && tnyBox().corner[3] == 4);\n"
        "  bindless_close();\n"
        "  assert(tnyBox().tag == 0 && tnyBox().whole == 0);\n"
        "  assert(!bindless_is_open() && tnyCall(object, NULL, NULL, NULL) == TNY_ONE);\n"
        "  return 0;\n}\n"
    )
    flags = [
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
        f"-I{tmp_path}",
        f"-I{ROOT / 'csrc' / 'driver_calls'}",
    ]
    library, program = str(tmp_path / "libtiny.so"), str(tmp_path / "program")
    quiet = "-Wno-deprecated-declarations"
    subprocess.run(
        [compiler, "-shared", "-fPIC", quiet, *flags, "-o", library, str(tmp_path / "library.c")],
        check=True,
        timeout=120,
    )
    subprocess.run(
        [compiler, "-Werror", *flags, "-o", program, str(tmp_path / "main.c"), "-ldl"], check=True, timeout=120
    )
    subprocess.run([program, library], check=True, timeout=120)


def test_an_unreadable_header_stops_with_the_compilers_words(generator: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"do not preprocess(?s:.*)tiny\.h"):
        generator.read_api(manifest(generator), tmp_path)


def test_an_enum_that_does_not_fit_is_refused(generator: Any, tmp_path: Path) -> None:
    (tmp_path / "tiny.h").write_text("typedef enum { TNY_WIDE = 0x100000000 } tny_wide_t;\nint tnyOpen(void);\n")
    with pytest.raises(SystemExit, match="TNY_WIDE: its enum is 8 bytes wide"):
        generator.read_api(manifest(generator), tmp_path)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_committed_wrappers_compile_without_a_warning(name: str, compiler: str) -> None:
    folders = [f"-I{GENERATED}", f"-I{ROOT / 'csrc' / 'driver_calls'}"]
    command = [compiler, "-x", "c", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    source = f'#include "{name}_wrappers.c"\n'
    answer = subprocess.run([*command, *folders, "-"], input=source, text=True, capture_output=True, timeout=120)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("name", DRIVERS)
def test_every_report_states_numbers_and_omissions(name: str) -> None:
    report = (GENERATED / f"{name}_report.md").read_text()
    for heading in (
        "| functions: public |",
        "| structs and unions, layout checked |",
        "| macro constants |",
        "## Left out",
    ):
        assert heading in report


def test_the_reference_bindings_are_regenerated_alike_twice() -> None:
    """Uses the project's own header; csrc/bindgen/check compares the other drivers'."""
    command = [sys.executable, str(ROOT / "csrc" / "bindgen" / "generate.py"), "reference", "--check"]
    for _ in range(2):
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_stale_file_is_shown_as_a_difference(tmp_path: Path) -> None:
    """The check runs on a copy of the project with one changed line in a generated file."""
    for part in ("csrc/bindgen", "csrc/driver_calls", "src/bindless/drivers", "include"):
        target = tmp_path / part
        target.mkdir(parents=True)
        for file in (ROOT / part).rglob("*"):
            if file.is_file() and file.suffix in {".py", ".pyi", ".h", ".c", ".txt", ".md"}:
                copy = target / file.relative_to(ROOT / part)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
    stale = tmp_path / "src" / "bindless" / "drivers" / "reference" / "_enums.py"
    stale.write_text(stale.read_text().replace("BLR_RESULT_TIMEOUT = 11", "BLR_RESULT_TIMEOUT = 12"))
    command = [sys.executable, str(tmp_path / "csrc" / "bindgen" / "generate.py"), "reference", "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 1
    assert "-    BLR_RESULT_TIMEOUT = 12" in answer.stdout and "+    BLR_RESULT_TIMEOUT = 11" in answer.stdout
