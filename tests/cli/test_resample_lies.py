"""``bindless resample`` of stores and files that lie: an error that names them, before anything is planned."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="pip install 'bindless[dask]'")
zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")

import bindless as bl  # noqa: E402
from bindless import dask as bd  # noqa: E402
from bindless.cli import main  # noqa: E402
from tests.cli.test_resample_outputs import image  # noqa: E402
from tests.support.error_checks import raises  # noqa: E402


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, and 2 GiB of memory more than now: tuples of all chunks would not fit."""
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "reference:*")
    monkeypatch.chdir(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (2 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def lying(**fields: Any) -> None:
    """An array of 32 x 32 elements in chunks of 16 x 16, whose metadata has other fields."""
    zarr.create_array(store="in.zarr", shape=(32, 32), chunks=(16, 16), dtype="u1", compressors=None)[:] = 5
    path = Path("in.zarr/zarr.json")
    described = json.loads(path.read_text())
    if "chunks" in fields:
        described["chunk_grid"]["configuration"]["chunk_shape"] = fields.pop("chunks")
    path.write_text(json.dumps({**described, **fields}))


def refused(capsys: pytest.CaptureFixture[str], *words: str, options: tuple[str, ...] = ("--scale", "0.5")) -> None:
    """Both the run and its plan are refused, in words that name the store and the field."""
    for extra in ((), ("--dry-run",)):
        assert main(["resample", "in.zarr", "out.zarr", *options, *extra]) == 1
        said = capsys.readouterr().err
        assert all(word in said for word in words), said
        assert "Traceback" not in said
    assert not Path("out.zarr").exists()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"shape": [2**40, 2**40]}, "shape"),
        ({"shape": [2**31, 16]}, "shape"),
        ({"shape": [2**31 - 1, 16]}, "shape"),
        ({"shape": [-5, 32]}, "in.zarr"),
        ({"shape": [0, 32]}, "shape"),
        ({"chunks": [0, 16]}, "chunk"),
        ({"chunks": [-16, 16]}, "in.zarr"),
        ({"chunks": [1.5, 16]}, "in.zarr"),
        ({"chunks": [2**33, 2**33]}, "chunks"),
        ({"codecs": []}, "in.zarr"),
        ({"codecs": [{"name": "nosuch"}]}, "nosuch"),
        ({"data_type": "string"}, "in.zarr"),
        ({"fill_value": "NaN"}, "in.zarr"),
        ({"zarr_format": 9}, "in.zarr"),
        ({"shape": [2] * 7}, "in.zarr"),
    ],
)
def test_lying_arrays(fields: dict[str, Any], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    lying(**fields)
    refused(capsys, "in.zarr", word)


@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zgroup"])
@pytest.mark.parametrize(
    "text", ["[" * 100000, "", "5", '{"zarr_format": 3, "node_type": "group", "attributes": ' + '{"a":' * 20000]
)
def test_metadata_that_is_none(name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.zarr").mkdir()
    Path("in.zarr", name).write_text(text)
    refused(capsys, "in.zarr")


@pytest.mark.parametrize("path", ["../x", "../../outside.zarr", "/etc", "", ".", "a\0b", "0/../0", "0//", "none", "5"])
def test_lying_paths(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    image("in.zarr", 5, path=path)
    refused(capsys, "in.zarr", "path" if not path.isalnum() else path)


@pytest.mark.parametrize("content", [5, [], {}, {"version": "0.5", "multiscales": []}, {"multiscales": 3}, None])
def test_lying_attributes(content: Any, capsys: pytest.CaptureFixture[str]) -> None:
    group = zarr.create_group(store="in.zarr")
    group.attrs["ome"] = content
    refused(capsys, "in.zarr")


@pytest.mark.parametrize("scale", [[0, 0], ["nan", 1], [1e308, 1e999], [-1, 1], [1], "1,1"])
def test_lying_scales(scale: Any, capsys: pytest.CaptureFixture[str]) -> None:
    image("in.zarr", 5)
    path = Path("in.zarr/zarr.json")
    described = json.loads(path.read_text())
    described["attributes"]["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]["scale"] = scale
    path.write_text(json.dumps(described))
    refused(capsys, "in.zarr")


@pytest.mark.parametrize(
    "options",
    [
        ("--scale", "1e9"), ("--scale", "1e300"), ("--scale", "0.5", "--shape", "4611686018427387904,1"),
        ("--scale", "1", "--levels", "1000000000"), ("--scale", "inf"), ("--scale", "nan"),
        ("--scale", "1", "--shards", "99999999999999999999,16", "--chunks", "16,16"),
    ],
)  # fmt: skip
def test_sizes_that_no_run_computes(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    lying()
    refused(capsys, options=options)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.json", '{"a": 1}'), ("m.json", "[" * 100000), ("m.json", "[[1, 2], [3]]"), ("m.json", '[["a"]]'),
        ("m.json", ""), ("m.json", "5"), ("m.json", "[]"), ("m.json", "[[NaN, 0], [0, 1]]"),
        ("m.json", "[[1e300, 0], [0, 1e300]]"), ("m.txt", ""), ("m.txt", "\0\1"), ("m.txt", "1+2j 0"),
        ("m.npy", "text"), ("m.npy", ""), ("m.json", "[[1, 0, 0, 0, 0]]"), ("m.json", "[[0, 0], [0, 0]]"),
        ("m.json", "[[1, 0, 0], [0, 1, 0], [0.1, 0, 1]]"),
    ],
)  # fmt: skip
def test_files_that_hold_no_matrix(name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    lying()
    Path(name).write_text(text)
    refused(capsys, options=("--matrix", name))


def test_arrays_of_numpy_that_are_no_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    lying()
    with open("m.npy", "wb") as file:
        np.savez(file, a=np.eye(2))
    refused(capsys, "m.npy", options=("--matrix", "m.npy"))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 2), }".ljust(117) + b"\n"
    Path("m.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
    refused(capsys, "m.npy", options=("--matrix", "m.npy"))
    np.save("m.npy", np.array([[print, 0], [0, 1]], dtype=object), allow_pickle=True)
    refused(capsys, "m.npy", options=("--matrix", "m.npy"))
    np.save("m.npy", np.eye(2) * 1j)
    refused(capsys, "m.npy", options=("--matrix", "m.npy"))


def test_pipes_of_matrices() -> None:
    lying()
    read, write = os.pipe()
    os.write(write, b"1 0\n0 1\n")
    os.close(write)
    assert main(["resample", "in.zarr", "out.zarr", "--matrix", f"/dev/fd/{read}"]) == 0
    os.close(read)
    os.mkfifo("nobody.txt")
    assert main(["resample", "in.zarr", "other.zarr", "--matrix", "nobody.txt"]) == 1
    assert main(["resample", "in.zarr", "other.zarr", "--matrix", "/dev/zero"]) == 1


@pytest.mark.parametrize("name", ["zarr.json", ".zattrs", "c/0/0"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_no_file_in_a_store(name: str, kind: str, compressed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if compressed:
        zarr.create_array(store="in.zarr", shape=(32, 32), chunks=(8, 8), shards=(16, 16), dtype="u1")[:] = 5
    else:
        lying()
    path = Path("in.zarr", name)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert main(["resample", "in.zarr", "out.zarr", "--scale", "1", "--levels", "1"]) == 1
    said = capsys.readouterr().err
    assert f"in.zarr/{name}" in said and "Traceback" not in said


def test_codecs_that_run_what_the_store_says_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    import pickle

    class Code:
        def __reduce__(self) -> Any:
            return (Path.touch, (Path("ran"),))

    Path("in.zarr/0").mkdir(parents=True)
    Path("in.zarr/.zarray").write_text(
        json.dumps(
            {
                "zarr_format": 2, "shape": [16, 16], "chunks": [16, 16], "dtype": "|u1", "compressor": None,
                "fill_value": 0, "order": "C", "filters": [{"id": "pickle", "protocol": 5}],
                "dimension_separator": "/",
            }
        )
    )  # fmt: skip
    Path("in.zarr/0/0").write_bytes(pickle.dumps(Code()))
    refused(capsys, "in.zarr")
    assert not Path("ran").exists()


def test_lying_arrays_in_python() -> None:
    lying(shape=[2**40, 16])
    array, small = zarr.open_array("in.zarr", mode="r"), np.zeros((4, 4), "u1")
    for call in (
        lambda: bd.affine_transform(array, np.eye(2), precision="exact"),
        lambda: bd.affine_transform(small, np.eye(2), output_shape=(2**40, 2**40), precision="exact"),
        lambda: bd.affine_transform(
            np.zeros((4, 4), "u1"), np.eye(2), output_shape=(2**30, 2**30), output_chunks=(1, 1)
        ),
        lambda: bd.affine_transform(np.zeros((4, 4), "u1"), np.eye(2) * 1e300),
        lambda: bd.resize(np.zeros((4, 4), "u1"), (2**30, 2**30), output_chunks=4),
        lambda: bd.pyramid(array),
        lambda: bd.pyramid(small, 10**9),
    ):
        with raises(bl.InvalidError):
            call()


def test_starts_of_chunks_are_computed() -> None:
    import bisect
    import pickle

    from bindless.dask.chunks import chunks_between, starts_in

    for size, part in ((10, 3), (9, 3), (1, 5), (7, 7), (5, 1)):
        (starts,) = starts_in((size,), (part,))
        listed = (*range(0, size, part), size)
        assert tuple(starts) == listed and starts[:] == listed and starts[-1] == size
        assert [bisect.bisect_right(starts, n) for n in range(size)] == [
            bisect.bisect_right(listed, n) for n in range(size)
        ]
        assert pickle.loads(pickle.dumps(starts)) == starts
        for first in range(size):
            for stop in range(first + 1, size + 1):
                assert chunks_between(starts, first, stop) == chunks_between(listed, first, stop)
    (starts,) = starts_in((2**62,), (1,))
    assert len(starts) == 2**62 + 1 and chunks_between(starts, 2**61, 2**61 + 2) == [2**61, 2**61 + 1]
