"""The mirrored ball of docs/gallery/programs/environment_sphere.cl as kernels in Python.

The ball's kernel samples the cubemap itself, which OpenCL C cannot.
"""

from __future__ import annotations

import math

import environment_sphere as program
import numpy as np
import pytest
from common import sampled_image

import bindless as bl
from bindless import device
from tests.python_kernels import opencl_functions as cl


@bl.device_function
def face_direction(face, s, t):
    """The direction of a face's point; s and t run from -1 to 1, right and down."""
    if face == 0:
        return device.float3(1, -t, -s)
    if face == 1:
        return device.float3(-1, -t, s)
    if face == 2:
        return device.float3(s, 1, t)
    if face == 3:
        return device.float3(s, -1, -t)
    return device.float3(s, -t, 1) if face == 4 else device.float3(-s, -t, -1)


@bl.kernel
def make_cubemap(panorama, cubemap):
    face, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
    texel = np.float32(2) / device.item_range(2)
    d = cl.normalize(face_direction(face, (x + 0.5) * texel - 1, (y + 0.5) * texel - 1))
    at = device.float2(0.5 + math.atan2(d.x, -d.z) * (0.5 / math.pi), math.acos(d.y) / math.pi)
    device.write_cubemap(cubemap, x, y, face, device.sample_image(panorama, at.x, at.y))


@bl.device_function
def seen_along(cubemap, scene, across, down):
    """Light at the end of a ray; at the ball it is reflected."""
    ray = cl.normalize(device.float3(across, -down, -scene.zoom))
    eye = device.float3(scene.eye[0], scene.eye[1], scene.eye[2])
    along = cl.dot(ray, eye)
    root = along * along - cl.dot(eye, eye) + 1
    if root <= 0:
        return device.sample_cubemap(cubemap, ray.x, ray.y, ray.z).xyz
    normal = eye - (along + math.sqrt(root)) * ray
    facing = min(-cl.dot(ray, normal), 1.0)
    d = ray + 2 * facing * normal
    mirror = 0.55 + 0.45 * cl.pown(1 - facing, 5)
    metal = device.float3(scene.metal[0], scene.metal[1], scene.metal[2])
    return device.sample_cubemap(cubemap, d.x, d.y, d.z).xyz * (mirror * metal)


@bl.kernel
def draw(cubemap, scene, picture):
    y, x = device.item_id(0), device.item_id(1)
    height, width = device.item_range(0), device.item_range(1)
    total = device.float3(0)
    for part in range(4):
        across = (x + 0.25 + 0.5 * (part & 1) - 0.5 * width) * 2 / height
        down = (y + 0.25 + 0.5 * (part >> 1) - 0.5 * height) * 2 / height
        light = seen_along(cubemap, scene, across, down)
        for channel in range(3):
            picture[y, x, channel] = 1 - math.exp(-scene.exposure * light[channel])
        total += device.float3(picture[y, x, 0], picture[y, x, 1], picture[y, x, 2])
    for channel in range(3):
        picture[y, x, channel] = (total[channel] / 4) ** (1 / np.float32(2.2))
    picture[y, x, 3] = 1


def test_the_picture_is_that_of_opencl_c(queue: bl.Queue) -> None:
    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        pytest.skip(f"{queue.device.name} has no cubemaps")
    size = 48
    wanted = program.render(queue, size)
    picture = bl.usm_empty((size, size, 4), np.float32, queue)
    desc = bl.ImageDescriptor(size, size, type="cubemap", array_size=6)
    with (
        sampled_image(queue, [program.panorama(2 * size)], program.PANORAMA) as around,
        bl.ImageMem(desc, queue) as memory,
    ):
        faces = bl.create_image(memory, desc, queue)
        cubemap = bl.create_image(memory, desc, queue, sampler=program.CUBEMAP)
        made = queue.parallel_for((6, size, size), make_cubemap, around, faces)
        queue.parallel_for((size, size), draw, cubemap, program.SCENE, picture, depends_on=[made]).wait_and_throw()
        for handle in (faces, cubemap):
            bl.destroy_image_handle(handle, queue)
    found = picture.numpy(queue)
    cl.require_the_picture(queue, found, wanted)
