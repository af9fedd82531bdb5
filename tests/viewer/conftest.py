"""Devices of OpenCL have no handles in memory, and draw nothing from bricks."""

from __future__ import annotations

import pytest

import bindless as bl


@pytest.fixture(autouse=True)
def has_handles(queue: bl.Queue) -> None:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("devices of OpenCL have no handles in memory: tests/bricks/test_brick_devices.py")
