"""The figures of docs/internals/numerics.md show what the page's formulas say."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support.plot_programs import plot_program


@pytest.fixture(scope="module")
def program() -> ModuleType:
    return plot_program("arithmetic")


def test_positions_are_rounded_to_256ths(program: ModuleType) -> None:
    x = np.linspace(0.6, 1.4, 1000).astype(np.float32)
    steps = np.floor(256 * x.astype(np.float64) + 0.5) - 128
    np.testing.assert_array_equal(program.positions(x), steps / 256)


@pytest.mark.parametrize("mode", ["clamp_to_edge", "clamp_to_border", "repeat", "mirrored_repeat"])
def test_addressing_at_the_centres_of_texels(program: ModuleType, mode: str) -> None:
    i = np.arange(-5, 9)
    texels = np.array([1, 2, 3, 4])
    expected = {
        "clamp_to_edge": texels[np.clip(i, 0, 3)],
        "clamp_to_border": np.where((i >= 0) & (i < 4), texels[np.clip(i, 0, 3)], 0),
        "repeat": texels[i % 4],
        "mirrored_repeat": texels[np.where(i % 8 < 4, i % 8, 7 - i % 8)],
    }
    np.testing.assert_array_equal(program.addressing(i + 0.5, mode), expected[mode])


def test_weights_are_split_not_multiplied(program: ModuleType) -> None:
    b, a = np.mgrid[0:256, 0:256]
    np.testing.assert_array_equal(program.split(), (a * b + 128) >> 8)
