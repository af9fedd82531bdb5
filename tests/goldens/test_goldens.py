"""Bitwise comparison of every recorded configuration on the device of ``--device``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl

from .comparison import Difference, Table, compare
from .configuration import Configuration, Record, configurations, read_record, record_names
from .device import run
from .report import show

_FAMILIES: dict[str, list[Configuration]] = defaultdict(list)
for _configuration in configurations():
    _FAMILIES[_configuration.family].append(_configuration)


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    """Table filled by the tests of this module and printed after them."""
    made = Table()
    yield made
    show(request.config, made.lines())


@pytest.fixture(scope="module", params=record_names())
def record(request: pytest.FixtureRequest) -> Record:
    """One record after the other."""
    return read_record(request.param)


@pytest.mark.parametrize("family", _FAMILIES)
def test_family(family: str, record: Record, queue: bl.Queue, table: Table) -> None:
    wrong: dict[str, Difference] = {}
    for configuration in _FAMILIES[family]:
        difference = compare(run(queue, configuration), record.results[configuration.name])
        table.add(configuration, difference)
        if not difference.is_exact:
            wrong[configuration.name] = difference
    assert not wrong, f"{len(wrong)} of {len(_FAMILIES[family])} configurations differ from {record.name}: {wrong}"


def test_every_configuration_is_recorded(record: Record) -> None:
    assert {configuration.name for configuration in configurations()} == set(record.results)


def test_comparison_sees_one_bit() -> None:
    wanted = np.array([[1.0, -0.0, np.nan, np.inf]], np.float32)
    assert compare(wanted.copy(), wanted).is_exact
    got = wanted.copy()
    got[0, 1] = 0.0
    assert compare(got, wanted) == Difference(4, 3, 0.0)
    got = wanted.copy()
    got.view(np.uint32)[0, 0] += 1
    assert compare(got, wanted) == Difference(4, 3, float(np.spacing(np.float32(1.0))))
    codes = np.array([[1, 2]], np.uint8)
    assert compare(codes + np.array([[0, 3]], np.uint8), codes) == Difference(2, 1, 3.0)
