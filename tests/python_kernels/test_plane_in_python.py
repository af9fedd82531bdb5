"""The floor of docs/gallery/programs/ground_plane.cl as a kernel in Python."""

from __future__ import annotations

import math

import ground_plane as program
import numpy as np
import pytest
from common import reductions, sampled_image

import bindless as bl
from bindless import device
from tests.python_kernels import opencl_functions as cl


@bl.device_function
def first_three(numbers):
    return device.float3(numbers[0], numbers[1], numbers[2])


@bl.kernel
def draw(trilinear, anisotropic, scene, picture):
    y, x = device.item_id(0), device.item_id(1)
    height, width = device.item_range(0), device.item_range(1)
    pixel = np.float32(2) / height
    across, down = (x + 0.5 - 0.5 * width) * pixel, (y + 0.5 - 0.5 * height) * pixel
    axis_x, axis_y = first_three(scene.right), first_three(scene.up)
    ray = first_three(scene.forward) + across * axis_x - down * axis_y

    blue, pale = device.float3(0.33, 0.55, 0.83), device.float3(0.93, 0.90, 0.84)
    sky = cl.mix(pale, blue, min(max(-down - 0.30, 0.0), 1.0))
    color = sky
    if ray.y < -1e-4:
        # t * ray meets the floor. Its derivative along a step d of the ray: t * d - t * d.y / ray.y * ray.
        t = scene.height / -ray.y
        right, below = axis_x * pixel, -1.0 * axis_y * pixel
        floor = device.float2(ray.x, ray.z)
        at = t * floor / scene.tile
        dx = (t * device.float2(right.x, right.z) - t * right.y / ray.y * floor) / scene.tile
        dy = (t * device.float2(below.x, below.z) - t * below.y / ray.y * floor) / scene.tile
        handle = trilinear if x < width // 2 else anisotropic
        seen = device.sample_mipmap(handle, at.x, at.y, dx=dx, dy=dy).xyz
        color = cl.mix(sky, seen, math.exp(-scene.haze * t * cl.length(ray)))
    if x == width // 2:
        color = device.float3(1)
    device.write_image(picture, x, y, device.float4(color, 1))


def test_the_picture_is_that_of_opencl_c(queue: bl.Queue) -> None:
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip(f"{queue.device.name} has no mipmaps")
    size = 48
    wanted = program.render(queue, size)
    levels = reductions(program.tiles())
    desc = bl.ImageDescriptor(2 * size, size)
    found = np.empty(desc.shape, np.float32)
    with (
        sampled_image(queue, levels, program.TRILINEAR) as trilinear,
        sampled_image(queue, levels, program.ANISOTROPIC) as anisotropic,
        bl.ImageMem(desc, queue) as memory,
    ):
        target = bl.create_image(memory, desc, queue)
        space = (size, 2 * size)
        drawn = queue.parallel_for(space, draw, trilinear, anisotropic, program.scene(), target)
        queue.ext_oneapi_copy(memory, found, depends_on=[drawn]).wait_and_throw()
        bl.destroy_image_handle(target, queue)
    cl.require_the_picture(queue, found, wanted)
