"""Fixtures of the tests of the compiler for users' kernels."""

from __future__ import annotations

import pytest

import bindless as bl


@pytest.fixture
def needs_spirv(device: bl.Device) -> None:
    """For tests of what the tool writes into SPIR-V, where it is not the OpenCL C that a driver compiles."""
    if device.backend is bl.Backend.opencl and device._record.native.il_function is None:
        pytest.skip(f"{device.name} takes no SPIR-V")
