"""Fixtures of the tests of kernels in Python: arrays on the device under test, and the compiler's packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.python_kernels.compiler_process import INSTALL, missing_packages


def takes_none(device: bl.Device) -> bool:
    """Whether an OpenCL device takes OpenCL C alone."""
    return device.backend is bl.Backend.opencl and device._record.native.il_function is None


def require_handles(queue: bl.Queue) -> None:
    """Skip on OpenCL devices, where images are arguments of kernels and have no handles."""
    if queue.backend is bl.Backend.opencl:
        pytest.skip("OpenCL has no image handles that are numbers")


@pytest.fixture(autouse=True)
def needs_compiler(device: bl.Device, request: pytest.FixtureRequest) -> None:
    """Skip where the compiler is missing, and on devices that take no module of it."""
    if missing_packages():
        pytest.skip(f"kernels in Python need numba: {INSTALL}")
    if request.node.name != "test_devices_without_spirv_refuse" and takes_none(device):
        pytest.skip(f"{device.name} takes no SPIR-V")


@pytest.fixture
def upload(queue: bl.Queue) -> Callable[[Any], bl.UsmArray]:
    """Copy an array of the host to the device."""

    def copy(values: Any) -> bl.UsmArray:
        array = np.asarray(values)
        return bl.usm_empty(array.shape, array.dtype, queue).copy_from(array)

    return copy
