"""``bindless resample`` from NIfTI to NIfTI, against scipy in pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

nibabel = pytest.importorskip("nibabel", reason="pip install 'bindless[space]'")
sitk = pytest.importorskip("SimpleITK", reason="pip install 'bindless[space]'")
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
    options = ["--spacing", "1.2,1.0,2.0"]
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
