"""Kernels in Python on the driver of ``fake_cuda.c``: the module and the arguments that the driver receives."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.python_kernels.compiler_process import INSTALL, missing_packages
from tests.backends.cuda.fake_cuda import Fake

pytestmark = pytest.mark.skipif(bool(missing_packages()), reason=f"kernels in Python need numba: {INSTALL}")


@bl.kernel
def mixed(image, out, part, pair, piece, unused, factor):
    i = device.item_id(0)
    piece[i % 4] = device.sample_image(image, i + 0.5)[0]
    out[i, 1] = part[i] * factor + piece[i % 4] + pair[0] + pair[1]


def test_arguments_arrive(queue: bl.Queue) -> None:
    fake = Fake()
    fake.clear()
    out = bl.usm_empty((64, 3), np.float32, queue)
    part = bl.usm_empty((128, 2), np.float32, queue)[:, 1]
    local = bl.LocalAccessor(4, np.float32)
    handle = bl.SampledImageHandle(0x1234)
    arguments = (handle, out, part, (3, np.uint16(7)), local, 99, 2.5)
    space = bl.NdRange(64, 32)
    kernel = mixed.specialise(queue, space, *arguments)
    told = [(parameter.name, parameter.size) for parameter in kernel.arguments or ()]
    # What the kernel does not use is no parameter: sizes of out but its rows, and the sixth argument.
    assert told == [
        ("image", 8), ("out", 8), ("out.shape[1]", 8), ("part", 8), ("part.strides[0]", 8), ("pair[0]", 8),
        ("pair[1]", 2), ("piece", 8), ("factor", 4),
    ]  # fmt: skip
    fake.parameters(*(size for _, size in told))
    for _ in range(3):
        queue.parallel_for(space, mixed, *arguments).wait_and_throw()
    for line in fake.lines("cuLaunchKernel")[-3:]:
        head, _, sent = line.partition(": ")
        assert head.startswith("cuLaunchKernel mixed 2 1 1 32 1 1 shared")
        words = [bytes.fromhex(word) for word in sent.split()]
        numbers = [int.from_bytes(word, "little") for word in words]
        assert numbers[:3] == [0x1234, out.address, 3]
        assert numbers[3:7] == [part.address, 8, 3, 7]
        assert words[8] == struct.pack("<f", 2.5)
