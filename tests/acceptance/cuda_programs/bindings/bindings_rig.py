"""Short forms of cuda.bindings: calls that raise, memory, and modules that NVRTC compiles."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cuda.bindings import driver, nvrtc

Array = npt.NDArray[Any]
Check = Callable[[], None]


class CallError(Exception):
    """A call that failed, with its result ``code``."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returns {code}")
        self.code = code


def call(function: Any, *arguments: Any) -> Any:
    """The output of a call: None, a value or a tuple."""
    code, *outputs = function(*arguments)
    if int(code) != 0:
        raise CallError(function.__name__, int(code))
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def code_of(function: Any, *arguments: Any) -> int:
    """The result of a call that may fail."""
    return int(function(*arguments)[0])


def use_device() -> None:
    """Make the primary context of device 0 the thread's own."""
    call(driver.cuInit, 0)
    call(driver.cuCtxSetCurrent, call(driver.cuDevicePrimaryCtxRetain, call(driver.cuDeviceGet, 0)))


def compile_ptx(source: str) -> bytes:
    """PTX of CUDA C++; raises RuntimeError with the compiler's log."""
    program = call(nvrtc.nvrtcCreateProgram, source.encode(), b"program.cu", 0, [], [])
    options = [b"--gpu-architecture=compute_90", b"--std=c++17", b"--fmad=false", b"--device-int128"]
    if int(nvrtc.nvrtcCompileProgram(program, len(options), options)[0]) != 0:
        log = b" " * call(nvrtc.nvrtcGetProgramLogSize, program)
        call(nvrtc.nvrtcGetProgramLog, program, log)
        raise RuntimeError(log.decode())
    text = b" " * call(nvrtc.nvrtcGetPTXSize, program)
    call(nvrtc.nvrtcGetPTX, program, text)
    return text


class Module:
    """A module of CUDA C++ on the device."""

    def __init__(self, source: str) -> None:
        self.handle = call(driver.cuModuleLoadData, np.char.array(compile_ptx(source)))

    def function(self, name: str) -> Any:
        return call(driver.cuModuleGetFunction, self.handle, name.encode())

    def run(self, name: str, grid: int | Sequence[int], block: int | Sequence[int], *arguments: Any, shared: int = 0,
            stream: int = 0) -> list[Array]:  # fmt: skip
        """Run a kernel; arrays are copied to the device, and their new values are the result."""
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        memory = iter([upload(array) for array in arrays])
        pointers, values = [], []
        for argument in arguments:
            pointers.append(next(memory) if isinstance(argument, np.ndarray) else None)
            values.append(argument if pointers[-1] is None else np.uint64(int(pointers[-1])))
        launch(self.function(name), grid, block, *values, shared=shared, stream=stream)
        results = [download(pointer, array) for pointer, array in zip([p for p in pointers if p], arrays, strict=True)]
        for pointer in pointers:
            if pointer:
                call(driver.cuMemFree, pointer)
        return results


def launch(function: Any, grid: int | Sequence[int], block: int | Sequence[int], *values: Any, shared: int = 0,
           stream: Any = 0) -> None:  # fmt: skip
    """Launch with values that are numpy scalars, records or addresses of 64 bits."""
    call(
        driver.cuLaunchKernel, function, *three(grid), *three(block), shared, stream, parameters(*values).ctypes.data, 0
    )


def parameters(*values: Any) -> Array:
    """The addresses of a kernel's arguments."""
    scalars = [np.array([np.uint64(int(v)) if isinstance(v, driver.CUdeviceptr) else v]) for v in values]
    table = np.array([scalar.ctypes.data for scalar in scalars], np.uint64)
    _alive.append((scalars, table))
    return table


_alive: list[Any] = []


def three(size: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return (*sizes, *(1 for _ in range(3 - len(sizes))))


def upload(values: Array) -> Any:
    """Device memory with these values."""
    pointer = call(driver.cuMemAlloc, max(values.nbytes, 1))
    call(driver.cuMemcpyHtoD, pointer, np.ascontiguousarray(values).ctypes.data, values.nbytes)
    return pointer


def download(pointer: Any, like: Array) -> Array:
    """The values in device memory, with the shape and type of an array."""
    values = np.empty(like.shape, like.dtype)
    call(driver.cuMemcpyDtoH, values.ctypes.data, pointer, values.nbytes)
    return values


def same(actual: Array, expected: Any, what: str = "") -> None:
    """Raise AssertionError unless the arrays have the same bits."""
    expected = np.asarray(expected).astype(actual.dtype)
    if actual.tobytes() != expected.tobytes():
        assert actual.shape == expected.shape, f"{what}: shapes {actual.shape} and {expected.shape}"
        kind = f"u{actual.itemsize}"
        wrong = np.argwhere(actual.view(kind) != np.ascontiguousarray(expected).view(kind))
        first = tuple(wrong[0])
        raise AssertionError(f"{what}: {len(wrong)} differ; at {first} {actual[first]!r}, not {expected[first]!r}")


def bytes_at(address: int, size: int) -> Any:
    """A view of memory of this process."""
    return (ctypes.c_char * size).from_address(address)
