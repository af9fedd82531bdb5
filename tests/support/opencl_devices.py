"""Devices of the OpenCL-specific tests: every device of the loader, independent of ``--device``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

import bindless as bl
from bindless.submission.command_stream import sweep
from tests.support.needs import lacks

__all__ = ["opencl_devices", "parametrize_devices", "require_device", "settled"]

Counts = TypeVar("Counts")


def opencl_devices() -> list[bl.Device]:
    """All OpenCL devices, none without a loader."""
    try:
        return list(bl.get_devices("opencl:*:*"))
    except bl.Error:
        return []


def parametrize_devices(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test over all devices, as the argument ``cl``."""
    if "cl" not in metafunc.fixturenames:
        return
    found = opencl_devices()
    names = [device.platform.name.split()[0] for device in found]
    metafunc.parametrize("cl", found or [None], ids=names or ["none"])


def require_device(device: bl.Device | None) -> bl.Device:
    """The device; without one the test is skipped, or fails if BINDLESS_REQUIRE names OpenCL."""
    if device is None:
        lacks("opencl", "apt install pocl-opencl-icd ocl-icd-libopencl1, or set BINDLESS_LIBOPENCL")
    return device


def settled(count: Callable[[], Counts], wanted: Counts) -> Counts:
    """Reference counts, as soon as they equal the wanted ones, or after two seconds: a thread of rusticl releases a
    command's objects shortly after the command ends, and one of the package may complete the last command of a queue
    that was dropped, which lasts until the next look."""
    end = time.monotonic() + 2
    while (found := count()) != wanted and time.monotonic() < end:
        time.sleep(0.005)
        sweep()
    return found
