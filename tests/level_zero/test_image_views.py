"""Packed formats and swizzles: views of image memory, read and written through the package, decoded by numpy."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import level_zero as ze

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

Array = npt.NDArray[Any]
HEIGHT, WIDTH = 5, 7
WORDS = {1: "unsigned_int8", 2: "unsigned_int16", 4: "unsigned_int32"}
SWIZZLES = ["rgba", "bgra", "abgr", "rrr1", "0gb1"]


def _formats() -> Any:
    """tests/level_zero_driver/formats.py, with the package's own bindings in place of the driver's names."""
    from bindless.drivers import level_zero as driver

    name = "tests.level_zero_driver.rig"
    folder = Path(__file__).resolve().parents[1] / "level_zero_driver"
    rig = type(sys)(name)
    rig.lib = driver.lib  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("level_zero_formats", folder / "formats.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    kept = sys.modules.get(name)
    sys.modules[name] = rig
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
        if kept is not None:
            sys.modules[name] = kept
    return module


FORMATS = _formats()
PACKED = [(layout, kind) for layout, kinds in FORMATS.PACKED_TYPES.items() for kind in kinds]
EVERY = np.stack(np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), -1).reshape(-1, 2).astype(np.int32)


def image_of(queue: bl.Queue, pixels: Array) -> bl.ImageMem:
    """Image memory with pixels given as bytes, shape (items, bytes of one)."""
    size = pixels.shape[1]
    desc = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=1, channel_type=WORDS[size])
    memory = bl.ImageMem(desc, queue)
    words = np.ascontiguousarray(pixels).view(f"u{size}").reshape(HEIGHT, WIDTH, 1)
    queue.ext_oneapi_copy(words, memory).wait()
    return memory


def same(found: Array, wanted: Array) -> None:
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted.astype(np.float32), rtol=2e-7, atol=0)
    else:
        np.testing.assert_array_equal(found.astype(np.int64), wanted)


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize(("layout", "kind"), [*PACKED, ("8_8_8_8", "UNORM"), ("16_16", "SINT"), ("8_8", "UINT")])
def test_values_are_fetched(queue: bl.Queue, layout: str, kind: str, swizzle: str) -> None:
    pixels = FORMATS.random_pixels(layout, kind, WIDTH * HEIGHT, np.random.default_rng(3))
    wanted = FORMATS.swizzled(FORMATS.decoded(layout, kind, pixels), swizzle.upper())
    with image_of(queue, pixels) as memory:
        view = ze.create_image_view(memory, queue, layout=layout, type=kind.lower(), swizzle=swizzle)
        assert isinstance(view, bl.UnsampledImageHandle)
        found = bl.fetch_image(queue, view, EVERY)
        assert found.dtype == {"UINT": np.uint32, "SINT": np.int32}.get(kind, np.float32)
        same(found, wanted)
        bl.destroy_image_handle(view, queue)


@pytest.mark.parametrize(("layout", "kind"), [("10_10_10_2", "UNORM"), ("5_6_5", "UNORM"), ("11_11_10", "FLOAT")])
def test_values_are_sampled(queue: bl.Queue, layout: str, kind: str) -> None:
    pixels = FORMATS.random_pixels(layout, kind, WIDTH * HEIGHT, np.random.default_rng(4))
    wanted = FORMATS.swizzled(FORMATS.decoded(layout, kind, pixels), "BGRA")
    sampler = bl.BindlessImageSampler("clamp_to_edge")
    with image_of(queue, pixels) as memory:
        where = queue.device, queue.context
        view = ze.create_image_view(
            memory.get_handle(), *where, layout=layout, type=kind.lower(), swizzle="bgra", sampler=sampler
        )
        assert isinstance(view, bl.SampledImageHandle)
        same(bl.sample_image(queue, view, EVERY.astype(np.float32) + np.float32(0.5)), wanted)
        bl.destroy_image_handle(view, queue)


@pytest.mark.parametrize("swizzle", ["rgba", "bgra"])
@pytest.mark.parametrize(("layout", "kind"), [("10_10_10_2", "UNORM"), ("10_10_10_2", "UINT"), ("5_6_5", "UNORM")])
def test_values_are_written(queue: bl.Queue, layout: str, kind: str, swizzle: str) -> None:
    pixels = FORMATS.random_pixels(layout, kind, WIDTH * HEIGHT, np.random.default_rng(5))
    values = FORMATS.swizzled(FORMATS.decoded(layout, kind, pixels), swizzle.upper())
    with image_of(queue, np.zeros_like(pixels)) as memory:
        view = ze.create_image_view(memory, queue, layout=layout, type=kind.lower(), swizzle=swizzle)
        colors = np.ascontiguousarray(values.astype(np.uint32 if kind == "UINT" else np.float32))
        bl.write_image(queue, view, EVERY, colors)
        words = np.zeros((HEIGHT, WIDTH, 1), f"u{pixels.shape[1]}")
        queue.ext_oneapi_copy(memory, words).wait()
        np.testing.assert_array_equal(words.reshape(-1, 1).view(np.uint8), pixels)
        bl.destroy_image_handle(view, queue)


def test_what_cannot_be_a_view(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(8, 8, num_channels=1, channel_type="unsigned_int32")
    with bl.ImageMem(desc, queue) as memory:
        for wrong in (
            {"layout": "10_10_10"},
            {"layout": "5_6_5"},
            {"layout": "8_8_8_8", "type": "half"},
            {"layout": "8_8_8_8", "swizzle": "rgb"},
            {"layout": "8_8_8_8", "swizzle": "rgbe"},
            {"layout": "8_8_8_8", "sampler": "nearest"},
        ):
            with pytest.raises(bl.InvalidError):
                ze.create_image_view(memory, queue, **wrong)  # type: ignore[arg-type]
        with pytest.raises((bl.FeatureNotSupportedError, bl.SyclRuntimeError)):
            ze.create_image_view(memory, queue, layout="11_11_10", type="uint")
        with pytest.raises(bl.InvalidError):
            ze.create_image_view(np.zeros(3), queue, layout="8_8_8_8")  # type: ignore[arg-type]
        handle = memory.get_handle()
    with pytest.raises(bl.SyclRuntimeError):
        ze.create_image_view(handle, queue, layout="8_8_8_8")
