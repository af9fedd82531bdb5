"""``bindless resample``: results, runs that end early, and damaged stores."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("dask", reason="pip install 'bindless[dask]'")
zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")

from bindless import dask as bd  # noqa: E402
from bindless.cli import main  # noqa: E402

Array = npt.NDArray[Any]

MATRIX = [[0.96, -0.2, 0.1, 3.0], [0.2, 0.96, 0.0, -2.0], [-0.1, 0.0, 0.99, 2.0]]


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")


@pytest.fixture
def volume() -> Array:
    return np.random.default_rng(1).random((40, 50, 60)).astype(np.float32)


@pytest.fixture
def source(tmp_path: Path, volume: Array) -> Path:
    array = zarr.create_array(
        store=str(tmp_path / "in.zarr"), shape=volume.shape, chunks=(16, 16, 16), dtype="f4", compressors=None
    )
    array[:] = volume
    (tmp_path / "matrix.txt").write_text("\n".join(" ".join(map(str, row)) for row in MATRIX))
    return tmp_path / "in.zarr"


def command(source: Path, *options: str) -> list[str]:
    matrix = [] if "--scale" in options else ["--matrix", str(source.parent / "matrix.txt")]
    return ["resample", str(source), str(source.parent / "out.zarr"), *matrix, *options]


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.dask import job

    monkeypatch.setattr(job, "_ELEMENTS", 1)


def expected(volume: Array) -> Array:
    lazy = bd.affine_transform(volume, np.array(MATRIX), order=1, precision="hardware")
    found: Array = lazy.compute(scheduler="synchronous")
    return found


def test_a_pyramid(source: Path, volume: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    assert main(command(source)) == 0
    group = zarr.open_group(str(source.parent / "out.zarr"), mode="r")
    np.testing.assert_array_equal(group["0"][:], expected(volume))
    scales = group.attrs["ome"]["multiscales"][0]
    assert [level["path"] for level in scales["datasets"]] == ["0", "1", "2"]
    half = bd.pyramid(expected(volume), 2)[1].compute(scheduler="synchronous")
    np.testing.assert_array_equal(group["1"][:], half)
    assert sorted(path.name for path in (source.parent / "out.zarr").iterdir()) == ["0", "1", "2", "zarr.json"]


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_scales_and_formats(source: Path, volume: Array, version: str) -> None:
    options = ("--scale", "1,0.5,0.5", "--format", version, "--chunks", "20,10,10", "--precision", "exact", "--mode",
               "nearest", "--levels", "2", "--codec", "blosc")  # fmt: skip
    shards = ("--shards", "40,20,20") if version == "0.5" else ()
    assert main(command(source, *options, *shards)) == 0
    group = zarr.open_group(str(source.parent / "out.zarr"), mode="r")
    assert group.metadata.zarr_format == {"0.4": 2, "0.5": 3}[version]
    assert group["0"].shape == (40, 25, 30) and group["0"].chunks == (20, 10, 10)
    found = bd.resize(volume, (40, 25, 30), precision="exact").compute(scheduler="synchronous")
    np.testing.assert_array_equal(group["0"][:], found)
    content = group.attrs["ome"] if version == "0.5" else group.attrs
    first = content["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    assert first[0]["scale"] == [1, 2, 2] and first[1]["translation"] == [0, 0.5, 0.5]
    again = source.parent / "again.zarr"
    assert main(["resample", str(source.parent / "out.zarr"), str(again), "--scale", "0.5", "--levels", "1"]) == 0
    second = zarr.open_group(str(again), mode="r").attrs["ome"]["multiscales"][0]["datasets"][0]
    assert second["coordinateTransformations"][0]["scale"] == [2, 4, 4]


def test_a_displacement(source: Path, volume: Array) -> None:
    field = (np.random.default_rng(2).standard_normal((3, *volume.shape)) * 3).astype(np.float32)
    stored = zarr.create_array(store=str(source.parent / "field.zarr"), shape=field.shape, chunks=(3, 16, 16, 16),
                               dtype="f4")  # fmt: skip
    stored[:] = field
    assert main(command(source, "--displacement", str(source.parent / "field.zarr"), "--levels", "1")) == 0
    lazy = bd.affine_transform(volume, np.array(MATRIX), displacement=field, order=1, precision="hardware")
    found = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(zarr.open_group(str(source.parent / "out.zarr"), mode="r")["0"][:], found)


def test_a_dry_run_writes_nothing(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(source, "--dry-run")) == 0
    words = capsys.readouterr().out.split()
    assert {"reads", "writes", "tasks", "time"} <= set(words)
    assert not (source.parent / "out.zarr").exists()


def test_an_existing_output_is_kept(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(source, "--levels", "1")) == 0
    assert main(command(source, "--levels", "1")) == 1
    assert "--overwrite" in capsys.readouterr().err
    assert main(command(source, "--levels", "1", "--overwrite")) == 0
    (source.parent / "folder").mkdir()
    (source.parent / "folder" / "thesis.txt").write_text("x")
    assert main(["resample", str(source), str(source.parent / "folder"), "--scale", "1", "--overwrite"]) == 1
    assert (source.parent / "folder" / "thesis.txt").exists()


SLOW = """
import sys, time
from bindless.dask import job
job._ELEMENTS = 1
write = job.write_block
def slow(task, index):
    time.sleep(0.02)
    write(task, index)
