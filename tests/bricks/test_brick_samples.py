"""Samples of bricks: the bits of the whole, coarser levels where bricks are missing, and bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.bricks import BrickStore
from bindless.bricks.page_table import key_of

MATRIX = np.array([[0.9, 0.3, -0.1, 3.0], [-0.3, 0.9, 0.2, -5.0], [0.05, -0.2, 0.95, 8.3]])


@bl.kernel
def warp(table, matrix, level, out):
    k, j, i = device.item_id(0), device.item_id(1), device.item_id(2)
    z, y, x = k + np.float64(0.5), j + np.float64(0.5), i + np.float64(0.5)
    px = matrix[0, 0] * x + (matrix[0, 1] * y + (matrix[0, 2] * z + matrix[0, 3]))
    py = matrix[1, 0] * x + (matrix[1, 1] * y + (matrix[1, 2] * z + matrix[1, 3]))
    pz = matrix[2, 0] * x + (matrix[2, 1] * y + (matrix[2, 2] * z + matrix[2, 3]))
    value = device.sample_bricks(table, px, py, pz, level)
    row = (k * device.item_range(1) + j) * device.item_range(2) + i
    for channel in range(out.shape[1]):
        out[row, channel] = value[channel]


@pytest.fixture(autouse=True)
def has_handles(queue: bl.Queue) -> None:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("devices of OpenCL have no handles in memory: test_a_device_without_handles")


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    values = np.random.default_rng(seed).random(shape)
    if np.dtype(dtype).kind == "f":
        return (values * 8 - 4).astype(dtype)
    limits = np.iinfo(dtype)
    low = limits.min + (limits.min < 0)  # texture units read the least code as the next one
    return np.rint(low + values * (float(limits.max) - low)).astype(dtype)


def picture(
    store: BrickStore, shape: tuple[int, int, int], matrix: Any = MATRIX, level: int = 0, settle: bool = True
) -> Any:
    """The samples at the positions of ``Image.warp``."""
    queue = store.queue
    out = bl.usm_empty((int(np.prod(shape)), store.source.channels), np.float32, queue)
    whole = bl.usm_empty((3, 4), np.float64, queue).copy_from(matrix)
    while True:
        queue.parallel_for(shape, warp, store.table, whole, level, out).wait_and_throw()
        if not settle or not store.update(wait=True).placed:
            return out.numpy(queue).reshape(*shape, -1)


def same(found: Any, wanted: Any, queue: bl.Queue) -> None:
    """Equal bits on the reference device; elsewhere within the rounding of fused operations."""
    found = np.rint(found) if wanted.dtype.kind != "f" else found.astype(wanted.dtype)
    if queue.device.backend is bl.Backend.reference:
        np.testing.assert_array_equal(found, wanted)
    else:
        step = {"f": 4e-3 if wanted.dtype == np.float16 else 4e-6}.get(wanted.dtype.kind, 1.0)
        np.testing.assert_allclose(found, wanted.astype(np.float64), rtol=0, atol=step)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float16", "float32"])
def test_a_volume_has_the_bits_of_the_whole(queue: bl.Queue, dtype: str) -> None:
    volume, shape = numbers(dtype, (70, 131, 128)), (3, 80, 90)
    with BrickStore(volume, queue, memory="64MB") as store, bl.Image(volume, queue=queue, precision="exact") as image:
        same(picture(store, shape)[..., 0], image.warp(MATRIX, shape), queue)
        far = MATRIX.copy()
        far[:, 3] = -90, 200, -70  # mostly outside
        same(picture(store, shape, far)[..., 0], image.warp(far, shape), queue)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_picture_has_the_bits_of_the_whole(queue: bl.Queue, channels: int) -> None:
    pixels = numbers("uint8", (300, 520, channels) if channels > 1 else (300, 520))
    matrix = np.array([[1.9, 0.3, 0.0, 3.0], [-0.3, 1.1, 0.0, 15.0], [0, 0, 1, 0]])
    with BrickStore(pixels, queue, memory="16MB") as store, bl.Image(pixels, queue=queue, precision="exact") as image:
        wanted = image.warp(matrix[:2][:, [0, 1, 3]], (200, 260))
        same(picture(store, (1, 200, 260), matrix)[0], wanted.reshape(200, 260, channels), queue)


def test_axes_times_and_channels_are_chosen(queue: bl.Queue) -> None:
    array = numbers("uint16", (2, 5, 3, 70, 75))  # t, c, z, y, x
    with BrickStore(array, queue, memory="16MB", time=1, channels=[3, 1]) as store:
        found = picture(store, (3, 70, 75), np.eye(3, 4))
    np.testing.assert_array_equal(np.rint(found), np.moveaxis(array[1, [3, 1]], 0, -1))
    with BrickStore(array[0, 0].T, queue, memory="16MB", axes="xyz") as store:
        found = picture(store, (3, 70, 75), np.eye(3, 4))
    np.testing.assert_array_equal(np.rint(found)[..., 0], array[0, 0])


def test_a_level_of_a_pyramid_is_read_in_texels_of_the_finest(queue: bl.Queue) -> None:
    fine, coarse = numbers("float32", (96, 100, 104)), numbers("float32", (48, 50, 52), seed=1)
    with (
        BrickStore([fine, coarse], queue, memory="64MB") as store,
        bl.Image(coarse, queue=queue, precision="exact") as image,
    ):
        matrix = np.array([[1.5, 0, 0, 0], [0, 1.5, 0, 0], [0, 0, 1.5, 0]])
        found = picture(store, (60, 60, 60), matrix, level=1)[..., 0]
        same(found, image.warp(matrix / 2, (60, 60, 60)), queue)


def test_a_missing_brick_is_read_from_the_next_coarser_level(queue: bl.Queue) -> None:
    levels = [np.full((256 >> n,) * 3, 10 * n, np.uint8) for n in range(4)]
    levels[0][0, 0, 0] = levels[1][0, 0, 0] = 255
    with BrickStore(levels, queue, memory="64MB") as store:
        shape, corner = (4, 4, 4), np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
        corner[:, 3] = 8
        assert (picture(store, shape, corner, settle=False) == 30).all()  # the coarsest level
        news = store.update(wait=True)
        assert (news.placed, news.bricks, news.without_room) == (3, 0, 0)  # and the levels between
        assert (picture(store, shape, corner, settle=False) == 0).all()


def test_memory_is_bounded_and_bricks_in_use_stay(queue: bl.Queue) -> None:
    volume = numbers("uint8", (128, 190, 190))
    brick = 64**3
    levels = [volume, volume[::2, ::2, ::2], volume[::4, ::4, ::4]]
    with BrickStore(levels, queue, memory=20 * brick) as store:
        for place in np.random.default_rng(2).integers(0, 130, (6, 3)):
            move = np.eye(3, 4)
            move[:, 3] = place
            found = picture(store, (30, 30, 30), move)[..., 0]
            x, y, z = place
            inside = volume[z : z + 30, y : y + 30, x : x + 30]
            np.testing.assert_array_equal(np.rint(found)[: len(inside)], inside)
            assert store.allocated <= 20 * brick
        picture(store, (43, 64, 64), np.diag([3.0, 3, 3, 0])[:3], settle=False)
        news = store.update(wait=True)
        assert news.without_room > 0 and news.bricks == 0
        assert store.allocated <= 20 * brick


def test_bricks_of_equal_texels_take_no_image_memory(queue: bl.Queue) -> None:
    volume = np.full((70, 140, 70), 7, np.uint16)
    volume[0, 0, 0] = 9
    with BrickStore(volume, queue, memory="64MB") as store:
        found = picture(store, volume.shape, np.eye(3, 4))[..., 0]
        np.testing.assert_array_equal(np.rint(found), volume)
        assert store.allocated <= 3 * 2 * 64**3


class Broken:
    """An array of which a part cannot be read."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, part: tuple[slice, ...]) -> Any:
        if part[2].stop > 140 and part[2].step is None:
            raise OSError("the store is gone")
        return self.array[part]


