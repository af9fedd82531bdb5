"""Functions of OpenCL C with its roundings, for kernels in Python whose pictures equal those of OpenCL C.

``bindless.device`` rounds each product and each sum. OpenCL C's functions round some of them together; they also take
care of tiny and huge vectors, which these do not.
"""

from __future__ import annotations

import math

import numpy as np

import bindless as bl
from bindless import device

__all__ = ["dot", "length", "length2", "mix", "normalize", "pown", "require_the_picture"]


@bl.device_function
def dot(a, b):
    return device.fma(a.z, b.z, device.fma(a.x, b.x, a.y * b.y))


@bl.device_function
def length(v):
    return math.sqrt(dot(v, v))


@bl.device_function
def length2(x, y):
    return math.sqrt(device.fma(x, x, y * y))


@bl.device_function
def normalize(v):
    return v * (1 / math.sqrt(dot(v, v)))


@bl.device_function
def mix(a, b, t):
    d = b - a
    return device.float3(device.fma(d.x, t, a.x), device.fma(d.y, t, a.y), device.fma(d.z, t, a.z))


@bl.device_function
def pown(x, n):
    return math.pow(x, np.float32(n))


def require_the_picture(queue: bl.Queue, found: np.ndarray, wanted: np.ndarray) -> None:
    """Compare a picture of a kernel in Python with that of OpenCL C, which has the same bits on the reference.

    Elsewhere a place next to the boundary of a weight may take the next of 256 steps of the texture unit.
    """
    assert wanted[..., :3].std() > 0.1
    if queue.backend is bl.Backend.reference:
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(found, wanted, atol=4e-3)
    assert np.abs(found - wanted).mean() < 2e-6