job.write_block = slow
from bindless.cli import main
sys.exit(main(sys.argv[1:]))
"""


def is_finished(output: Path) -> bool:
    """Whether a result is in its place: a kill may come after that."""
    return output.exists() and not any(output.glob("bindless-resample*"))


def test_a_run_that_is_killed_goes_on(source: Path, volume: Array) -> None:
    chance = random.Random(5)
    arguments = [sys.executable, "-c", SLOW, *command(source, "--codec", "none")]
    codes = []
    for attempt in range(40):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if attempt < 10:
            marker = source.parent / "out.zarr" / "bindless-resample.blocks"
            deadline, size = time.monotonic() + 60, marker.stat().st_size if marker.exists() else 0
            while process.poll() is None and time.monotonic() < deadline:
                if marker.exists() and marker.stat().st_size > size:
                    time.sleep(chance.uniform(0, 0.1))
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.005)
        codes.append(process.wait(120))
        if codes[-1] == 0 or (codes[-1] == -signal.SIGKILL and is_finished(source.parent / "out.zarr")):
            break
    assert codes[-1] in (0, -signal.SIGKILL) and codes.count(-signal.SIGKILL) >= 2
    group = zarr.open_group(str(source.parent / "out.zarr"), mode="r")
    np.testing.assert_array_equal(group["0"][:], expected(volume))
    half = bd.pyramid(expected(volume), 2)[1].compute(scheduler="synchronous")
    np.testing.assert_array_equal(group["1"][:], half)
    assert not list((source.parent / "out.zarr").rglob("*.partial"))


def test_finished_blocks_are_not_computed_again(
    source: Path, volume: Array, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bindless.dask import job

    small_blocks(monkeypatch)
    write, written = job.write_block, []

    def failing(task: Any, index: int) -> None:
        if index == 20 and len(written) < 25:
            raise bd.BlockError("block 20 is not there yet")
        written.append(index)
        write(task, index)

    monkeypatch.setattr(job, "write_block", failing)
    assert main(command(source, "--levels", "1")) == 1
    assert "block 20" in capsys.readouterr().err
    before = len(written)
    assert 20 <= before < 40
    log = source.parent / "out.zarr" / "bindless-resample.blocks"
    with log.open("ab") as file:
        file.write(b"0 2")  # a line that was cut short
    written.extend(range(100))
    del written[:before]
    assert main(command(source, "--order", "0", "--levels", "1")) == 1  # another job
    assert main(command(source, "--levels", "1")) == 0
    assert 20 in written[100:] and len(written) - 100 == 3 * 4 * 4 - before
    np.testing.assert_array_equal(zarr.open_group(str(source.parent / "out.zarr"), mode="r")["0"][:], expected(volume))


def test_a_damaged_chunk_is_named(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunk = source / "c" / "1" / "1" / "1"
    chunk.write_bytes(chunk.read_bytes()[:100])
    assert main(command(source, "--levels", "1")) == 1
    message = capsys.readouterr().err
    assert "in.zarr" in message and "block (" in message and "--overwrite" not in message
    assert (source.parent / "out.zarr" / "bindless-resample.json").exists()


def test_a_damaged_compressed_chunk_is_named(source: Path, volume: Array, capsys: pytest.CaptureFixture[str]) -> None:
    packed = zarr.create_array(store=str(source.parent / "packed.zarr"), shape=volume.shape, chunks=(16, 16, 16),
                               dtype="f4")  # fmt: skip
    packed[:] = volume
    chunk = source.parent / "packed.zarr" / "c" / "0" / "2" / "1"
    chunk.write_bytes(b"\0" * 50 + chunk.read_bytes()[50:])
    assert main(["resample", str(source.parent / "packed.zarr"), str(source.parent / "out.zarr"), "--scale", "1"]) == 1
    message = capsys.readouterr().err
    assert "packed.zarr" in message and "block (" in message and "Traceback" not in message


@pytest.mark.parametrize("compressed", [False, True])
def test_a_store_that_vanishes(
    source: Path, volume: Array, compressed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chunks that are missing are fill values, a store that is missing is an error."""
    from bindless.dask import job

    there, gone = source.parent / "there.zarr", source.parent / "gone.zarr"
    stored = zarr.create_array(store=str(there), shape=volume.shape, chunks=(16, 16, 16), dtype="f4",
                               compressors="auto" if compressed else None)  # fmt: skip
    stored[:32] = volume[:32]
    small_blocks(monkeypatch)
    write, written = job.write_block, []

    def vanishing(task: Any, index: int) -> None:
        write(task, index)
        written.append(index)
        if len(written) == 3:
            there.rename(gone)

    monkeypatch.setattr(job, "write_block", vanishing)
    arguments = ["resample", str(there), str(source.parent / "out.zarr"), "--scale", "1", "--levels", "1"]
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert "there.zarr" in message and "block (" in message
    gone.rename(there)
    written.extend(range(5))
    assert main(arguments) == 0
    np.testing.assert_array_equal(zarr.open_group(str(source.parent / "out.zarr"), mode="r")["0"][:32], volume[:32])


