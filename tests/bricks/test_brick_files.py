"""Stores of OME-Zarr, written by zarr alone: levels, places in the world, chunkings, and damage."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.bricks import BrickStore
from tests.bricks.test_brick_samples import has_handles, numbers, picture  # noqa: F401

zarr = pytest.importorskip("zarr", reason="pip install 'bindless[dask]'")
pytest.importorskip("ome_zarr_models", reason="pip install 'bindless[dask]'")


def write(
    path: Path, levels: list[Any], version: str, axes: str = "zyx", chunk: int = 32, compress: bool = True
) -> None:
    """An image whose levels have texels of 2, 4, ... times the first one's size of (0.5, 0.25, 0.25), in micrometre."""
    group = zarr.open_group(str(path), mode="w", zarr_format=2 if version == "0.4" else 3)
    sets = []
    for number, level in enumerate(levels):
        chunks = tuple(min(chunk, size) for size in level.shape)
        group.create_array(str(number), data=level, chunks=chunks, compressors="auto" if compress else None)
        scale = [(0.5 if name == "z" else 0.25) * 2**number if name in "zyx" else 1.0 for name in axes]
        place = [(0.5 if name == "z" else 0.25) * (2**number - 1) / 2 if name in "zyx" else 0.0 for name in axes]
        steps = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": place}]
        sets.append({"path": str(number), "coordinateTransformations": steps})
    kinds = {"t": "time", "c": "channel"}
    listed = [{"name": n, "type": kinds.get(n, "space")} | ({"unit": "micrometer"} if n in "zyx" else {}) for n in axes]
    content: dict[str, Any] = {"multiscales": [{"name": "image", "axes": listed, "datasets": sets}]}
    if version == "0.4":
        content["multiscales"][0]["version"] = version
        group.attrs.update(content)
    else:
        group.attrs["ome"] = {"version": version, **content}


def halved(array: Any) -> Any:
    """Means of 2 x 2 x 2 texels along the last three axes."""
    z, y, x = array.shape[-3:]
    parts = array.reshape(*array.shape[:-3], z // 2, 2, y // 2, 2, x // 2, 2)
    return parts.mean((-5, -3, -1)).astype(array.dtype)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_levels_and_the_world_are_those_of_the_metadata(queue: bl.Queue, tmp_path: Path, version: str) -> None:
    fine = numbers("uint16", (2, 64, 96, 128))
    coarse = halved(fine)
    write(tmp_path / "image.zarr", [fine, coarse], version, "czyx")
    with BrickStore(str(tmp_path / "image.zarr"), queue, memory="64MB") as store:
        assert store.levels[:2] == ((64, 96, 128), (32, 48, 64)) and store.source.channels == 2
        assert store.source.spacing == (0.25, 0.25, 0.5) and store.source.unit == "micrometer"
        whole = picture(store, (64, 96, 128), np.eye(3, 4))
        np.testing.assert_array_equal(np.rint(whole), np.moveaxis(fine, 0, -1))
        double = np.diag([2.0, 2, 2, 0])[:3]  # the middle of 2 x 2 x 2 texels is the centre of the coarser one
        part = picture(store, (32, 48, 64), double, level=1)
        np.testing.assert_array_equal(np.rint(part), np.moveaxis(coarse, 0, -1))


def test_chunkings_and_dtypes_at_random(queue: bl.Queue, tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    for number, (version, compress) in enumerate(itertools.product(("0.4", "0.5"), (False, True))):
        shape = tuple(int(size) for size in generator.integers(1, 80, 3))
        dtype = ("uint8", "int16", "float32", "float64")[number]
        array = numbers(dtype, shape, number)
        path = tmp_path / f"{number}.zarr"
        write(path, [array], version, chunk=int(generator.integers(1, 40)) + 8, compress=compress)
        with BrickStore(str(path), queue, memory="64MB") as store:
            whole = picture(store, shape, np.eye(3, 4))[..., 0]
        np.testing.assert_array_equal(np.rint(whole) if dtype[0] != "f" else whole, array.astype(np.float32))


def test_a_store_that_vanishes(queue: bl.Queue, tmp_path: Path) -> None:
    path = tmp_path / "image.zarr"
    fine = numbers("uint8", (64, 128, 256))
    write(path, [fine, halved(fine), halved(halved(fine))], "0.5")
    with BrickStore(str(path), queue, memory="64MB") as store:
        shutil.rmtree(path)
        coarse = picture(store, (64, 128, 256), np.eye(3, 4), settle=False)
        news = store.update(wait=True)
        assert news.placed == 0 and store.errors
        np.testing.assert_array_equal(picture(store, (64, 128, 256), np.eye(3, 4), settle=False), coarse)


def test_a_damaged_chunk(queue: bl.Queue, tmp_path: Path) -> None:
    path = tmp_path / "image.zarr"
    fine = numbers("uint8", (64, 64, 256))
    write(path, [fine, halved(fine), halved(halved(fine))], "0.5")
    (path / "0" / "c" / "0" / "0" / "0").write_bytes(b"no chunk")
    with BrickStore(str(path), queue, memory="64MB") as store:
        whole = np.rint(picture(store, (64, 64, 256), np.eye(3, 4))[..., 0])
        assert len(store.errors) == 1
    np.testing.assert_array_equal(whole[..., 70:], fine[..., 70:])


def test_metadata_that_is_not_valid(queue: bl.Queue, tmp_path: Path) -> None:
    path = tmp_path / "image.zarr"
    write(path, [numbers("uint8", (8, 8, 8))], "0.5")
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace('"scale"', '"twist"'))
    with pytest.raises(bl.InvalidError):
        BrickStore(str(path), queue)
