"""Kernels whose work-items use different images, on each device."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.prove.lane_checks import LANE_CHECKS, LaneCheck, lane_checks


@pytest.mark.parametrize("check", LANE_CHECKS, ids=str)
def test_each_item_uses_its_own_image(check: LaneCheck, queue: bl.Queue) -> None:
    if check not in lane_checks(queue):
        pytest.skip(f"{queue.device.name} has no such images")
    try:
        found, wanted = check.run(queue)
    except bl.FeatureNotSupportedError as error:
        pytest.skip(str(error))
    np.testing.assert_array_equal(found, wanted)


def test_neighbouring_items_use_different_images(queue: bl.Queue) -> None:
    """The right results differ between neighbours, so that one handle for all of them cannot give them."""
    check = next(check for check in LANE_CHECKS if check.kernel == "memory" and check.images == 33)
    try:
        _, wanted = check.run(queue)
    except bl.FeatureNotSupportedError as error:
        pytest.skip(str(error))
    images = wanted[:, 0] // (8 * 4 * 4)
    assert (images[1:256] != images[:255]).all() and set(images[:256]) == set(range(33))