def test_a_full_disk(source: Path, volume: Array) -> None:
    """A limit on the size of files ends a write half way, as a full disk does."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))\n" + SLOW
    arguments = command(source, "--codec", "none", "--levels", "1")
    found = subprocess.run([sys.executable, "-c", limited, *arguments], capture_output=True, text=True, timeout=120)
    assert found.returncode == 1
    assert "cannot be written to" in found.stderr and "out.zarr/0" in found.stderr
    assert main(arguments) == 0
    np.testing.assert_array_equal(zarr.open_group(str(source.parent / "out.zarr"), mode="r")["0"][:], expected(volume))


@pytest.mark.timeout(300)
def test_ten_workers_are_killed(source: Path, volume: Array) -> None:
    pytest.importorskip("distributed", reason="pip install 'bindless[dask]'")
    code = SLOW.replace("0.02", "0.2").replace(
        "sys.exit(main(sys.argv[1:]))", "if __name__ == '__main__': sys.exit(main(sys.argv[1:]))"
    )
    program = source.parent / "program.py"
    program.write_text(code)
    options = ("--workers", "2", "--levels", "1", "--codec", "none", "--chunks", "8,8,8")  # 280 blocks
    arguments = [sys.executable, str(program), *command(source, *options)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    marker, killed, size, chance = source.parent / "out.zarr" / "bindless-resample.blocks", 0, 0, random.Random(7)
    deadline = time.monotonic() + 120
    while process.poll() is None and killed < 10 and time.monotonic() < deadline:
        workers = _workers(process.pid)
        if workers and marker.exists() and marker.stat().st_size > size:
            time.sleep(chance.uniform(0, 0.2))
            with contextlib.suppress(ProcessLookupError):
                size = marker.stat().st_size
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed += 1
        time.sleep(0.02)
    _, message = process.communicate(timeout=180)
    assert process.returncode == 0, message
    assert killed == 10
    np.testing.assert_array_equal(zarr.open_group(str(source.parent / "out.zarr"), mode="r")["0"][:], expected(volume))


def _workers(parent: int) -> list[int]:
    """Processes that distributed spawned for workers, of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(words[1]) == parent and b"spawn_main" in line:
                found.append(int(entry.name))
    return found


