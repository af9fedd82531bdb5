"""Pixel copies that change the number of channels, compared with numpy slices."""

from __future__ import annotations

import numpy as np
import pytest

from bindless.image.channel_copy import copy_channels


@pytest.mark.parametrize("shape", [(3, 5, 3), (2, 4, 3, 3), (7, 1), (0, 4, 3)])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_shared_channels_are_copied_and_others_kept(shape: tuple[int, ...], channels: int) -> None:
    source = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    target = np.full((*shape[:-1], channels), 7, np.uint8)
    copy_channels(target, source)
    shared = min(channels, shape[-1])
    np.testing.assert_array_equal(target[..., :shared], source[..., :shared])
    assert (target[..., shared:] == 7).all()
