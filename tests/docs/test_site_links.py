"""The links of the built site: each one within the site leads to a file, and to an element of that page.

BINDLESS_SITE=out pytest -n0 tests/docs/test_site_links.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the names of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def broken(page: Path) -> Iterator[str]:
    for link in sorted(read(page).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        named = parts.fragment if target.suffix == ".html" else ""
        if not target.is_file() or (named and unquote(named) not in read(target).names):
            yield link


def test_links_lead_somewhere(site: Path) -> None:
    pages = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)  # templates of the theme
    assert len(pages) > 100
    found = {str(page.relative_to(site)): list(broken(page)) for page in pages}
    assert {page: links for page, links in found.items() if links} == {}


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="here"><a href="#here"><a href="b.html#there"><a href="#nowhere">')
    (tmp_path / "b.html").write_text('<a href="a.html#here"><a href="c.html"><img src="d.png"><a href="https://e.f/g">')
    assert list(broken(tmp_path / "a.html")) == ["#nowhere", "b.html#there"]
    assert list(broken(tmp_path / "b.html")) == ["c.html", "d.png"]
