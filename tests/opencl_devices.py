"""The OpenCL devices that tests of OpenCL's own run on: all that the loader finds, whatever ``--device`` says."""

from __future__ import annotations

import os

import pytest

import bindless as bl

__all__ = ["parametrize_devices", "require_device"]


def parametrize_devices(metafunc: pytest.Metafunc) -> None:
    """One test for each device, as the argument ``cl``."""
    if "cl" not in metafunc.fixturenames:
        return
    try:
        found = bl.get_devices("opencl:*:*")
    except bl.Error:
        found = ()
    names = [device.platform.name.split()[0] for device in found]
    metafunc.parametrize("cl", found or [None], ids=names or ["none"])


def require_device(device: bl.Device | None) -> bl.Device:
    """The device; without one the test is skipped, or fails where OpenCL is asked for."""
    if device is None:
        reason = "no OpenCL device here: apt install pocl-opencl-icd ocl-icd-libopencl1, or set BINDLESS_LIBOPENCL"
        if "opencl" in os.environ.get("BINDLESS_REQUIRE", "").split(","):
            pytest.fail(f"BINDLESS_REQUIRE asks for opencl: {reason}", pytrace=False)
        pytest.skip(reason)
    return device
