"""The command line, called as a function and as a process."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

import bindless as bl
from bindless.cli import main
from bindless.cli.doctor_sampling import KnownImage
from bindless.cli.resize import parse_size
from tests.support.error_checks import raises


@pytest.fixture
def selector(device: bl.Device) -> str:
    return f"{device.backend}:*:{device.index}"


def process(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bindless", *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# ---------------------------------------------------------------------- ls


def test_ls_has_the_line_shape_of_sycl_ls(capsys: pytest.CaptureFixture[str], device: bl.Device, selector: str) -> None:
    assert main(["ls"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(bl.get_devices())
    for line in lines:
        assert re.fullmatch(r"\[(\w+):(cpu|gpu|accelerator)\]\[\1:\d+\] [^,]+, .+ \S+ \[.+\]", line), line
    assert main(["ls", "--device", selector]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"[{device.backend}:{device.type}][{device.backend}:{device.index}] ")
    assert device.name in line and line.endswith(f"[{device.driver_version}]")


def test_ls_verbose_tells_aspects_and_limits(
    capsys: pytest.CaptureFixture[str], device: bl.Device, selector: str
) -> None:
    assert main(["ls", "-v", "--device", selector]) == 0
    text = capsys.readouterr().out
    for aspect in bl.Aspect:
        if aspect.value.startswith("ext_oneapi_"):
            assert f"{'yes' if device.has(aspect) else 'no ':<3}  {aspect}\n" in text
    assert f"image_row_pitch_align: {device.get_info('image_row_pitch_align')}\n" in text
    assert f"image2d_max_width: {device.get_info('image2d_max_width')}\n" in text


def test_a_selector_that_is_none_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "--device", "nonsense:of:nobody"]) == 1
    assert "nonsense" in capsys.readouterr().err
    assert main(["ls", "--device", "reference:gpu"]) == 1


def test_the_module_is_the_command() -> None:
    done = process("ls", ONEAPI_DEVICE_SELECTOR="reference:*")
    assert done.returncode == 0 and done.stdout.startswith("[reference:cpu][reference:0]"), done.stderr
    assert process("--version").stdout.startswith("bindless ")
    wrong = process("paint")
    assert wrong.returncode == 2 and "paint" in wrong.stderr
    assert process().returncode == 2


# ---------------------------------------------------------------------- ze-driver


@pytest.mark.skipif(sys.platform != "linux", reason="the Level Zero driver is built on Linux alone")
def test_ze_driver_tells_a_path_that_exports_the_tables_of_the_loader(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ze-driver", "--path"]) == 0
    path = Path(capsys.readouterr().out.rstrip("\n"))
    assert path.is_absolute()
    assert ctypes.CDLL(str(path)).zeGetDriverProcAddrTable(0x10004, None) == 0x78000007  # INVALID_NULL_POINTER


@pytest.mark.skipif(sys.platform != "linux", reason="the Level Zero driver is built on Linux alone")
def test_ze_driver_finds_the_driver_of_an_editable_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An editable install keeps sources and compiled files in different folders."""
    monkeypatch.setattr(bl.drivers, "__file__", str(tmp_path / "__init__.py"))
    assert main(["ze-driver", "--path"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()


# ---------------------------------------------------------------------- doctor


def test_doctor_tells_every_driver_and_tries_every_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for backend, variable in (
        ("cuda", "BINDLESS_LIBCUDA"),
        ("level_zero", "BINDLESS_LIBZE_LOADER"),
        ("opencl", "BINDLESS_LIBOPENCL"),
    ):
        assert f"\n{backend}: " in text and f"{variable}: " in text
    assert text.count("sampling: right") == text.count("samplers alone read: ") == len(bl.get_devices())
    assert "bc7_srgb" in text  # of the reference device
    assert "reference: works" in text and "default device: " in text and text.endswith("all well\n")


def test_doctor_finds_a_format_that_is_sampled_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = KnownImage.fault

    def fault(image: KnownImage, queue: bl.Queue) -> str:
        return "42 is 234" if str(image) == "1D array fp16 x1" else run(image, queue)

    monkeypatch.setattr(KnownImage, "fault", fault)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "sampling: wrong of 1 of " in text and "1D array fp16 x1: 42 is 234" in text and "fix: " in text


def test_doctor_tells_what_kernels_are_built_with(tmp_path: Path) -> None:
    done = process("doctor", BINDLESS_LLVM=str(tmp_path), BINDLESS_CACHE="", BINDLESS_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0 and f"BINDLESS_LLVM={tmp_path}: clang, llvm-link, opt, llc not found" in done.stdout
    assert f"cache of binaries: {tmp_path}, up to 256 MiB" in done.stdout and "CUDA C++: " in done.stdout
    assert "cache of binaries: off" in process("doctor", BINDLESS_CACHE="0").stdout


def test_doctor_finds_a_variable_that_misleads(tmp_path: Path) -> None:
    missing = str(tmp_path / "libcuda.so.1")
    done = process("doctor", BINDLESS_LIBCUDA=missing)
    assert done.returncode == 1
    assert f"tried {missing}: no such file" in done.stdout
    assert "fix: set BINDLESS_LIBCUDA" in done.stdout and "reference: works" in done.stdout
    broken = tmp_path / "broken.so"
    broken.write_text("no library")
    done = process("doctor", BINDLESS_LIBOPENCL=str(broken))
    assert done.returncode == 1 and str(broken) in done.stdout and "fix: set BINDLESS_LIBOPENCL" in done.stdout


# ---------------------------------------------------------------------- resize


def test_resize_writes_the_mean_of_areas(tmp_path: Path, capsys: pytest.CaptureFixture[str], selector: str) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (40, 60, 3)).astype(np.uint8)
    source, target = str(tmp_path / "in.png"), str(tmp_path / "out.png")
    Picture.fromarray(pixels).save(source)
    assert main(["resize", source, target, "--size", "15x10", "--device", selector]) == 0
    assert "60 x 40" in capsys.readouterr().out
    expected = pixels.reshape(10, 4, 15, 4, 3).mean((1, 3))
    assert np.abs(np.asarray(Picture.open(target)) - expected).max() <= 0.5
    assert main(["resize", source, target, "--size", "120x", "--filtering", "nearest", "--device", selector]) == 0
    np.testing.assert_array_equal(np.asarray(Picture.open(target)), pixels.repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("mode", ["L", "1", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_resize_of_every_kind_of_picture(tmp_path: Path, selector: str, mode: str) -> None:
    ramp = np.linspace(0, 255, 24 * 16).reshape(16, 24).astype(np.uint8)
    picture = Picture.fromarray(np.dstack([ramp, ramp[::-1], ramp[:, ::-1]]))
    picture = Picture.fromarray(ramp.astype(np.uint16) * 257) if mode == "I;16" else picture.convert(mode)
    source, target = str(tmp_path / "in.tif"), str(tmp_path / "out.tif")
    picture.save(source)
    assert main(["resize", source, target, "--size", "12x8", "--device", selector]) == 0
    result = Picture.open(target)
    assert result.size == (12, 8)
    assert result.mode == {"1": "L", "P": "RGB", "CMYK": "RGB"}.get(mode, mode)
    wanted = picture.convert("RGB") if mode in ("P", "CMYK") else picture.convert("L") if mode == "1" else picture
    mean = np.asarray(wanted).astype(float).reshape(8, 2, 12, 2, -1).mean((1, 3))
    got = np.asarray(result).astype(float).reshape(8, 12, -1)
    colours = slice(0, 1) if mode == "LA" else slice(0, 3)
    assert np.abs(got - mean)[..., colours].max() <= (1.5 if mode in ("LA", "RGBA") else 0.5)


def test_resize_does_not_bleed_the_colour_of_transparent_pixels(tmp_path: Path, selector: str) -> None:
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:, ::2] = (255, 0, 0, 255)
    pixels[:, 1::2] = (0, 255, 0, 0)
    source, target = str(tmp_path / "in.png"), str(tmp_path / "out.png")
    Picture.fromarray(pixels).save(source)
    assert main(["resize", source, target, "--size", "2x2", "--device", selector]) == 0
    red, green, _, alpha = np.asarray(Picture.open(target)).reshape(-1, 4).T
    assert (red >= 254).all() and (green == 0).all() and (np.abs(alpha.astype(int) - 128) <= 1).all()


@pytest.mark.parametrize("size", ["20000000x20000000", "1000000000000x1", "99999999999999999999x"])
def test_resize_to_what_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], selector: str, size: str
) -> None:
    source, target = str(tmp_path / "in.png"), tmp_path / "out.png"
    Picture.fromarray(np.zeros((4, 4, 3), np.uint8)).save(source)
    assert main(["resize", source, str(target), "--size", size, "--device", selector]) == 1
    said = capsys.readouterr()
    assert size in said.err and "Traceback" not in said.err and not target.exists()


def test_resize_turns_a_photograph_as_its_camera_says(tmp_path: Path, selector: str) -> None:
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[:, :20] = 200
    source, target = str(tmp_path / "in.png"), str(tmp_path / "out.png")
    exif = Picture.Exif()
    exif[0x0112] = 6  # orientation: a quarter turn
    Picture.fromarray(pixels).save(source, exif=exif)
    assert main(["resize", source, target, "--size", "10x20", "--device", selector]) == 0
    result = np.asarray(Picture.open(target))
    assert (result[:10] == 200).all() and (result[10:] == 0).all()


@pytest.mark.parametrize(
    ("text", "size"),
    [("640x480", (640, 480)), ("320x", (320, 160)), ("x50", (100, 50)), ("1X1", (1, 1)), ("1x", (1, 1))],
)
def test_sizes(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text, 200, 100) == size


@pytest.mark.parametrize("text", ["640", "x", "0x10", "10x0", "-1x10", "axb", "1x2x3", ""])
def test_sizes_that_are_none(text: str) -> None:
    with raises(bl.InvalidError, names="--size"):
        parse_size(text, 200, 100)


def test_the_input_of_resize_is_not_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in.png"
    Picture.new("L", (4, 4)).save(source)
    (tmp_path / "link.png").symlink_to("in.png")
    (tmp_path / "hard.png").hardlink_to(source)
    before = source.read_bytes()
    for name in ("in.png", "link.png", "hard.png"):
        assert main(["resize", str(source), str(tmp_path / name), "--size", "2x2", "--device", "reference:*"]) == 1
    assert source.read_bytes() == before


def test_a_damaged_picture_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, half, old = tmp_path / "good.png", tmp_path / "half.png", tmp_path / "old.png"
    Picture.effect_noise((40, 40), 9).save(good)
    half.write_bytes(good.read_bytes()[:300])
    old.write_bytes(b"precious")
    assert main(["resize", str(half), str(old), "--size", "2x2", "--device", "reference:*"]) == 1
    assert "half.png" in capsys.readouterr().err and old.read_bytes() == b"precious"


def test_the_source_of_a_build_is_not_replaced(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cl"
    source.write_text("kernel void f(global int *y) { y[0] = 1; }\n")
    (tmp_path / "link.blk").symlink_to("kernel.cl")
    assert main(["build", str(source), "-o", str(tmp_path / "link.blk")]) == 1
    assert source.read_text().startswith("kernel")


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, text = tmp_path / "good.png", tmp_path / "text.png"
    Picture.new("L", (4, 4)).save(good)
    text.write_text("words")
    for source, target, said in (
        (tmp_path / "absent.png", tmp_path / "out.png", "absent.png"),
        (text, tmp_path / "out.png", "no picture"),
        (good, tmp_path / "out.unknown", "ending"),
        (good, tmp_path / "no folder" / "out.png", "no folder"),
    ):
        assert main(["resize", str(source), str(target), "--size", "2x2", "--device", "reference:*"]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "extra"),
    [(["resize", "a.png", "b.png", "--size", "2x2", "--device", "reference:*"], "cli"), (["demo", "-o", "x"], "demo")],
)
def test_a_missing_extra_is_named(
    command: list[str], extra: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(command) == 1
    assert f"pip install 'bindless[{extra}]'" in capsys.readouterr().err


# ---------------------------------------------------------------------- bench


def test_bench_prints_ratios(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, selector: str
) -> None:
    monkeypatch.setattr("bindless.bench.measure._BUDGET", 0.0)  # the fewest possible rounds
    assert main(["bench", "--megasamples", "0.02", "--device", selector, "--parts", "pictures,import"]) == 0
    text = capsys.readouterr().out
    assert "above 1 we are faster" in text
    peer = r"[\d.]+ Mpixels/s +sample\(\) at an array of places"
    assert re.search(rf"Image\.warp uint8 x4 +upload, download +{peer}", text)
    imported = r"import bindless, after numpy, 0 drivers loaded +the start of Python's process"
    assert re.search(rf"{imported} +[\d.]+ m?u?s .*<= 30 ms (reached|missed)", text)
    assert main(["bench", "--megasamples", "0"]) == 1
    assert "0.01 to 256" in capsys.readouterr().err
    assert main(["bench", "--parts", "sampling,cooking"]) == 1
    assert "--parts cooking: it is one or several of everyday, user, volumes, space, blocks," in capsys.readouterr().err


def test_the_reader_of_a_pipe_may_leave() -> None:
    command = f"{sys.executable} -m bindless ls -v | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
