"""Checks of the README: its Python code runs, its two commands exist, its files exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.needs import lacks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_snippets_run_in_their_order() -> None:
    pictures, kernel = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(pictures, "README.md, pictures", "exec"), names)
    assert names["floor"].shape == names["picture"].shape
    if importlib.util.find_spec("numba") is None:
        lacks("kernels", "pip install 'bindless[kernels]'")
    exec(compile(kernel, "README.md, kernel", "exec"), names)
    picture, shift = names["picture"][..., 0] / 255, 8 * np.sin(0.1 * np.arange(480))
    columns = np.arange(640) + shift[:, None]
    expected = [np.interp(at, np.arange(640), row) for at, row in zip(columns, picture)]
    assert np.abs(names["rippled"] - expected).max() < 0.003  # the texture unit's weights have 8 bits


def test_the_snippets_about_the_runtime_run_in_their_order() -> None:
    text = (ROOT / "docs" / "guide" / "runtime.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 5
    names: dict[str, object] = {}
    for number, snippet in enumerate(snippets, 1):
        exec(compile(snippet, f"docs/guide/runtime.md, Python snippet {number}", "exec"), names)
    assert [str(error) for error in names["taken"]] == ["a host task raised ValueError: in a host task"]
    assert (names["data"] == 3).all()


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 100


def test_two_commands_set_everything_up() -> None:
    commands = [line for line in README.splitlines() if line.startswith("pip install")]
    assert commands == ['pip install ".[demo]" && bindless demo -o out', 'pip install ".[test]" && pytest']


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{page}.md" for page in ("index", "internals/architecture", "guide/runtime"))]
)
def test_links_and_file_names_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    folder = (ROOT / page).parent
    linked = [folder / target for target in re.findall(r"\]\(([^)#:]+)\)", text)]
    named = re.findall(r"`([\w/.-]+\.(?:py|c|h|ptx|md|json))`", text)
    for path in linked:
        assert path.exists(), f"{page} links to {path}, which does not exist"
    for name in named:
        if name.startswith(("src/", "csrc/", "docs/", "include/")):
            candidates = [ROOT / name]
        else:
            candidates = [ROOT / "src" / "bindless" / name, ROOT / name]
        assert any(path.exists() for path in candidates), f"{page} names {name}, which does not exist"
