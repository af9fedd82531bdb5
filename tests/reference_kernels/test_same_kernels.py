"""One source on two devices: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.reference_kernels.raycast import Floats, in_numpy, scene
from tests.support.compile_kernels import load

SIDE, STEPS = 96, 64
VOLUME, TRANSFER = scene((32, 24, 40), 100)


def _raycast(queue: bl.Queue) -> Floats:
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    handles, memories = [], []
    for pixels, desc in (
        (VOLUME, bl.ImageDescriptor(40, 24, 32, num_channels=1)),
        (TRANSFER, bl.ImageDescriptor(100, num_channels=4)),
    ):
        memories.append(bl.ImageMem(desc, queue))
        queue.ext_oneapi_copy(pixels, memories[-1]).wait()
        handles.append(bl.create_image(memories[-1], desc, queue, sampler=sampler))
    out = bl.usm_empty((SIDE, SIDE, 4), np.float32, queue)
    kernel = load(queue, "raycast", "raycast").get_kernel("raycast")
    sizes = np.uint32(SIDE), np.uint32(SIDE), np.uint32(STEPS)
    queue.parallel_for((SIDE, SIDE), kernel, *handles, out, *sizes).wait_and_throw()
    for handle in handles:
        bl.destroy_image_handle(handle, queue)
    return np.asarray(out.numpy(queue))


def test_a_picture_of_a_volume(queue: bl.Queue) -> None:
    """Compared with numpy, whose weights differ from those of a texture unit."""
    np.testing.assert_allclose(_raycast(queue), in_numpy(VOLUME, TRANSFER, SIDE, STEPS), atol=0.02)


@pytest.mark.against_reference
def test_the_ray_caster_is_the_same_everywhere(queue: bl.Queue) -> None:
    found = _raycast(queue)
    with bl.Queue("reference") as reference:
        np.testing.assert_array_equal(found, _raycast(reference))


@pytest.mark.against_reference
def test_arithmetic_is_the_same_everywhere(queue: bl.Queue) -> None:
    x, y = np.random.default_rng(3).standard_normal((2, 10_000)).astype(np.float32)
    results = []
    with bl.Queue("reference") as reference:
        for where in (queue, reference):
            arrays = [bl.usm_empty((10_000,), np.float32, where) for _ in range(2)]
            for memory, values in zip(arrays, (x, y)):
                memory.copy_from(values)
            axpy = load(where, "simple").get_kernel("axpy")
            where.parallel_for(10_000, axpy, 1.1, *arrays).wait_and_throw()
            results.append(arrays[1].numpy(where))
    np.testing.assert_array_equal(results[0], np.float32(1.1) * x + y)
    np.testing.assert_array_equal(results[1], results[0])
