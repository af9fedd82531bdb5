"""Pictures of bricks compared with ``Image.warp`` of the whole and with sums in numpy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.bricks import BrickStore, loading
from bindless.viewer.colours import MAPS, table_of
from bindless.viewer.drawing import Painter
from bindless.viewer.view import View, first_view, view_of

RNG = np.random.default_rng(3)
VOLUME = RNG.integers(0, 60_000, (70, 80, 90)).astype(np.uint16)
TURN = (0.8, 0.3, -0.4, 0.2)


def complete(store: BrickStore, view: View, width: int, height: int) -> tuple[Any, Any]:
    """Pixels and values of a picture."""
    painter = Painter(store)
    frame = painter.complete(view, width, height, 60)
    assert frame.is_complete and not frame.is_full
    values = painter.values()
    painter.close()
    return frame.pixels, values


def straight(view: View, shape: tuple[int, ...], mode: str) -> tuple[View, int, int]:
    """A view along z whose pixels are texels."""
    depth, height, width = shape
    middle = ((width - 1) / 2, (height - 1) / 2, (depth - 1) / 2)
    return replace(view, mode=mode, centre=middle, extent=float(height)), width, height


def test_a_slice_has_the_bits_of_the_whole(queue: bl.Queue) -> None:
    volume, (width, height) = VOLUME.astype(np.float32), (120, 100)
    with BrickStore(volume, queue, memory="64MB") as store, bl.Image(volume, queue=queue, precision="exact") as image:
        view = replace(first_view(store.source), rotation=TURN, extent=90.0)
        _, values = complete(store, view, width, height)
        right, down, _ = view.axes() * (view.extent / height)
        corner = np.array(view.centre) + 0.5 - right * (width / 2) - down * (height / 2)
        matrix = np.stack([right, down, np.zeros(3), corner], -1)
        whole = image.warp(matrix, (1, height, width))[0]
    u, v = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    places = u[..., None] * right + v[..., None] * down + corner
    inside = ((places > 0) & (places < np.array(volume.shape[::-1]))).all(-1)
    assert inside.any() and not inside.all() and np.isnan(values[~inside]).all()
    if queue.device.backend is bl.Backend.reference:
        np.testing.assert_array_equal(values[inside, 0], whole[inside])
    else:
        np.testing.assert_allclose(values[inside, 0], whole[inside], rtol=0, atol=0.06)


@pytest.mark.parametrize(("mode", "reduce"), [("max", np.max), ("mean", np.mean)])
def test_projections(queue: bl.Queue, mode: str, reduce: Any) -> None:
    with BrickStore(VOLUME, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), VOLUME.shape, mode)
        _, values = complete(store, view, width, height)
    np.testing.assert_allclose(values[..., 0], reduce(VOLUME.astype(np.float64), axis=0), rtol=2e-5)


def test_channels_are_projected_apart_and_added_in_colours(queue: bl.Queue) -> None:
    volume = RNG.integers(0, 200, (2, 40, 50, 66)).astype(np.uint8)
    with BrickStore(volume, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), volume.shape[1:], "max")
        view = replace(view, windows=((0, 255), (0, 255)), colours=("#ff0000", "#00ff80"))
        pixels, values = complete(store, view, width, height)
    largest = volume.max(1)
    np.testing.assert_array_equal(np.rint(values), np.moveaxis(largest, 0, -1))
    np.testing.assert_allclose(pixels[..., 0], largest[0], atol=1)
    np.testing.assert_allclose(pixels[..., 1], largest[1], atol=1)
    np.testing.assert_allclose(pixels[..., 2], largest[1] * (128 / 255), atol=1)


def test_matter_is_composited_from_the_front(queue: bl.Queue) -> None:
    volume = np.where(RNG.random(VOLUME.shape) < 0.02, VOLUME, 0).astype(np.uint16)
    with BrickStore(volume, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), volume.shape, "volume")
        view = replace(view, windows=((0.0, 60_000.0),), colours=("heat",), opacity=0.9, is_lit=False)
        pixels, _ = complete(store, view, width, height)
        background = pixels[volume.max(0) == 0]
        assert (background == background[0]).all()
    step = 256 / np.sqrt(np.sum(np.square(volume.shape)))
    share = np.arange(256) / 255
    opacity = 1 - (1 - np.where(share > 0.02, np.minimum(0.9 * share**1.5, 0.999), 0)) ** step
    rows = np.floor(np.clip(volume / 60_000 * 255, 0, 255) + 0.5).astype(int)
    light, clear = np.zeros((height, width, 3)), np.ones((height, width, 1))
    for plane in rows:
        light += clear * opacity[plane][..., None] * table_of("heat")[plane]
        clear *= 1 - opacity[plane][..., None]
    wanted = 255 * (light + clear * background[0] / 255)
    assert np.quantile(np.abs(pixels - wanted).max(-1), 0.99) <= 3  # a row of colours where a number is between two


@pytest.mark.parametrize("mode", ["max", "volume"])
def test_cells_that_are_passed_over_change_no_pixel(
    queue: bl.Queue, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Small things in a wide volume, along rays that cross cells and bricks at any angle."""
    volume = np.zeros((70, 130, 90), np.uint16)
    for z, y, x in RNG.integers(0, (66, 126, 86), (25, 3)):
        volume[z : z + 4, y : y + 3, x : x + 4] = RNG.integers(1000, 60_000, (4, 3, 4))
    pictures = []
    for passes in (True, False):
        if not passes:
            everything = np.tile(np.array([-np.inf, np.inf], np.float32), (512, 1))
            monkeypatch.setattr(loading, "bounds_of_cells", lambda *image, bounds=everything: bounds)
        with BrickStore(volume, queue, memory="64MB") as store:
            view = replace(first_view(store.source), mode=mode, rotation=TURN, extent=100.0, windows=((0.0, 60_000.0),))
            pictures.append(complete(store, view, 120, 100)[0])
    assert pictures[0].std() > 1
    np.testing.assert_array_equal(*pictures)


