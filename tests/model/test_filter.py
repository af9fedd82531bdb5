"""``Filter``, ``CoordinateMap`` and ``fold``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import reference
from bindless.model.enums import AddressingMode, Boundary, Interpolation, LevelFilter, Precision
from bindless.model.filter import ADDRESSING, CoordinateMap, Filter, fold, name_of_boundary
from tests.support.error_checks import raises

PAD = {  # numpy's name of each continuation
    Boundary.edge: "edge",
    Boundary.repeat: "wrap",
    Boundary.mirrored_repeat: "symmetric",
    Boundary.mirror: "reflect",
}


@pytest.mark.parametrize("boundary", PAD, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_folded_indices_are_those_of_padded_arrays(boundary: Boundary, size: int) -> None:
    around = 40
    index = np.arange(-around, size + around)
    expected = np.pad(np.arange(size), around, mode=PAD[boundary])  # type: ignore[call-overload]
    np.testing.assert_array_equal(fold(index, size, boundary), expected)
    assert [fold(int(place), size, boundary) for place in index] == expected.tolist()


@pytest.mark.parametrize("boundary", list(Boundary), ids=str)
def test_folded_indices_are_texels(boundary: Boundary) -> None:
    index = np.array([-(2**40), -1000, -1, 0, 1, 4, 5, 1000, 2**40])
    texels = fold(index, 5, boundary)
    assert texels.min() >= 0 and texels.max() <= 4
    assert fold(np.arange(5), 5, boundary).tolist() == [0, 1, 2, 3, 4]


def test_wrap_has_the_period_of_the_centres() -> None:
    assert fold(np.arange(-4, 8), 5, Boundary.wrap).tolist() == [0, 1, 2, 3] * 2 + [4, 1, 2, 3]


def test_numbers_are_those_of_the_driver() -> None:
    reference.load()
    for prefix, enum in (("BOUNDARY", Boundary), ("INTERPOLATION", Interpolation), ("PRECISION", Precision)):
        for member in enum:
            assert member.number == getattr(reference.lib, f"BLR_{prefix}_{member.name.upper()}")


@pytest.mark.parametrize(
    ("mode", "boundary"),
    [
        ("reflect", "mirrored_repeat"),
        ("grid-mirror", "mirrored_repeat"),
        ("constant", "constant"),
        ("grid-constant", "border"),
        ("nearest", "edge"),
        ("mirror", "mirror"),
        ("grid-wrap", "repeat"),
        ("wrap", "wrap"),
    ],
)
def test_scipys_modes(mode: str, boundary: str) -> None:
    assert Filter.from_scipy(1, mode, 2, "exact") == Filter.of("linear", boundary, 2.0, "exact")


def test_one_boundary_is_that_of_all_axes() -> None:
    assert Filter.of(boundary="repeat").boundary == (Boundary.repeat,) * 3
    assert Filter.of(boundary=("repeat", "border")).boundary[:2] == (Boundary.repeat, Boundary.border)


def test_torchs_names() -> None:
    assert Filter.from_torch("nearest", "zeros", False, "exact") == Filter.of(
        "nearest", "border", precision="exact", ties_to_even=True
    )
    reflected = [Filter.from_torch("bilinear", "reflection", corners, "exact").boundary[0] for corners in (0, 1)]
    assert reflected == [Boundary.mirrored_repeat, Boundary.mirror]


def test_nvdiffrasts_names() -> None:
    filter_ = Filter.from_nvdiffrast("linear-mipmap-nearest", "wrap")
    assert (filter_.interpolation, filter_.levels) == (Interpolation.linear, LevelFilter.nearest)
    assert filter_.boundary == (Boundary.repeat,) * 3


@pytest.mark.parametrize("name", ADDRESSING)
def test_names_of_addressing(name: str) -> None:
    filter_ = Filter.from_addressing(name, "linear")
    assert ADDRESSING[name_of_boundary(filter_.boundary[0])] is filter_.boundary[0]
    if filter_.is_plain:  # a texture unit has it
        assert Filter.from_addressing(filter_.addressing, "linear") == filter_


def test_samplers_repeat_normalized_coordinates_alone() -> None:
    for coordinate, boundary in (("normalized", Boundary.repeat), ("unnormalized", Boundary.edge)):
        sampler = bl.BindlessImageSampler(("repeat", "clamp", "none"), coordinate, "linear")
        assert Filter.from_sampler(sampler).boundary == (boundary, Boundary.border, boundary)


@pytest.mark.parametrize(
    ("filter_", "plain", "arithmetic"),
    [
        (Filter(), True, "hardware"),
        (Filter.of(precision="reproducible"), True, "reproducible"),
        (Filter.of(boundary="mirror"), False, "exact"),
        (Filter.of(boundary=("edge", "mirror")), False, "exact"),
        (Filter.of(boundary="border", fill=1.0), False, "exact"),
        (Filter.of("bicubic"), False, "exact"),
        (Filter.of("cubic"), False, "hardware"),
    ],
)
def test_what_texture_units_lack_is_exact(filter_: Filter, plain: bool, arithmetic: str) -> None:
    assert (filter_.is_plain, filter_.arithmetic) == (plain, Precision(arithmetic))
    assert all(isinstance(mode, AddressingMode) for mode in filter_.addressing)


@pytest.mark.parametrize(
    "options",
    [
        {"interpolation": "lanczos"},
        {"boundary": "clamp"},
        {"boundary": ("edge",) * 4},
        {"boundary": ()},
        {"fill": "white"},
        {"precision": "double"},
        {"levels": "cubic"},
    ],
)
def test_options_without_a_meaning(options: dict[str, Any]) -> None:
    with raises(bl.ArgumentError):
        Filter.of(**options)
    assert issubclass(bl.ArgumentError, bl.InvalidError) and issubclass(bl.ArgumentError, RuntimeError)


def test_scaled_maps() -> None:
    map_ = CoordinateMap.scaled((2.0, 3.0), (0.5,), shift=1.0)
    assert (map_.scale, map_.offset, map_.shift) == ((2.0, 3.0, 1.0), (0.5, 0.0, 0.0), 1.0)
    assert map_.is_affine and map_ == CoordinateMap.scaled((2, 3), (0.5, 0), 1) and hash(map_)
    assert not CoordinateMap.pictures((*map_.matrix[:12], 0.0, 0.0, 0.1, 1.0)).is_affine
