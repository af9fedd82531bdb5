"""Fixtures of the kernel tests: what a kernel computes, in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from compile import assembled, compiled_text

import bindless as bl

Array = npt.NDArray[Any]
Runner = Callable[..., list[Array]]


@pytest.fixture
def run(queue: bl.Queue) -> Runner:
    """``run(text, name, size, *arguments, local=None)``: the arrays among the arguments, as the kernel leaves them."""
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("LLVM has OpenCL's own functions (get_global_id, min, convert_int ...) for SPIR-V alone")
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
            module = assembled(text) if assembly else compiled_text(text, "spirv", only, passes, extensions)
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
