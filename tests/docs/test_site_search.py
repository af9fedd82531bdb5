"""The search of the built site in a browser: the first hit of a word is the page that helps.

BINDLESS_SITE=out pytest -n0 tests/docs/test_site_search.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

FIRST = {
    "spacing": "guide/millimetres",
    "SimpleITK": "guide/millimetres",
    "trilinear": "guide/volumes",
    "displacement field": "guide/volumes",
    "radon": "gallery/built/volumes/ct_backprojection",
    "LUT": "gallery/built/pictures/color_lookup",
    "undistort": "gallery/built/pictures/lens_distortion",
    "napari": "guide/beyond_memory",
    "NV12": "guide/video",
    "DDS": "guide/images",
    "remap": "start/from_opencv",
    "warpAffine": "start/from_opencv",
    "grid_sample": "start/from_torch",
    "map_coordinates": "start/from_scipy",
    "anisotropic": "guide/mipmaps",
    "mipmaps": "guide/mipmaps",
    "Vulkan": "guide/vulkan",
    "llvmpipe": "measurements/samplers",
    "kernels in Python": "guide/python_kernels",
    "install": "start/install",
}
WORDS = Path(__file__).parents[2] / "docs" / "start" / "words.md"
RECORDS = re.compile(r"internals/(?:spec_coverage|changelog|contributing|releases)|measurements/|reference/drivers")


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    tab = browser.new_page()
    yield tab
    tab.close()


def hits(tab: Any, site: Path, query: str) -> list[str]:
    """The pages that the search lists, in order."""
    tab.goto(f"{(site / 'search.html').as_uri()}?q={quote(query)}")
    tab.wait_for_function("document.querySelector('#search-results .search-summary')?.innerText.includes('found')")
    links = tab.eval_on_selector_all("#search-results ul.search li > a", "links => links.map(link => link.href)")
    return [link.split("?")[0].split("#")[0].removeprefix(f"{site.as_uri()}/").removesuffix(".html") for link in links]


@pytest.mark.parametrize(("query", "page"), FIRST.items())
def test_the_first_hit_helps(site: Path, tab: Any, query: str, page: str) -> None:
    assert hits(tab, site, query)[0] == page


@pytest.mark.parametrize("query", ["image", "sampler", "queue", "filtering", "precision", "zarr", "cubemap"])
def test_records_come_after_pages_that_teach(site: Path, tab: Any, query: str) -> None:
    pages = hits(tab, site, query)
    teaching = [page for page in pages if page.startswith(("start/", "guide/"))]
    assert teaching
    assert pages[0] in teaching or pages[0].startswith("reference/")
    assert not RECORDS.match(pages[1])


def test_every_word_is_found(site: Path, tab: Any) -> None:
    """Each word of the list has its page among the first three hits: other pages have titles of the same word."""
    rows = re.findall(r"^\| ([^|]+) \| \[[^\]]*\]\(([^)#]+)", WORDS.read_text(encoding="utf-8"), re.MULTILINE)[1:]
    lost = {}
    for words, link in rows:
        page = str((WORDS.parent / link).resolve().relative_to(WORDS.parents[1]).with_suffix(""))
        page = page.replace("gallery/examples", "gallery/built")
        lost |= {word: found for word in words.split(", ") if page not in (found := hits(tab, site, word)[:3])}
    assert len(rows) > 25
    assert lost == {}
