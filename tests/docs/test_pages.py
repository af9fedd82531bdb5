"""Checks of the pages: links lead to existing files and headings, lines are short, and the language rules hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(
        str(page.relative_to(ROOT))
        for page in (ROOT / "docs").rglob("*.md")
        if not {"built", "changelog.d"} & {*page.parts}
    ),
]
WRITTEN = [page for page in PAGES if page != "docs/internals/spec_coverage.md"]  # hand-written pages
PARTS = ("start", "guide", "gallery", "reference", "internals", "measurements")  # folders of the site
AVOIDED = re.compile(  # phrases that the language rules forbid
    r"\b(?:beside|(?:is|are|was) told|whose turn|at rest|in the midst|which rest|what \w+ tells? of)\b"
)


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _prose(page: str) -> list[tuple[int, str]]:
    """Numbered lines outside code blocks, tables and images."""
    found, fenced = [], False
    for number, line in enumerate(_text(page).split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "!", "    ")):
            found.append((number, line))
    return found


def _anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub generates them."""
    headings = (line.lstrip("#").strip() for _, line in _prose(page) if line.startswith("#"))
    texts = (re.sub(r"\]\([^)]*\)|[\[\]`]", "", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", _text(page)):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = ((ROOT / page).parent / file).resolve() if file else ROOT / page
        assert path.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in _anchors(str(path.relative_to(ROOT))), f"{target}: no such heading"


@pytest.mark.parametrize("page", [page for page in WRITTEN if not page.startswith(("docs/measurements", "CHANGELOG"))])
def test_files_that_are_named_exist(page: str) -> None:
    """Measurements and the changelog are exempt: they name files of older versions."""
    named = re.findall(r"(?<![\w/.])(?:src|csrc|tests|include|docs|\.ci)/[\w/.*-]*\w", _text(page))
    assert [name for name in named if "NAME" not in name and not any(ROOT.glob(name))] == []


@pytest.mark.parametrize("page", WRITTEN)
def test_lines_are_short(page: str) -> None:
    assert [number for number, line in _prose(page) if len(line) > 120] == []


@pytest.mark.parametrize("page", WRITTEN)
def test_the_language_is_plain(page: str) -> None:
    assert AVOIDED.findall(_text(page)) == []


INDEXES = ["docs/index.md", *(f"docs/{part}/index.md" for part in PARTS)]


def _toctree(page: str) -> set[Path]:
    """The pages in a page's table of contents."""
    entries = re.findall(r"^```\{toctree\}\n(.*?)^```", _text(page), re.MULTILINE | re.DOTALL)
    names = [line for entry in entries for line in entry.splitlines() if line and not line.startswith(":")]
    return {ROOT / Path(page).parent / f"{name}.md" for name in names}


def test_every_page_is_in_a_table_of_contents() -> None:
    """Pages that the gallery's builder makes do not exist before the site is built."""
    listed = {path for page in INDEXES for path in _toctree(page) if "built" not in path.parts}
    pages = {ROOT / page for page in PAGES if page.startswith("docs/")}
    assert listed == pages - {ROOT / "docs/index.md"}


@pytest.mark.parametrize("page", INDEXES)
def test_every_page_is_linked_from_its_index(page: str) -> None:
    folder = (ROOT / page).parent
    linked = {(folder / target).resolve() for target in re.findall(r"\]\(([\w/.]+\.md)\)", _text(page))}
    assert {path for path in _toctree(page) if "built" not in path.parts} <= linked


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_headings_are_plain(page: str) -> None:
    """One title a page, and no links in headings: the site's table of contents takes neither."""
    headings = [line for _, line in _prose(page) if line.startswith("#")]
    assert [line for line in headings if "](" in line] == []
    assert len([line for line in headings if line.startswith("# ")]) == 1


def test_fragments_of_the_changelog_are_named_and_short() -> None:
    """Towncrier ignores a file whose kind it does not know, and indents each line by two."""
    kinds = "added|changed|deprecated|removed|fixed"
    files = sorted(set((ROOT / "docs" / "changelog.d").iterdir()) - {ROOT / "docs/changelog.d/template.md.jinja"})
    assert [file.name for file in files if not re.fullmatch(rf"\+?[\w-]+\.(?:{kinds})\.md", file.name)] == []
    lines = {file.name: max(map(len, file.read_text(encoding="utf-8").splitlines())) for file in files}
    assert {name: length for name, length in lines.items() if length > 118} == {}
