"""Graphs, inputs and errors of ``bindless.dask``."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises

da = pytest.importorskip("dask.array", reason="pip install 'bindless[dask]'")
bd = pytest.importorskip("bindless.dask")

Array = npt.NDArray[Any]

TURN = [[0.9, 0.3, 0.0], [-0.3, 0.9, 0.1], [0.0, 0.0, 1.1]]


class Recorded:
    """An array of zeros that records what is read."""

    def __init__(self, shape: tuple[int, ...], chunks: tuple[int, ...]) -> None:
        self.shape, self.chunks, self.dtype = shape, chunks, np.dtype(np.float32)
        self.parts: list[tuple[slice, ...]] = []

    def __getitem__(self, part: tuple[slice, ...]) -> Array:
        self.parts.append(part)
        return np.zeros([along.stop - along.start for along in part], self.dtype)


@pytest.fixture
def volume() -> Array:
    return np.random.default_rng(1).random((20, 25, 30)).astype(np.float32)


def test_one_task_for_each_block() -> None:
    image = Recorded((4096, 4096, 4096), (128, 128, 128))
    found = bd.affine_transform(image, TURN, 5.0)
    assert found.npartitions == 32**3 and found.chunksize == (128, 128, 128) and found.dtype == np.float32
    assert not image.parts
    graph = dict(found.__dask_graph__())
    assert len(graph) == 32**3 + 1


def test_chunks_of_the_input_are_dependencies() -> None:
    image = da.zeros((512, 512, 512), chunks=64, dtype=np.float32)
    found = bd.affine_transform(image, TURN, 5.0, order=1)
    tasks = dict(found.__dask_graph__())
    assert len(tasks) <= 2 * 8**3 + 1
    needed = tasks[(found.name, 3, 3, 3)].dependencies - {f"{found.name}-shared"}
    assert needed and {key[0] for key in needed} == {image.name} and len(needed) < 30


@pytest.mark.parametrize("mode", ["constant", "nearest", "grid-constant", "reflect", "grid-wrap", "wrap", "mirror"])
@pytest.mark.parametrize(
    ("order", "precision"),
    [*itertools.product((0, 1, 3), ("exact", "hardware")), (2, "exact"), (5, "exact")],
)
def test_dependencies_of_many_blocks_are_those_of_each(mode: str, order: int, precision: str) -> None:
    from bindless.dask.blocks import Blocks, needed_chunks
    from bindless.dask.chunks import starts_of
    from bindless.dask.planning import keys_of_chunks

    image = da.zeros((2, 90, 1, 130), chunks=(1, 20, 1, (7, 23, 100)), dtype=np.float32)
    for matrix, offset in ((TURN, (5, -3, 20)), (np.diag([0.5, 1, -1]), (0, 0, 129)), (np.eye(3) * 0.5, 0.25)):
        found = bd.affine_transform(image, matrix, offset, (2, 110, 3, 300), (1, 16, 2, 32), order, mode,
                                    precision=precision)  # fmt: skip
        blocks = dict(found.__dask_graph__())[f"{found.name}-shared"]()
        assert isinstance(blocks, Blocks) and blocks.image_starts == starts_of(image.chunks)
        numbers = list(np.ndindex(*blocks.counts))
        for number, keys in zip(numbers, keys_of_chunks(blocks, "x", numbers), strict=True):
            each = needed_chunks(blocks.warp, blocks.image_starts, blocks.block(number))
            assert list(keys) == [("x", *chunk) for chunk in each]


def test_one_block_of_a_large_array() -> None:
    image = Recorded((40_000, 40_000, 40_000), (128, 128, 128))
    found = bd.resize(image, (20_000, 20_000, 20_000), output_chunks=2000)
    small = found[4000:4010, 4000:4010, 4000:4010]
    assert small.shape == (10, 10, 10)
    corner = bd.affine_transform(image, np.eye(3), output_shape=(300, 300, 300), order=1).blocks[1, 1, 1]
    assert corner.compute().shape == (128, 128, 128)
    assert image.parts[0] == (slice(128, 257),) * 3


def test_blocks_read_what_they_need() -> None:
    image = Recorded((100, 100, 100), (50, 50, 50))
    bd.affine_transform(image, np.eye(3), (10, 20, 30), output_chunks=50, order=1).compute()
    assert (slice(10, 61), slice(20, 71), slice(30, 81)) in image.parts
    assert (slice(60, 100), slice(70, 100), slice(80, 100)) in image.parts
    del image.parts[:]
    outside = bd.affine_transform(image, np.eye(3), 500, cval=3)
    assert (outside.compute() == 3).all() and not image.parts


@pytest.mark.parametrize("precision", ["exact", "hardware"])
def test_periods_are_read_where_they_are_needed(precision: str) -> None:
    image = Recorded((100, 100, 100), (25, 25, 25))
    bd.affine_transform(image, np.eye(3), 1010, order=1, mode="wrap", output_chunks=25, precision=precision).blocks[
        1, 1, 1
    ].compute()
    (part,) = image.parts
    for along in part:  # 1010 is 10 periods of 99 and 20
        assert 40 <= along.start <= 45 and 69 < along.stop <= 74


def test_kinds_of_input(volume: Array, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
    expected = bd.affine_transform(volume, TURN).compute()
    inputs: list[Any] = [volume]
    for version in (2, 3):
        array = zarr.create_array(
            store=str(tmp_path / f"v{version}.zarr"), shape=volume.shape, chunks=(8, 8, 8), dtype="f4",
            zarr_format=version,
        )  # fmt: skip
        array[:] = volume
        inputs.append(array)
    volume.tofile(tmp_path / "raw")
    inputs.append(np.memmap(tmp_path / "raw", np.float32, "r", 0, volume.shape))
    inputs.append(np.memmap(tmp_path / "raw", np.float32, "r", 0, volume.shape)[:])
    np.save(tmp_path / "array.npy", volume)
    inputs.append(np.load(tmp_path / "array.npy", mmap_mode="r"))
    for array in inputs:
        found = bd.affine_transform(array, TURN, output_chunks=9)
        np.testing.assert_array_equal(found.compute(), expected)
        again = pickle.loads(pickle.dumps(dict(found.__dask_graph__())[f"{found.name}-shared"]))
        np.testing.assert_array_equal(np.asarray(again().image[0:3, 4:7, 5:9]), volume[0:3, 4:7, 5:9])


def test_hdf5(volume: Array, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file.create_dataset("group/volume", data=volume, chunks=(8, 8, 8))
    with h5py.File(tmp_path / "file.h5") as file:
        found = bd.affine_transform(file["group/volume"], TURN)
        assert found.chunksize == (8, 8, 8)
        expected = bd.affine_transform(volume, TURN).compute()
        np.testing.assert_array_equal(found.compute(), expected)
        text = pickle.dumps(dict(found.__dask_graph__())[f"{found.name}-shared"])
    np.testing.assert_array_equal(pickle.loads(text)().image[0:3, 4:7, 5:9], volume[0:3, 4:7, 5:9])


def test_memory_maps_pickle_as_their_files(tmp_path: Path) -> None:
    np.memmap(tmp_path / "raw", np.float32, "w+", 0, (100, 100, 100)).flush()
    found = bd.affine_transform(np.memmap(tmp_path / "raw", np.float32, "r", 0, (100, 100, 100)), TURN)
    assert len(pickle.dumps(dict(found.__dask_graph__())[f"{found.name}-shared"])) < 10_000


def test_blocks_are_of_the_library_of_the_input() -> None:
    assert type(bd.affine_transform(da.zeros((4, 4), chunks=2), np.eye(2))._meta) is np.ndarray


def test_blocks_of_cupy(volume: Array) -> None:
    cupy = pytest.importorskip("cupy", reason="needs a GPU and CuPy")
    image = da.from_array(cupy.asarray(volume), chunks=(8, 9, 10), asarray=False)
    for order, mode in ((0, "constant"), (1, "reflect"), (3, "nearest")):
        options: dict[str, Any] = {"order": order, "mode": mode, "precision": "exact"}
        found = bd.affine_transform(image, TURN, **options)
        assert isinstance(found._meta, cupy.ndarray) and isinstance(found.compute(), cupy.ndarray)
        expected = bd.affine_transform(volume, TURN, output_chunks=17, **options).compute()
        np.testing.assert_array_equal(cupy.asnumpy(found.compute()), expected)


def test_arrays_that_a_cluster_keeps(volume: Array) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'bindless[dask]'")
    expected = bd.affine_transform(volume, TURN, order=1).compute()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        image = da.from_array(volume, chunks=(8, 9, 10)).persist(scheduler="distributed")
        turned = bd.affine_transform(image, TURN, order=1).persist(scheduler="distributed")
        np.testing.assert_array_equal(turned.compute(scheduler="distributed"), expected)
        field = da.ones((3, *turned.shape), chunks=(1, 8, 9, 10))
        moved = bd.affine_transform(turned, np.eye(3), displacement=field, order=1, mode="nearest")
        shifted = expected[1:, 1:, 1:]
        np.testing.assert_array_equal(moved.compute(scheduler="distributed")[:-1, :-1, :-1], shifted)


def test_resize(volume: Array) -> None:
    found = bd.resize(volume, (40, 33, 61))
    assert found.shape == (40, 33, 61)
    expected = bl.ndimage.zoom(volume, (2, 33 / 25, 61 / 30), order=1, mode="nearest", grid_mode=True)
    np.testing.assert_allclose(found.compute(), expected, atol=1e-6)
    stack = bd.resize(np.stack([volume, volume + 1]), (10, 10, 10), 7)
    assert stack.shape == (2, 10, 10, 10)
    np.testing.assert_allclose(stack.compute()[1] - stack.compute()[0], 1, atol=1e-5)


def test_defaults_are_those_of_scipy(volume: Array) -> None:
    ndimage = pytest.importorskip("scipy.ndimage", reason="pip install scipy")
    found = bd.affine_transform(volume, TURN, 2.5, output_chunks=11).compute()
    np.testing.assert_allclose(found, ndimage.affine_transform(volume, TURN, 2.5), rtol=0, atol=4e-6)


def test_pyramid(volume: Array) -> None:
    levels = bd.pyramid(da.from_array(volume, chunks=7))
    assert [level.shape for level in levels] == [(20, 25, 30), (10, 13, 15), (5, 7, 8), (3, 4, 4)]
    assert all(max(level.chunksize) <= 7 for level in levels)
    even = volume[:, :24].reshape(10, 2, 12, 2, 15, 2).mean((1, 3, 5))
    np.testing.assert_allclose(levels[1].compute()[:, :12], even, atol=1e-6)
    last = volume[:, 24].reshape(10, 2, 15, 2).mean((1, 3))
    np.testing.assert_allclose(levels[1].compute()[:, 12], last, atol=1e-6)
    whole = bd.pyramid(volume, 4)
    for one, other in zip(levels, whole):
        np.testing.assert_array_equal(one.compute(), other.compute())
    thin = bd.pyramid(np.arange(12, dtype=np.uint8).reshape(1, 3, 4), 3)
    assert [level.shape for level in thin] == [(1, 3, 4), (1, 2, 2), (1, 1, 1)]


def test_a_part_that_cannot_be_read_is_named() -> None:
    class Broken(Recorded):
        filename = "broken.raw"

        def __getitem__(self, part: tuple[slice, ...]) -> Array:
            raise OSError(5, "Input/output error")

    lazy = bd.affine_transform(Broken((40, 40), (20, 20)), np.eye(2), precision="exact")
    with pytest.raises(bd.BlockError, match=r"block \(1, 0\) \[20:40, 0:20\].*broken\.raw.*Input/output") as caught:
        lazy.blocks[1, 0].compute()
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    assert isinstance(caught.value, RuntimeError) and caught.value.code is bl.Errc.runtime


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"matrix": np.eye(5)}, bl.InvalidError),
        ({"matrix": [[np.nan, 0], [0, 1]]}, bl.InvalidError),
        ({"matrix": "eye"}, bl.InvalidError),
        ({"output_shape": (3, 3, 3)}, bl.InvalidError),
        ({"displacement": np.zeros((3, 8, 8))}, bl.InvalidError),
        ({"displacement": np.zeros((2, 8, 8), complex)}, bl.InvalidError),
        ({"image": np.zeros((8, 8), complex)}, bl.FeatureNotSupportedError),
        ({"image": np.zeros((0, 8))}, bl.InvalidError),
        ({"image": object()}, bl.InvalidError),
        ({"order": 2, "precision": "hardware", "mode": "nearest"}, bl.FeatureNotSupportedError),
        ({"order": 9}, bl.InvalidError),
        ({"mode": "edge"}, bl.InvalidError),
        ({"mode": "grid-constant", "cval": 1.0, "order": 1, "precision": "hardware"}, bl.FeatureNotSupportedError),
        ({"precision": "double"}, bl.InvalidError),
        ({"image": Recorded((8, 5_000_000), (8, 1000)), "precision": "hardware"}, bl.FeatureNotSupportedError),
    ],
)
def test_bad_arguments(options: dict[str, Any], kind: type[bl.Error]) -> None:
    arguments = {"image": np.zeros((8, 8), np.float32), "matrix": np.eye(2), **options}
    with raises(kind):
        bd.affine_transform(**arguments)


def test_bad_sizes() -> None:
    image = np.zeros((8, 8), np.float32)
    for call in (lambda: bd.resize(image, (0, 4)), lambda: bd.resize(image, (1, 2, 3)), lambda: bd.pyramid(image, 0)):
        with raises(bl.InvalidError):
            call()
    unknown = da.zeros((8, 8), chunks=4)[da.zeros(8, chunks=4) == 0]
    with raises(bl.InvalidError):
        bd.affine_transform(unknown, np.eye(2))
