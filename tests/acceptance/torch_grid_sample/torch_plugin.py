"""Plugin of pytest: tests of torch in which ``torch.nn.functional.grid_sample`` is that of bindless.

pytest -p tests.acceptance.torch_grid_sample.torch_plugin FILE

Tests that ``not_applicable.txt`` names are deselected. Of errors, classes are compared, not messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing._internal import common_utils

from bindless.torch import grid_sample

LIST = Path(__file__).with_name("not_applicable.txt")
CALLS: list[str] = []  # modes of the calls
CUBIC_VOLUMES = torch.__version__ >= (2, 15)


def entries() -> dict[str, str]:
    """The list: names of tests, and why each does not apply."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, reason in (line.split(" # ", 1) for line in lines)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = entries()
    stale = set(found) - {item.name for item in items}
    if stale and not config.getoption("keyword"):
        raise pytest.UsageError(f"{LIST.name} names no test: {', '.join(sorted(stale))}")
    config.hook.pytest_deselected(items=[item for item in items if item.name in found])
    items[:] = [item for item in items if item.name not in found]


@pytest.fixture(autouse=True)
def substitute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.functional, "grid_sample", counted)
    monkeypatch.setattr(common_utils.TestCase, "assertRaisesRegex", raises)


def raises(case: Any, error: type[Exception], pattern: str, *rest: Any, **options: Any) -> Any:
    return case.assertRaises(error, *rest, **options)


def counted(input: Any, grid: Any, mode: str = "bilinear", *rest: Any, **options: Any) -> Any:
    CALLS.append(mode)
    if mode == "bicubic" and input.dim() == 5 and not CUBIC_VOLUMES:
        raise RuntimeError("the tests of this version of torch want an error: only bindless has bicubic volumes")
    return grid_sample(input, grid, mode, *rest, **options)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"calls of bindless.torch.grid_sample: {len(CALLS)}")
