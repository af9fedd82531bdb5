"""``bindless resample`` of OME-Zarr with options of the world, against scipy in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="pip install 'bindless[dask]'")
zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")
ndimage = pytest.importorskip("scipy.ndimage", reason="pip install scipy")

from bindless.cli import main  # noqa: E402
from bindless.dask.ome_zarr import Axis, multiscale_attributes, opened  # noqa: E402

SCALE, PLACE = (2.5, 0.8, 1.0), (10.0, -5.0, 3.0)  # z, y, x
ORDER = [2, 1, 0, 3]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    monkeypatch.chdir(tmp_path)


def image(name: str, array: Any, scale: Sequence[float] = SCALE, place: Sequence[float] = PLACE) -> None:
    group = zarr.open_group(name, mode="w", zarr_format=3)
    more = array.ndim - 3
    kinds = ["time", "channel", "space", "space", "space"][-array.ndim :]
    numbers = [*[(1.0, 0.0)] * more, *zip(scale, place)]
    axes = [Axis(letter, kind, "", *pair) for letter, kind, pair in zip("tczyx"[-array.ndim :], kinds, numbers)]
    group.create_array("0", shape=array.shape, chunks=(1,) * more + (8, 8, 8), dtype=array.dtype)[:] = array
    group.attrs.update(multiscale_attributes("0.5", name, [axes]))


def volume(*more: int) -> Any:
    return np.random.default_rng(3).random((*more, 12, 14, 16)).astype(np.float32)


def run(*options: str) -> tuple[Any, list[float], list[float]]:
    """The pixels of the result, and the scale and translation along its last axes."""
    assert main(["resample", "in.zarr", "out.zarr", "--precision", "exact", "--mode", "nearest", *options]) == 0
    result = opened("out.zarr")
    axes = result.axes[-3:]
    return np.array(result.array[:]), [axis.scale for axis in axes], [axis.translation for axis in axes]


def affine(scale: Sequence[float], place: Sequence[float]) -> Any:
    matrix = np.diag([*scale, 1.0])
    matrix[:3, 3] = place
    return matrix


def expect(pixels: Any, matrix: Any, shape: Sequence[int], scale: Sequence[float], place: Sequence[float]) -> Any:
    """Through a matrix of the world (z, y, x)."""
    whole = np.linalg.inv(affine(SCALE, PLACE)) @ matrix @ affine(scale, place)
    return ndimage.affine_transform(pixels, whole, output_shape=tuple(shape), order=1, mode="nearest")


def test_spacing_keeps_the_box() -> None:
    pixels = volume(2)
    image("in.zarr", pixels)
    values, scale, place = run("--spacing", "1.25,1.6,2.0")
    np.testing.assert_allclose(scale, (1.25, 1.6, 2.0))
    corner = np.array(PLACE) - np.array(SCALE) / 2
    np.testing.assert_allclose(place, corner + np.array(scale) / 2)
    assert values.shape == (2, 24, 7, 8)
    for channel in range(2):
        expected = expect(pixels[channel], np.eye(4), values.shape[1:], scale, place)
        np.testing.assert_allclose(values[channel], expected, rtol=0, atol=1e-5)


def test_a_preview_has_the_middle_slices() -> None:
    picture = pytest.importorskip("PIL.Image", reason="pip install pillow")
    image("in.zarr", volume(2))
    run("--spacing", "1.25,1.6,2.0", "--preview", "slices.png")
    with picture.open("slices.png") as slices:
        assert slices.size == (2 * round(8 * 2.0 / 1.25) + round(7 * 1.6 / 1.25), 24)
        levels = np.asarray(slices)
    assert levels.std() > 10
    command = ["resample", "in.zarr", "out.zarr", "--spacing", "2,2,2", "--overwrite"]
    assert main([*command, "--preview", "slices.unknown"]) == 1


def test_a_preview_of_pixels_that_are_no_numbers() -> None:
    picture = pytest.importorskip("PIL.Image", reason="pip install pillow")
    pixels = volume()
    pixels[6, :7] = np.nan
    image("in.zarr", pixels)
    run("--spacing", "2.5,0.8,1.0", "--preview", "slices.png")
    with picture.open("slices.png") as slices:
        levels = np.asarray(slices)
    assert (levels[:5, :16] == 0).all() and levels.std() > 10


def test_a_result_does_not_take_the_place_of_another_grid() -> None:
    image("in.zarr", volume())
    image("other.zarr", np.zeros((9, 10, 11), np.uint8))
    before = Path("other.zarr/zarr.json").read_bytes()
    assert main(["resample", "in.zarr", "other.zarr", "--like", "other.zarr", "--overwrite"]) == 1
    assert Path("other.zarr/zarr.json").read_bytes() == before and opened("other.zarr").array.shape == (9, 10, 11)


def test_the_grid_of_another_image_and_a_matrix_of_the_world() -> None:
    pixels = volume()
    image("in.zarr", pixels)
    image("other.zarr", np.zeros((9, 10, 11), np.uint8), (3.0, 1.0, 1.2), (12.0, -4.0, 4.0))
    matrix = np.eye(4)
    matrix[:3] += np.random.default_rng(4).normal(size=(3, 4)) * [0.05, 0.05, 0.05, 1.0]
    np.save("world.npy", matrix[np.ix_(ORDER, ORDER)])
    values, scale, place = run("--like", "other.zarr", "--matrix", "world.npy", "--matrix-units", "world")
    assert values.shape == (9, 10, 11)
    np.testing.assert_allclose((scale, place), ((3.0, 1.0, 1.2), (12.0, -4.0, 4.0)))
    np.testing.assert_allclose(values, expect(pixels, matrix, (9, 10, 11), scale, place), rtol=0, atol=1e-5)


def test_transforms_of_itk() -> None:
    sitk = pytest.importorskip("SimpleITK", reason="pip install 'bindless[space]'")
    pixels = volume()
    image("in.zarr", pixels)
    turn = sitk.Euler3DTransform((10.0, 0.0, 20.0), 0.1, 0.05, 0.2, (0.5, -0.3, 1.0))
    sitk.WriteTransform(turn, "turn.tfm")
    values, scale, place = run("--transform", "turn.tfm")
    assert values.shape == pixels.shape and (scale, place) == ([*SCALE], [*PLACE])
    matrix = np.eye(4)
    matrix[:3, 3] = turn.TransformPoint((0.0, 0.0, 0.0))
    matrix[:3, :3] = np.reshape(turn.GetMatrix(), (3, 3))
    expected = expect(pixels, matrix[np.ix_(ORDER, ORDER)], pixels.shape, scale, place)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)
    field = sitk.DisplacementFieldTransform(sitk.Image((4, 4, 4), sitk.sitkVectorFloat64))
    sitk.WriteTransform(field, "field.tfm")
    assert main(["resample", "in.zarr", "other.zarr", "--transform", "field.tfm"]) == 1


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--spacing", "1,2"),
        ("--spacing", "1,2,-1"),
        ("--spacing", "1,2,3", "--scale", "2"),
        ("--spacing", "1,2,3", "--shape", "4,5,6"),
        ("--spacing", "1,2,3", "--matrix", "world.npy"),
        ("--like", "absent.zarr"),
    ],
)
def test_options_that_do_not_fit(options: tuple[str, ...]) -> None:
    image("in.zarr", volume())
    np.save("world.npy", np.eye(4))
    assert main(["resample", "in.zarr", "out.zarr", *options]) == 1
    assert not Path("out.zarr").exists()
