"""The tables of docs/measurements/performance.md are those of the JSON documents of ``bindless bench``."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "measurements" / "performance.md"


def test_tables_are_those_of_the_documents(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("tables", DOCS / "plots" / "tables.py")
    assert spec is not None and spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
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
