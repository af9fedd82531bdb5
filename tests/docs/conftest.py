"""What the tests of the built site share: its folder, and a browser."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import lacks


@pytest.fixture(scope="module")
def site() -> Path:
    folder = os.environ.get("BINDLESS_SITE")
    if not folder:
        lacks("site", "sphinx-build docs out, and set BINDLESS_SITE=out")
    return Path(folder).resolve()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or importlib.util.find_spec("playwright") is None:
        lacks("browser", "apt install chromium && pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
