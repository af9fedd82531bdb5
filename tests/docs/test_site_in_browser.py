"""The built site in a browser, in a window of a desktop and of a phone, light and dark.

    BINDLESS_SITE=out BINDLESS_SCREENSHOTS=shots pytest -n0 tests/docs/test_site_in_browser.py

Needs the site (``sphinx-build docs out``), ``pip install playwright`` and ``apt install chromium``. Pictures of pages
go to the folder BINDLESS_SCREENSHOTS.

Pages are compared by their boxes, not by their pixels: pixels differ between versions of Chromium and of its fonts
while nothing is broken, and boxes name what is. Rules hold on every page: nothing sticks out of the window or lies over
something else, pictures and fonts load, text is legible. ``site_layout.json`` has where the parts of some pages lie;
BINDLESS_SITE_LAYOUT=write writes it anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LAYOUT = Path(__file__).with_name("site_layout.json")
WINDOWS = {"desktop": (1400, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
COMPARED = ("index", "start/image", "start/from_scipy", "guide/kernels", "gallery/built/index",
            "gallery/built/rendering/terrain", "reference/bindless", "reference/api/bindless.Image",
            "internals/numerics", "measurements/performance")  # fmt: skip
WRITTEN = [str(path.relative_to(DOCS).with_suffix("")) for path in sorted(DOCS.glob("*/*.md"))]
PAGES = [*COMPARED, *(page for page in WRITTEN if page not in COMPARED and not page.startswith("changelog.d"))]

# What is found on a page, in lists that are empty where all is well, and the boxes of its parts.
FOUND = """async () => {
  await document.fonts.ready;
  const article = document.querySelector("article");
  const named = element =>
    `${element.tagName} ${element.id || element.className} ${element.innerText || ""}`.slice(0, 80);
  const seen = element => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden";
  };
  const inFlow = element => ["static", "relative"].includes(getComputedStyle(element).position)
    && getComputedStyle(element).float === "none" && getComputedStyle(element).display !== "inline";
  const scrolls = element => {
    for (; element && element !== article; element = element.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(element).overflowX)) return true;
    return false;
  };
  const overlapping = [];
  for (const parent of [article, ...article.querySelectorAll("section, ul, ol, dl, dd, li, tbody, div, figure")]) {
    const boxes = [...parent.children].filter(child => seen(child) && inFlow(child));
    boxes.forEach((one, i) => boxes.slice(i + 1, i + 4).forEach(other => {
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 2 && height > 2) overlapping.push(`${named(one)} / ${named(other)}`);
    }));
  }
  const window_width = document.documentElement.clientWidth;
  const cut = [...article.querySelectorAll("p, li, h1, h2, h3, dt, .sig-param, img, pre, table, svg")]
    .filter(element => seen(element) && !scrolls(element) && element.getBoundingClientRect().right > window_width + 1);
  const part = selector => {
    const element = document.querySelector(selector);
    if (!element || !seen(element)) return null;
    const box = element.getBoundingClientRect();
    if (box.right <= 0 || box.left >= window_width) return null;
    return [box.left / window_width, box.width / window_width].map(part => Math.round(part * 100) / 100);
  };
  const header = document.querySelector(".bd-header").getBoundingClientRect();
  return {
    wider: Math.max(0, document.documentElement.scrollWidth - window_width),
    missing: [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src),
    fonts: [...document.fonts].filter(font => font.status === "error").map(font => font.family),
    sheets: [...document.styleSheets].length,
    overlapping, cut: cut.map(named),
    covered: document.querySelector("h1").getBoundingClientRect().top < header.bottom - 1,
    heading: document.querySelector("h1").innerText,
    background: getComputedStyle(document.body).backgroundColor,
    colours: ["p", "h1", "a", "code", "td"].flatMap(tag => {
      const element = article.querySelector(tag);
      return element ? [getComputedStyle(element).color] : [];
    }),
    size: parseFloat(getComputedStyle(article).fontSize),
    parts: Object.fromEntries(
      [".bd-header", ".bd-sidebar-primary", ".bd-article-container", ".bd-sidebar-secondary", "footer"]
        .map(name => [name, part(name)])),
  };
}"""

SHOW = """async article => {
  document.querySelector("article").outerHTML = article;
  await Promise.allSettled([...document.images].map(image => image.decode()));
}"""


@pytest.fixture(scope="module")
def tabs(browser: Any) -> dict[tuple[str, str], Any]:
    """One tab for each window and scheme."""
    return {
        (window, scheme): browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        ).new_page()
        for window, (width, height) in WINDOWS.items()
        for scheme in SCHEMES
    }


def look(tab: Any, site: Path, page: str) -> dict[str, Any]:
    """Open a page, and find what is on it."""
    errors: list[str] = []

    def note(error: object) -> None:
        errors.append(str(error))

    tab.on("pageerror", note)
    tab.goto((site / f"{page}.html").as_uri(), wait_until="load")
    found: dict[str, Any] = tab.evaluate(FOUND)
    tab.remove_listener("pageerror", note)
    return {**found, "errors": errors}


def luminance(colour: str) -> float:
    """The relative luminance (WCAG) of a colour as CSS writes it, rgb(r, g, b)."""
    channels = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def broken(found: dict[str, Any]) -> dict[str, Any]:
    """Of what is found on a page: what breaks a rule."""
    names = ("errors", "wider", "missing", "fonts", "overlapping", "cut", "covered")
    return {name: found[name] for name in names if found[name]}


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_broken(site: Path, tabs: dict[tuple[str, str], Any], page: str) -> None:
    for (window, scheme), tab in tabs.items():
        if scheme == "dark" and page not in COMPARED:
            continue
        found = look(tab, site, page)
        if folder := os.environ.get("BINDLESS_SCREENSHOTS"):
            tab.screenshot(path=Path(folder) / f"{page.replace('/', '_')}_{window}_{scheme}.png")
        assert not broken(found), (window, scheme, broken(found))
        assert found["heading"]
        assert found["sheets"] >= 2
        assert found["size"] >= 14
        assert (luminance(found["background"]) < 0.2) is (scheme == "dark")
        assert min(contrast(colour, found["background"]) for colour in found["colours"]) >= 4.5, (window, scheme)


@pytest.mark.parametrize("folder", ["gallery/built", "gallery/programs"])
def test_generated_pages_fit_a_phone(site: Path, tabs: dict[tuple[str, str], Any], folder: str) -> None:
    pages = [str(path.relative_to(site).with_suffix("")) for path in sorted((site / folder).rglob("*.html"))]
    assert pages
    found = {page: broken(look(tabs["phone", "light"], site, page)) for page in pages}
    assert {page: what for page, what in found.items() if what} == {}


def test_pages_of_functions_fit_a_phone(site: Path, tabs: dict[tuple[str, str], Any]) -> None:
    """These pages differ in their articles alone: one page is loaded, and shows the article of each other one."""
    tab = tabs["phone", "light"]
    paths = sorted((site / "reference/api").rglob("*.html"))
    assert len(paths) > 100
    assert broken(look(tab, site, str(paths[0].relative_to(site).with_suffix("")))) == {}
    found = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        article = text[text.index("<article") : text.rindex("</article>")]
        tab.evaluate(SHOW, article)
        found[path.stem] = broken({**tab.evaluate(FOUND), "errors": []})
    assert {page: what for page, what in found.items() if what} == {}


@pytest.mark.parametrize("width", [1300, 1920])
@pytest.mark.parametrize("page", ["start/image", "guide/kernels", "reference/api/bindless.Image"])
def test_code_of_100_columns_fits_and_the_rest_scrolls(site: Path, browser: Any, page: str, width: int) -> None:
    """A block in a description is indented by four columns of text: 96 fit there."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto((site / f"{page}.html").as_uri(), wait_until="load")
    blocks = tab.evaluate("""() => [...document.querySelectorAll("article pre")].map(block => ({
      columns: Math.max(...block.textContent.split("\\n").map(line => line.length)),
      inside: block.closest("dd, li") !== null,
      hidden: block.scrollWidth - block.clientWidth,
      scrolls: ["auto", "scroll"].includes(getComputedStyle(block).overflowX)}))""")
    tab.close()
    assert blocks
    assert [block for block in blocks if not block["scrolls"]] == []
    assert [
        block for block in blocks if block["columns"] <= (92 if block["inside"] else 100) and block["hidden"] > 0
    ] == []


