"""Fixtures shared by the tests of external memory and semaphores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bindless as bl
from tests.support.shared_files import takes_files


@pytest.fixture
def files(device: bl.Device) -> None:
    """Skip the test on a device that imports no file descriptors as memory and semaphores."""
    if not takes_files(device):
        pytest.skip(f"{device.name} takes what its own drivers export: tests/interop/vulkan")


@pytest.fixture
def ordered(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    """An in-order queue."""
    with bl.Queue(device, context, in_order=True) as made:
        yield made
