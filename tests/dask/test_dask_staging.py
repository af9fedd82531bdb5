"""Blocks by way of device memory and pinned memory, as on a GPU, have the bits of every other division.

The reference device does without both; here it takes the way of other devices.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

da = pytest.importorskip("dask.array", reason="pip install 'bindless[dask]'")
bd = pytest.importorskip("bindless.dask")

from bindless.dask import block, queues, staging, workspace  # noqa: E402
from bindless.ndimage import images  # noqa: E402

Array = npt.NDArray[Any]

TURN = np.array([[1.02, 0.1, -0.05], [-0.1, 0.97, 0.2], [0.03, -0.2, 1.01]])
OFFSET = (-4.3, -2.7, 3.1)


@pytest.fixture
def volume() -> Array:
    return np.random.default_rng(1).random((15, 18, 40)).astype(np.float32)


@pytest.fixture
def separate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device has its own memory."""
    monkeypatch.setattr(queues, "_own", threading.local())
    for module in (staging, workspace):
        monkeypatch.setattr(module, "is_staged", lambda _: True)
    monkeypatch.setattr(staging, "SMALLEST", 16)
    monkeypatch.setattr(workspace.Workspace, "shares_memory", property(lambda _: False))


def tilings(image: Array, **options: Any) -> list[Array]:
    inputs = (image, da.from_array(image, chunks=(2,) * (image.ndim - 3) + (16, 13, 19)))
    return [
        bd.affine_transform(given, TURN, OFFSET, output_chunks=chunks, **options).compute()
        for given in inputs
        for chunks in ((99, 99, 99), (9, 10, 40))
    ]


@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect", "grid-wrap"])
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("precision", ["exact", "hardware", "reproducible"])
def test_bits(request: pytest.FixtureRequest, volume: Array, precision: str, order: int, mode: str) -> None:
    options: dict[str, Any] = {"order": order, "mode": mode, "precision": precision}
    expected = bd.affine_transform(volume, TURN, OFFSET, **options).compute()
    request.getfixturevalue("separate")
    found = tilings(volume, **options)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    spline = order == 3 and precision != "reproducible"
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=2e-6 if spline else 0)


def test_splines_do_not_depend_on_where_lines_end(separate: None) -> None:
    """Small elements next to large ones show what a coefficient depends on."""
    chance = np.random.default_rng(5)
    for shape in ((112, 2, 3), (2, 112, 3), (2, 3, 112)):
        image = (10 ** chance.uniform(0, 9, shape)).astype(np.float32)
        found = [
            bd.affine_transform(image, np.eye(3), 0.3, None, chunks, 3, "mirror", precision="exact").compute()
            for chunks in (160, 37)
        ]
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize(
    ("dtype", "order"), [*((name, 1) for name in ("uint8", "float16", "float64", "int64", "bool", ">f4")), ("uint8", 3)]
)
def test_elements(request: pytest.FixtureRequest, volume: Array, dtype: str, order: int) -> None:
    image = (volume * 100).astype(dtype)[None].repeat(2, 0)
    options: dict[str, Any] = {"order": order, "precision": "exact", "mode": "nearest"}
    expected = bd.affine_transform(image, TURN, OFFSET, **options).compute()
    request.getfixturevalue("separate")
    for found in tilings(image, **options):
        assert found.dtype == image.dtype
        if dtype in ("float64", ">f4"):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 if order == 3 else 0)
        else:  # coefficients of another order of additions may round to a neighbour
            assert (found != expected).mean() <= (1e-3 if order == 3 else 0)


@pytest.mark.parametrize("order", [1, 3])
def test_displacements_and_divided_blocks(
    request: pytest.FixtureRequest, volume: Array, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = np.random.default_rng(2).standard_normal((3, *volume.shape)).astype(np.float32) * 3
    options: dict[str, Any] = {"order": order, "precision": "exact", "displacement": field, "cval": 0.5}
    request.getfixturevalue("separate")
    found = tilings(volume, **options)
    monkeypatch.setattr(block, "_MOST_BYTES", 150_000)
    for other in (*found[1:], *tilings(volume, **options)):
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("precision", ["exact", "hardware"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("is_displaced", [False, True])
def test_splines_of_blocks_that_come_again(separate: None, dtype: str, precision: str, is_displaced: bool) -> None:
    """Blocks inside, of which images hold all samples that are filtered, have the bits of one block."""
    chance = np.random.default_rng(7)
    image = (chance.random((210, 230)) * 200).astype(dtype)
    field = chance.standard_normal((2, 210, 230)).astype(np.float32) if is_displaced else None
    options: dict[str, Any] = {"order": 3, "precision": precision, "displacement": field, "mode": "mirror"}
    whole, *others = [
        bd.affine_transform(image, [[0.99, 0.02], [-0.02, 1.01]], 0.4, output_chunks=chunks, **options).compute()
        for chunks in (999, 20, (23, 31))
    ]
    for other in others:
        np.testing.assert_array_equal(other, whole)


def test_results_that_are_kept_are_not_overwritten(separate: None, volume: Array) -> None:
    image = da.from_array(volume, chunks=(13, 11, 35))
    kept = bd.affine_transform(image, np.eye(3), order=1, output_chunks=19).persist()
    first = kept.compute()
    bd.affine_transform(image + 1, np.eye(3), order=1, output_chunks=9).compute()
    np.testing.assert_array_equal(kept.compute(), first)
    np.testing.assert_array_equal(first, volume)


def test_memory_of_images_is_kept(separate: None, volume: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes inside differ in size, images do not."""
    made = []
    empty = images.ImageStore.empty.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        images.ImageStore, "empty", classmethod(lambda cls, *given: made.append(given[1]) or empty(cls, *given))
    )
    tall = np.random.default_rng(3).random((200, 40, 40)).astype(np.float32)
    matrix = np.diag([0.95, 0.9, 0.9])
    found = bd.affine_transform(
        tall, matrix, (3, 2, 2), output_chunks=(20, 20, 20), order=1, mode="nearest", precision="hardware"
    )
    found.blocks[1:8, 0, 0].compute()
    assert len(made) <= 2
    with bl.Queue(bl.Device("reference")) as queue:
        again = workspace.Workspace(queue)
        assert again.arrays["a", (10,), np.dtype("f4")].address == again.arrays["a", (5,), np.dtype("f8")].address
        again.close()
