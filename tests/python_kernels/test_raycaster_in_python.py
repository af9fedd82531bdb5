"""The ray caster of docs/gallery/programs/volume_raycaster.cl as a kernel in Python."""

from __future__ import annotations

import math

import numpy as np
import volume_raycaster as program
from common import sampled_image

import bindless as bl
from bindless import device
from tests.python_kernels import opencl_functions as cl


@bl.device_function
def value_at(volume, point):
    at = point * 0.5 + 0.5
    return device.sample_image(volume, at.x, at.y, at.z).x


@bl.device_function
def gradient_at(volume, point, h):
    x, y, z = device.float3(h, 0, 0), device.float3(0, h, 0), device.float3(0, 0, h)
    return device.float3(
        value_at(volume, point + x) - value_at(volume, point - x),
        value_at(volume, point + y) - value_at(volume, point - y),
        value_at(volume, point + z) - value_at(volume, point - z),
    )


@bl.device_function
def first_three(numbers):
    return device.float3(numbers[0], numbers[1], numbers[2])


@bl.kernel
def raycast(volume, transfer, view, march, voxel, picture):
    y, x = device.item_id(0), device.item_id(1)
    height, width = np.float32(device.item_range(0)), np.float32(device.item_range(1))
    across, down = (2.0 * x + 1 - width) / height, (2.0 * y + 1 - height) / height
    eye, right, up = first_three(view.eye), first_three(view.right), first_three(view.up)
    ray = cl.normalize(first_three(view.forward) + across * right - down * up)

    a, b = (-1.0 - eye) / ray, (1.0 - eye) / ray
    enter = max(max(min(a.x, b.x), min(a.y, b.y)), max(min(a.z, b.z), 0.0))
    leave = min(min(max(a.x, b.x), max(a.y, b.y)), max(a.z, b.z))

    step = 2 * math.sqrt(3.0) / march.steps
    light = device.float3(0)
    clear = 1.0
    i = 0
    while i < march.steps and clear > 0.005:
        t = enter + (i + 0.5) * step
        i += 1
        if t >= leave:
            break
        point = eye + t * ray
        color = device.sample_image(transfer, value_at(volume, point) * 0.5 + 0.5)
        if color.w <= 0:
            continue
        opacity = 1 - math.exp(-color.w * march.density * step)
        slope = gradient_at(volume, point, voxel)
        facing = abs(cl.dot(slope, ray)) / (cl.length(slope) + 0.01)
        light += clear * opacity * (color.xyz * (0.35 + 0.65 * facing) + 0.3 * cl.pown(facing, 24))
        clear *= 1 - opacity
    dark, bright = device.float3(0.02, 0.02, 0.05), device.float3(0.09, 0.10, 0.16)
    color3 = light + clear * cl.mix(dark, bright, 0.5 - 0.5 * down)
    for channel in range(3):
        picture[y, x, channel] = color3[channel]
    picture[y, x, 3] = 1


def test_the_picture_is_that_of_opencl_c(queue: bl.Queue) -> None:
    size = 48
    wanted = program.render(queue, size)
    picture = bl.usm_empty((size, size, 4), np.float32, queue)
    march = np.array((program.STEPS, 1.0), program.MARCH)[()]
    view = program.camera(turn=35, tilt=22, distance=4.2)[()]
    with (
        sampled_image(queue, [program.orbital(program.VOXELS)[..., None]], program.LINEAR) as volume,
        sampled_image(queue, [program.transfer_function()], program.LINEAR) as transfer,
    ):
        given = (volume, transfer, view, march, np.float32(2 / program.VOXELS), picture)
        queue.parallel_for((size, size), raycast, *given).wait_and_throw()
    found = picture.numpy(queue)
    cl.require_the_picture(queue, found, wanted)
