"""``bindless resample``: inputs and earlier outputs outlive every run, and the metadata says where elements are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("dask", reason="pip install 'bindless[dask]'")
zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")

from bindless.cli import main  # noqa: E402

Array = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    monkeypatch.chdir(tmp_path)


def store(place: str, value: int, shape: tuple[int, ...] = (32, 32), dtype: str = "u1") -> None:
    array = zarr.create_array(store=place, shape=shape, chunks=(16,) * len(shape), dtype=dtype)
    array[:] = value


def image(place: str, value: int, transforms: list[dict[str, Any]] | None = None, path: str = "0") -> None:
    """An image of OME-Zarr of one level."""
    group = zarr.create_group(store=place)
    group.create_array("0", shape=(32, 32), chunks=(16, 16), dtype="u1")[:] = value
    steps = transforms or [{"type": "scale", "scale": [1, 1]}]
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
    datasets = [{"path": path, "coordinateTransformations": steps}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}


def files(folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def same_by_link() -> str:
    os.symlink("in.zarr", "link.zarr")
    return "link.zarr"


def same_by_dots() -> str:
    Path("folder").mkdir()
    return "folder/../in.zarr/"


def same_by_parent() -> str:
    Path("real").mkdir()
    Path("in.zarr").rename("real/in.zarr")
    os.symlink("real", "alias")
    os.symlink("real/in.zarr", "in.zarr")
    return "alias/in.zarr"


@pytest.mark.parametrize("name", [lambda: "in.zarr", lambda: os.path.abspath("in.zarr"), same_by_link, same_by_dots,
                                  same_by_parent])  # fmt: skip
@pytest.mark.parametrize("kind", ["array", "image"])
@pytest.mark.parametrize("dry", [False, True])
def test_the_input_is_not_replaced(name: Any, kind: str, dry: bool, capsys: pytest.CaptureFixture[str]) -> None:
    (store if kind == "array" else image)("in.zarr", 7)
    output = name()
    before = files(os.path.realpath("in.zarr"))
    options = ["--scale", "0.5", "--overwrite", *(["--dry-run"] if dry else [])]
    for given in ("in.zarr", "file://" + os.path.abspath("in.zarr")):
        assert main(["resample", given, output, *options]) == 1
        assert "input" in capsys.readouterr().err
    assert files(os.path.realpath("in.zarr")) == before and len(before) > 1


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ("g.zarr/0", "g.zarr"),  # the group that holds it
        ("g.zarr", "g.zarr/0"),  # a level of it
        ("g.zarr/0", "g.zarr/0/new"),  # a place in its array
        ("linked.zarr", "g.zarr"),  # its chunks are links into the output
    ],
)
def test_the_group_of_the_input_is_not_replaced(given: str, output: str) -> None:
    image("g.zarr", 7)
    store("linked.zarr", 7)
    Path("linked.zarr/c").rename("chunks")
    os.symlink("../g.zarr/0/c", "linked.zarr/c")
    before = files("g.zarr")
    assert main(["resample", given, output, "--scale", "0.5", "--overwrite"]) == 1
    assert files("g.zarr") == before and not Path("g.zarr/0/new").exists()


def test_other_inputs_are_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """The displacement, the matrix, and a zip file of the input in the group that would be replaced."""
    store("in.zarr", 7)
    image("g.zarr", 1)
    zarr.open_group("g.zarr").create_array("f", shape=(2, 32, 32), chunks=(2, 16, 16), dtype="f4")[:] = 0
    np.savetxt("g.zarr/m.txt", np.eye(2))
    before = files("g.zarr")
    for options in (["--scale", "1", "--displacement", "g.zarr/f"], ["--matrix", "g.zarr/m.txt"]):
        assert main(["resample", "in.zarr", "g.zarr", *options, "--overwrite"]) == 1
        assert "input" in capsys.readouterr().err
    assert files("g.zarr") == before


def test_arrays_in_a_zip_file_have_its_place(tmp_path: Path) -> None:
    from bindless.dask.sources import source_of
    from bindless.model.file_places import places_of

    with zarr.storage.ZipStore(str(tmp_path / "in.zip"), mode="w") as packed:
        zarr.create_array(store=packed, shape=(4, 4), chunks=(2, 2), dtype="u1")[:] = 1
    array = zarr.open_array(zarr.storage.ZipStore(str(tmp_path / "in.zip"), mode="r"), mode="r")
    assert places_of(source_of("image", array)) == [tmp_path / "in.zip"]
    assert places_of("zip::file://" + str(tmp_path / "in.zip")) == [tmp_path / "in.zip"]
    mapped = np.memmap(tmp_path / "in.raw", "u1", "w+", shape=(4, 4))
    assert places_of(source_of("image", mapped)) == [tmp_path / "in.raw"]


def test_a_sibling_in_the_group_of_the_input_is_written() -> None:
    image("g.zarr", 7)
    for _ in range(2):
        assert main(["resample", "g.zarr/0", "g.zarr/small", "--scale", "0.5", "--levels", "1", "--overwrite"]) == 0
    assert (zarr.open_array("g.zarr/small/0", mode="r")[:] == 7).all()
    assert (zarr.open_array("g.zarr/0", mode="r")[:] == 7).all()


def test_an_output_that_is_a_link_stays_one() -> None:
    store("in.zarr", 7)
    store("old.zarr", 1)
    os.symlink("old.zarr", "link.zarr")
    assert main(["resample", "in.zarr", "link.zarr/", "--scale", "0.5", "--levels", "1", "--overwrite"]) == 0
    assert os.path.islink("link.zarr") and (zarr.open_array("old.zarr/0", mode="r")[:] == 7).all()
    assert sorted(os.listdir()) == ["in.zarr", "link.zarr", "old.zarr"]


def test_an_overwrite_that_fails_keeps_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    store("in.zarr", 7)
    store("other.zarr", 3)
    assert main(["resample", "other.zarr", "out.zarr", "--scale", "0.5", "--levels", "1"]) == 0
    before = files("out.zarr")
    chunk = Path("in.zarr/c/1/1")
    whole = chunk.read_bytes()
    chunk.write_bytes(b"damaged")
    arguments = ["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--levels", "1"]
    assert main([*arguments, "--overwrite"]) == 1
    assert "as it was" in capsys.readouterr().err and files("out.zarr") == before
    assert main([*arguments, "--order", "0"]) == 1 and files("out.zarr") == before  # another job
    chunk.write_bytes(whole)
    assert main(arguments) == 0  # goes on, and replaces
    assert (zarr.open_array("out.zarr/0", mode="r")[:] == 7).all()
    assert sorted(os.listdir()) == ["in.zarr", "other.zarr", "out.zarr"]


KILLED = """
import os, sys
from pathlib import Path
from bindless.dask import output_folder
output_folder._exchanged = lambda one, other: False
rename, left = Path.rename, [int(sys.argv[1])]
def killed(self, target):
    if left[0] == 0:
        os._exit(9)
    left[0] -= 1
    return rename(self, target)
