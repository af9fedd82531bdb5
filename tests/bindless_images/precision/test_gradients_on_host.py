"""Samples with gradients in a computed precision: devices that do not follow gradients leave them to the host."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.bindless_images.call_arguments import _gradients_on_host, find_image
from bindless.bindless_images.dispatch import SAMPLE_GRADIENT
from bindless.model.enums import Precision


@pytest.mark.parametrize("in_usm", [False, True])
@pytest.mark.parametrize("precision", ["exact", "reproducible"])
def test_a_copy_on_the_host_gives_the_reference_s_numbers(precision: str, in_usm: bool) -> None:
    rng = np.random.default_rng(5)
    coords = rng.random((50, 2)).astype(np.float32)
    dx, dy = (rng.normal(0, 0.1, (50, 2)).astype(np.float32) for _ in range(2))
    with bl.Queue("reference") as queue:
        desc = bl.ImageDescriptor(32, 16, num_channels=4, channel_type="fp32", type="mipmap", num_levels=4)
        memory = bl.ImageMem(desc, queue)
        for level in range(desc.num_levels):
            part = desc.get_mip_level_desc(level)
            pixels = rng.random(part.shape, np.float32)
            queue.ext_oneapi_copy(pixels, memory.get_mip_level_mem_handle(level), dst_desc=part).wait()
        sampler = bl.BindlessImageSampler(
            "clamp_to_edge", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=3.0
        )
        handle = bl.create_image(memory, desc, queue, sampler=sampler, precision=precision)
        expected = bl.sample_mipmap(queue, handle, coords, dx=dx, dy=dy)
        assert np.ptp(expected) > 0.2
        inputs, values = {"coords": coords, "dx": dx, "dy": dy}, np.empty_like(expected)
        if in_usm:
            inputs = {
                name: bl.usm_empty(array.shape, array.dtype, queue).copy_from(array) for name, array in inputs.items()
            }
            values = bl.usm_empty(expected.shape, expected.dtype, queue)
        fields = {
            "count": len(coords),
            "value_dtype": expected.dtype,
            "value_channels": 4,
            "layer": 0,
            "level": 0.0,
            "precision": Precision(precision),
        }
        image = find_image(queue, SAMPLE_GRADIENT, handle, values, None, None)
        event = _gradients_on_host(queue, SAMPLE_GRADIENT, image, inputs, values, fields, ())
        assert (event is None) is not in_usm
        np.testing.assert_array_equal(values.numpy() if isinstance(values, bl.UsmArray) else values, expected)
