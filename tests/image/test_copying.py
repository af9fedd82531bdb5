"""Copies, pickles and other processes: an ``Image`` by value, everything bound to a process by an error."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

COORDS = [[0.2, 1.7], [2.6, -3.0], [9.0, 2.5]]

KINDS: dict[str, tuple[Array, dict[str, Any]]] = {
    "bytes": (np.arange(24, dtype=np.uint8).reshape(4, 3, 2), {"addressing": "repeat"}),
    "line": (np.arange(8, dtype=np.float32).reshape(4, 2), {"dimensions": 1}),
    "volume": (
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        {"addressing": ["repeat", "mirrored_repeat", "repeat"]},
    ),
    "mipmaps": (np.arange(64, dtype=np.float32).reshape(8, 8), {"mipmaps": True, "max_anisotropy": 4.0}),
    "layers": (np.arange(24, dtype=np.uint16).reshape(2, 3, 4), {"layers": True, "filtering": "nearest"}),
    "faces": (np.arange(24, dtype=np.float16).reshape(6, 2, 2), {"cubemap": True}),
    "integers": (
        np.arange(12, dtype=np.int16).reshape(3, 4),
        {"channel_type": "signed_int16", "filtering": "nearest", "coordinate": "normalized"},
    ),
}


def require_same(made: bl.Image, image: bl.Image) -> None:
    assert made._described == image._described and made.sampler == image.sampler and made.shape == image.shape
    for level in range(image.num_levels):
        np.testing.assert_array_equal(made.numpy(level), image.numpy(level))


@pytest.mark.parametrize("name", KINDS)
def test_copies_have_their_own_memory(queue: bl.Queue, name: str) -> None:
    pixels, options = KINDS[name]
    with bl.Image(pixels, queue=queue, **options) as image:
        copies = [copy.copy(image), copy.deepcopy([image])[0], pickle.loads(pickle.dumps(image))]
        for made in copies:
            require_same(made, image)
        assert copies[0].queue is queue
    for made in copies:
        np.testing.assert_array_equal(made.numpy(), pixels)


def test_a_closed_image_is_not_copied(queue: bl.Queue) -> None:
    image = bl.Image(np.zeros((2, 2), np.uint8), queue=queue)
    image.close()
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with raises(bl.CopyError):
            take(image)


def sampled(image: bl.Image) -> Array:
    """Runs in another process."""
    return image.sample(COORDS)


def test_images_are_sent_to_spawned_processes(queue: bl.Queue) -> None:
    pixels = np.arange(12, dtype=np.float32).reshape(3, 4)
    with bl.Image(pixels, addressing="mirrored_repeat") as image, multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(sampled, (image,)), image.sample(COORDS))
        for bound in (bl.usm_empty(4, np.uint8, queue), queue, bl.Event(), image.queue.device):
            with pytest.raises(TypeError) as caught:
                pool.apply(sampled, (bound,))
            assert isinstance(caught.value, bl.CopyError)
