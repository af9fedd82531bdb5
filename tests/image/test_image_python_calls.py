"""Python functions of the package that a new ``Image`` and a warp run on the reference device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import bindless as bl
from tests.support.python_calls import python_calls

MOST_OF_A_NEW_IMAGE, MOST_OF_A_WARP = 40, 30


def fewest_calls(function: Callable[[], object]) -> int:
    """Of three calls: finalizers of other objects may run during one of them."""
    return min(len(python_calls(function)) for _ in range(3))


def test_a_new_image_and_a_warp() -> None:
    with bl.Queue("reference", in_order=True) as queue:
        for side, channels in ((16, 3), (16, 4), (200, 3)):
            pixels = np.ones((side, side, channels), np.uint8)
            for _ in range(3):  # copies are prepared when they come again
                bl.Image(pixels, queue=queue).close()
            with bl.Image(pixels, queue=queue) as image:
                image.warp(np.eye(3), (16, 16))
                assert fewest_calls(partial(image.warp, np.eye(3), (16, 16))) <= MOST_OF_A_WARP
            assert fewest_calls(partial(bl.Image, pixels, queue=queue)) <= MOST_OF_A_NEW_IMAGE
