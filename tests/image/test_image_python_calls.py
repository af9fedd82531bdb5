"""Python functions of the package that a new ``Image`` and repeated pictures run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.pixels import usm
from tests.support.python_calls import python_calls

MOST_OF_A_NEW_IMAGE = 40
MOST_OF_A_PICTURE = 12
MOST_OF_A_FURTHER_LAYER = {True: 2, False: 4}  # in USM, and on the host
MOST_OF_A_REMAP, MOST_OF_DISPLACEMENTS = 13, 15  # with addressed pixels, whose matrix is made for each call
SIDE, DEPTH = 8, 4  # the reference device computes 64 elements at once, and a wait is C code
PLANE, VOLUME, LAYERS = (SIDE, SIDE), (DEPTH, DEPTH, DEPTH), 3


def fewest_calls(function: Callable[[], object]) -> int:
    """Of three calls: finalizers of other objects may run during one of them."""
    for _ in range(4):  # a device prepares what comes again
        function()
    return min(len(python_calls(function)) for _ in range(3))


def test_a_new_image() -> None:
    with bl.Queue("reference", in_order=True) as queue:
        for side, channels in ((16, 3), (16, 4), (200, 3)):
            pixels = np.ones((side, side, channels), np.uint8)
            assert fewest_calls(lambda pixels=pixels: bl.Image(pixels, queue=queue)) <= MOST_OF_A_NEW_IMAGE


Call = Callable[[], Any]


def pictures(queue: bl.Queue, *, in_usm: bool) -> dict[str, tuple[Call, int]]:
    """Calls that make a picture, in memory of the device or of the host, and the most functions that each may run."""
    plane = bl.Image(np.ones((*PLANE, 4), np.uint8), queue=queue)
    mipmap = bl.Image(np.ones((*PLANE, 4), np.uint8), mipmaps=True, queue=queue)
    exact = bl.Image(np.ones(PLANE, np.float32), precision="exact", queue=queue)
    volume = bl.Image(np.ones(VOLUME, np.float32), dimensions=3, queue=queue)
    layers = bl.Image(np.ones((LAYERS, *PLANE, 4), np.uint8), layers=True, queue=queue)
    matrix, matrices, rotation = np.eye(3), np.stack([np.eye(3)] * LAYERS), np.eye(4)

    def array(values: Any) -> Any:
        return usm(queue, values) if in_usm else values

    field, moves = array(np.zeros((*PLANE, 2), np.float32)), array(np.zeros((*VOLUME, 3), np.float32))
    bytes_, floats = array(np.empty((*PLANE, 4), np.uint8)), array(np.empty(PLANE, np.float32))
    cube, stack = array(np.empty(VOLUME, np.float32)), array(np.empty((LAYERS, *PLANE, 4), np.uint8))
    several = MOST_OF_A_PICTURE + MOST_OF_A_FURTHER_LAYER[in_usm] * (LAYERS - 1)
    return {
        "plane": (partial(plane.warp, matrix, PLANE, out=bytes_), MOST_OF_A_PICTURE),
        "mipmap": (partial(mipmap.warp, matrix, PLANE, out=bytes_), MOST_OF_A_PICTURE),
        "exact": (partial(exact.warp, matrix, PLANE, out=floats), MOST_OF_A_PICTURE),
        "displacement": (partial(plane.warp, matrix, PLANE, displacement=field, out=bytes_), MOST_OF_A_PICTURE),
        "volume": (partial(volume.warp, rotation, VOLUME, out=cube), MOST_OF_A_PICTURE),
        "moves": (partial(volume.warp, rotation, VOLUME, displacement=moves, out=cube), MOST_OF_A_PICTURE),
        "layers": (partial(layers.warp, matrix, PLANE, out=stack), several),
        "matrices": (partial(layers.warp, matrices, PLANE, out=stack), several + LAYERS),
        "remap": (partial(plane.remap, field, out=bytes_), MOST_OF_A_REMAP),
        "relative": (partial(plane.remap, field, relative=True, out=bytes_), MOST_OF_DISPLACEMENTS),
        "resize": (partial(plane.resize, PLANE, out=bytes_), MOST_OF_A_PICTURE),
        "enlarged": (partial(volume.resize, VOLUME, out=cube), MOST_OF_A_PICTURE),
    }


KINDS = (
    "plane", "mipmap", "exact", "displacement", "volume", "moves", "layers", "matrices", "remap", "relative", "resize",
    "enlarged",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_in_usm(device: bl.Device, kind: str) -> None:
    with bl.Queue(device, in_order=True) as queue:
        call, most = pictures(queue, in_usm=True)[kind]
        assert fewest_calls(call) <= most
        queue.wait()


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_in_memory_of_the_host(device: bl.Device, kind: str) -> None:
    with bl.Queue(device, in_order=True) as queue:
        call, most = pictures(queue, in_usm=False)[kind]
        assert fewest_calls(call) <= most


def test_a_new_result() -> None:
    """A warp whose result is a new array of the host."""
    with bl.Queue("reference", in_order=True) as queue, bl.Image(np.ones(PLANE, np.uint8), queue=queue) as image:
        assert fewest_calls(partial(image.warp, np.eye(3), PLANE)) <= 8
