"""The OpenCL device whose results are the reference for SPIR-V kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bindless as bl
from tests.opencl.peers import OpenCLPeer, run_here, spirv_device
from tests.support.needs import lacks

_INSTALL = (
    "pip install intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 and set "
    "BINDLESS_LIBOPENCL to the environment's lib/libintelocl.so (.ci/opencl does)"
)

Both = Callable[..., tuple[list[Any], list[Any]]]


@pytest.fixture(scope="session")
def peer() -> Iterator[OpenCLPeer]:
    """An OpenCL device that accepts SPIR-V."""
    found = spirv_device()
    if found is None:
        lacks("opencl_spirv", _INSTALL)
    made = OpenCLPeer(*found)
    yield made
    made.close()


@pytest.fixture
def both(queue: bl.Queue, peer: OpenCLPeer) -> Both:
    """``both(module, kernel, size, *arguments, local=None)``: a kernel's results on this device and on the OpenCL
    device."""
    if queue.device.backend is bl.Backend.cuda:
        pytest.skip("CUDA runs PTX, not the modules that OpenCL devices take")

    def call(module: bytes, kernel: str, size: Any, *arguments: Any, local: Any = None) -> tuple[list[Any], list[Any]]:
        size = (size,) if isinstance(size, int) else size
        local = (local,) if isinstance(local, int) else local
        here = run_here(queue, module, kernel, size, *arguments, local=local)
        return here, peer.run(module, kernel, size, *arguments, local=local)

    return call
