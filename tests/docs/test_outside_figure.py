"""The figure of docs/guide/millimetres.md shows what the page's table says."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support.plot_programs import plot_program

PIXELS = [2, 1, 3, 2.5]


@pytest.fixture(scope="module")
def program() -> ModuleType:
    return plot_program("outside")


@pytest.mark.parametrize(
    "rule", ["extent", "border", "constant", "clamp_to_edge", "mirrored_repeat", "mirror", "repeat"]
)
def test_linear_values(program: ModuleType, rule: str) -> None:
    places = np.arange(-3.75, 7, 0.5)  # never where a rule jumps
    index = np.arange(-12, 16)
    texels = {
        "border": np.where((index >= 0) & (index < 4), np.take(PIXELS, index % 4), 0),
        "mirrored_repeat": np.take(PIXELS, np.minimum(index % 8, 7 - index % 8)),
        "mirror": np.take(PIXELS, np.minimum(index % 6, -index % 6)),
        "repeat": np.take(PIXELS, index % 4),
    }.get(rule, np.take(PIXELS, np.clip(index, 0, 3)))
    expected = np.interp(places, index, texels)
    margin = {"extent": 0.5, "constant": 0.0}.get(rule, np.inf)
    expected[(places < -margin) | (places > 3 + margin)] = 0
    np.testing.assert_allclose(program.values(places, rule, "linear"), expected, rtol=0, atol=1e-5)
    assert set(program.RULES) >= {rule} and (program.PIXELS == PIXELS).all()


def test_cubic_values_pass_through_the_pixels(program: ModuleType) -> None:
    for rule in program.RULES:
        values = program.values(np.arange(4.0), rule, "cubic")
        np.testing.assert_allclose(values, PIXELS, rtol=0, atol=1e-4)
