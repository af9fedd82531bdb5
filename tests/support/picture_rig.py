"""Pictures of ``resample``: a device computes one of an image, to be compared with sums in float64."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.model.enums import Boundary, Interpolation, Precision
from bindless.sampling.prepare import resample
from tests.oracle.pictures import codes
from tests.support.filters import resampling

__all__ = ["PICTURES", "SIZES", "Case", "close", "matrix_of", "pixels_of"]

Array = npt.NDArray[Any]

SIZES = {1: (13,), 2: (9, 13), 3: (7, 9, 13)}  # of images, in numpy's order
PICTURES = {1: (37, 1, 1), 2: (21, 11, 1), 3: (11, 9, 10)}


def matrix_of(shape: tuple[int, int, int], sizes: tuple[int, ...]) -> Array:
    """A matrix that shears, turns and enlarges: about half of the picture lies outside of the image."""
    matrix = np.eye(4)
    matrix[:3, :3] = [[0.9, -0.35, 0.21], [0.28, 0.85, -0.17], [-0.13, 0.31, 0.8]]
    extent = np.array([*sizes[::-1], 1, 1][:3], np.float64)
    middle = np.array(shape) / 2
    matrix[:3, :3] *= np.minimum(1.7 * extent / np.array(shape), 3)[:, None]
    matrix[:3, 3] = extent / 2 - matrix[:3, :3] @ middle + 0.137
    return matrix


def pixels_of(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 5) -> Array:
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        return (rng.random(shape) * 2 - 1).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


class Case(NamedTuple):
    """An image, and a picture of it."""

    queue: bl.Queue
    pixels: Array
    channel_type: str = "fp32"
    layers: int = 0

    @property
    def desc(self) -> bl.ImageDescriptor:
        sizes = self.pixels.shape[1 if self.layers else 0 : -1]
        more = {"type": "array", "array_size": self.layers} if self.layers else {}
        return bl.ImageDescriptor(
            *sizes[::-1], num_channels=self.pixels.shape[-1], channel_type=self.channel_type, **more
        )

    def made(
        self,
        shape: tuple[int, int, int],
        dtype: npt.DTypeLike,
        matrix: Array,
        coords: Array | None = None,
        **fields: Any,
    ) -> Array:
        """The picture that the device computes."""
        memory = bl.ImageMem(self.desc, self.queue)
        self.queue.ext_oneapi_copy(self.pixels, memory).wait()
        filtering = "nearest" if fields.get("precision", "exact") == "exact" else "linear"
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", filtering)
        handle = bl.create_image(memory, self.desc, self.queue, sampler=sampler)
        channels = fields.pop("channels", self.pixels.shape[-1])
        out = np.empty((*shape[::-1], channels), dtype)
        fields["interpolation"] = Interpolation(fields.get("interpolation", "linear"))
        fields["precision"] = Precision(fields.get("precision", "exact"))
        fields["boundary"] = tuple(map(Boundary, fields.get("boundary", ("edge",) * 3)))
        picture = resampling(
            handle=0, descriptor=self.desc, shape=shape, matrix=tuple(matrix.ravel().tolist()), values=0,
            value_dtype=out.dtype, value_channels=channels, **fields,
        )  # fmt: skip
        resample(self.queue, handle, picture, out, coords=coords)
        bl.destroy_image_handle(handle, self.queue)
        return out


def close(got: Array, wanted: Array, pixels: Array, largest: float | None = None) -> None:
    """Equal to 1e-6 of the range; codes are those of the wanted values, or of values as close to them."""
    if got.dtype.kind != "f":
        span = np.ptp(pixels.astype(np.float64)) if largest is None else 2 * largest
        assert np.abs(got.astype(np.float64) - codes(wanted, got.dtype, largest=largest)).max() <= 0.5 + 1e-6 * span
        return
    magnitude = 1.0 if largest is not None else float(np.nanmax(np.abs(pixels.astype(np.float64))))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_allclose(got, wanted, rtol=1e-3 if got.dtype == np.float16 else 1e-6, atol=1e-6 * magnitude)