def test_a_brick_that_cannot_be_read_is_told_and_the_rest_goes_on(queue: bl.Queue) -> None:
    volume = numbers("uint8", (64, 64, 190))
    with BrickStore(Broken(volume), queue, memory="64MB") as store:
        found = picture(store, volume.shape, np.eye(3, 4))[..., 0]
        assert any("the store is gone" in text for text in store.errors)
    np.testing.assert_array_equal(np.rint(found[..., :100]), volume[..., :100])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_bounds_of_cells(queue: bl.Queue, dtype: str) -> None:
    """Of eight texels along each axis and the first of the next ones; where a cell has a not-a-number, all numbers."""
    volume = np.stack([numbers(dtype, (64, 64, 127), seed) for seed in range(2)])
    if dtype == "float32":
        volume[1, 24, 30, 40] = np.nan
    with BrickStore(volume, queue, memory="64MB", axes="czyx") as store:
        picture(store, volume.shape[1:], np.eye(3, 4))
        keys, slots, cells = (store.table[number].numpy(queue) for number in (0, 9, 10))
        assert store.cells == 512
    for i in range(2):
        slot = int(slots[keys == key_of((0, i, 0, 0))][0])
        image = np.pad(volume[..., 63 * i : 63 * i + 64], [(0, 0)] + [(0, 1)] * 3, "edge")
        least, greatest = ([], [])
        for z, y, x in np.ndindex(8, 8, 8):
            cell = image[:, 8 * z : 8 * z + 9, 8 * y : 8 * y + 9, 8 * x : 8 * x + 9].reshape(2, -1).astype(np.float32)
            least.append(np.where(np.isnan(cell.min(1)), -np.inf, cell.min(1)))
            greatest.append(np.where(np.isnan(cell.max(1)), np.inf, cell.max(1)))
        wanted = np.stack([least, greatest], -1).reshape(512, 4)
        np.testing.assert_array_equal(cells[512 * slot : 512 * slot + 512], wanted)


