"""The built site in a browser: no page is wider than its window, and every picture loads, on a desktop and a phone.

    BINDLESS_SITE=out BINDLESS_SCREENSHOTS=shots pytest -n0 tests/docs/test_site_in_browser.py

Needs the site (``sphinx-build docs out``), ``pip install playwright`` and ``apt install chromium``. Pictures of pages
go to the folder BINDLESS_SCREENSHOTS.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import lacks

PAGES = ("index", "start/image", "start/from_scipy", "guide/kernels", "gallery/built/index",
         "gallery/built/rendering/terrain", "reference/bindless", "reference/api/bindless.Image",
         "internals/numerics", "measurements/performance")  # fmt: skip
WINDOWS = {"desktop": (1400, 900), "phone": (390, 844)}
# Elements that a reader can reach by scrolling inside of their own box do not make the page wider.
STATE = """() => ({
  wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  missing: [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src),
  heading: document.querySelector("h1").innerText,
  background: getComputedStyle(document.body).backgroundColor,
  text: getComputedStyle(document.querySelector("article p")).color,
})"""


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
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def brightness(colour: str) -> float:
    """The mean of the channels of a colour as CSS writes it, rgb(r, g, b)."""
    channels = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(channels) / 3


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_and_pictures_load(site: Path, browser: Any, page: str) -> None:
    for window, (width, height) in WINDOWS.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            errors: list[str] = []
            tab = context.new_page()
            tab.on("pageerror", lambda error, found=errors: found.append(str(error)))
            tab.goto((site / f"{page}.html").as_uri(), wait_until="load")
            state = tab.evaluate(STATE)
            assert errors == []
            assert state["wider"] <= 0, (window, scheme)
            assert state["missing"] == []
            assert state["heading"]
            assert (brightness(state["background"]) < brightness(state["text"])) is (scheme == "dark")
            if folder := os.environ.get("BINDLESS_SCREENSHOTS"):
                tab.screenshot(path=Path(folder) / f"{page.replace('/', '_')}_{window}_{scheme}.png")
            context.close()
