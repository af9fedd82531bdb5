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
    "undistort": "guide/lenses",
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
def tab(browser: Any, site: Path) -> Iterator[Any]:
    """The page of the search, which has read its index."""
    tab = browser.new_page()
    tab.goto((site / "search.html").as_uri())
    tab.wait_for_function("Search.hasIndex()")
    yield tab
    tab.close()


def hits(tab: Any, query: str) -> list[str]:
    """The pages that the search finds, in the order in which it lists them: the last of its array comes first."""
    found: list[str] = tab.evaluate(
        "query => Search._performSearch(...Search._parseQuery(query)).map(hit => hit[0])", query
    )
    return found[::-1]


def test_the_page_lists_the_hits_in_this_order(browser: Any, site: Path, tab: Any) -> None:
    query = "displacement field"
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote(query)}")
    page.wait_for_function("document.querySelector('#search-results .search-summary')?.innerText.includes('found')")
    links = page.eval_on_selector_all("#search-results ul.search li > a", "links => links.map(link => link.href)")
    page.close()
    pages = [link.split("?")[0].split("#")[0].removeprefix(f"{site.as_uri()}/").removesuffix(".html") for link in links]
    assert len(pages) > 3
    assert pages == hits(tab, query)


@pytest.mark.parametrize(("query", "page"), FIRST.items())
def test_the_first_hit_helps(tab: Any, query: str, page: str) -> None:
    assert hits(tab, query)[0] == page


@pytest.mark.parametrize("query", ["image", "sampler", "queue", "filtering", "precision", "zarr", "cubemap"])
def test_records_come_after_pages_that_teach(tab: Any, query: str) -> None:
    pages = hits(tab, query)
    teaching = [page for page in pages if page.startswith(("start/", "guide/"))]
    assert teaching
    assert pages[0] in teaching or pages[0].startswith("reference/")
    assert not RECORDS.match(pages[1])


def test_every_word_is_found(tab: Any) -> None:
    """Each word of the list has its page among the first three hits: other pages have titles of the same word."""
    rows = re.findall(r"^\| ([^|]+) \| \[[^\]]*\]\(([^)#]+)", WORDS.read_text(encoding="utf-8"), re.MULTILINE)[1:]
    lost = {}
    for words, link in rows:
        page = str((WORDS.parent / link).resolve().relative_to(WORDS.parents[1]).with_suffix(""))
        page = page.replace("gallery/examples", "gallery/built")
        lost |= {word: found for word in words.split(", ") if page not in (found := hits(tab, word)[:3])}
    assert len(rows) > 25
    assert lost == {}
