"""Cache of built kernel files: conditions of hits and misses."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import bindless as bl
from bindless.compiler import build
from bindless.model.module.disk_cache import ModuleCache

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)
SOURCE = '#include "value.h"\nkernel void k(global int *out) { int unused; out[get_global_id(0)] = VALUE; }\n'


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of compiled sources, and an empty cache."""
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("BINDLESS_CACHE", raising=False)
    names: list[str] = []
    original = build._build

    def counted(job: build._Job, *rest: object) -> bl.KernelFile:
        names.append(job.name)
        return original(job, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(build, "_build", counted)
    return names


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "value.h").write_text("#define VALUE 1\n")
    path = tmp_path / "source" / "kernel.cl"
    path.write_text(SOURCE)
    return path


def test_what_was_built_is_not_compiled_again(built: list[str], source: Path) -> None:
    headers = source.parent.parent / "headers"
    first = bl.build(source, includes=headers)
    again = bl.build(source, includes=headers)
    assert again == first and "unused" in again.log and len(built) == 1
    bl.build(source, includes=headers, optimization=1)
    bl.build(source, includes=headers, defines=["MORE"])
    bl.build(source, includes=headers, targets="spirv")
    assert len(built) == 4


def test_headers_that_changed_or_are_found_elsewhere(built: list[str], source: Path) -> None:
    headers = source.parent.parent / "headers"
    first = bl.build(source, includes=headers, targets="spirv")
    (headers / "value.h").write_text("#define VALUE 2\n")
    second = bl.build(source, includes=headers, targets="spirv")
    assert second.sections[0].data != first.sections[0].data and len(built) == 2
    (source.parent / "value.h").write_text("#define VALUE 3\n")  # before the remaining folders
    third = bl.build(source, includes=headers, targets="spirv")
    assert third.sections[0].data != second.sections[0].data and len(built) == 3


@pytest.mark.parametrize(
    ("folders", "options"),
    [
        (["later"], []),
        ([], ["-iquoteFOLDER/later"]),
        ([], ["-isystemFOLDER/later"]),
        ([], ["-idirafterFOLDER/later"]),
    ],
)
@pytest.mark.parametrize("name", ["value.h", "../common/value.h"])
def test_headers_that_appear_beside_the_header_that_includes_them(
    built: list[str], tmp_path: Path, folders: list[str], options: list[str], name: str
) -> None:
    """clang looks first in the folder of the including header, which is not on the search path."""
    for folder in ("source/part", "later", "common"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "later" / name).write_text("#define VALUE 1\n")
    (tmp_path / "source" / "part" / "outer.h").write_text(f'#include "{name}"\n')
    path = tmp_path / "source" / "kernel.cl"
    path.write_text(SOURCE.replace("value.h", "part/outer.h"))

    def compiled() -> bytes:
        flags = [option.replace("FOLDER", str(tmp_path)) for option in options]
        includes = [tmp_path / folder for folder in folders]
        return bl.build(path, includes=includes, options=flags, targets="spirv").sections[0].data

    first = compiled()
    assert compiled() == first and len(built) == 1
    inner = tmp_path / "source" / "part" / name
    inner.parent.mkdir(exist_ok=True)
    inner.write_text("#define VALUE 2\n")
    second = compiled()
    assert second != first and len(built) == 2
    inner.unlink()
    assert compiled() == first and len(built) == 3


@pytest.mark.parametrize("options", [["-iquoteFIRST"], ["-iquoteFIRST", "-iquoteSECOND"], ["-isystemFIRST"]])
def test_headers_that_appear_earlier_on_the_search_path(
    built: list[str], source: Path, tmp_path: Path, options: list[str]
) -> None:
    """The folder may be created later, too."""
    headers = tmp_path / "headers"
    flags = [option.replace("FIRST", str(tmp_path / "first")) for option in options]
    flags = [option.replace("SECOND", str(tmp_path / "second")) for option in flags]
    flags.append(f"-idirafter{headers}")
    first = bl.build(source, options=flags, targets="spirv")
    assert bl.build(source, options=flags, targets="spirv") == first and len(built) == 1
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "value.h").write_text("#define VALUE 5\n")
    second = bl.build(source, options=flags, targets="spirv")
    assert second.sections[0].data != first.sections[0].data and len(built) == 2


