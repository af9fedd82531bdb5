"""Guards of C headers: the name of each follows the path of its file."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1$", re.MULTILINE)


def headers() -> list[Path]:
    """The hand-written headers, relative to the repository."""
    files = [file.relative_to(ROOT) for place in ("csrc", "include") for file in (ROOT / place).rglob("*.h")]
    return sorted(file for file in files if "generated" not in file.parts)


def guard_of(header: Path) -> str:
    """Return the guard of a header: the path below ``csrc`` or ``include/bindless``, in capital letters."""
    parts = header.parts[1:] if header.parts[0] == "csrc" else header.parts[2:]
    return "BINDLESS_" + re.sub(r"\W", "_", "/".join(parts)).upper()


def test_guards_follow_the_path() -> None:
    guards = {header: GUARD.search((ROOT / header).read_text()) for header in headers()}
    wrong = {str(header): guard[1] for header, guard in guards.items() if guard and guard[1] != guard_of(header)}
    assert wrong == {}


def test_most_headers_have_a_guard() -> None:
    """Headers without one are included several times, with other macros."""
    guarded = [header for header in headers() if GUARD.search((ROOT / header).read_text())]
    assert len(guarded) > 150
    assert len(guarded) > 0.9 * len(headers())


def test_guards_are_unique() -> None:
    guards = [guard_of(header) for header in headers()]
    assert len(guards) == len(set(guards))
