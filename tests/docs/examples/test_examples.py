"""Each program of docs/gallery/programs at a small size: against numpy's picture, on other devices, as a command."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import colour_grade
import common
import environment_sphere
import ground_plane
import numpy as np
import numpy.typing as npt
import pytest
import texture_atlas
import undistort
import video_frames
import volume_raycaster
from PIL import Image as Picture
from scipy.ndimage import map_coordinates

import bindless as bl
from tests.docs.examples import oracle
from tests.support.needs import lacks

Array = npt.NDArray[Any]
SIZE = 48
EXAMPLES = (volume_raycaster, texture_atlas, undistort, ground_plane, environment_sphere)
CALLS = (video_frames, colour_grade)  # without kernels of their own
FOLDER = Path(common.__file__).parent


def _close(picture: Array, wanted: Array, mean: float, largest: float) -> None:
    """Compare 8-bit weights with exact ones: a small mean error, and at most one texel's difference anywhere."""
    assert picture.shape[:2] == wanted.shape[:2]
    difference = np.abs(picture[..., :3].astype(np.float64) - wanted)
    assert difference.mean() < mean
    assert difference.max() < largest
    assert wanted.std() > 0.1  # the picture is not uniform


@pytest.mark.parametrize(
    ("example", "draw", "mean"),
    [
        (volume_raycaster, oracle.raycast, 5e-5),
        (texture_atlas, oracle.atlas, 4e-4),
        (undistort, oracle.lens, 3e-4),
        (environment_sphere, lambda size: oracle.Sphere(size).picture, 2e-4),
    ],
    ids=lambda value: value.__name__ if isinstance(value, ModuleType) else None,
)
def test_picture(queue: bl.Queue, example: Any, draw: Callable[[int], Array], mean: float) -> None:  # R33
    _close(example.render(queue, SIZE), draw(SIZE), mean, 6e-3)


def test_lens_is_undone(queue: bl.Queue) -> None:
    """Inside the lens's view, the rectified picture equals the scene, blurred by two rounds of filtering."""
    size = 256
    both = undistort.render(queue, size)
    scene = undistort.wall(size)
    bent, straight = both[:, :size], both[:, size:]
    middle = np.s_[32:-32, 32:-32]
    assert np.abs(straight[middle] - scene[middle]).mean() < 0.012
    assert np.abs(bent[middle] - scene[middle]).mean() > 0.05


def test_ground_plane(queue: bl.Queue) -> None:
    """Trilinear filtering matches numpy, and anisotropic filtering is closer to the mean of the footprints."""
    picture = ground_plane.render(queue, SIZE)[..., :3]
    floor = oracle.Floor(SIZE)
    blurred, true = floor.trilinear(), floor.mean()
    left, right = np.s_[:, :SIZE], np.s_[:, SIZE + 1 :]
    _close(picture[left], blurred[left], mean=3e-3, largest=0.03)  # a texture unit's levels have steps of 1/256
    assert np.abs(picture[right] - true[right]).mean() < 0.4 * np.abs(blurred[right] - true[right]).mean()
    sky = ~floor.hit
    sky[:, SIZE] = False
    np.testing.assert_allclose(picture[sky], floor.sky[sky], atol=1e-6)
    np.testing.assert_array_equal(picture[:, SIZE], 1)


def _need_codecs() -> None:
    if importlib.util.find_spec("av") is None:
        lacks("av", "pip install av")


def test_straight_lines(queue: bl.Queue) -> None:
    """Frames are drawn again: by the ideal camera from the wall itself, which no codec and no lens has touched."""
    _need_codecs()
    size = 96
    pairs = video_frames.straighten(queue, video_frames.film(queue, size), size)
    assert len(pairs) == 3
    with bl.Image(video_frames.house(video_frames.bay(size)), addressing="repeat", queue=queue) as image:
        for (frame, picture), number in zip(pairs, video_frames.SHOWN):
            view = {"to": video_frames.cameras(size)[1], "rotation": video_frames.rotation(number)}
            wanted = image.reproject(video_frames.wall(size), **view).astype(int)
            assert frame.shape == picture.shape == wanted.shape
            assert np.abs(picture - wanted).mean() < 4
            assert np.abs(frame - wanted).mean() > 20
            assert video_frames.bow(picture) < 0.4 < 4 < video_frames.bow(frame)