def test_a_scheduler(source: Path, volume: Array) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'bindless[dask]'")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        assert main(command(source, "--scheduler", cluster.scheduler_address, "--levels", "2")) == 0
        group = zarr.open_group(str(source.parent / "out.zarr"), mode="r")
        np.testing.assert_array_equal(group["0"][:], expected(volume))
        (source / "c" / "1" / "1" / "1").write_bytes(b"short")
        assert main(command(source, "--scheduler", cluster.scheduler_address, "--overwrite")) == 1


def test_a_scheduler_that_loses_its_workers(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'bindless[dask]'")
    from bindless.dask import runners

    small_blocks(monkeypatch)
    monkeypatch.setattr(runners, "_PATIENCE", 0.5)
    monkeypatch.setattr(runners, "_LOOK_AGAIN", 0.1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:

        def end_workers() -> None:
            log = source.parent / "out.zarr" / "bindless-resample.blocks"
            deadline = time.monotonic() + 60
            while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
                time.sleep(0.005)
            cluster.scale(0)

        ending = threading.Thread(target=end_workers)
        ending.start()
        assert (
            main(command(source, "--scheduler", cluster.scheduler_address, "--levels", "1", "--chunks", "4,4,4")) == 1
        )
        ending.join()
    assert "no workers" in capsys.readouterr().err


def test_another_reader_accepts_the_metadata(source: Path) -> None:
    """The library's own entry for any group, which looks at arrays too."""
    reader = pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")
    assert main(command(source)) == 0
    found = reader.open_ome_zarr(zarr.open_group(str(source.parent / "out.zarr"), mode="r"))
    assert type(found).__module__.startswith("ome_zarr_models.v05")
    assert [level.path for level in found.attributes.ome.multiscales[0].datasets] == ["0", "1", "2"]


def test_an_unreachable_scheduler(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="pip install 'bindless[dask]'")
    assert main(command(source, "--scheduler", "tcp://127.0.0.1:9")) == 1
    assert "tcp://127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ("--scale", "0"), ("--scale", "x"), ("--scale", "1,2,3,4"), ("--chunks", "1,2"), ("--levels", "0"),
        ("--workers", "0"), ("--shards", "20,20,20"), ("--mode", "edge"), ("--shape", "3,4,5,6"),
        ("--displacement", "nowhere.zarr"),
    ],
)  # fmt: skip
def test_bad_options(source: Path, options: tuple[str, ...]) -> None:
    assert main(command(source, *options)) == 1
    assert not (source.parent / "out.zarr").exists()


def test_stores_that_are_not_reached(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "http://127.0.0.1:9/volume.zarr"
    assert main(["resample", url, str(tmp_path / "o.zarr"), "--scale", "1"]) == 1
    assert url in capsys.readouterr().err and not (tmp_path / "o.zarr").exists()
    assert main(["resample", str(source), url, "--scale", "1"]) == 1
    assert url in capsys.readouterr().err


def test_inputs_that_are_no_images(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resample", str(tmp_path / "nowhere.zarr"), str(tmp_path / "o.zarr"), "--scale", "1"]) == 1
    zarr.create_group(store=str(tmp_path / "group.zarr"))
    assert main(["resample", str(tmp_path / "group.zarr"), str(tmp_path / "o.zarr"), "--scale", "1"]) == 1
    group = zarr.create_group(store=str(tmp_path / "broken.zarr"))
    group.attrs["ome"] = json.loads('{"version": "0.5", "multiscales": [{"axes": []}]}')
    assert main(["resample", str(tmp_path / "broken.zarr"), str(tmp_path / "o.zarr"), "--scale", "1"]) == 1
    assert "broken.zarr" in capsys.readouterr().err
