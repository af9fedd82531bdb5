"""What tests of shared memory and semaphores have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bindless as bl
from tests.support.shared_files import takes_files


@pytest.fixture
def files(device: bl.Device) -> None:
    """Left out where the device takes no files for memory and semaphores."""
    if not takes_files(device):
        pytest.skip(f"{device.name} takes what its own drivers export: tests/interop/vulkan")


@pytest.fixture
def ordered(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    """An in-order queue."""
    with bl.Queue(device, context, in_order=True) as made:
        yield made
