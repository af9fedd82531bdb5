"""``remap`` on arrays of another library, on ``fake_cuda.c``: the kernel reads the maps where they lie.

``tests/backends/cuda/test_cuda_recording.py`` runs this file. The fake driver computes nothing.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from bindless import cv2
from bindless.kernels.manifest import parameters_of
from tests.backends.cuda.fake_cuda import Fake
from tests.interop.recorded_exchange import Library, library  # noqa: F401  a fixture
from tests.ndimage.recorded_python_calls import Described, arrays, own_calls  # noqa: F401  fixtures

SHAPE = (40, 50)
MOST = 8
KERNEL = "bindless_resample_memory_2d_u"
SIZES = {"int": 4, "uint": 4, "float": 4}  # others have 8 bytes


def address(array: Described) -> int:
    return int(array.array.__array_interface__["data"][0])


def sent(fake: Fake) -> list[dict[str, bytes]]:
    """The arguments of each launch, by name."""
    names = [name for _, name in parameters_of(KERNEL)]
    found = []
    for line in fake.lines("cuLaunchKernel"):
        head, _, arguments = line.partition(":")
        assert head.split()[1] == KERNEL
        found.append(dict(zip(names, map(bytes.fromhex, arguments.split()), strict=True)))
    return found


@pytest.mark.parametrize("has_output", [False, True])
def test_maps_are_read_where_they_lie(arrays: Any, has_output: bool) -> None:  # noqa: F811
    fake = Fake()
    picture, dst = arrays((30, 60), np.uint8), arrays(SHAPE, np.uint8) if has_output else None
    maps = [arrays(SHAPE) for _ in range(3)]
    for x, y in ((0, 1), (1, 0), (2, 1), (0, 2)):
        for _ in range(3):
            result = cv2.remap(picture, maps[x], maps[y], cv2.INTER_LINEAR, dst)
        assert result is dst if has_output else isinstance(result, Described)
        fake.clear()
        fake.parameters(*(SIZES.get(type_, 8) for type_, _ in parameters_of(KERNEL)))
        cv2.remap(picture, maps[x], maps[y], cv2.INTER_LINEAR, dst)
        (launch,) = sent(fake)
        fake.parameters()
        assert struct.unpack("P", launch["coords"]) == (address(maps[x]),)
        assert struct.unpack("q", launch["first_coord"]) == (0,)
        assert struct.unpack("q", launch["component"]) == ((address(maps[y]) - address(maps[x])) // 4,)
        assert len(own_calls(lambda: cv2.remap(picture, maps[x], maps[y], cv2.INTER_LINEAR, dst))) <= MOST  # noqa: B023


def test_a_result_over_a_map(arrays: Any) -> None:  # noqa: F811
    """The maps are read before the result is written: they are copied."""
    picture, maps = arrays(SHAPE), [arrays(SHAPE) for _ in range(2)]
    for dst in (*maps, arrays(SHAPE)):
        for _ in range(3):
            cv2.remap(picture, *maps, cv2.INTER_LINEAR, dst)
        fake = Fake()
        fake.clear()
        assert cv2.remap(picture, *maps, cv2.INTER_LINEAR, dst) is dst
        launches = sum(line.startswith("cuLaunchKernel") for line in fake.lines())
        assert launches == 1 if dst not in maps else launches >= 3
