"""The text of ``docs/spec_coverage.md``, from the tables and from the tests' sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import DRIVER, Part, Row, read_part
from .requirements import SUBJECTS
from .sources import TESTS, by_requirement, collect

__all__ = ["DOCUMENT", "PARTS", "render"]

DOCUMENT = TESTS.parent / "docs" / "spec_coverage.md"
PARTS: tuple[Part, ...] = (
    read_part("bindless_images", "sycl_ext_oneapi_bindless_images", planned=frozenset()),
    read_part("bindless_images_newer", "sycl_ext_oneapi_bindless_images, newer than revision 6.7"),
    read_part("sycl_architecture", "SYCL architecture"),
    read_part("opencl_backend", "OpenCL backend specification"),
    read_part("level_zero_backend", "Level-Zero backend specification"),
    read_part("level_zero_guide", "Level-Zero core programming guide"),
)

_HEAD = """\
# What of the specifications is here, and which tests show it

Written by `python -m tests.ledger --write` from the tables in `tests/ledger`; edit those. A test fails when a row has
no test, when a name does not exist, when a name of a specification has no row, and when this file is older than the
tables. It fails too when no test of a row runs through Python, or none of them uses a Python name of the row.
Tests are named by their path below `tests`; they run on the device of `pytest --device`.
"""


def render() -> str:
    """The whole document."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    for part in PARTS:
        yield from _part(part)
    yield from _requirements()


def _part(part: Part) -> Iterator[str]:
    done = sum(row.forms for row in part.rows if row.names)
    later = sum(row.forms for row in part.rows if row.is_planned)
    drivers = sum(row.forms for row in part.rows if row.is_drivers)
    without = sum(row.forms for row in part.rows if row.reason)
    yield f"## {part.title}\n"
    if part.sections is None:
        yield f"{done + later} names and forms: {done} here and tested, {later} planned.\n"
    else:
        yield (
            f"{done + later + drivers + without} paragraphs: {done} here and tested, {later} planned, {drivers} of the "
            f"package's driver alone, {without} that ask nothing of a Python package. A row says in a few words what "
            "its paragraphs ask for, and how many they are.\n"
        )
    for chapter, rows in part.chapters.items():
        yield f"### {chapter}\n"
        yield f"| {'Specification' if part.sections is None else 'Paragraphs'} | Python | Tests |"
        yield "|---|---|---|"
        yield from (_row(row, part) for row in rows)
        yield ""


def _row(row: Row, part: Part) -> str:
    name = f"`{row.name}`" if part.sections is None else f"{row.name} ({row.forms})"
    if row.is_planned:
        return f"| {name} | planned | |"
    if row.reason:
        return f"| {name} | {row.reason} | |"
    if row.is_drivers:
        return f"| {name} | the driver's alone: {row.python.removeprefix(DRIVER)} | {_list(row.tests)} |"
    stretch = f"<br>Not shown: {row.stretch}" if row.stretch else ""
    return f"| {name} | {_list(row.names)}{stretch} | {_list(row.tests)} |"


def _list(tests: Iterable[str]) -> str:
    return "<br>".join(f"`{test}`" for test in tests)


def _requirements() -> Iterator[str]:
    found = by_requirement(collect())
    yield "## Requirements\n"
    yield f"{len(SUBJECTS)} rules that are easily missed; a test names those that it checks in a comment, `# R17`.\n"
    yield "| | Rule | Tests |"
    yield "|---|---|---|"
    for number, subject in SUBJECTS.items():
        tests = found.get(number, [])
        yield f"| R{number} | {subject} | {_list(tests)} |"
