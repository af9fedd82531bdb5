"""Coefficients of an ``Image`` with a cubic spline follow its pixels."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.oracle.pictures import random_pixels
from tests.support.error_checks import raises

AT = np.array([[3.3, 4.4], [7.9, 1.2], [0.2, 8.8]], np.float32)


def sampled(pixels: np.ndarray, queue: bl.Queue) -> np.ndarray:
    with bl.Image(pixels, filtering="cubic", precision="exact", queue=queue) as image:
        values: np.ndarray = image.sample(AT)
        return values


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3])
def test_an_update_renews_both(queue: bl.Queue, channels: int, dtype: str) -> None:
    first, second = (random_pixels(dtype, (9, 12, channels), seed) for seed in (1, 2))
    with bl.Image(first, filtering="cubic", precision="exact", queue=queue) as image:
        np.testing.assert_array_equal(image.sample(AT), sampled(first, queue))
        image.update(second)
        np.testing.assert_array_equal(image.numpy(), second)
        np.testing.assert_allclose(image.fetch([[3, 4]]), np.atleast_2d(_value(second)), rtol=1e-6)
        np.testing.assert_array_equal(image.sample(AT), sampled(second, queue))
        there = bl.usm_empty(first.shape, first.dtype, queue).copy_from(first)
        image.update(there)
        np.testing.assert_array_equal(image.sample(AT), sampled(first, queue))
        np.testing.assert_array_equal(image.numpy(), first)


def _value(pixels: np.ndarray) -> np.ndarray:
    value = pixels[4, 3]
    return value if pixels.dtype == np.float32 else value.astype(np.float32) / np.float32(255)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16"])
def test_samples_that_come_again(queue: bl.Queue, dtype: str) -> None:
    """Of a type whose codes are divided by the largest one afterwards, too."""
    pixels = random_pixels(dtype, (9, 12))
    right = sampled(pixels, queue)
    with bl.Image(pixels, filtering="cubic", precision="exact", queue=queue) as image:
        for _ in range(4):
            np.testing.assert_array_equal(image.sample(AT), right)


def test_pixels_that_others_write(queue: bl.Queue) -> None:
    first, second = (random_pixels("float32", (9, 12), seed) for seed in (1, 2))
    with bl.Image(first, filtering="cubic", precision="exact", queue=queue) as image:
        for _ in range(4):  # the image repeats the call
            np.testing.assert_array_equal(image.sample(AT), sampled(first, queue))
        queue.ext_oneapi_copy(second, image.memory).wait()
        np.testing.assert_array_equal(image.sample(AT), sampled(second, queue))
        options = {"filtering": "cubic", "precision": "exact"}
        with bl.Image.from_memory(image.memory, queue=queue, **options) as shared:
            np.testing.assert_array_equal(shared.sample(AT), sampled(second, queue))
            queue.ext_oneapi_copy(first, image.memory).wait()
            np.testing.assert_array_equal(shared.sample(AT), sampled(first, queue))


def test_a_closed_image_has_no_coefficients(queue: bl.Queue) -> None:
    with bl.Image(random_pixels("float32", (9, 12)), filtering="cubic", queue=queue) as image:
        image.sample(AT)
    with raises(bl.InvalidError, names="closed"):
        image.sample(AT)
