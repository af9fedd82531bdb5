"""The SPIR-V kernels that resample, run by the reference driver, give the pictures of the driver's own command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.model.enums import Boundary, Interpolation, Precision
from bindless.sampling.prepare import resample
from tests.support.filters import resampling

MODULES = [name for name in kernels.modules("spirv") if name.startswith("resample")]
CHANNEL_TYPES = {"f": "fp32", "i": "signed_int16", "u": "unsigned_int8"}
SIZES = {1: (13, 1, 1), 2: (9, 7, 1), 3: (6, 7, 5)}
PICTURES = {1: (21, 1, 1), 2: (12, 10, 1), 3: (9, 6, 7)}


@pytest.fixture
def without_command(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Patches of the back end, which is the reference's."""
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("compares the reference driver's command with kernels that run on it")
    assert queue._backend.resampling is not None
    return monkeypatch


@pytest.mark.parametrize("name", MODULES)
def test_kernels_equal_the_command(queue: bl.Queue, name: str, without_command: pytest.MonkeyPatch) -> None:
    fetched, dims = name.startswith("resample_fetch"), int(name[name.index("d") - 1])
    layered, letter = "array" in name, name[-1]
    more: dict[str, Any] = {"type": "array", "array_size": 3} if layered else {}
    sizes = SIZES[dims][:dims]
    desc = bl.ImageDescriptor(*sizes, num_channels=4, channel_type=CHANNEL_TYPES[letter], **more)
    pixels = (np.random.default_rng(8).random(desc.shape) * 200).astype(desc.dtype)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    filtering = "nearest" if fetched else "linear"
    handle = bl.create_image(
        memory, desc, queue, sampler=bl.BindlessImageSampler("mirrored_repeat", "normalized", filtering)
    )
    matrix = np.eye(4)
    matrix[:3] = np.random.default_rng(9).random((3, 4)) * 1.5 - 0.25
    shape = PICTURES[dims]
    vectors = np.random.default_rng(10).random((int(np.prod(shape)), dims)).astype(np.float32)
    for interpolation in ("nearest", "linear", "cubic", "bicubic") if fetched else ("linear", "cubic"):
        if not fetched and interpolation == "cubic" and letter != "f":
            continue
        picture = resampling(
            handle=0, descriptor=desc, shape=shape, matrix=tuple(matrix.ravel().tolist()), values=0, layer=int(layered),
            value_dtype=desc.dtype, value_channels=4, coords_strides=(dims, 1), scale=tuple(map(float, SIZES[dims])),
            precision=Precision.exact if fetched else Precision.hardware, interpolation=Interpolation(interpolation),
            boundary=(Boundary.mirror, Boundary.repeat, Boundary.border), fill=3.0,
        )  # fmt: skip
        pictures = []
        for own in (True, False):
            with without_command.context() as patch:
                if not own:
                    patch.setattr(type(queue._backend), "resampling", None)
                out = np.empty((*shape[::-1], 4), desc.dtype)
                resample(queue, handle, picture, out, coords=vectors)
            pictures.append(out.astype(np.float64))
        if not fetched and interpolation == "linear":
            np.testing.assert_array_equal(*pictures)
        else:
            np.testing.assert_allclose(*pictures, atol=1.0 if letter != "f" else 4e-4)
            assert (pictures[0] != pictures[1]).mean() < (0.01 if letter != "f" else 1)
    bl.destroy_image_handle(handle, queue)
