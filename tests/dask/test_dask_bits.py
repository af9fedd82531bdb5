"""Results of ``bindless.dask`` have the same bits whatever their chunks and their input's, and those of ``ndimage``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import ndimage

da = pytest.importorskip("dask.array", reason="pip install 'bindless[dask]'")
bd = pytest.importorskip("bindless.dask")

Array = npt.NDArray[Any]

MODES = ("constant", "grid-constant", "nearest", "reflect", "grid-wrap", "mirror", "wrap")
TURN = np.array([[1.02, 0.1, -0.05], [-0.1, 0.97, 0.2], [0.03, -0.2, 1.01]])
MAPS = {"turn": (TURN, (-4.3, -2.7, 3.1)), "flip": (np.diag([0.5, -1.3, 2.1]), (30.0, 60.0, -20.0))}


@pytest.fixture(scope="module")
def volume() -> Array:
    return np.random.default_rng(1).random((26, 33, 40)).astype(np.float32)


def tilings(image: Array, *arguments: Any, **options: Any) -> list[Array]:
    """One call in several chunks, from a whole array and from chunks."""
    inputs = (image, da.from_array(image, chunks=(2,) * (image.ndim - 3) + (16, 13, 9)))
    return [
        bd.affine_transform(given, *arguments, output_chunks=chunks, **options).compute()
        for given in inputs
        for chunks in ((99, 99, 99), (13, 17, 11), (26, 5, 40))
    ]


def same(found: list[Array]) -> Array:
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    return found[0]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
def test_exact_blocks_have_the_bits_of_ndimage(
    queue: bl.Queue, volume: Array, order: int, mode: str, name: str
) -> None:
    matrix, offset = MAPS[name]
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": 0.25, "precision": "exact"}
    expected = ndimage.affine_transform(volume, matrix, offset, queue=queue, **options)
    np.testing.assert_array_equal(same(tilings(volume, matrix, offset, **options)), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_splines_depend_on_no_chunk(queue: bl.Queue, volume: Array, order: int, mode: str) -> None:
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": 0.25, "precision": "exact"}
    expected = ndimage.affine_transform(volume, TURN, MAPS["turn"][1], queue=queue, **options)
    found = same(tilings(volume, TURN, MAPS["turn"][1], **options))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 if order < 5 else 4e-6)


def test_splines_of_long_lines(queue: bl.Queue) -> None:
    line = np.zeros(300, np.float32)  # a coefficient far from a sample of 1e6 is small, and not 0
    line[150] = 1e6
    found = [
        bd.affine_transform(line, [0.5], 70.25, (400,), chunks, 3, "mirror", precision="exact").compute()
        for chunks in (400, 37, 1)
    ]
    expected = ndimage.affine_transform(line, [0.5], 70.25, (400,), order=3, mode="mirror", queue=queue)
    np.testing.assert_allclose(same(found), expected, rtol=0, atol=0.2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 3])
def test_texture_units_depend_on_no_chunk(volume: Array, order: int, mode: str) -> None:
    cval = 0.25 if mode == "constant" else 0.0
    for matrix, offset in MAPS.values():
        options: dict[str, Any] = {"order": order, "mode": mode, "cval": cval}
        hardware = same(tilings(volume, matrix, offset, precision="hardware", **options))
        exact = bd.affine_transform(volume, matrix, offset, precision="exact", **options).compute()
        if order:
            np.testing.assert_allclose(hardware, exact, rtol=0, atol=3 / 64)
        else:  # on the way from one element to the next
            assert (hardware == exact).mean() > 0.97


@pytest.mark.parametrize("mode", ["nearest", "grid-constant"])
@pytest.mark.parametrize("order", [0, 1])
def test_texture_units_have_the_bits_of_ndimage(queue: bl.Queue, volume: Array, order: int, mode: str) -> None:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("samplers of OpenCL have weights of more than 8 bits")
    options: dict[str, Any] = {"order": order, "mode": mode, "precision": "hardware"}
    expected = ndimage.affine_transform(volume, TURN, MAPS["turn"][1], queue=queue, **options)
    np.testing.assert_array_equal(same(tilings(volume, TURN, MAPS["turn"][1], **options)), expected)


def positions(shape: tuple[int, ...], field: Array) -> Array:
    """As devices compute them: a x + (b y + (c z + d)), then the displacement."""
    z, y, x = np.indices(shape).astype(np.float64)
    rows = [row[2] * x + (row[1] * y + (row[0] * z + moved)) for row, moved in zip(TURN.tolist(), MAPS["turn"][1])]
    return np.stack(rows) + field


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
def test_displacements(queue: bl.Queue, volume: Array, order: int, mode: str) -> None:
    shape = (22, 30, 36)
    field = (np.random.default_rng(2).standard_normal((3, *shape)) * 4).astype(np.float32)
    field[:, 3, 3, 3], field[1, 7, 7, 7], field[2, 9, 9, 9] = np.nan, np.inf, 1e30
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": 0.5, "precision": "exact"}
    expected = ndimage.map_coordinates(volume, positions(shape, field), queue=queue, **options)
    fields = (field, da.from_array(field, chunks=(3, 9, 9, 9)))
    found = [
        other
        for given in fields
        for other in tilings(volume, TURN, MAPS["turn"][1], shape, displacement=given, **options)
    ]
    np.testing.assert_array_equal(same(found), expected)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_displacements_by_texture_units(volume: Array, order: int) -> None:
    field = (np.random.default_rng(2).standard_normal((3, *volume.shape)) * 9).astype(np.float64)
    field[:, 3, 3, 3] = np.nan
    found = same(
        tilings(volume, TURN, MAPS["turn"][1], displacement=field, order=order, cval=9.0, precision="hardware")
    )
    assert found[3, 3, 3] == 9 and 0.1 < (found == 9).mean() < 0.9


def test_a_displacement_of_one_element_inside_a_block(volume: Array) -> None:
    """The corners of the block do not show where it reads."""
    field = np.zeros((3, *volume.shape), np.float32)
    field[:, 13, 13, 13] = (10, -12, 20)
    found = bd.affine_transform(
        volume, np.eye(3), displacement=field, output_chunks=7, order=0, precision="hardware"
    ).compute()
    assert found[13, 13, 13] == volume[23, 1, 33]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "float16",
                                   "float64", ">f4", ">u2"])  # fmt: skip
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("precision", ["exact", "hardware"])
def test_elements(queue: bl.Queue, volume: Array, dtype: str, order: int, precision: str) -> None:
    image = ((volume if dtype.startswith(("u", ">u")) else volume - 0.4) * 100).astype(dtype)[None].repeat(3, 0)
    image[1] += np.asarray(1, dtype)
    image = image[:, :12, :13, :14]
    options: dict[str, Any] = {"order": order, "cval": 7.5, "precision": precision}
    found = [
        bd.affine_transform(given, [1.3, 0.8, 1.1], [0.2, 0.3, -2], output_chunks=chunks, **options).compute()
        for given in (image, da.from_array(image, chunks=(2, 9, 9, 9)))
        for chunks in ((3, 99, 99, 99), (1, 7, 8, 9))
    ]
    assert same(found).dtype == np.dtype(dtype)
    if precision == "exact" and order < 3:
        expected = [
            ndimage.affine_transform(one, [1.3, 0.8, 1.1], [0.2, 0.3, -2], queue=queue, **options) for one in image
        ]
        np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("shape", [(301,), (40, 53), (3, 40, 53), (2, 3, 40, 53)])
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("precision", ["exact", "hardware"])
def test_axes(queue: bl.Queue, shape: tuple[int, ...], order: int, precision: str) -> None:
    image = np.random.default_rng(3).random(shape).astype(np.float32)
    matrix = [0.7] if len(shape) == 1 else [[0.9, 0.2], [-0.2, 0.9]]
    options: dict[str, Any] = {"order": order, "mode": "reflect", "precision": precision}
    found = [
        bd.affine_transform(image, matrix, 3, output_chunks=chunks, **options).compute()
        for chunks in ((400,) * len(shape), (1,) * (len(shape) - 2) + (17,) * min(len(shape), 2))
    ]
    whole = same(found)
    if precision == "exact":
        flat = image.reshape(-1, *shape[-2:]) if len(shape) > 1 else image[None]
        for one, values in zip(flat, whole.reshape(flat.shape)):
            expected = ndimage.affine_transform(one, matrix, 3, queue=queue, **options)
            np.testing.assert_allclose(values, expected, rtol=0, atol=2e-6 if order == 3 else 0)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_blocks_that_do_not_fit_are_divided(volume: Array, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.dask import block

    options: dict[str, Any] = {"order": order, "precision": "exact", "displacement": np.ones((3, *volume.shape))}
    expected = bd.affine_transform(volume, TURN, output_chunks=99, **options).compute()
    monkeypatch.setattr(block, "_MOST_BYTES", 30000)
    found = bd.affine_transform(volume, TURN, output_chunks=99, **options).compute()
    np.testing.assert_array_equal(found, expected)
