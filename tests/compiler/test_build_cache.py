"""Cache of built kernel files: conditions of hits and misses."""

from __future__ import annotations

from pathlib import Path

import pytest

import bindless as bl
from bindless.compiler import build

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
    original = build._built

    def counted(job: build._Job, *rest: object) -> bl.KernelFile:
        names.append(job.name)
        return original(job, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(build, "_built", counted)
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


@pytest.mark.parametrize("text", ["constant char when[] = __TIME__;", '#if __has_include("more.h")\n#endif'])
def test_sources_that_may_give_another_result(built: list[str], text: str) -> None:
    source = f"{text}\nkernel void k(global int *out) {{ out[0] = 1; }}\n"
    bl.build(source, targets="spirv", options=["-w"])
    bl.build(source, targets="spirv", options=["-w"])
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
