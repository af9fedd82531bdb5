"""The snapshot of all error texts."""

from __future__ import annotations

from pathlib import Path

from tests.error_messages.collect import COMMAND, difference, render


def test_error_texts_are_those_of_the_snapshot() -> None:
    found = difference()
    assert not found, f"error texts changed; where that is meant: {COMMAND}\n{found}"


def test_texts_are_found_wherever_an_error_is_made(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("""
_TEXT = "kept " "apart"
_GONE = Errc.platform
TABLE = {"RESULT": (Errc.invalid, "of a table"), "OTHER": (_GONE, "of another")}

def words(size):
    if size:
        return f"{size} of them"
    return "none" if size is None else "no" + " more"

def use(size):
    if size == 1:
        raise InvalidError(words(size)) from None
    if size == 3:
        raise OSError("line {}".format(size))
    if size == 2:
        return bl.BuildError(_TEXT, log="")
    raise error_of(Errc.kernel, f"{size}: a line\\n") if size else TypeError("a number")
""")
    assert render(tmp_path).splitlines() == [
        "BuildError build: 'kept apart'",
        "InvalidError invalid: 'no more'",
        "InvalidError invalid: 'none'",
        "InvalidError invalid: 'of a table'",
        "InvalidError invalid: '{...} of them'",
        "KernelError kernel: '{...}: a line\\n'",
        "OSError -: 'line {...}'",
        "PlatformError platform: 'of another'",
        "TypeError -: 'a number'",
    ]
