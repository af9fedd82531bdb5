"""The tables of docs/measurements/performance.md are those of the JSON documents of ``bindless bench``."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.plot_programs import plot_program

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "measurements" / "performance.md"
GUIDE = DOCS / "guide" / "performance.md"
# Pages with figures that are nowhere else: calculated on the page, or of one run on a GPU that the page names.
OWN_FIGURES = {"beyond_memory", "python_kernels"}


def test_tables_are_those_of_the_documents(tmp_path: Path) -> None:
    tables = plot_program("tables")
    copy = tmp_path / PAGE.name
    shutil.copy(PAGE, copy)
    tables.write(copy)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "run python docs/plots/tables.py"


def test_the_table_of_sycl_programs_is_that_of_the_document(tmp_path: Path) -> None:
    programs = plot_program("sycl_programs")
    copy = tmp_path / programs.PAGE.name
    shutil.copy(programs.PAGE, copy)
    programs.write(copy)
    assert copy.read_text(encoding="utf-8") == programs.PAGE.read_text(encoding="utf-8"), (
        "run python docs/plots/sycl_programs.py"
    )


def test_the_guide_s_selection_is_of_the_documents(tmp_path: Path) -> None:
    tables = plot_program("tables")
    copy = tmp_path / GUIDE.name
    shutil.copy(GUIDE, copy)
    tables.write_selection(copy)
    assert copy.read_text(encoding="utf-8") == GUIDE.read_text(encoding="utf-8"), "run python docs/plots/tables.py"


FIGURE = re.compile(r"\b\d[\d.,]*\s?(?:ms|µs|us|ns|[GMk]?B/s|G?samples/s|[GM]pixels/s|[GM]voxels/s)(?![\w/])")


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{part}/*.md" for part in ("start", "guide"))])
def test_prose_repeats_no_measured_figure(page: str) -> None:
    """Times and rates are in docs/measurements, and in tables that are generated."""
    found = {}
    for path in sorted(DOCS.parent.glob(page)):
        text = re.sub(r"<!-- (\w+) -->.*?<!-- end of \1 -->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found[path.stem] = FIGURE.findall(text)
    assert {page: figures for page, figures in found.items() if figures and page not in OWN_FIGURES} == {}


def test_each_document_names_its_device_and_date() -> None:
    documents = sorted((DOCS / "plots").glob("*.json"))
    assert documents
    for path in documents:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["device"]
        assert document["date"][:2] == "20"


def test_the_history_has_the_current_documents() -> None:
    history = plot_program("history")
    kept = json.loads((DOCS / "measurements" / "history.json").read_text(encoding="utf-8"))
    added = [dict(entry) for entry in kept]
    for name in ("reference", "cuda"):
        history.add(added, json.loads((DOCS / "plots" / f"{name}.json").read_text(encoding="utf-8")))
    assert added == kept, "run python docs/plots/history.py DOCUMENT.json"
    text = (DOCS / "measurements" / "history.md").read_text(encoding="utf-8")
    assert history.page(text, kept) == text, "run python docs/plots/history.py"
