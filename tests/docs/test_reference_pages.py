"""The reference pages of the site: each public name has exactly one row, and so a page of its own."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.docs.test_public_docstrings import PACKAGES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SAME_NAMES = {"bindless.interop"}  # bindless exports each name of it
NAMED_IN_PROSE = re.compile(r"cl_\w+")


def rows(page: str) -> list[str]:
    """The names in the tables that autosummary makes pages from."""
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\.\. autosummary::\n   :toctree: api\n\n((?:   .+\n)+)", text, re.MULTILINE)
    return [line.strip() for table in tables for line in table.splitlines()]


@pytest.mark.parametrize("package", sorted(set(PACKAGES) - SAME_NAMES))
def test_each_public_name_has_a_page(package: str) -> None:
    page = package.removeprefix("bindless.")
    names = [name for name in importlib.import_module(package).__all__ if not NAMED_IN_PROSE.fullmatch(name)]
    assert sorted(rows(page)) == sorted(names)


@pytest.mark.parametrize("package", sorted(SAME_NAMES))
def test_names_without_a_page_are_those_of_bindless(package: str) -> None:
    bindless, module = importlib.import_module("bindless"), importlib.import_module(package)
    assert all(getattr(bindless, name) is getattr(module, name) for name in module.__all__)


def test_each_name_for_vulkan_has_a_page() -> None:
    from bindless.interop import vulkan

    assert sorted(rows("interop")) == sorted(vulkan.__all__)
