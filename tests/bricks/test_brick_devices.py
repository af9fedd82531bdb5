"""Devices without image handles in memory refuse a store by name."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.bricks import BrickStore


def test_a_device_without_handles(queue: bl.Queue) -> None:
    if queue.device.backend is not bl.Backend.opencl:
        with BrickStore(np.ones((3, 4), np.uint8), queue) as store:
            assert store.levels == ((1, 3, 4),)
        return
    with pytest.raises(bl.FeatureNotSupportedError) as caught:
        BrickStore(np.ones((3, 4), np.uint8), queue)
    assert caught.value.code == bl.Errc.feature_not_supported
