"""``bindless view``: pictures in files, errors that name the way out, and an end by Ctrl-C."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.cli import main
from bindless.viewer.files import open_source
from bindless.viewer.navigation import drag, turn, zoom
from bindless.viewer.view import View

image = pytest.importorskip("PIL.Image", reason="pip install 'bindless[view]'")

RNG = np.random.default_rng(5)
DEVICE = "reference:cpu"


def saved(file: Path, *options: str) -> Any:
    """The picture that the command writes."""
    picture = file.with_suffix(".out.png")
    assert main(["view", str(file), "--save", str(picture), "--device", DEVICE, "--memory", "64MB", *options]) == 0
    return np.asarray(image.open(picture))


def test_a_picture_file(tmp_path: Path) -> None:
    pixels = RNG.integers(0, 256, (90, 160, 3)).astype(np.uint8)
    image.fromarray(pixels).save(tmp_path / "in.png")
    picture = saved(tmp_path / "in.png", "--size", "160x90", "--view", '{"extent": 90}')
    np.testing.assert_array_equal(picture, pixels)


def test_an_array_of_numpy_and_a_link(tmp_path: Path) -> None:
    volume = RNG.integers(0, 1000, (30, 40, 50)).astype(np.uint16)
    np.save(tmp_path / "in.npy", volume)
    link = 'http://127.0.0.1:1/token/#{"mode":"max","extent":40,"windows":[[0,1000]]}'
    picture = saved(tmp_path / "in.npy", "--size", "50x40", "--view", link)
    np.testing.assert_allclose(picture[..., 0], volume.max(0) / 1000 * 255, atol=1)


def test_a_tiff_with_planes(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile", reason="pip install 'bindless[view]'")
    volume = RNG.integers(0, 255, (12, 40, 50)).astype(np.uint8)
    for name, options in (("plain.tif", {}), ("packed.tif", {"compression": "zlib"})):
        tifffile.imwrite(tmp_path / name, volume, photometric="minisblack", metadata={"axes": "ZYX"}, **options)
        source = open_source(str(tmp_path / name), None)  # type: ignore[arg-type]
        assert source.levels[0].shape == volume.shape and source.channels == 1
        part = source.levels[0].read((slice(2, 5), slice(0, 7), slice(1, 9)))
        np.testing.assert_array_equal(part[..., 0], volume[2:5, :7, 1:9])


@pytest.mark.parametrize(("channel_type", "size"), [("bc1_unorm", 8), ("bc4_unorm", 8), ("bc6h_ufloat", 16)])
def test_parts_of_a_texture_with_levels(tmp_path: Path, channel_type: str, size: int) -> None:
    """Tiles are decoded alone, to the pixels of the whole."""
    queue, path = bl.Queue("reference"), tmp_path / "in.dds"
    grids = [(33, 50), (17, 25), (8, 13)]
    blocks = [RNG.integers(0, 120, (*grid, size)).astype(np.uint8) for grid in grids]
    with bl.Image.from_blocks(blocks, (130, 199), channel_type, mipmaps=True, queue=queue) as texture:
        texture.save(path)
        wholes = [np.asarray(texture.numpy(level=level)) for level in range(3)]
    source = open_source(str(path), queue)
    parts = (slice(0, 5), slice(2, 9)), (slice(7, 32), slice(11, 12)), (slice(1, 30, 9), slice(0, 49, 6))
    for level, whole in zip(source.levels, wholes):
        assert level.shape == (1, *whole.shape[:2])
        channels = whole.reshape(*whole.shape[:2], -1)[..., : source.channels]
        for rows, columns in parts:
            read = np.asarray(level.read((slice(0, 1), rows, columns)))[0]
            np.testing.assert_array_equal(read, channels[rows, columns])
    assert saved(path, "--size", "199x130", "--view", '{"extent": 130}').std() > 5


def test_layers_faces_and_volumes_of_textures() -> None:
    queue, folder = bl.Queue("reference"), Path(__file__).parents[1] / "data" / "ktx2"
    volume = open_source(str(folder / "fp16_volume.ktx2"), queue)
    assert volume.levels[0].shape == (2, 3, 4) and volume.channels == 1
    for name, count in (("rgba8_layers", 3), ("bc7_cubemap", 6)):
        path = str(folder / f"{name}.ktx2")
        options = {"layers": True} if count == 6 else {}
        with bl.Image.open(path, queue=queue, **options) as image:
            wholes = np.asarray(image.numpy())
        for layer in range(count):
            level = open_source(path, queue, time=layer).levels[0]
            read = np.asarray(level.read(tuple(slice(0, size) for size in level.shape)))[0]
            np.testing.assert_array_equal(read, wholes[layer])
        with pytest.raises(bl.InvalidError):
            open_source(path, queue, time=count)


def test_a_texture_of_pixels_and_one_that_is_cut(tmp_path: Path) -> None:
    queue, path = bl.Queue("reference"), tmp_path / "in.dds"
    pixels = RNG.integers(0, 256, (61, 80, 4)).astype(np.uint8)
    with bl.Image(pixels, mipmaps=True, queue=queue) as texture:
        texture.save(path)
        half = np.asarray(texture.numpy(level=1))
    fine, coarse = open_source(str(path), queue).levels[:2]
    np.testing.assert_array_equal(fine.read((slice(0, 1), slice(3, 50), slice(7, 9)))[0], pixels[3:50, 7:9])
    np.testing.assert_array_equal(coarse.read((slice(0, 1), slice(3, 20), slice(7, 9)))[0], half[3:20, 7:9])
    for content in (path.read_bytes()[:-300], b""):
        path.write_bytes(content)
        with pytest.raises(bl.InvalidError):
            open_source(str(path), queue)


def test_nifti_lies_in_millimetres(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel", reason="pip install 'bindless[space]'")
    volume = RNG.integers(0, 1000, (30, 20, 10)).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(volume, np.diag([0.5, 1.0, 2.0, 1.0])), tmp_path / "in.nii")
    source = open_source(str(tmp_path / "in.nii"), None)  # type: ignore[arg-type]
    assert source.spacing == (0.5, 1.0, 2.0) and source.levels[0].shape == (10, 20, 30)
    np.testing.assert_array_equal(source.levels[0].read((slice(3, 4),) * 3)[..., 0], volume[3:4, 3:4, 3:4])


@pytest.mark.parametrize(
    "options",
    [
        ["/no/such/file"], [__file__], ["in.npy", "--memory", "1"], ["in.npy", "--save", "x.jpg"],
        ["in.npy", "--save", "x.png", "--size", "big"], ["in.npy", "--save", "x.png", "--view", "{"],
        ["in.npy", "--channels", "a"], ["in.npy", "--channels", "1"], ["in.npy", "--time", "1"], ["objects.npy"],
        ["in.npy", "--view", '{"mode":"x"}'], ["in.npy", "--save", "/no/such/folder/x.png"],
    ],
)  # fmt: skip
def test_wrong_calls_end_with_1(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", np.zeros((4, 5), np.uint8))
    np.save("objects.npy", np.array([None, {}]), allow_pickle=True)
    assert main(["view", *options, "--device", DEVICE]) == 1
    assert capsys.readouterr().err.startswith("bindless view: ")
    assert not list(tmp_path.glob(".*.png"))


PROGRAM = """
import signal, sys
from bindless.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored, as under nohup
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.zeros((40, 50), np.uint8))
    command = [sys.executable, "-c", PROGRAM, "view", str(tmp_path / "in.npy"), "--device", DEVICE]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://127.0.0.1:(\d+)(/\S+/)", process.stdout.readline())
        assert address is not None
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=60)) as connection:
            connection.request("GET", address[2])
            assert connection.getresponse().status == 200
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0 and errors == ""


