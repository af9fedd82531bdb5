"""Kernels, parameters and commands that tests of OpenCL's native objects share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl

__all__ = ["BOTH", "CALLER", "SCALE", "TWICE", "filled", "run"]

SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"
TWICE = "uint twice(uint value) { return 2 * value; }"  # unsigned: rusticl links nothing to signed arithmetic
CALLER = "uint twice(uint value);\nkernel void run(global int *data) { data[get_global_id(0)] = twice(data[0]); }"
BOTH = pytest.mark.parametrize("ownership", [None, "keep", "transfer"])


def filled(queue: bl.Queue, value: int) -> list[int]:
    """Whether a queue works."""
    array = bl.usm_empty(4, "int32", queue)
    queue.fill(array, value).wait()
    found = [int(element) for element in array.numpy()]
    array.close()
    return found


def run(queue: bl.Queue, kernel: bl.Kernel, start: Any, *arguments: object, size: int = 4) -> list[Any]:
    """What a kernel leaves in four elements."""
    array = bl.usm_empty(4, np.asarray(start).dtype, queue)
    array.copy_from(np.full(4, start))
    queue.parallel_for(size, kernel, array, *arguments).wait()
    found = [element.item() for element in array.numpy()]
    array.close()
    queue.wait()  # lets go of its events: those of rusticl hold what their commands used
    return found