def test_light_darkens_what_is_turned_away(queue: bl.Queue) -> None:
    z, y, x = np.mgrid[-1:1:60j, -1:1:60j, -1:1:60j]
    ball = (255 * np.clip(12 * (0.8 - np.sqrt(x * x + y * y + z * z)), 0, 1)).astype(np.uint8)
    with BrickStore(ball, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), ball.shape, "volume")
        view = replace(view, opacity=1.0, windows=((0.0, 255.0),))
        pixels, _ = complete(store, view, width, height)
        flat, _ = complete(store, replace(view, is_lit=False), width, height)
    middle, rim = (slice(27, 33), slice(27, 33)), (slice(27, 33), slice(8, 11))
    assert pixels[middle].mean() > 0.9 * flat[middle].mean() and pixels[rim].mean() < 0.8 * flat[rim].mean()


def test_a_picture_in_colours_keeps_its_bytes(queue: bl.Queue) -> None:
    picture = RNG.integers(0, 256, (300, 280, 3)).astype(np.uint8)
    with BrickStore(picture, queue, memory="16MB") as store:
        view, width, height = straight(first_view(store.source), (1, 300, 280), "volume")
        pixels, _ = complete(store, view, width, height)
    np.testing.assert_array_equal(pixels, picture)


def test_a_small_picture_of_a_pyramid_reads_a_coarse_level(queue: bl.Queue) -> None:
    levels = [np.full((256 >> n,) * 3, 20 * n + 10, np.uint8) for n in range(4)]
    for level in levels:
        level[0, 0, 0] = 0  # no brick without texels
    with BrickStore(levels, queue, memory="64MB") as store:
        view = first_view(store.source)
        painter = Painter(store)
        assert painter.level_of(view, 1000) == 0 and painter.level_of(view, 64) == 2
        assert painter.complete(view, 60, 64, 30).level == 2
        assert np.nanmax(painter.values()) == 50
        frame = painter.draw(replace(view, mode="max"), 60, 64, is_moving=True)
        assert frame.level == 3 and not frame.is_complete
        painter.close()


def test_memory_that_does_not_hold_the_level_gives_a_coarser_one(queue: bl.Queue) -> None:
    volume = RNG.integers(0, 255, (256, 256, 256)).astype(np.uint8)
    levels = [volume[:: 1 << n, :: 1 << n, :: 1 << n] for n in range(3)]
    with BrickStore(levels, queue, memory=40 * 64**3) as store:
        view = replace(first_view(store.source), mode="mean", extent=100.0)
        painter = Painter(store)
        frame = painter.complete(replace(view, extent=256.0), 256, 256, 60)
        assert frame.is_complete and frame.is_full and frame.level == 1
        assert store.allocated <= 40 * 64**3
        painter.close()


def test_the_point_and_the_numbers_of_a_pixel(queue: bl.Queue) -> None:
    with BrickStore(VOLUME, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), VOLUME.shape, "slice")
        view = replace(view, centre=(*view.centre[:2], 11.0))
        painter = Painter(store)
        assert painter.value_at(1, 1) is None
        painter.complete(view, width, height, 30)
        point, numbers = painter.value_at(17.6, 5.2) or ([], [])
        np.testing.assert_allclose(point, (17, 5, 11), atol=1e-9)
        np.testing.assert_allclose(numbers, [VOLUME[11, 5, 17]])
        assert painter.value_at(-1, 5) is None
        painter.draw(replace(view, extent=1000.0), width, height)
        assert painter.value_at(0, 0) is None
        painter.close()