def test_headers_in_the_current_folder(
    built: list[str], source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """clang looks there for the header of -include."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    options = ["-includevalue.h", f"-I{tmp_path / 'headers'}"]
    first = bl.build(source, options=options, targets="spirv")
    assert bl.build(source, options=options, targets="spirv") == first and len(built) == 1
    (tmp_path / "here" / "value.h").write_text("#undef VALUE\n#define VALUE 5\n")
    bl.build(source, options=options, targets="spirv")
    assert len(built) == 2


@pytest.mark.parametrize("name", ["with space.h", "dollar$.h", "hash#.h", "\udce9.h"])
def test_headers_with_odd_names(built: list[str], tmp_path: Path, name: str) -> None:
    header = tmp_path / name
    source = tmp_path / "kernel.cl"
    source.write_bytes(b'#include "' + os.fsencode(name) + b'"\n' + SOURCE.partition("\n")[2].encode())
    values = []
    for value in (1, 1, 2):
        if not values or value != values[-1]:
            header.write_text(f"#define VALUE {value}\n")
        values.append(value)
        bl.build(source, targets="spirv")
    assert len(built) == 2


def test_headers_that_change_during_the_compilation(
    built: list[str], source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The entry would have the old code and the hash of the new header."""
    original = build._build

    def slow(job: build._Job, *rest: object) -> bl.KernelFile:
        result = original(job, *rest)  # type: ignore[arg-type]
        if not (tmp_path / "changed").exists():
            (tmp_path / "changed").write_text("")
            time.sleep(0.05)
            (tmp_path / "headers" / "value.h").write_text("#define VALUE 9\n")
        return result

    monkeypatch.setattr(build, "_build", slow)
    first = bl.build(source, includes=tmp_path / "headers", targets="spirv")
    second = bl.build(source, includes=tmp_path / "headers", targets="spirv")
    assert first.sections[0].data != second.sections[0].data


def test_an_entry_of_another_source_is_not_used(
    built: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys: list[tuple[bytes, ...]] = []
    put = ModuleCache.put

    def remember(self: ModuleCache, data: bytes, *key: bytes) -> None:
        keys.append(key)
        put(self, data, *key)

    monkeypatch.setattr(ModuleCache, "put", remember)
    text = "kernel void k(global int *out) {{ out[0] = {}; }}"
    one = bl.build(text.format(1), targets="spirv")
    two = bl.build(text.format(2), targets="spirv")
    cache = ModuleCache(tmp_path / "cache", 1 << 28)
    data = cache.get(*keys[0])
    assert data is not None and one != two
    put(cache, data, *keys[1])
    assert bl.build(text.format(2), targets="spirv") == two and len(built) == 3


def test_a_header_without_end_is_not_read(built: list[str]) -> None:
    text = '#include "/dev/zero"\nkernel void k(global int *out) { out[0] = 1; }\n'
    assert bl.build(text, targets="spirv").languages == ("spirv",)


@pytest.mark.parametrize(
    "text",
    [
        "constant char when[] = __TIME__;",
        "constant char when[] = __TI\\\nME__;",
        "constant char when[] = WHEN;",
        '#if __has_include("more.h")\n#endif',
        '#if __has_inc\\\nlude("more.h")\n#endif',
    ],
)
def test_sources_that_may_give_another_result(built: list[str], text: str) -> None:
    source = f"{text}\nkernel void k(global int *out) {{ out[0] = 1; }}\n"
    bl.build(source, targets="spirv", options=["-w"], defines={"WHEN": "__DATE__"} if "WHEN" in text else {})
    bl.build(source, targets="spirv", options=["-w"], defines={"WHEN": "__DATE__"} if "WHEN" in text else {})
    assert len(built) == 2


def test_damage_and_no_cache(built: list[str], source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    headers = source.parent.parent / "headers"
    first = bl.build(source, includes=headers, targets="spirv")
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"x")
    assert bl.build(source, includes=headers, targets="spirv") == first and len(built) == 2
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    assert bl.build(source, includes=headers, targets="spirv") == first and len(built) == 3


def test_errors_are_not_kept(built: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(bl.BuildError):
            bl.build("kernel void k(global int *out) { out[0] = nothing; }", targets="spirv")
    assert len(built) == 2
