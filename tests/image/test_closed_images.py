"""An image's memory and handles end by ``close``, or with the last reference; no garbage collection is needed."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.core import ownership

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "mipmaps": {"mipmaps": True},
    "cubic": {"filtering": "cubic"},
    "layers": {"layers": True},
}


def alive() -> Counter[str]:
    """The number of native objects of each rank."""
    return Counter(row[0].name for row in list(ownership._live.values()))


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
@pytest.mark.parametrize("closes", [True, False], ids=["closed", "dropped"])
def test_nothing_of_an_image_stays(device: bl.Device, options: dict[str, Any], in_order: bool, closes: bool) -> None:
    queue = bl.Queue(device, in_order=in_order)
    if "mipmaps" in options and not device.has("ext_oneapi_mipmap"):
        pytest.skip("no ext_oneapi_mipmap")
    pixels = np.ones((3, 24, 20) if "layers" in options else (24, 20), np.float32)
    layers = {"layers": 1} if "layers" in options else {}

    def use() -> bl.Image:
        image = bl.Image(pixels, queue=queue, **options)
        for _ in range(3):
            image.update(pixels)
            image.resize((12, 10))
            image.sample([[3.0, 4.0]], **layers)
        queue.wait()
        return image

    use().close()
    queue.wait()
    before = alive()
    images = []
    for _ in range(3):
        image = use()
        assert alive()["IMAGE_MEMORY"] > before["IMAGE_MEMORY"]
        if closes:
            image.close()
            images.append(image)
        del image
    queue.wait()
    assert alive() == before
    queue.close()
