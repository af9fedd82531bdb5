"""The demo's pictures: the files exist, and their pixels match the hardware's arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Picture

import bindless as bl
from bindless import demo as _demo
from bindless.cli import main
from bindless.demo.scenes import head_phantom, photograph, plane_coordinates, rotation_matrix
from tests.oracle.unit_weights import linear as unit_samples
from tests.support.error_checks import raises
from tests.support.tolerances import is_bounded

Array = npt.NDArray[Any]


def output_coordinates(matrix: Array, height: int, width: int) -> Array:
    x, y = np.arange(width) + 0.5, (np.arange(height) + 0.5)[:, None]
    return np.stack([a * x + (b * y + c) for a, b, c in matrix], -1).astype(np.float32).astype(np.float64)


def texture_unit(photo: Array, coords: Array) -> Array:
    """Linear samples of 8-bit pixels with clamped edges in the recorded arithmetic, as bytes."""
    total = np.rint(256 * unit_samples(photo, coords.reshape(-1, 2))).astype(np.int64)
    total = total.reshape(*coords.shape[:-1], photo.shape[2])
    values = (((257 * total + 128) >> 8) / 65535).astype(np.float32)
    return np.rint(values * np.float32(255)).astype(np.uint8)


def test_photographs_are_real_and_there() -> None:
    for name in ("chelsea.png", "coffee.png", "motorcycle_left.png", "astronaut.png", "hubble_deep_field.jpg"):
        photo = photograph(name)
        assert photo.dtype == np.uint8 and photo.shape[2] == 3 and photo.std() > 10
    with raises(bl.InvalidError):
        photograph("nobody.png")


def test_rotation_is_what_a_texture_unit_computes(queue: bl.Queue) -> None:
    sheet = _demo._rotation(queue, _demo.Meter())
    _, nearest, linear = (panel.pixels for panel in sheet.rows[0])
    photo = photograph("chelsea.png")
    matrix = rotation_matrix(24.0, 7.0, (174.0, 116.0), linear.shape[:2])
    coords = output_coordinates(matrix, *linear.shape[:2])
    wanted = texture_unit(photo, coords)
    if is_bounded(queue.backend):  # full-precision weights, rounded to the nearest of 256 codes
        assert np.abs(linear.astype(int) - wanted.astype(int)).max() <= 1
    else:
        np.testing.assert_array_equal(linear, wanted)
    x, y = np.moveaxis(np.floor(coords).astype(int), -1, 0)
    np.testing.assert_array_equal(nearest, photo[y, x])


def test_the_oblique_slice_is_a_trilinear_one(queue: bl.Queue) -> None:
    from scipy.ndimage import map_coordinates

    sheet = _demo._volume(queue, _demo.Meter())
    oblique = sheet.rows[0][1].pixels
    volume = head_phantom(192)
    coords = plane_coordinates(192, 450, 52, 28, depth=-8).astype(np.float64)
    values = map_coordinates(volume, np.moveaxis(coords[..., ::-1] - 0.5, -1, 0), order=1, mode="constant")
    assert np.abs((oblique / 255.0) ** 2 - values).max() <= 6.01 / 512 + 1 / 255


def test_the_reduction_is_a_mean(queue: bl.Queue) -> None:
    sheet = _demo._minification(queue, _demo.Meter())
    proper = sheet.rows[0][2].pixels
    with bl.Image(photograph("motorcycle_left.png"), queue=queue) as image:
        small = image.resize((71, 105))
    x = ((np.arange(proper.shape[1]) + 0.5) * 105 / proper.shape[1]).astype(int)
    y = ((np.arange(proper.shape[0]) + 0.5) * 71 / proper.shape[0]).astype(int)
    np.testing.assert_array_equal(proper, small[y[:, None], x])


def test_demo_writes_pictures_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: bl.Device
) -> None:
    folder = tmp_path / "new" / "folder"
    assert main(["demo", "-o", str(folder), "--device", f"{device.backend}:*:{device.index}"]) == 0
    text = capsys.readouterr().out
    files = sorted(folder.iterdir())
    assert len(files) >= 4 and all(path.suffix == ".png" for path in files)
    for path in files:
        picture = np.asarray(Picture.open(path))
        colours = picture.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
        assert min(picture.shape[:2]) > 500 and len(np.unique(colours)) > 100
        (line,) = (line for line in text.splitlines() if path.name in line)
        assert " ms: " in line and line.endswith("M/s")
    assert device.name in text and str(folder) in text
    for name, (_, needs) in _demo._PICTURES.items():
        missing = [str(aspect) for aspect in needs if not device.has(aspect)]
        assert (folder / f"{name}.png").exists() == (not missing)
        assert (f"{name}.png" in text) and all(f"no {aspect}" in text for aspect in missing)


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "-o", str(tmp_path / "file" / "out"), "--device", "reference:*"]) == 1
    assert "file" in capsys.readouterr().err
