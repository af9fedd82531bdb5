"""The picture and the table of docs/guide/volumes.md: its program at a small size, and the numbers of the page."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bindless as bl
from tests.support.plot_programs import plot_program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/volumes.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program() -> ModuleType:
    pytest.importorskip("scipy")
    return plot_program("volumes")


def test_each_filter_s_errors(program: ModuleType) -> None:
    with bl.Queue("reference") as queue:
        _, slices = program.turned(queue, 96)
    found = dict(zip(program.FILTERS, slices))
    mean = {how: np.abs(result.error).mean() for how, result in found.items()}
    assert mean["nearest", "hardware"] > mean["linear", "exact"] > mean["cubic", "exact"]
    for (filtering, precision), result in found.items():
        apart = np.abs(result.apart)
        assert apart.max() <= (1 if precision == "exact" or filtering == "nearest" else 8)
        assert np.mean(apart > 0) < (0.001 if precision == "exact" else 0.5)


def test_the_page_has_a_row_for_each_filter(program: ModuleType) -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \| [\d.]+ \| \d+ \| [\d.]+ \| \d+ \|$", PAGE, re.MULTILINE)
    assert tuple(rows) == program.FILTERS
    assert (ROOT / "docs/plots/volumes.png").stat().st_size < 100_000
