"""The tables of docs/measurements/performance.md are those of the JSON documents of ``bindless bench``."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "measurements" / "performance.md"


def program(name: str) -> ModuleType:
    """A module of docs/plots."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "plots" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_documents(tmp_path: Path) -> None:
    tables = program("tables")
    copy = tmp_path / PAGE.name
    shutil.copy(PAGE, copy)
    tables.write(copy)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "run python docs/plots/tables.py"


def test_each_document_names_its_device_and_date() -> None:
    documents = sorted((DOCS / "plots").glob("*.json"))
    assert documents
    for path in documents:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["device"]
        assert document["date"][:2] == "20"


def test_the_history_has_the_current_documents() -> None:
    history = program("history")
    kept = json.loads((DOCS / "measurements" / "history.json").read_text(encoding="utf-8"))
    added = [dict(entry) for entry in kept]
    for name in ("reference", "cuda"):
        history.add(added, json.loads((DOCS / "plots" / f"{name}.json").read_text(encoding="utf-8")))
    assert added == kept, "run python docs/plots/history.py DOCUMENT.json"
    text = (DOCS / "measurements" / "history.md").read_text(encoding="utf-8")
    assert history.page(text, kept) == text, "run python docs/plots/history.py"
