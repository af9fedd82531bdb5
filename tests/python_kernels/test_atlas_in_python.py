"""The table of docs/gallery/programs/texture_atlas.cl as a kernel in Python: handles in an array of structures."""

from __future__ import annotations

import math
from contextlib import ExitStack

import numpy as np
import texture_atlas as program
from common import photograph, reductions, sampled_image

import bindless as bl
from bindless import device
from tests.python_kernels import opencl_functions as cl
from tests.python_kernels.conftest import require_handles


@bl.device_function
def outside(point, width, height):
    x, y = abs(point.x) - width, abs(point.y) - height
    return min(max(x, y), 0.0) + cl.length2(max(x, 0.0), max(y, 0.0))


@bl.device_function
def within(point, one):
    x, y = point.x - one.centre[0], point.y - one.centre[1]
    return device.float2(device.fma(x, one.axis[0], y * one.axis[1]), device.fma(x, -one.axis[1], y * one.axis[0]))


@bl.device_function
def clamped(value):
    return min(max(value, 0.0), 1.0)


@bl.kernel
def lay_out(prints, border, picture):
    y, x = device.item_id(0), device.item_id(1)
    height, width = device.item_range(0), device.item_range(1)
    pixel = 1 / height
    point = device.float2(x + 0.5 - 0.5 * width, y + 0.5 - 0.5 * height) * pixel
    light = device.float3(0)
    clear = 1.0
    i = len(prints)
    while i > 0 and clear > 0:
        i -= 1
        half_width, half_height = prints[i].half_size[0], prints[i].half_size[1]
        at = within(point, prints[i])
        paper = clamped(0.5 - outside(at, half_width + border, half_height + border) / pixel)
        if paper > 0:
            inside = clamped(0.5 - outside(at, half_width, half_height) / pixel)
            u, v = at.x / half_width * 0.5 + 0.5, at.y / half_height * 0.5 + 0.5
            photo = device.sample_mipmap(prints[i].photo, u, v, level=prints[i].level)
            sheet = device.float3(0.96, 0.95, 0.92)
            light += clear * paper * cl.mix(sheet, photo.xyz, inside)
            clear *= 1 - paper
        shade = within(point - device.float2(0.006, 0.012), prints[i])
        t = clamped((outside(shade, half_width + border, half_height + border) - 0.02) / -0.04)
        clear *= 1 - 0.45 * (t * t * (3 - 2 * t))
    grain = 0.02 * math.sin(110 * point.y + 3 * math.sin(5 * point.x))
    color = light + clear * (device.float3(0.42, 0.28, 0.18) + grain)
    for channel in range(3):
        picture[y, x, channel] = color[channel]
    picture[y, x, 3] = 1


def test_the_picture_is_that_of_opencl_c(queue: bl.Queue) -> None:
    require_handles(queue)
    size = 48
    wanted = program.render(queue, size)
    photos = [photograph(name) for name in program.PHOTOGRAPHS]
    prints = program.scatter([photo.shape for photo in photos], size)
    picture = bl.usm_empty(wanted.shape, np.float32, queue)
    with ExitStack() as images:
        for number, photo in enumerate(photos):
            handle = images.enter_context(sampled_image(queue, reductions(photo), program.SAMPLER))
            prints[number]["photo"] = handle.raw_handle
        table = bl.usm_empty(prints.shape, prints.dtype, queue).copy_from(prints)
        queue.parallel_for(wanted.shape[:2], lay_out, table, program.BORDER, picture).wait_and_throw()
    found = picture.numpy(queue)
    cl.require_the_picture(queue, found, wanted)