def test_formats_of_decoders(queue: bl.Queue) -> None:
    """NV12 and three planes, both with padding in their rows, stand for the same frame."""
    _need_codecs()
    frame = video_frames.codecs().VideoFrame.from_ndarray(common.photograph("chelsea.png")[:90, :150, :3].copy())
    frame = frame.reformat(format="yuv420p")
    pictures = []
    for name, (make, update) in video_frames.IMAGES.items():
        planes = video_frames.planes(frame.reformat(format=name))
        assert planes[0].shape == (90, 150)
        with make(*planes, queue=queue) as image:
            update(image, *planes)
            pictures.append(image.numpy())
    np.testing.assert_array_equal(*pictures)
    assert pictures[0].std() > 20


def test_missing_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(SystemExit):
        video_frames.codecs()


def test_grades(queue: bl.Queue, tmp_path: Path) -> None:
    """The trilinear grade is scipy's of the same file; the tetrahedral one is near; the texture unit has steps."""
    file = tmp_path / "look.cube"
    colour_grade.write_cube(file)
    entries, count = np.loadtxt(file, skiprows=4), colour_grade.ENTRIES
    shaper, table = entries[:count], entries[count:].reshape(*[colour_grade.EDGE] * 3, 3)
    lut = bl.Lut3D.open(file)
    ends = np.linspace(0, colour_grade.BRIGHTEST, count)
    for view in (colour_grade.WHOLE, colour_grade.PATCH):
        light = colour_grade.sunset(SIZE, view)
        assert light.shape == (SIZE, SIZE * 4 // 3, 3)
        place = np.stack([np.interp(light[..., c], ends, shaper[:, c]) for c in range(3)]) * (colour_grade.EDGE - 1)
        wanted = np.stack([map_coordinates(table[..., c], place[::-1], order=1) for c in range(3)], -1)
        np.testing.assert_allclose(lut(light, "trilinear", queue=queue), wanted, atol=3e-6)
        np.testing.assert_allclose(lut(light, queue=queue), wanted, atol=0.03)
        by_unit = colour_grade.by_texture_unit(lut, light, queue)
        np.testing.assert_allclose(by_unit, wanted, atol=2e-3)
    assert colour_grade.levels(lut(light, queue=queue)) > 3 * colour_grade.levels(by_unit)  # of the part
    picture = colour_grade.render(queue, SIZE)
    assert picture.shape == (2 * SIZE + 4, SIZE * 4 + 8, 3)
    assert np.ptp(picture[SIZE + 4 :, SIZE:]) > 0.5


@pytest.mark.skipif(
    not bl.kernels_available() and "BINDLESS_TEST_KERNELS" in os.environ,
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)
@pytest.mark.parametrize("example", EXAMPLES + CALLS, ids=lambda module: module.__name__)
def test_command(queue: bl.Queue, example: Any, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """``python example.py --device D --size N -o FILE`` writes the picture."""
    if example is video_frames:
        _need_codecs()
    file = tmp_path / "picture.png"
    device = pytestconfig.getoption("--device").removeprefix("processor_")
    arguments = ["--device", device, "--size", str(SIZE), "-o", str(file)]
    program = FOLDER / f"{example.__name__}.py"
    done = subprocess.run(
        [sys.executable, str(program), *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert queue.device.name in done.stdout
    np.testing.assert_array_equal(np.asarray(Picture.open(file)), common.byte_levels(example.render(queue, SIZE)))


def test_all_examples_are_tested() -> None:
    elsewhere = {"vulkan_share", "import_memory_and_semaphores"}  # tests/interop/vulkan
    learning = {
        "calibrate_lens",
        "fit_texture",
        "register_volume",
        "register_phantoms",
        "optical_flow",
        "learn_environment",
    }  # test_training_examples.py
    files = {file.stem for file in FOLDER.glob("*.py")} - {"common", "training", "vulkan_headless"}
    kernels = {example.__name__ for example in EXAMPLES} | elsewhere
    assert kernels == {file.stem for file in FOLDER.glob("*.cl")}
    assert files == kernels | learning | {example.__name__ for example in CALLS}
    page = (FOLDER / "README.md").read_text()
    for name in files:
        assert f"({name}.py)" in page
        assert f"pictures/{name}." in page


def test_pictures_are_small() -> None:
    files = list((FOLDER / "pictures").iterdir())
    assert len(files) >= len(EXAMPLES)
    for file in files:
        assert file.stat().st_size <= 60_000, file


@pytest.mark.against_reference
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda module: module.__name__)
def test_as_on_the_reference(queue: bl.Queue, example: Any) -> None:
    """Sines and powers may differ by 4 ulp of 1. The lens example uses neither: it is equal bit for bit."""
    with bl.Queue("reference") as reference:
        wanted = example.render(reference, SIZE)
    picture = example.render(queue, SIZE)
    np.testing.assert_allclose(picture, wanted, rtol=0, atol=4 * np.finfo(np.float32).eps)
    if example is undistort:
        np.testing.assert_array_equal(picture, wanted)
