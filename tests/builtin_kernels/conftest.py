"""Fixtures of the kernel tests."""

from __future__ import annotations

import pytest
from host_kernels import REASON, RUNS, HostKernels

import bindless as bl


@pytest.fixture(scope="session")
def host_kernels(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    """The kernels compiled for this processor, once for all workers."""
    if not RUNS:
        pytest.skip(REASON)
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(pytestconfig, "workerinput") else base) / "host_kernels"
    folder.mkdir(exist_ok=True)
    return HostKernels(folder)


@pytest.fixture
def needs_spirv(device: bl.Device) -> None:
    """For tests of what the tool writes into SPIR-V, where it is not the OpenCL C that a driver compiles."""
    if device.backend is bl.Backend.opencl and device._record.native.il_function is None:
        pytest.skip(f"{device.name} takes no SPIR-V")
