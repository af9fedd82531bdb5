"""The exact mode of the reference, compared with float64 numpy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from tests.goldens.configuration import Array
from tests.goldens.report import show

from . import anisotropy, model
from .cases import INTEGERS, STORAGE, Case
from .exact import exact_results
from .numpy_cases import ANISOTROPIC, CASES

# As fractions of the range of an image's values; one rounding to float is 6e-8.
TOLERANCE = 2e-6
# Integers round to the nearest; at a half, the last bit of the sum decides.
HALF = 0.5 + 1e-7

_FAMILIES: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    if not _case.max_anisotropy:
        _FAMILIES[_case.family].append(_case)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """Results of the reference in its exact mode, by name of the case."""
    return exact_results("numpy", tmp_path_factory.mktemp("exact"))


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, tuple[int, float]]]:
    """Family: (cases, worst difference); printed after the tests of this module."""
    rows: dict[str, tuple[int, float]] = {}
    yield rows
    lines = [f"{'exact mode beside float64 numpy':<42} {'cases':>6} {'worst of range':>15}"]
    lines += [f"{family:<42} {cases:>6} {worst:>15.2g}" for family, (cases, worst) in rows.items()]
    show(request.config, lines)


@pytest.mark.parametrize("family", _FAMILIES)
def test_exact_mode(family: str, exact: dict[str, Array], table: dict[str, tuple[int, float]]) -> None:
    worst, wrong = 0.0, {}
    for case in _FAMILIES[family]:
        error = float(np.abs(exact[case.name] - model.expected(case)).max())
        if case.channel_type in INTEGERS:
            allowed = HALF if case.filtering == "linear" else 0.0
        else:
            allowed = TOLERANCE * case.value_range
        worst = max(worst, error / case.value_range)
        if not error <= allowed:
            wrong[case.name] = f"{error:.3g}, {allowed:.3g} allowed"
    table[family] = (len(_FAMILIES[family]), worst)
    assert not wrong, f"{len(wrong)} of {len(_FAMILIES[family])} cases: {wrong}"


@pytest.mark.parametrize("case", ANISOTROPIC, ids=lambda case: case.name)
def test_anisotropic_footprint(case: Case, exact: dict[str, Array]) -> None:
    wanted, allowed = anisotropy.expected(case)
    error = np.abs(exact[case.name] - wanted)
    rounding = TOLERANCE * case.value_range
    assert (error <= allowed + rounding).all(), f"{(error / (allowed + rounding)).max():.2f} of what is allowed"
    if case.smooth:  # where the integral is easy, only the right footprint is this accurate: a longer one is 0.1 off
        assert error.max() <= 1e-3


def test_every_type_and_geometry_is_there() -> None:
    found = {(case.channel_type, case.type, case.dimensions) for case in CASES}
    assert found >= {(channel_type, "standard", dims) for channel_type in STORAGE for dims in (1, 2, 3)}
    for channel_type in set(STORAGE) - set(INTEGERS):
        assert found >= {(channel_type, "mipmap", dims) for dims in (1, 2, 3)}
        assert found >= {(channel_type, "array", 1), (channel_type, "array", 2), (channel_type, "cubemap", 2)}


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_hardware_arithmetic_is_something_else() -> None:
    """The comparison detects weights of 8 bits: the hardware mode fails it."""
    import bindless as bl
    from tests.goldens.device import run

    case = next(case for case in CASES if case.filtering == "linear" and case.channel_type == "fp32")
    with bl.Queue("reference:*:*") as queue:
        other = run(queue, case)
    assert np.abs(other - model.expected(case)).max() > 100 * TOLERANCE * case.value_range
