"""Results of ``Image.sample`` that the tensors' own library makes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.10", reason="pip install 'torch>=2.10'")

import bindless as bl  # noqa: E402
from tests.image.test_image_python_calls import MOST_OF_A_PICTURE, PLANE, SIDE, fewest_calls  # noqa: E402

pytestmark = pytest.mark.torch


def test_a_new_tensor() -> None:
    """Results of tensors' library, small ones and those whose memory is kept."""
    rng = np.random.default_rng(9)
    pixels = rng.random((*PLANE, 4), np.float32)
    with bl.Queue("reference", in_order=True) as queue, bl.Image(pixels, queue=queue) as image:
        for count, most in ((SIDE, MOST_OF_A_PICTURE), (1 << 17, None)):
            points = rng.random((2, count, 2), np.float32) * SIDE
            for k in range(4):
                values = image.sample(torch.from_numpy(points[k % 2]))
                assert type(values) is torch.Tensor and values.shape == (count, 4) and values.dtype is torch.float32
                assert (values.numpy() == image.sample(points[k % 2])).all()
            call = partial(image.sample, torch.from_numpy(points[0]))
            assert most is None or fewest_calls(call) <= most
            first, second = call(), call()
            first.fill_(-1)
            assert (second.numpy() == image.sample(points[0])).all()
