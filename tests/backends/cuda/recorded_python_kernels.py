"""Kernels in Python on the driver of ``fake_cuda.c``: the module and the arguments that the driver receives."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import bindless as bl
from bindless import device
from bindless.python_kernels.compiler_process import INSTALL, missing_packages
from tests.backends.cuda.fake_cuda import Fake
from tests.interop.recorded_exchange import Library, library  # noqa: F401  a fixture
from tests.interop.recorded_exchange_functions import Arrays, Interface, arrays, driver_calls  # noqa: F401
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls

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


@bl.kernel
def rows(values, out, factor):
    y, x = device.item_id(0), device.item_id(1)
    out[y, x] = values[y, x] * factor + values.shape[0]


def words_of(line: str) -> list[int]:
    return [int.from_bytes(bytes.fromhex(word), "little") for word in line.partition(": ")[2].split()]


@pytest.mark.parametrize("how", ["exchange functions", "interface"])
def test_arrays_of_other_libraries(queue: bl.Queue, arrays: Arrays, library: Library, how: str) -> None:  # noqa: F811
    """Launches repeat without Python for arrays of the types, whatever their sizes and addresses."""
    fake, stream = Fake(), library.stream()
    queue._stream._dlpack_alone = True

    def make(shape, dtype=np.float32):
        made = arrays(shape, dtype)
        return (made, made) if how == "exchange functions" else (Interface(made, stream), made)

    first, second = make((4, 8)), make((4, 8))
    fake.parameters(8, 8, 8, 8, 8, 4)
    for _ in range(8):  # events are created on first use, once for each stream of the queue
        queue.parallel_for((4, 8), rows, first[0], second[0], 2.5)
    third = make((6, 8))
    calls = driver_calls(fake, lambda: queue.parallel_for((4, 8), rows, third[0], first[0], 0.5))
    assert calls == ["cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"]
    kernel = rows.specialise(queue, (4, 8), bl.as_usm_array(third[0], queue), bl.as_usm_array(first[0], queue), 1.0)
    names = [parameter.name for parameter in kernel.arguments or ()]
    sent = dict(zip(names, words_of(fake.lines("cuLaunchKernel")[-1])))
    assert sent["values"] == third[1].array.ctypes.data and sent["out"] == first[1].array.ctypes.data
    assert sent["values.shape[0]"] == 6 and sent["values.shape[1]"] == 8
    assert python_calls(lambda: queue.parallel_for((4, 8), rows, first[0], third[0], 2.0)) == []
    whole = make((4, 8), np.int32)[0]  # of another type: compiled for it
    assert python_calls(lambda: queue.parallel_for((4, 8), rows, whole, first[0], 2.0)) != []
    assert python_calls(lambda: queue.parallel_for((4, 8), rows, whole, first[0], 2.0)) == []
    with raises(bl.InvalidError):
        queue.parallel_for((4, 8), rows, np.zeros((4, 8), np.float32), first[0], 2.0)
    queue.wait()
