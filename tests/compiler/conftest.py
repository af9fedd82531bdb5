"""Fixtures of the tests of the compiler for users' kernels."""

from __future__ import annotations

import pytest

import bindless as bl


@pytest.fixture
def needs_spirv(device: bl.Device) -> None:
    """Skip tests of generated SPIR-V on devices whose driver compiles OpenCL C."""
    if device.backend is bl.Backend.opencl and device._record.native.il_function is None:
        pytest.skip(f"{device.name} takes no SPIR-V")
