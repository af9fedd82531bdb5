"""The examples that learn, at a small size: what they find is close to what they were given."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image as Picture

torch = pytest.importorskip("torch", minversion="2.5", reason="pip install torch")

import calibrate_lens  # noqa: E402
import fit_texture  # noqa: E402
import learn_environment  # noqa: E402
import optical_flow  # noqa: E402
import register_phantoms  # noqa: E402
import register_volume  # noqa: E402
import training  # noqa: E402
from scipy.ndimage import map_coordinates  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

import bindless as bl  # noqa: E402
from bindless.camera.lens import Lens  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # torch's, of its own formulas
    pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning"),
]

CPU = torch.device("cpu")
EXAMPLES = (calibrate_lens, fit_texture, register_volume, register_phantoms, optical_flow, learn_environment)


def test_texture_is_found() -> None:
    """In the middle, which most views show: much closer than the grey start, and than views, which are coarser."""
    size = 48
    views, found, wanted = fit_texture.fit(CPU, size, 60)
    coarse = torch.nn.functional.avg_pool2d(wanted.permute(2, 0, 1)[None], 4)
    best_view = torch.nn.functional.interpolate(coarse, (size, size), mode="bilinear")[0].permute(1, 2, 0)
    found, best_view, grey = (
        (picture - wanted)[8:-8, 8:-8].abs().mean() for picture in (found, best_view, torch.full_like(wanted, 0.5))
    )
    assert views.shape == (fit_texture.VIEWS, 3, size // 4, size // 4)
    assert found < 0.5 * best_view
    assert found < grey / 4


def test_projection() -> None:
    """The projection from the moved source and detector, computed by scipy in double precision."""
    size, pose = 20, np.array(register_volume.TRUE_POSE)
    volume = register_volume.phantom(size)
    found = register_volume.project(torch.from_numpy(volume), torch.tensor(pose, dtype=torch.float32), size)
    places = ((np.arange(size) + 0.5) / size - 0.5) * 1.6
    target = np.stack([*np.meshgrid(places, places), np.full((size, size), register_volume.DETECTOR)], -1)
    source = np.array([0, 0, register_volume.SOURCE])
    along = (np.arange(3 * size) + 0.5) / (3 * size)
    rays = source + (target - source)[..., None, :] * along[:, None]
    inside = (Rotation.from_rotvec(pose[:3]).apply(rays.reshape(-1, 3)) + pose[3:]).reshape(rays.shape)
    values = map_coordinates(
        volume.astype(float), np.moveaxis((inside[..., ::-1] + 0.5) * size - 0.5, -1, 0), order=1, mode="grid-constant"
    )
    wanted = values.mean(-1) * np.linalg.norm(target - source, axis=-1)
    np.testing.assert_allclose(found, wanted, atol=5e-6)
    assert wanted.max() > 0.1


def test_pose_is_found() -> None:
    wanted, (before, after), pose = register_volume.register(CPU, 24, 60)
    error = np.abs(pose.numpy() - register_volume.TRUE_POSE)
    assert np.degrees(error[:3]).max() < 0.5
    assert error[3:].max() * 24 < 0.25
    assert (after - wanted).abs().max() < 0.1 * (before - wanted).abs().max()


def test_scans_in_millimetres_come_together() -> None:
    """The anatomy is that of the moving scan: of a point, its map and the breath lead to the same density."""
    fixed, pixels, moving, others = register_phantoms.scans(24)
    places = register_phantoms.points_of(fixed)
    turn = register_phantoms.TURN
    there = register_phantoms.breathe(places) @ turn[:3, :3].T + turn[:3, 3]
    index = (there - moving.index_matrix[:3, 3]) @ np.linalg.inv(moving.index_matrix[:3, :3]).T
    values = map_coordinates(others, np.moveaxis(index, -1, 0)[::-1], order=1, cval=np.nan)
    assert np.nanmean(np.abs(values - pixels)) < 0.1
    still, stages, distances = register_phantoms.register(CPU, 32, 40)
    start, affine, end = ((stage - still).square().mean() for stage in stages)
    assert end < affine < start and end < 0.2 * start
    assert distances[2] < 0.6 * distances[1] < 0.3 * distances[0] + 2


def test_lens_is_found() -> None:
    """Positions on a mesh of the straightened picture are those of the true lens, to a twentieth of a pixel."""
    size = 128
    photo, scene, numbers = calibrate_lens.fit(CPU, size, 8)
    mesh = np.stack(np.meshgrid(np.arange(40, 90, 10), np.arange(40, 90, 10)), -1)

    def places(values: torch.Tensor) -> np.ndarray:
        camera = bl.Camera(calibrate_lens.matrix_of(values, size).numpy(), values[4:].numpy())
        return Lens.between(camera, calibrate_lens.pinhole(size), np.eye(3)).move(mesh)

    start, true = (torch.tensor(each, dtype=torch.float64) for each in (calibrate_lens.START, calibrate_lens.TRUE))
    assert photo.shape == scene.shape == (size, size, 1)
    away = [np.linalg.norm(places(values) - places(true), axis=-1) for values in (start, numbers)]
    assert away[0].max() > 2 and away[1].max() < 0.05


def test_flow_is_found() -> None:
    first, second = optical_flow.frames(CPU, 64)
    flow, true = optical_flow.estimate(first, second, 60), optical_flow.motion(64)
    assert (flow - true).norm(dim=-1).mean() < 0.03 * true.norm(dim=-1).max()


def test_environment_is_found() -> None:
    wanted, found, cubemap = learn_environment.fit(CPU, 48, 60)
    assert (found - wanted).abs().mean() < 0.02
    around = torch.nn.functional.normalize(torch.randn(500, 3, generator=torch.Generator().manual_seed(2)), dim=-1)
    error = learn_environment.read(cubemap, around) - learn_environment.landscape(around, 48)
    assert error.abs().mean() < 0.04
    assert wanted.std() > 0.1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_command_line(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "picture.png"
    training.main(
        example.learn, example.__doc__, 16, 2, ["--device", "cpu", "--size", "24", "--steps", "3", "-o", str(path)]
    )
    assert f"wrote {path}" in capsys.readouterr().out
    picture = np.asarray(Picture.open(path))
    assert picture.shape[0] == 24
    assert picture.std() > 10