@pytest.mark.parametrize("is_lit", [True, False])
def test_bricks_whose_texels_are_equal_look_as_others(queue: bl.Queue, is_lit: bool) -> None:
    pictures = []
    for number in (130, 131):  # a texel that differs by one makes an image of the brick
        volume = np.full((70, 64, 60), 130, np.uint8)
        volume[::63, ::63, ::59] = number
        with BrickStore(volume, queue, memory="64MB") as store:
            view, width, height = straight(first_view(store.source), volume.shape, "volume")
            view = replace(view, windows=((0.0, 255.0),), opacity=0.1, is_lit=is_lit)
            pictures.append(complete(store, view, width, height)[0][2:-2, 2:-2].astype(int))
    assert pictures[0].std() < 3 < pictures[0].max() - 20
    assert np.abs(pictures[0] - pictures[1]).max() <= 2


@pytest.mark.parametrize("mode", ["max", "volume"])
def test_a_picture_that_is_not_wanted_any_more(queue: bl.Queue, mode: str) -> None:
    """It is left between two bands; the next one is whole."""
    with BrickStore(VOLUME, queue, memory="64MB") as store:
        view = replace(first_view(store.source), mode=mode, rotation=TURN)
        whole, _ = complete(store, view, 700, 300)
        painter, answers = Painter(store), iter([True, True, False])
        frame = painter.draw(view, 700, 300, is_wanted=lambda: next(answers))
        assert not frame.is_complete and next(answers, None) is None
        frame = painter.draw(view, 700, 300)
        assert frame.is_complete
        np.testing.assert_array_equal(frame.pixels, whole)
        painter.close()


def test_the_point_of_matter_under_the_pointer(queue: bl.Queue) -> None:
    """The front of a ball; through clear matter, nothing."""
    z, y, x = np.mgrid[:80, :70, :60].astype(np.float32)
    ball = np.where((x - 30) ** 2 + (y - 35) ** 2 + (z - 40) ** 2 < 20**2, 200, 0).astype(np.uint8)
    with BrickStore(ball, queue, memory="64MB") as store:
        view, width, height = straight(first_view(store.source), ball.shape, "volume")
        view = replace(view, windows=((0.0, 200.0),), opacity=1.0)
        painter = Painter(store)
        painter.complete(view, width, height, 30)
        for column, row in ((30, 35), (36, 35), (30, 24)):
            point, numbers = painter.value_at(column + 0.5, row + 0.5) or ([], [])
            front = 40 - np.sqrt(20**2 - (column - 30) ** 2 - (row - 35) ** 2)
            np.testing.assert_allclose(point[:2], (column, row), atol=1e-6)
            assert abs(point[2] - front) < 1.5
            assert numbers[0] > 90
        assert painter.value_at(2, 2) is None
        turned = replace(view, rotation=(0.0, 1.0, 0.0, 0.0))  # from behind
        painter.complete(turned, width, height, 30)
        point, _ = painter.value_at(width / 2, height / 2) or ([], [])
        assert abs(point[2] - 60) < 1.5
        painter.close()


def test_a_link_restores_a_view() -> None:
    view = View("max", (1.5, -2.0, 3.25), 10.0, TURN, ((0.0, 1.0), (2.0, 3.0)), ("#ff8000", ""), 0.25, False)
    first = View("slice", (0, 0, 0), 1.0, (1, 0, 0, 0), ((0, 1), (0, 1)), ("grey", "grey"))
    assert view_of(f"http://127.0.0.1:80/token/#{view.to_text()}", first) == view
    assert view_of({"extent": 3}, first) == replace(first, extent=3.0)


@pytest.mark.parametrize(
    "parts",
    [
        "{", "[]", {"mode": "x"}, {"centre": [0, 0]}, {"centre": [0, 0, float("nan")]}, {"extent": 0},
        {"extent": "wide"}, {"rotation": [0, 0, 0, 0]}, {"windows": [[0, 1]]}, {"windows": 3}, {"colours": ["red", ""]},
        {"opacity": 2}, {"other": 1}, {"extent": float("inf")},
    ],
)  # fmt: skip
def test_what_is_no_view(parts: Any) -> None:
    first = View("slice", (0, 0, 0), 1.0, (1, 0, 0, 0), ((0, 1), (0, 1)), ("grey", "grey"))
    with pytest.raises(bl.InvalidError):
        view_of(parts, first)


@pytest.mark.parametrize("name", sorted(MAPS))
def test_maps_of_colours_have_their_ends(name: str) -> None:
    table = table_of(name)
    assert table.shape == (256, 3) and (table >= 0).all() and (table <= 1).all()
    np.testing.assert_allclose(table[[0, -1]] * 255, [[int(c[i : i + 2], 16) for i in (1, 3, 5)]
                                                      for c in (MAPS[name][0], MAPS[name][-1])])  # fmt: skip
