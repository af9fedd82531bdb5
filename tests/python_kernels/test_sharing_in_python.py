"""The kernels of the gallery's two programs that share images with Vulkan, in Python: the bits of OpenCL C.

tests/interop/vulkan runs the programs with these kernels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from common import load_kernels

import bindless as bl
from bindless import device


@bl.kernel
def halve(source, target):
    y, x = device.item_id(0), device.item_id(1)
    device.write_image(target, x, y, device.fetch_image(source, x, y) * 0.5)


@bl.device_function
def spread(scene, x, y):
    """A Gaussian of 12 x 12 pixels by 36 samples: a sample between four pixels is their mean."""
    total, weights = device.float4(0), 0.0
    for j in range(-5, 6, 2):
        for i in range(-5, 6, 2):
            weight = math.exp(-np.float32(i * i + j * j) / 16)
            total += weight * device.sample_image(scene, x + i + 0.5, y + j + 0.5)
            weights += weight
    return total / weights


@bl.device_function
def code(light, exposure):
    seen = 1 - math.exp(-exposure * light)
    return np.uint8(255 * seen ** (1 / np.float32(2.2)) + 0.5)  # Python would fold 1 / 2.2 in float64


@bl.kernel
def develop(scene, screen, exposure):
    y, x = device.item_id(0), device.item_id(1)
    across, down = x + 0.5, y + 0.5
    light = 0.7 * device.sample_image(scene, across, down) + 0.3 * spread(scene, across, down)
    codes = code(light.x, exposure), code(light.y, exposure), code(light.z, exposure), np.uint8(255)
    device.write_image(screen, x, y, codes)


KERNELS = {"halve": halve, "develop": develop}


def pictures(queue: bl.Queue, kernel: Any, source: Any, channel_type: str, sampler: Any, *arguments: Any) -> np.ndarray:
    """What a kernel makes of an image."""
    given = bl.ImageDescriptor(source.shape[1], source.shape[0])
    made = bl.ImageDescriptor(source.shape[1], source.shape[0], channel_type=channel_type)
    found = np.zeros(source.shape, np.float32 if channel_type == "fp32" else np.uint8)
    with bl.ImageMem(given, queue) as before, bl.ImageMem(made, queue) as after:
        queue.ext_oneapi_copy(source, before).wait()
        read = bl.create_image(before, given, queue, **({"sampler": sampler} if sampler else {}))
        written = bl.create_image(after, made, queue)
        queue.parallel_for(source.shape[:2], kernel, read, written, *arguments).wait_and_throw()
        queue.ext_oneapi_copy(after, found).wait()
        for handle in (read, written):
            bl.destroy_image_handle(handle, queue)
    return found


@pytest.mark.parametrize("name", list(KERNELS))
def test_the_bits_of_opencl_c(name: str, queue: bl.Queue) -> None:
    source = np.random.default_rng(9).random((20, 24, 4), np.float32) * 3
    if name == "halve":
        kernel = load_kernels(queue, "import_memory_and_semaphores.cl").get_kernel(name)
        rest: Any = ("fp32", None)
    else:
        kernel = load_kernels(queue, "vulkan_share.cl").get_kernel(name)
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        rest = ("unsigned_int8", sampler, np.float32(0.35))
    wanted = pictures(queue, kernel, source, *rest)
    assert wanted[..., :3].std() > 0.1
    np.testing.assert_array_equal(pictures(queue, KERNELS[name], source, *rest), wanted)