Path.rename = killed
from bindless.cli import main
main(sys.argv[2:])
os._exit(0)
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_run_that_is_killed_between_two_names(renames: int) -> None:
    """Where names are not exchanged at once, the next run finds the old output; with 2 the result is there."""
    store("in.zarr", 7)
    store("out.zarr", 1)
    before = {name.partition("/")[2]: data for name, data in files("out.zarr").items()}
    arguments = ["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--levels", "1"]
    program = [sys.executable, "-c", KILLED, str(renames), *arguments, "--overwrite"]
    found = subprocess.run(program, timeout=120, capture_output=True, text=True)
    assert found.returncode == (0 if renames == 2 else 9), found.stderr
    if renames < 2:
        place = "out.zarr" if renames == 0 else ".out.zarr.replaced"
        assert {name.partition("/")[2]: data for name, data in files(place).items()} == before
        assert main(arguments) == 0  # the run was begun with --overwrite, and goes on
    assert (zarr.open_array("out.zarr/0", mode="r")[:] == 7).all()
    assert sorted(os.listdir()) == ["in.zarr", "out.zarr"]


@pytest.mark.parametrize("when", ["mkdir", "begin", "_create", "have_arrays"])
def test_a_run_that_is_killed_before_its_first_block_goes_on(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.dask import job
    from bindless.dask.manifest import Manifest

    store("in.zarr", 7)
    arguments = ["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--levels", "4"]

    class Killed(BaseException):
        pass

    def killed(*arguments: Any, **options: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if when == "mkdir":
            patch.setattr(Manifest, "begin", killed)
        elif when == "begin":
            create = job.Job._create
            patch.setattr(job.Job, "_create", lambda self, place: create(self, place) if place == {} else killed())
        elif when == "_create":
            patch.setattr(Manifest, "have_arrays", killed)
        else:
            patch.setattr(job.Job, "run", killed)
        with pytest.raises(Killed):
            main(arguments)
    assert Path("out.zarr").is_dir()
    assert main(arguments) == 0
    assert (zarr.open_array("out.zarr/0", mode="r")[:] == 7).all()


SLOW = """
import sys, time
from bindless.dask import job
write = job.write_block
def slow(task, index):
    print("begun", flush=True)
    sys.stdin.readline()
    write(task, index)
job.write_block = slow
from bindless.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("end", ["finish", "kill", "interrupt"])
def test_only_one_run_at_a_time_writes(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    store("in.zarr", 7)
    store("out.zarr", 1)
    before = files("out.zarr")
    arguments = ["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--levels", "1", "--overwrite"]
    process = subprocess.Popen([sys.executable, "-c", SLOW, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "begun\n"
    assert main([*arguments[:4], "0.25", "--levels", "1", "--overwrite"]) == 1
    assert str(process.pid) in capsys.readouterr().err
    if end == "kill":
        process.kill()
    elif end == "interrupt":
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    if end != "kill":
        process.stdin.write("\n" * 100)
        process.stdin.flush()
    _, said = process.communicate(timeout=120)
    assert process.returncode == {"finish": 0, "kill": -9, "interrupt": 130}[end], said
    if end == "finish":
        assert zarr.open_array("out.zarr/0", mode="r").shape == (16, 16)
    else:
        assert files("out.zarr") == before
    assert main([*arguments[:4], "0.25", "--levels", "1", "--overwrite"]) == 0
    found = zarr.open_array("out.zarr/0", mode="r")
    assert found.shape == (8, 8) and (found[:] == 7).all()
    assert sorted(os.listdir()) == ["in.zarr", "out.zarr"]


def test_a_file_system_without_locks_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno
    import fcntl

    def refuse(number: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    store("in.zarr", 7)
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert main(["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--levels", "1"]) == 0
    assert os.strerror(errno.ENOLCK) in capsys.readouterr().err and sorted(os.listdir()) == ["in.zarr", "out.zarr"]


@pytest.mark.parametrize("name", ["", "/", "out.zip", "folder/plain.txt", "folder"])
def test_outputs_that_are_none(name: str) -> None:
    store("in.zarr", 7)
    Path("folder").mkdir()
    Path("folder/plain.txt").write_text("x")
    assert main(["resample", "in.zarr", name, "--scale", "0.5", "--overwrite"]) == 1
    assert sorted(os.listdir()) == ["folder", "in.zarr"] and Path("folder/plain.txt").read_text() == "x"


@pytest.mark.parametrize("text", ["", "[]", "[" * 100000, "\0"])
def test_a_damaged_list_of_blocks_is_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    store("in.zarr", 7)
    Path("out.zarr").mkdir()
    Path("out.zarr/bindless-resample.json").write_text(text)
    assert main(["resample", "in.zarr", "out.zarr", "--scale", "0.5"]) == 1
    assert "bindless-resample.json" in capsys.readouterr().err
    assert main(["resample", "in.zarr", "out.zarr", "--scale", "0.5", "--overwrite"]) == 0


# ---------------------------------------------------------------------- metadata


def transforms(folder: str) -> list[tuple[list[float], list[float]]]:
    datasets = json.loads(Path(folder, "zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]["datasets"]
    return [tuple(step[step["type"]] for step in level["coordinateTransformations"]) for level in datasets]


ANISOTROPIC = [{"type": "scale", "scale": [2.0, 0.5]}, {"type": "translation", "translation": [10.0, -3.0]}]


@pytest.mark.parametrize("as_scale", [False, True])
def test_scale_and_translation_follow_from_the_map(as_scale: bool) -> None:
    """The place in space of each element of the result is that of the position in the input that it is read from."""
    image("in.zarr", 7, ANISOTROPIC)
    factors = [4.0, 1.0]  # isotropic: 0.5 micrometers
    matrix, offset = np.diag([1 / factor for factor in factors]), [0.5 / factor - 0.5 for factor in factors]
    if as_scale:
        options = ["--scale", "4,1"]
    else:
        np.savetxt("m.txt", np.column_stack([matrix, offset]))
        options = ["--matrix", "m.txt", "--shape", "128,32"]
    assert main(["resample", "in.zarr", "out.zarr", *options, "--levels", "3"]) == 0
    found = transforms("out.zarr")
    assert found[0][0] == [0.5, 0.5]
    scale, place = np.array([2.0, 0.5]), np.array([10.0, -3.0])
    for index in ([0, 0], [5, 2], [127, 31]):
        np.testing.assert_allclose(
            np.array(found[0][0]) * index + found[0][1], scale * (matrix @ index + offset) + place
        )
    for level, (size, corner) in enumerate(found):  # an element of a level lies amid those of the result
        np.testing.assert_allclose(size, np.array(found[0][0]) * 2**level)
        middle = (2**level - 1) / 2
        np.testing.assert_allclose(corner, np.array(found[0][0]) * middle + found[0][1])


@pytest.mark.parametrize(
    ("matrix", "sizes"),
    [
        # A turn by 30 degrees in space, into elements of 0.5 micrometers: the input has 2.0 and 0.5.
        ([[0.5 / 2 * np.cos(0.5), -0.5 / 2 * np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]], [0.5, 0.5]),
        ([[0, 1], [1, 0]], [0.5, 2.0]),  # axes change places
        ([[-1, 0], [0, 1]], [2.0, 0.5]),  # a mirror
    ],
)
def test_a_map_that_turns_says_so(matrix: Any, sizes: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    image("in.zarr", 7, ANISOTROPIC)
    np.savetxt("m.txt", matrix)
    arguments = ["resample", "in.zarr", "out.zarr", "--matrix", "m.txt", "--mode", "nearest"]
    assert main(arguments) == 0
    assert "--scale-of-output" in capsys.readouterr().err
    np.testing.assert_allclose(transforms("out.zarr")[0][0], sizes)
    assert main([*arguments, "--overwrite", "--scale-of-output", "3,0.25"]) == 0
    assert capsys.readouterr().err == ""
    assert transforms("out.zarr")[0] == ([3.0, 0.25], [0.0, 0.0])
    for wrong in ("0,1", "1", "nan,1", "inf,1", "a,b"):
        assert main([*arguments, "--overwrite", "--scale-of-output", wrong]) == 1


def test_axes_with_different_units_are_not_mixed(capsys: pytest.CaptureFixture[str]) -> None:
    image("in.zarr", 7)
    group = zarr.open_group("in.zarr", mode="r+")
    described = dict(group.attrs)["ome"]
    described["multiscales"][0]["axes"][0]["unit"] = "nanometer"
    group.attrs["ome"] = described
    np.savetxt("m.txt", [[0, 1], [1, 0]])
    arguments = ["resample", "in.zarr", "out.zarr", "--matrix", "m.txt"]
    assert main(arguments) == 1
    assert "--scale-of-output" in capsys.readouterr().err
    assert main([*arguments, "--scale-of-output", "1,1"]) == 0
