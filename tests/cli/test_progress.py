"""Progress on stderr: a bar with rich, lines without it, and nothing where nobody looks."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from bindless.cli import main, progress
from bindless.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal for stderr, on which progress shows at once."""
    made = Terminal()  # not as sys.stderr, which pytest replaces between fixture and test
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made))
    monkeypatch.setattr(progress, "_SILENT", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN_BARS", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return made


@pytest.fixture
def no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None)


def steps(names: str, total: int) -> None:
    with Progress("bench", total) as shown:
        for name in names:
            shown.step(name)
            shown.part(f"part of {name}")


@pytest.mark.usefixtures("no_rich")
def test_lines_without_rich(terminal: Terminal) -> None:
    steps("ab", 2)
    assert terminal.getvalue().splitlines() == [
        "bindless bench: 1 of 2, a",
        "bindless bench: 1 of 2, a: part of a",
        "bindless bench: 2 of 2, b",
        "bindless bench: 2 of 2, b: part of b",
    ]


def test_a_bar_with_rich(terminal: Terminal) -> None:
    pytest.importorskip("rich")
    steps("ab", 2)
    text = terminal.getvalue()
    assert "a: part of a" in text and "b: part of b" in text and "\x1b[2K" in text  # which erases the line


@pytest.mark.parametrize("rich", [True, False])
def test_nothing_is_shown_for_a_pipe_or_a_quick_command(monkeypatch: pytest.MonkeyPatch, rich: bool) -> None:
    if not rich:
        monkeypatch.setattr(progress, "find_spec", lambda name: None)
    for stream, silent in ((io.StringIO(), 0.0), (Terminal(), 3600.0)):
        monkeypatch.setattr(progress, "_SILENT", silent)
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
        steps("ab", 2)
        assert stream.getvalue() == ""


@pytest.mark.usefixtures("no_rich")
def test_a_long_step_is_shown_by_a_timer(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()
    monkeypatch.setattr(Terminal, "flush", lambda self: written.set())
    monkeypatch.setattr(progress, "_SILENT", 0.05)
    with Progress("build") as shown:
        shown.step("kernels.cl", long=True)
        assert terminal.getvalue() == ""
        assert written.wait(60)
    assert terminal.getvalue().splitlines() == ["bindless build: kernels.cl"]


def test_lines_of_the_command_stay_on_stdout(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("demo", 1) as shown:
        shown.step("rotation")
        shown.say("the first picture")
        shown.say("the second picture")
    assert "picture" not in terminal.getvalue()
    assert capsys.readouterr().out == "the first picture\nthe second picture\n"


@pytest.mark.usefixtures("no_rich")
def test_bench_shows_its_parts(
    terminal: Terminal, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bindless.bench.measure._BUDGET", 0.0)
    monkeypatch.setattr("bindless.bench.peer_libraries.available", lambda name: None)
    assert main(["bench", "--device", "reference:*", "--megasamples", "0.01", "--parts", "pixels"]) == 0
    assert "bindless bench: 1 of 1, pixels: fetch 2D fp32 x4" in terminal.getvalue()
    assert "bindless bench" not in capsys.readouterr().out


@pytest.mark.usefixtures("no_rich")
def test_demo_shows_its_pictures(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless import demo

    pytest.importorskip("skimage")
    monkeypatch.setattr(demo, "_PICTURES", {"rotation": demo._PICTURES["rotation"]})
    assert main(["demo", "-o", str(tmp_path), "--device", "reference:*"]) == 0
    assert "bindless demo: 1 of 1, rotation" in terminal.getvalue()