def test_drags_turn_or_move() -> None:
    view = View("slice", (0, 0, 0), 100.0, (1, 0, 0, 0), ((0, 1),), ("grey",))
    np.testing.assert_allclose(drag(view, True, 50, (5, -3), False).centre, (-10, 6, 0))
    turned = drag(view, True, 50, (5, 0), True)
    np.testing.assert_allclose(turned.axes() @ turned.axes().T, np.eye(3), atol=1e-12)
    assert turned.axes()[0, 2] < 0  # what is in front moves to the right
    np.testing.assert_allclose(turn(view, 2, np.pi / 2).axes(), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert zoom(view, 0.5).extent == 50


def test_a_widget_of_notebooks() -> None:
    pytest.importorskip("jupyter_rfb", reason="pip install 'bindless[view]'")
    import bindless as bl

    with bl.Queue(DEVICE) as queue:
        widget = bl.view(RNG.integers(0, 255, (20, 30, 40)).astype(np.uint8), queue, memory="16MB")
        widget.handle_event({"event_type": "resize", "width": 40, "height": 30, "pixel_ratio": 1.0})
        assert widget.get_frame().shape == (30, 40, 3)
        before = widget.view
        common = {"modifiers": (), "button": 1}
        widget.handle_event({"event_type": "pointer_down", "x": 5, "y": 5, "buttons": (1,), **common})
        widget.handle_event({"event_type": "pointer_move", "x": 9, "y": 5, "buttons": (1,), **common})
        assert widget.view.centre[0] < before.centre[0]
        widget.handle_event({"event_type": "key_down", "key": "2", "modifiers": ()})
        assert widget.view.mode == "max"
        widget.handle_event({"event_type": "close"})