def test_planning_is_independent_of_the_size(queue: bl.Queue) -> None:
    shape = (20_000, 20_000, 25_000)  # 10 TB
    levels = [np.broadcast_to(np.uint8(n), [max(size >> n, 1) for size in shape]) for n in range(9)]
    with BrickStore(levels, queue, memory="64MB") as store:
        assert sum(array.nbytes for array in store.table[:-1]) < 1 << 20
        assert store.table[10].nbytes < (64 << 20) / 50
        far = np.eye(3, 4)
        far[:, 3] = 19_000
        assert (picture(store, (3, 3, 3), far) == 0).all()


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ([], {}),
        (np.zeros(5), {}),
        (np.zeros((4, 0)), {}),
        (np.zeros((4, 4), complex), {}),
        (np.zeros((4, 4)), {"memory": "much"}),
        (np.zeros((4, 4)), {"memory": 1000}),
        (np.zeros((4, 4)), {"memory": -1}),
        (np.zeros((4, 4)), {"axes": "xx"}),
        (np.zeros((4, 4)), {"axes": "zx"}),
        (np.zeros((4, 4)), {"time": 1}),
        (np.zeros((4, 4, 3)), {"channels": [0, 3]}),
        ([np.zeros((4, 4)), np.zeros((8, 8))], {}),
        ("/no/such/store.zarr", {}),
    ],
)
def test_wrong_arguments(queue: bl.Queue, source: Any, options: dict[str, Any]) -> None:
    with pytest.raises(bl.InvalidError):
        BrickStore(source, queue, **options)


def test_a_closed_store_refuses(queue: bl.Queue) -> None:
    store = BrickStore(np.ones((4, 4), np.float32), queue)
    store.close()
    store.close()
    assert store.closed
    with pytest.raises(bl.InvalidError):
        store.update()
