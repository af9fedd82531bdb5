"""The programs of docs/start run: each page's snippets, in their order, in a process of their own."""

from __future__ import annotations

import code
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import bindless as bl
from tests.support.needs import lacks

START = Path(__file__).parents[2] / "docs" / "start"
README = Path(__file__).parents[2] / "README.md"
PIP = {
    "torch": "torch",
    "scipy": "scipy",
    "SimpleITK": "SimpleITK",
}  # modules, and their names in pip
WITHOUT_PROGRAMS = {"from_0_2", "index", "words"}


def program(text: str) -> str:
    """The Python snippets of a page, each on the lines that it has in the page."""
    code, outside = "", 0
    for snippet in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        code += "\n" * text.count("\n", outside, snippet.start(1)) + snippet[1]
        outside = snippet.end(1)
    return code


class Prompt(code.InteractiveConsole):
    """Python's prompt, which only compiles what is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []

    def runcode(self, code: CodeType) -> None:
        pass

    def showsyntaxerror(self, *arguments: Any, **options: Any) -> None:
        self.refused.append("\n".join(self.buffer))


@pytest.mark.parametrize("page", [README, *sorted(START.glob("*.md"))], ids=lambda page: page.stem)
def test_snippets_may_be_typed_at_the_prompt(page: Path) -> None:
    """A statement after a block needs an empty line before it, and a block has none inside."""
    prompt = Prompt()
    for snippet in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in [*snippet.split("\n"), ""]:
            prompt.push(line)
    assert prompt.refused == []


def test_snippets_keep_their_lines() -> None:
    assert program("a\n```python\nb\n```\nc\n```sh\nd\n```\n```python\ne\n```\n") == "\n\nb\n\n\n\n\n\n\ne\n"


@pytest.mark.parametrize("page", sorted(START.glob("*.md")), ids=lambda page: page.stem)
def test_programs_run(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    code = program(text)
    assert (code == "") is (page.stem in WITHOUT_PROGRAMS)
    for module in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        if module in PIP and importlib.util.find_spec(module) is None:
            lacks(module, f"pip install {PIP[module]}")
    if "bl.build(" in code and not bl.kernels_available():
        lacks("kernels", "pip install 'bindless[kernels]'")
    if "@bl.kernel" in code and importlib.util.find_spec("numba") is None:
        lacks("kernels", "pip install 'bindless[kernels]'")
    file = tmp_path / f"{page.stem}.py"
    file.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_the_fixture_of_the_guide_runs(tmp_path: Path) -> None:
    code = program((START.parent / "guide" / "testing.md").read_text(encoding="utf-8"))
    (tmp_path / "test_guide.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-n0"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(?:2 passed|1 passed, 1 skipped)", done.stdout), done.stdout
