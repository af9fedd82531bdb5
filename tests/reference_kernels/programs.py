"""``run``: the programs of ``bindless.sampling.memory``, executed by instruction on the reference device."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless import kernels
from bindless.kernels.load import split_variant
from bindless.sampling.memory.programs import Program

Array = npt.NDArray[Any]

FORMATS = {"uint": ("I", np.uint32), "ulong": ("Q", np.uint64), "float": ("f", np.float32)}


def usm(queue: bl.Queue, array: Array) -> bl.UsmArray:
    made = bl.usm_empty(array.shape, array.dtype, queue)
    made.copy_from(array)
    return made


def run(queue: bl.Queue, program: Program, *buffers: bl.UsmArray | None) -> None:
    """Execute a program that consists of calls of kernels."""
    scratch = bl.usm_empty(program.scratch + 1, np.uint8, queue)
    pointers = [None if buffer is None else buffer.pointer for buffer in (*buffers, scratch)]
    words = list(program.words)
    while words:
        command, function, *groups, size, count = words[:10]
        assert command == 1
        end = 10 + 3 * count
        patches = {words[at]: pointers[words[at + 1]] + words[at + 2] for at in range(10, end, 3)}  # type: ignore[operator]
        contents = struct.pack(f"{-(-size // 8)}q", *words[end : end - (-size // 8)])
        del words[: end - (-size // 8)]
        name, constants = split_variant(program.names[function])
        module = kernels.module_of(name)
        given, offset = [], 0
        for argument in kernels.manifest()["modules"][module]["kernels"][name]:
            kind = argument.rpartition(" ")[0]
            if kind.endswith("*"):
                given.append(patches.get(offset))
                offset += 8
                continue
            code, dtype = FORMATS[kind]
            offset += -offset % dtype().nbytes
            value = struct.unpack_from(code, contents, offset)[0]
            assert constants.pop(argument.rpartition(" ")[2], value) == value
            given.append(dtype(value))
            offset += dtype().nbytes
        assert offset == size and not constants
        items = groups[3:]
        shape = bl.NdRange(tuple(a * b for a, b in zip(groups[2::-1], items[::-1])), tuple(items[::-1]))
        kernel = bl.load_kernel_bundle(kernels.source(module, "spirv"), queue).get_kernel(name)
        queue.parallel_for(shape, kernel, *given).wait_and_throw()
