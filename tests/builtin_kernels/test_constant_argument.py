"""SPIR-V kernels with a constant in place of an argument."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.kernels.spirv_specialise import with_constant_argument
from bindless.model.module import spirv

NAME = "bindless_fetch_2d_f"
# Values of four float32 channels, an image of four unorm_int8, arrays aligned: csrc/kernels/include/format.h.
FORMAT = 7 | 4 << 8 | 2 << 16 | 4 << 24 | 1 << 28


def test_the_module_has_the_same_kernel() -> None:
    general, special = kernels.source("fetch_2d_f", "spirv"), kernels.specialised(NAME, FORMAT, "spirv")
    assert spirv.describe(special) == spirv.describe(general)
    assert len(special) == len(general) + 8 * 4  # OpConstant and OpCopyObject
    with pytest.raises(ValueError, match="no kernel 'bindless_other'"):
        with_constant_argument(general, "bindless_other", 0, 1)
    with pytest.raises(ValueError, match="with an argument 40"):
        with_constant_argument(general, NAME, 40, 1)


def test_what_is_given_for_the_argument_does_not_matter() -> None:
    arguments = [name.split()[-1] for name in kernels.manifest()["modules"]["fetch_2d_f"]["kernels"][NAME]]
    pixels = np.random.default_rng(4).integers(0, 256, (16, 32, 4)).astype(np.uint8)
    coords = np.stack(np.meshgrid(np.arange(32), np.arange(16)), -1).reshape(-1, 2).astype(np.int32)
    with bl.Queue("reference", in_order=True) as queue:
        memory = bl.ImageMem(bl.ImageDescriptor(32, 16, num_channels=4, channel_type="unorm_int8"), queue)
        queue.ext_oneapi_copy(pixels, memory)
        image = bl.create_image(memory, memory.get_descriptor(), queue)
        where, values = bl.usm_empty(coords.shape, np.int32, queue), bl.usm_empty((512, 4), np.float32, queue)
        where.copy_from(coords)
        given = {"image": image, "coords": where, "values": values, "count": np.uint64(512), "row": np.uint32(32)}
        for source, word in (
            (kernels.source("fetch_2d_f", "spirv"), FORMAT),
            (kernels.specialised(NAME, FORMAT, "spirv"), 0xDEAD),
        ):
            kernel = bl.load_kernel_bundle(source, queue).get_kernel(NAME)
            queue.fill(values, np.float32(-1), values.size)
            words = {**given, "format": np.uint32(word)}
            queue.parallel_for(bl.NdRange(128, 128), kernel, *[words[name] for name in arguments]).wait_and_throw()
            np.testing.assert_array_equal(values.numpy(queue), pixels.reshape(-1, 4) / np.float32(255))
        bl.destroy_image_handle(image, queue)
        memory.close()