BREAKAGE = {  # styles that break a page, and what is found then
    "body { min-width: 2000px }": "wider",
    "article p { width: 3000px }": "cut",
    "article dt { margin-bottom: -3em }": "overlapping",
    "h1 { margin-top: -4em }": "covered",
    "dt.sig { overflow-wrap: normal !important; min-width: 450vw }": "cut",
    "@font-face { font-family: lost; src: url(lost.woff2) } p { font-family: lost }": "fonts",
}


@pytest.mark.parametrize(("style", "name"), BREAKAGE.items())
def test_breakage_is_found(site: Path, tabs: dict[tuple[str, str], Any], style: str, name: str) -> None:
    for (window, scheme), tab in tabs.items():
        if scheme == "light":
            assert not look(tab, site, "reference/api/bindless.Image")[name]
            tab.add_style_tag(content=style)
            tab.wait_for_timeout(100)
            assert tab.evaluate(FOUND)[name], window


def test_parts_are_where_they_were(site: Path, tabs: dict[tuple[str, str], Any]) -> None:
    """The left edge and the width of the header, the sidebars, the text and the footer, in widths of the window."""
    found = {
        window: {page: look(tabs[window, "light"], site, page)["parts"] for page in COMPARED} for window in WINDOWS
    }
    if os.environ.get("BINDLESS_SITE_LAYOUT") == "write":
        LAYOUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(LAYOUT.read_text(encoding="utf-8"))
    for window, pages in kept.items():
        for page, parts in pages.items():
            for name, box in parts.items():
                now = found[window][page][name]
                assert (now is None) is (box is None), (window, page, name)
                assert box is None or max(abs(a - b) for a, b in zip(now, box)) <= 0.03, (window, page, name, now, box)
