"""``BlockPlan``: pictures that device functions sample at coordinates of the host, made, read and stored in blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.call_form import ArrayLike
from ..bindless_images.sample_functions import sample_image, sample_image_array, sample_mipmap
from ..camera.lens import Lens
from ..model.arrays import Array
from ..model.enums import ImageType, Precision
from .codes import to_storage
from .fields import lens_of
from .plan import Plan
from .row_blocks import in_blocks

if TYPE_CHECKING:
    from ..model.filter import CoordinateMap
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["BlockPlan"]

FloatArray = npt.NDArray[np.float32]
Gradients = tuple[FloatArray, FloatArray]


class BlockPlan(Plan):
    """See ``Plan``; of planes without vectors, or with a lens on the host.

    A picture in USM is computed when ``submit`` returns, then copied.
    """

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling) -> None:
        super().__init__(queue, handle, picture)
        self._scale = np.array(picture.scale[:2], np.float32)
        self._bias = np.array(picture.bias[:2], np.float32)
        self._is_scaled = picture.scale != (1.0, 1.0, 1.0) or picture.bias != (0.0, 0.0, 0.0)
        # A call whose precision a kernel computes copies the image.
        self._copies_image = picture.filter.precision is not Precision.hardware

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
    ) -> Event | None:
        picture, part = self._picture, self._part(out, offset)
        width, height, _ = picture.shape
        values = part if isinstance(part, np.ndarray) else np.empty(part.shape, part.dtype)
        rows = values.reshape(height, width, picture.value_channels)
        matrix = np.array(map_.plane).reshape(3, 3)

        def fill(start: int, stop: int) -> None:
            points: FloatArray
            gradients: Gradients | None
            if coords is None:
                points, gradients = _coordinates(matrix, width, start, stop, gradients=picture.footprints)
            else:
                points, gradients = _behind_lens(lens_of(np.asarray(coords), matrix), width, start, stop)
            samples = self._samples(points, gradients, depends_on)
            block, channel = rows[start:stop], picture.descriptor.channel
            if block.dtype == channel.storage:
                to_storage(samples.reshape(block.shape), channel, codes=False, out=block)
            else:
                block[...] = samples.reshape(block.shape)

        in_blocks(fill, height, width, large=self._copies_image)
        if part is values:
            return None
        return self._queue.memcpy(part, values, depends_on=depends_on)

    def _samples(self, points: FloatArray, gradients: Gradients | None, depends_on: Event | Iterable[Event]) -> Array:
        """Samples at coordinates in texels."""
        if self._is_scaled:
            points /= self._scale
            points += self._bias
            gradients = None if gradients is None else (gradients[0] / self._scale, gradients[1] / self._scale)
        options: dict[str, Any] = {"num_channels": self._picture.value_channels, "depends_on": depends_on}
        queue, handle, kind = self._queue, self._handle, self._picture.descriptor.type
        if kind is ImageType.array:
            return sample_image_array(queue, handle, points, self._picture.layer, **options)
        if kind is ImageType.standard:
            return sample_image(queue, handle, points, **options)
        if gradients is None:
            return sample_mipmap(queue, handle, points, level=0.0, **options)
        return sample_mipmap(queue, handle, points, dx=gradients[0], dy=gradients[1], **options)


def _coordinates(
    matrix: npt.NDArray[np.float64], width: int, start: int, stop: int, *, gradients: bool
) -> tuple[FloatArray, Gradients | None]:
    """The positions of the pixel centres of rows start..stop of a picture.

    Parameters
    ----------
    matrix : NDArray[np.float64]
        (3, 3), from homogeneous coordinates of the picture to those of the image.
    width : int
        Pixels of a row.
    gradients : bool
        Whether to compute the change of the positions to the next column and row.

    Returns
    -------
    tuple[FloatArray, Gradients | None]
        Arrays of shape ((stop - start) * width, 2).
    """
    x = np.arange(width) + 0.5
    y = (np.arange(start, stop) + 0.5)[:, None]
    affine = not matrix[2, :2].any()
    count = (stop - start) * width
    points = np.empty((stop - start, width, 2), np.float32)
    steps = np.empty((2, stop - start, width, 2), np.float32) if gradients else None
    depth = matrix[2, 2] if affine else matrix[2, 0] * x + (matrix[2, 1] * y + matrix[2, 2])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for axis in (0, 1):
            a, b, c = matrix[axis]
            value = (a * x + (b * y + c)) / depth
            points[..., axis] = value
            if steps is not None:
                steps[0, ..., axis] = (a - value * matrix[2, 0]) / depth
                steps[1, ..., axis] = (b - value * matrix[2, 1]) / depth
    if steps is None:
        return points.reshape(count, 2), None
    return points.reshape(count, 2), (steps[0].reshape(count, 2), steps[1].reshape(count, 2))


def _behind_lens(lens: Lens, width: int, start: int, stop: int) -> tuple[FloatArray, Gradients]:
    """``_coordinates`` with gradients, of the positions to which a lens leads."""
    at = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(start, stop) + 0.5), -1).reshape(-1, 2)
    points, dx, dy = (each.astype(np.float32) for each in lens.footprints(at))
    return points, (dx, dy)
