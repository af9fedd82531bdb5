"""Fixtures of the kernel tests: run a kernel in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.precompiled_kernels import FOLDER, ptx_of

Array = npt.NDArray[Any]
Runner = Callable[..., list[Array]]


@pytest.fixture
def run(queue: bl.Queue) -> Runner:
    """``run(text, name, size, *arguments, local=None)``: the array arguments after the kernel has run."""
    cuda = queue.device.backend is bl.Backend.cuda
    bundles: dict[str, bl.KernelBundle] = {}

    def call(
        text: str,
        name: str,
        size: Any,
        *arguments: Any,
        local: Any = None,
        only: str = "",
        passes: str = "",
        extensions: str = "",
    ) -> list[Array]:
        source = text + only + passes
        if source not in bundles:
            assembly = "OpMemoryModel" in text
            module = _module(text, only, passes, extensions, assembly, cuda)
            bundles[source] = bl.load_kernel_bundle(module, queue)
        kernel = bundles[source].get_kernel(name)
        passed: list[Any] = []
        arrays: list[tuple[Array, bl.UsmArray]] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray) and argument.ndim > 0:
                memory = bl.usm_empty(argument.shape, argument.dtype, queue)
                memory.copy_from(argument)
                arrays.append((argument, memory))
                passed.append(memory)
            else:
                passed.append(argument)
        queue.parallel_for(size if local is None else bl.NdRange(size, local), kernel, *passed).wait_and_throw()
        return [memory.numpy(queue) for _, memory in arrays]

    return call


def _module(text: str, only: str, passes: str, extensions: str, assembly: bool, cuda: bool) -> bytes:
    """Build the text for the device; where kernels are kept for other machines, for GPUs too."""
    if assembly and cuda:
        pytest.skip("the module is SPIR-V")
    if assembly:
        return assembled(text)
    if cuda:
        return ptx_of(text)
    if FOLDER and not passes:
        with contextlib.suppress(bl.BuildError):  # it is kept, and skips the test on this machine
            bl.build(f"{text}\n", targets="ptx")
    return compiled_text(text, "spirv", only, passes, extensions)
