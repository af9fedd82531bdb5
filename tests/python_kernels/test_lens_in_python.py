"""The lens of docs/gallery/programs/undistort.cl as kernels in Python: the same pictures, bit for bit."""

from __future__ import annotations

import numpy as np
import undistort as program
from common import sampled_image

import bindless as bl
from bindless import device


@bl.device_function
def distorted(x, y, lens):
    r2 = x * x + y * y
    radial = 1 + r2 * (lens.k1 + r2 * (lens.k2 + r2 * lens.k3))
    across = 2 * lens.p1 * x * y + lens.p2 * (r2 + 2 * x * x)
    down = lens.p1 * (r2 + 2 * y * y) + 2 * lens.p2 * x * y
    return x * radial + across, y * radial + down


@bl.device_function
def direction(lens):
    """From the middle of the lens to the centre of this work-item's pixel."""
    x = (device.item_id(1) + 0.5 - lens.principal_point[0]) / lens.focal_length[0]
    y = (device.item_id(0) + 0.5 - lens.principal_point[1]) / lens.focal_length[1]
    return x, y


@bl.device_function
def store(color, out):
    row, column = device.item_id(0), device.item_id(1)
    for channel in range(4):
        out[row, column, channel] = color[channel]


@bl.kernel
def undistort(photo, lens, straight):
    x, y = direction(lens)
    x, y = distorted(x, y, lens)
    x = x * lens.focal_length[0] + lens.principal_point[0]
    y = y * lens.focal_length[1] + lens.principal_point[1]
    store(device.sample_image(photo, x, y), straight)


@bl.kernel
def photograph(scene, lens, photo):
    wanted_x, wanted_y = direction(lens)
    x, y = wanted_x, wanted_y
    for _ in range(20):
        bent_x, bent_y = distorted(x, y, lens)
        x, y = x + (wanted_x - bent_x), y + (wanted_y - bent_y)
    size = np.float32(device.item_range(0))
    x = (x * lens.focal_length[0] + lens.principal_point[0]) / size
    y = (y * lens.focal_length[1] + lens.principal_point[1]) / size
    store(device.sample_image(scene, x, y), photo)


def test_the_pictures_are_those_of_opencl_c(queue: bl.Queue) -> None:
    size = 48
    wanted = program.render(queue, size)
    scene, lens = program.wall(size), program.wide_angle(size)[()]
    bent, straight = (bl.usm_empty((size, size, 4), np.float32, queue) for _ in range(2))
    with sampled_image(queue, [scene], program.SCENE) as handle:
        queue.parallel_for((size, size), photograph, handle, lens, bent).wait_and_throw()
    photo = bent.numpy(queue)
    with sampled_image(queue, [photo], program.PHOTO) as handle:
        queue.parallel_for((size, size), undistort, handle, lens, straight).wait_and_throw()
    np.testing.assert_array_equal(np.hstack([photo, straight.numpy(queue)]), wanted)
