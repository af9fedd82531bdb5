"""The stubs of packages whose names are imported at their first use have the names of the packages."""

from __future__ import annotations

import importlib

import pytest

from tests.structure.public_names import PACKAGES, file_of, stub_of


@pytest.mark.parametrize("title", PACKAGES)
def test_the_stub_has_the_names_of_the_package(title: str) -> None:
    package = importlib.import_module(title)
    written = file_of(package).read_text(encoding="utf-8")
    assert written == stub_of(package), "run: python -m tests.structure.public_names"


@pytest.mark.parametrize("title", PACKAGES)
def test_each_name_stands_once(title: str) -> None:
    package = importlib.import_module(title)
    names = [name for names in package._MODULES.values() for name in names.split()]
    assert len(names) == len(set(names))
    assert set(names) <= set(package.__all__) <= set(dir(package))
    assert all(hasattr(package, name) for name in package.__all__)


def test_the_stub_is_not_that_of_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.import_module("bindless.opencl")
    monkeypatch.setitem(package._MODULES, "error_code", "get_error_code another")
    assert file_of(package).read_text(encoding="utf-8") != stub_of(package)
