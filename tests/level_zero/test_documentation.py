"""The Python examples of docs/reference/level_zero_api.md run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import bindless.level_zero

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "level_zero_api.md").read_text(encoding="utf-8")


def _snippets(tag: str) -> list[str]:
    return re.findall(rf"^```{tag}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.level_zero
@pytest.mark.on_level_zero
def test_the_snippets_run_in_their_order() -> None:
    names: dict[str, object] = {}
    snippets = _snippets("python")
    assert len(snippets) == 4
    for number, snippet in enumerate(snippets, 1):
        exec(compile(snippet, f"docs/reference/level_zero_api.md, Python snippet {number}", "exec"), names)


@pytest.mark.level_zero
@pytest.mark.on_level_zero
def test_the_program_of_two_processes_runs(tmp_path: Path) -> None:
    (script,) = _snippets("python script")
    (tmp_path / "two.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "two.py")], capture_output=True, text=True, timeout=240, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[7 7 7 7 7 1 1 1 1 1]\n"


def test_the_table_names_everything_that_is_public() -> None:
    described = set(re.findall(r"`(\w+)`", TEXT))
    for name in bindless.level_zero.__all__:
        assert (
            name in described
            or name in ("IpcEventPoolHandle", "IpcMemoryHandle", "PeerProperties")
            or (
                name in ("PoolEvent", "QueueGroup")  # types that the listed functions return
            )
        ), name
        assert getattr(bindless.level_zero, name).__doc__
    assert set(bindless.level_zero.__all__) <= set(dir(bindless.level_zero))
    with pytest.raises(AttributeError, match="nonsense"):
        bindless.level_zero.nonsense  # noqa: B018
