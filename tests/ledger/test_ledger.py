"""The ledger is complete: every name has a row, and every row has a Python name and tests that exist."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import bindless as bl
from bindless import bindless_images as images
from tests.support.channel_kinds import SAMPLED_ONLY

from .__main__ import main
from .document import DOCUMENT, PARTS, render
from .names import resolve
from .requirements import SUBJECTS
from .sources import TESTS, by_requirement, collect
from .tables import STRETCH, Part, Row, read_part
from .uses import uses, words

ROWS = [(part, row) for part in PARTS for row in part.rows]
HERE = [row for _, row in ROWS if row.names]
IMAGES, NEWER = PARTS[:2]
# Members that the specification lacks.
OWN = {"AddressingMode.mirror", "AddressingMode.extent", *(f"ImageChannelType.{name}" for name in SAMPLED_ONLY)}
DRIVERS = [row for _, row in ROWS if row.is_drivers]


def unnamed(names: set[str]) -> set[str]:
    """The given Python names without a row."""
    return names - {name.partition("(")[0] for row in HERE for name in row.names}


def faults_of_tests(rows: list[Row], tests: set[str]) -> list[str]:
    """List rows without tests, and tests that do not exist."""
    faults = [f"{row.name} has no test" for row in rows if not row.tests]
    return faults + [f"{row.name}: there is no {test}" for row in rows for test in row.tests if test not in tests]


def faults_of_uses(row: Row, root: Path = TESTS) -> list[str]:
    """List Python names that no test of their row uses; tests in C count only for driver functions."""
    through_python = [test for test in row.tests if not test.partition("::")[0].endswith(".c")]
    if not through_python:
        return [f"{row.name}: no test runs through Python"]
    used = frozenset().union(*(words(test, root) for test in through_python))
    names = [name.partition("(")[0] for name in row.names]
    return [f"{row.name}: no test uses {name}" for name in names if not uses(name.rpartition(".")[2], used)]


def faults_of_identifiers(part: Part) -> list[str]:
    """List identifiers whose rows cover more or fewer declarations than the specification has."""
    counts: Counter[str] = Counter()
    for row in part.rows:
        counts[row.identifier] += row.forms
    identifiers = part.identifiers or {}
    return [
        f"{name}: {identifiers.get(name, 0)} declarations, rows for {counts[name]}"
        for name in sorted({*counts, *identifiers})
        if counts[name] != identifiers.get(name, 0)
    ]


def faults_of_sections(part: Part) -> list[str]:
    """List sections whose rows cover more or fewer paragraphs than the specification has."""
    counts: Counter[str] = Counter()
    for row in part.rows:
        counts[row.chapter] += row.forms
    sections = part.sections or {}
    return [
        f"{title}: {sections.get(title, 0)} paragraphs, rows for {counts[title]}"
        for title in sorted({*counts, *sections})
        if counts[title] != sections.get(title, 0)
    ]


def test_every_row_has_tests_that_exist() -> None:
    assert faults_of_tests([*HERE, *DRIVERS], set(collect())) == []


def test_every_row_is_shown_through_python() -> None:
    assert [fault for row in HERE for fault in faults_of_uses(row)] == []


def test_rows_of_the_driver_alone_say_why_and_stretches_what_is_missing() -> None:
    assert [row.name for row in DRIVERS if len(row.python) < 30] == []
    assert [row.name for row in HERE if STRETCH.strip("; ") in row.python and len(row.stretch) < 20] == []


def test_every_python_name_exists() -> None:
    faults = []
    for row in HERE:
        for name in row.names:
            try:
                resolve(name, bl)
            except LookupError as error:
                faults.append(f"{row.name}: {error}")
    assert faults == []


def test_planned_rows_are_those_of_planned_chapters_and_claim_nothing() -> None:
    planned = [(part, row) for part, row in ROWS if row.is_planned]
    assert [row.name for part, row in planned if row.chapter not in part.planned] == []
    assert [row.name for _, row in planned if row.tests] == []
    assert IMAGES.planned == frozenset()


@pytest.mark.parametrize("part", [part for part in PARTS if part.identifiers is not None], ids=lambda part: part.title)
def test_every_identifier_has_rows_for_all_its_declarations(part: Part) -> None:
    assert faults_of_identifiers(part) == []
    names = [row.name for row in part.rows]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("part", [part for part in PARTS if part.sections is not None], ids=lambda part: part.title)
def test_every_paragraph_has_its_row(part: Part) -> None:
    assert faults_of_sections(part) == []
    assert list(part.chapters) == list(part.sections or {})
    names = [(row.chapter, row.name) for row in part.rows]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_a_row_without_a_python_name_says_why_and_has_no_test() -> None:
    without = [(part, row) for part, row in ROWS if not row.names and not row.is_planned and not row.is_drivers]
    assert [row.name for _, row in without if len(row.reason) < 20 or row.tests] == []
    assert [row.name for part, row in without if part.sections is None] == []


@pytest.mark.parametrize(
    "enum",
    [
        bl.ImageChannelType,
        bl.ImageType,
        bl.AddressingMode,
        bl.CoordinateNormalizationMode,
        bl.FilteringMode,
        bl.CubemapFilteringMode,
    ],
)
def test_every_member_of_the_images_enums_has_a_row(enum: type[bl.ImageType]) -> None:
    assert unnamed({f"{enum.__name__}.{name}" for name in enum.__members__} - OWN) == set()


def test_aspects_are_those_of_the_extension() -> None:
    ours = {name for name in bl.Aspect.__members__ if name.startswith("ext_oneapi_")}
    listed = [*(IMAGES.identifiers or ()), *(NEWER.identifiers or ())]
    theirs = {name.partition("::")[2] for name in listed if name.startswith("aspect::")}
    assert ours == theirs and len(ours) == 21
    assert unnamed({f"Aspect.{name}" for name in ours}) == set()


def test_every_public_name_of_the_images_has_a_row() -> None:
    values = {"ImageDescriptor", "BindlessImageSampler", "ImageMemHandle", "SampledImageHandle", "UnsampledImageHandle"}
    assert unnamed({*images.__all__, *values}) == set()
    fields = {f"ImageDescriptor.{name}" for name in bl.ImageDescriptor.__dataclass_fields__}
    fields |= {f"BindlessImageSampler.{name}" for name in bl.BindlessImageSampler.__dataclass_fields__}
    assert unnamed(fields) == set()


def test_every_requirement_is_named_by_a_test() -> None:
    found = by_requirement(collect())
    assert [number for number in SUBJECTS if number not in found] == []
    assert [number for number in found if number not in SUBJECTS] == []
    assert list(SUBJECTS) == list(range(1, 79))


def test_the_document_is_what_the_tables_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render(), "run python -m tests.ledger --write"


# ---------------------------------------------------------------------- the checks detect faults


def test_names_that_do_not_exist() -> None:
    for python, message in {
        "ImageMemory": "no 'ImageMemory'",
        "ImageDescriptor.verified": "no 'verified'",
        "Aspect.ext_oneapi_wings": "no 'ext_oneapi_wings'",
        "Range.__hash__.x": "no 'x'",
        "Queue.__str__": "from object only",
        "create_image(sampler=, filter=)": "no filter; it takes memory, desc, where, sampler, pitch",
        "SYCL_EXT_ONEAPI_BINDLESS_IMAGES(x=)": "cannot be called",
        "create_image(sampler)": "no attribute path",
        "": "no attribute path",
    }.items():
        with pytest.raises(LookupError, match=message):
            resolve(python, bl)
    assert resolve("ImageDescriptor.width", bl) == 0
    assert resolve("create_image(sampler=, pitch=)", bl) is bl.create_image
    assert callable(resolve("drivers.level_zero.lib.zeInit", bl))
    for python, message in {
        "drivers.metal.lib": "no 'metal'",
        "drivers.level_zero.lib.zeWings": "no 'zeWings'",
    }.items():
        with pytest.raises(LookupError, match=message):
            resolve(python, bl)


def test_rows_that_are_wrong() -> None:
    rows = [
        Row("Here", "one", 1, "x", ("a.py::test_a",)),
        Row("Here", "two (of three)", 3, "x", ()),
        Row("Here", "three", 1, "x", ("a.py::test_b",)),
    ]
    assert faults_of_tests(rows, {"a.py::test_a"}) == [
        "two (of three) has no test",
        "three: there is no a.py::test_b",
    ]
    part = Part("x", tuple(rows), {"one": 1, "two": 2, "four": 1}, {"Here": 4, "There": 1}, frozenset())
    assert faults_of_sections(part) == ["Here: 4 paragraphs, rows for 5", "There: 1 paragraphs, rows for 0"]
    assert faults_of_identifiers(part) == [
        "four: 1 declarations, rows for 0",
        "three: 0 declarations, rows for 1",
        "two: 2 declarations, rows for 3",
    ]


def test_names_that_no_test_uses(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef made(): return bl.Fixture()\n")
    (tmp_path / "helper.py").write_text("TEXT = 'a word'\ndef help(): bl.helped(TEXT)\ndef other(): bl.unused()\n")
    (tmp_path / "test_a.py").write_text(
        "from helper import help\ndef test_b(made):\n    help()\n    made.here\n    f'some_{very}_long_name'\n"
    )
    (tmp_path / "guide.c").write_text("static int used(void)\n{\n    deep();\n}\nvoid top(void)\n{\n    used();\n}\n")
    tests = ("test_a.py::test_b", "guide.c::top")
    assert words("guide.c::top", tmp_path) == {"used", "deep"}

    def faults(python: str, tests: tuple[str, ...] = tests) -> list[str]:
        return faults_of_uses(Row("Here", "one", 1, python, tests), tmp_path)

    assert faults("helped; Fixture.here; word; some_quite_long_name") == []
    assert faults("helped(x=); Fixture.gone; deep") == ["one: no test uses Fixture.gone", "one: no test uses deep"]
    assert faults("unused; some_name") == ["one: no test uses unused", "one: no test uses some_name"]
    assert faults("deep", tests[1:]) == ["one: no test runs through Python"]


def test_tests_and_requirements_are_read_from_sources(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "test_speed.py").write_text("def test_fast(): ...\n")
    (tmp_path / "test_one.py").write_text(
        "# R1\n"
        "def test_first(  # R2, R3\n"
        "): ...\n"
        "def test_second():\n"
        "    x = '# R4'  # R5 R6\n"
        "def helper(): ...  # R7\n"
        "class Group:\n"
        "    def test_third(self): ...  # R8\n"
        "def test_fourth(): ...  # as R9 says\n"
    )
    for folder in ("c/level_zero", "level_zero_driver"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "c/level_zero/guide_a.c").write_text("static void helper(void)\n{\n}\n\nvoid section_a(void)\n{\n}\n")
    (tmp_path / "level_zero_driver/a_checks.py").write_text("def check_b(rig: Rig) -> None: ...\ndef helper(): ...\n")
    found = collect(tmp_path)
    assert found == {
        "c/level_zero/guide_a.c::section_a": set(),
        "level_zero_driver/a_checks.py::check_b": set(),
        "test_one.py::test_first": {2, 3},
        "test_one.py::test_second": {5, 6},
        "test_one.py::test_fourth": set(),
    }
    assert by_requirement(found)[5] == ["test_one.py::test_second"]


def test_a_document_that_is_old_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "ledger.md"
    assert main(["--output", str(output)]) == 1
    assert "--write" in capsys.readouterr().err
    assert main(["--write", "--output", str(output)]) == 0
    assert main(["--output", str(output)]) == 0
    output.write_text(output.read_text().replace("planned", "done", 1))
    assert main(["--output", str(output)]) == 1


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("name,python\na,b\n")
    with pytest.raises(ValueError, match="has the columns"):
        read_part(str(tmp_path / "other"), "Other")
