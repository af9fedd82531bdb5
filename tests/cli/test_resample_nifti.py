"""``bindless resample`` from NIfTI to NIfTI, against scipy in pixels."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

nibabel = pytest.importorskip("nibabel", reason="pip install 'bindless[space]'")
sitk = pytest.importorskip("SimpleITK", reason="pip install 'bindless[space]'")
Picture = pytest.importorskip("PIL.Image", reason="pip install pillow")
ndimage = pytest.importorskip("scipy.ndimage", reason="pip install scipy")

from bindless.cli import main  # noqa: E402

LPS = np.diag([-1.0, -1.0, 1.0, 1.0])


@pytest.mark.parametrize("like", [False, True])
def test_a_transform_in_millimetres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, like: bool) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    volume = np.random.default_rng(1).random((12, 14, 16)).astype(np.float32)
    affine = np.array([[-0.8, 0.1, 0, 5], [0.1, 0.9, 0, -7], [0, 0, 2.5, 3], [0, 0, 0, 1]])
    nibabel.save(nibabel.Nifti1Image(volume, affine), tmp_path / "in.nii.gz")
    turn = sitk.Euler3DTransform((0.0, 2.0, 10.0), 0.1, 0.05, 0.2, (0.5, -0.3, 1.0))
    sitk.WriteTransform(turn, str(tmp_path / "turn.tfm"))
    options = ["--spacing", "2.0,1.0,1.2"]
    if like:
        other = np.diag([1.5, 1.2, 2.0, 1.0])
        nibabel.save(nibabel.Nifti1Image(np.zeros((7, 8, 9), np.uint8), other), tmp_path / "like.nii")
        options = ["--like", str(tmp_path / "like.nii")]
    paths = [str(tmp_path / "in.nii.gz"), str(tmp_path / "out.nii")]
    command = ["resample", *paths, *options, "--transform", str(tmp_path / "turn.tfm")]
    assert main(command) == 0
    assert main(command) != 0  # the output exists
    result = nibabel.load(tmp_path / "out.nii")
    if like:
        np.testing.assert_allclose(result.affine, other, atol=1e-5)
    else:
        np.testing.assert_allclose(result.header.get_zooms(), (1.2, 1.0, 2.0), rtol=1e-5)
        corner = np.array([-0.5, -0.5, -0.5, 1])
        np.testing.assert_allclose(result.affine @ corner, affine @ corner, atol=1e-5)
    world = np.eye(4)
    world[:3, 3] = turn.TransformPoint((0.0, 0.0, 0.0))
    world[:3, :3] = np.reshape(turn.GetMatrix(), (3, 3))
    matrix = np.linalg.inv(affine) @ LPS @ world @ LPS @ result.affine
    places = np.einsum("ij,j...->i...", matrix[:3, :3], np.indices(result.shape)) + matrix[:3, 3].reshape(3, 1, 1, 1)
    sizes = np.array(volume.shape).reshape(3, 1, 1, 1)
    inside = ((places > 0) & (places < sizes - 1)).all(axis=0)
    expected = ndimage.affine_transform(volume, matrix, output_shape=result.shape, order=1)
    assert inside.sum() > 50
    np.testing.assert_allclose(result.get_fdata()[inside], expected[inside], atol=1e-4)


def test_matrices_in_pixels_and_in_the_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same map as a matrix of indices (z, y, x) and of points (x, y, z), of voxels of integers, with a picture."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    volume = np.random.default_rng(2).integers(-500, 500, (10, 11, 12)).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(volume, np.diag([2.0, 3.0, 4.0, 1.0])), "in.nii")
    index = np.array([[1, 0.1, 0, 0.5], [0, 0.9, 0, 0.25], [0, 0, 1, -0.3], [0, 0, 0, 1]])  # of i, j, k
    order = [2, 1, 0, 3]
    np.savetxt("pixels.txt", index[np.ix_(order, order)])
    place = np.diag([-2.0, -3.0, 4.0, 1.0])
    np.save("world.npy", place @ index @ np.linalg.inv(place))
    results = []
    for file, units in (("pixels.txt", "pixels"), ("world.npy", "world")):
        command = ["resample", "in.nii", f"{units}.nii", "--matrix", file, "--matrix-units", units, "--order", "0"]
        assert main([*command, "--preview", f"{units}.png", "--cval=-1000"]) == 0
        result = nibabel.load(f"{units}.nii")
        assert result.get_data_dtype() == np.int16
        results.append(np.asarray(result.dataobj))
        assert main([*command, "--overwrite"]) == 0
    np.testing.assert_array_equal(*results)
    expected = ndimage.affine_transform(volume, index, order=0, mode="nearest")
    places = np.einsum("ij,j...->i...", index[:3, :3], np.indices(volume.shape)) + index[:3, 3].reshape(3, 1, 1, 1)
    steady = ((places > 0) & (places < np.reshape(volume.shape, (3, 1, 1, 1)) - 1)).all(axis=0)
    steady &= (np.abs(places % 1 - 0.5) > 1e-3).all(axis=0)
    assert steady.sum() > 50
    np.testing.assert_array_equal(results[0][steady], expected[steady])
    with Picture.open("pixels.png") as picture:
        assert picture.size == (10 + 10 + round(11 * 1.5), 24) and picture.mode == "L"


@pytest.mark.parametrize("name", ["in.nii", "in.nii.gz"])
def test_damaged_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    nibabel.save(nibabel.Nifti1Image(np.random.default_rng(0).random((9, 9, 9)), np.eye(4)), name)
    whole = Path(name).read_bytes()
    for part in (whole[: len(whole) // 2], whole[:100], b"", b"no volume"):
        Path(name).write_bytes(part)
        assert main(["resample", name, "out.nii", "--spacing", "1,1,1"]) == 1
        said = capsys.readouterr().err
        assert name in said and "Traceback" not in said
    assert not Path("out.nii").exists()


def test_a_result_does_not_take_the_place_of_its_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.nii", "like.nii"):
        nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), np.eye(4)), name)
    Path("link.nii").symlink_to("in.nii")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for output in ("in.nii", "link.nii", "like.nii"):
        assert main(["resample", "in.nii", output, "--like", "like.nii", "--overwrite"]) == 1
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_missing_libraries_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), np.eye(4)), "in.nii")
    find_spec = importlib.util.find_spec
    for missing, options in (("nibabel", ()), ("SimpleITK", ("--transform", "turn.tfm"))):

        def find(name: str, package: str | None = None, lacks: str = missing) -> Any:
            return None if name == lacks else find_spec(name, package)

        with monkeypatch.context() as patch:
            patch.setattr(importlib.util, "find_spec", find)
            assert main(["resample", "in.nii", "out.nii", *options]) == 1
        assert "bindless[space]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["--spacing", "1,1"], ["--spacing", "1,0,1"], ["--scale", "2"], ["--like", "in.png"], ["--transform", "flat.tfm"]],
)
def test_options_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.uint8), np.eye(4)), "in.nii")
    sitk.WriteTransform(sitk.Euler2DTransform(), "flat.tfm")
    assert main(["resample", "in.nii", "out.nii", *options]) == 1
    assert not Path("out.nii").exists()
