"""The Vulkan examples of docs/gallery/programs: their pictures compared with numpy's, and their command lines."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image as Picture

import bindless as bl
from bindless.python_kernels.compiler_process import INSTALL, missing_packages
from tests.interop.vulkan.vulkan_rig import Rig, drivers

pytestmark = pytest.mark.vulkan

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "gallery" / "programs"
SIZE = 48
LIGHTS = np.array([(6, 1.2, 0.4), (0.5, 3, 0.8), (0.3, 0.8, 7), (4, 3.4, 0.6), (2.4, 0.4, 3.2)])


@pytest.fixture
def example(rig: Rig, draws: None, manifest: str | None, monkeypatch: pytest.MonkeyPatch):
    """Import an example and make it use the Vulkan driver under test."""
    monkeypatch.syspath_prepend(str(FOLDER))
    with drivers(manifest):
        yield lambda name: __import__(name)


def scene(size, turn, background):
    """Five triangles evaluated at the pixel centres, shape (size, size, 3)."""
    y, x = (np.indices((size, size)) + 0.5) / size * 2 - 1
    found = np.empty((size, size, 3))
    found[:] = background
    for index, light in enumerate(LIGHTS):
        place = 2 * np.pi * index / 5 + turn
        corners = 2 * np.pi * np.arange(3) / 3 - 2 * turn
        px = 0.55 * np.cos(place) + 0.25 * np.cos(corners)
        py = 0.55 * np.sin(place) + 0.25 * np.sin(corners)
        sides = [
            (px[(i + 1) % 3] - px[i]) * (y - py[i]) - (py[(i + 1) % 3] - py[i]) * (x - px[i]) > 0 for i in range(3)
        ]
        found[np.all(sides, 0) | ~np.any(sides, 0)] = light
    return found


def developed(light, exposure):
    """Blur and tone mapping in double precision, as 8-bit display codes."""
    size = len(light)
    padded = np.pad(light, ((6, 6), (6, 6), (0, 0)), mode="edge")
    total, weights = np.zeros_like(light), 0.0
    for j in range(-5, 6, 2):
        for i in range(-5, 6, 2):
            weight = np.exp(-(i * i + j * j) / 16)
            rows = [padded[6 + j + a : 6 + j + a + size, 6 + i + b : 6 + i + b + size] for a in (0, 1) for b in (0, 1)]
            total += weight * np.mean(rows, 0)
            weights += weight
    mixed = 0.7 * light + 0.3 * total / weights
    return np.floor(255 * (1 - np.exp(-exposure * mixed)) ** (1 / 2.2) + 0.5)


def test_share(queue, example):
    module = example("vulkan_share")
    picture = module.render(queue, SIZE)
    assert picture.shape == (SIZE, 3 * SIZE, 4)
    codes = np.rint(picture * 255)
    assert (codes[..., 3] == 255).all()
    for frame in range(module.FRAMES):
        light = scene(SIZE, module.turn_of(frame), module.BACKGROUND[:3]).astype(np.float16).astype(np.float64)
        wanted = developed(light, module.EXPOSURE)
        off = np.abs(codes[:, frame * SIZE : (frame + 1) * SIZE, :3] - wanted)
        # Powers and filter weights of a texture unit may round to the next code. A rasterizer with 1/16 pixel precision
        # classifies a few edge pixels differently, and their light spreads to the pixels around them.
        assert off.mean() < 0.5
        assert (off > 1).mean() < 0.06
        assert wanted.std() > 20


def test_example_of_the_specification(queue, example, rig):
    module = example("import_memory_and_semaphores")
    if not rig.has_semaphores:
        with pytest.raises(SystemExit, match="no semaphores"):
            module.render(queue, SIZE)
        return
    picture = module.render(queue, SIZE)
    left, right = picture[:, :SIZE], picture[:, SIZE:]
    np.testing.assert_array_equal(right, left * np.float32(0.5))
    wanted = scene(SIZE, module.TURN, module.BACKGROUND[:3])
    assert (np.abs(left[..., :3] - wanted).max(-1) > 1e-6).mean() < 0.002  # a few edge pixels at most


@pytest.mark.skipif(bool(missing_packages()), reason=f"kernels in Python need numba: {INSTALL}")
@pytest.mark.parametrize("name", ["vulkan_share", "import_memory_and_semaphores"])
def test_kernels_in_python(queue, example, rig, monkeypatch, name):
    """The programs with the kernels of tests/python_kernels: the same pictures, bit for bit."""
    module = example(name)
    if name == "import_memory_and_semaphores" and not rig.has_semaphores:
        pytest.skip("the Vulkan driver exports no semaphores")
    wanted = module.render(queue, SIZE)
    from tests.python_kernels.test_sharing_in_python import KERNELS

    monkeypatch.setattr(module, "load_kernels", lambda _, source: SimpleNamespace(get_kernel=KERNELS.__getitem__))
    np.testing.assert_array_equal(module.render(queue, SIZE), wanted)


@pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'")
def test_command(queue, example, pytestconfig, tmp_path):
    """``python vulkan_share.py --device D --size N -o FILE`` writes the picture."""
    file = tmp_path / "picture.png"
    device = pytestconfig.getoption("--device")
    program = [
        sys.executable,
        str(FOLDER / "vulkan_share.py"),
        "--device",
        device,
        "--size",
        str(SIZE),
        "-o",
        str(file),
    ]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    picture = example("vulkan_share").render(queue, SIZE)
    np.testing.assert_array_equal(np.asarray(Picture.open(file)), np.rint(picture[..., :3] * 255))


@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="needs glslang: apt install glslang-tools")
@pytest.mark.parametrize("stage", ["vert", "frag"])
def test_shaders_are_what_the_sources_say(stage, tmp_path):
    source, made = FOLDER / f"vulkan_share.{stage}", tmp_path / "shader.spv"
    subprocess.run(
        ["glslangValidator", "-V", "-Os", str(source), "-o", str(made)],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )
    words, kept = (np.frombuffer(file.read_bytes(), "<u4") for file in (made, source.with_suffix(f".{stage}.spv")))
    if words[2] != kept[2]:
        pytest.skip(f"another glslang: generator {words[2]:#x}, that of the kept shader is {kept[2]:#x}")
    np.testing.assert_array_equal(words, kept)


def test_pages_tell_of_the_examples():
    page = (FOLDER / "README.md").read_text()
    for name in ("vulkan_share", "import_memory_and_semaphores"):
        assert f"({name}.py)" in page
        assert f"pictures/{name}." in page
