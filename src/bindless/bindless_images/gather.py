"""Gathers: one channel of the four pixels that linear filtering would blend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.arrays import Array
from ..model.enums import Boundary, ImageType
from ..model.errors import InvalidError
from ..model.filter import Filter, fold
from ..model.host_array import as_array
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler, fraction_bits
from ..sycl.device.handle_owner import HandleOwner
from .context_tables import HandleRecord, handle_key
from .device_functions import fetch_image
from .dispatch import Depends

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["gather_image"]

_FARTHEST = 2.0**30  # pixels from which on a coordinate is as far outside as it can be
# Counter-clockwise from the lower left: which of the two columns, and which of the two rows.
_CORNERS = ((0, 1), (1, 1), (1, 0), (0, 0))


def gather_image(
    queue: Queue,
    handle: SampledImageHandle | HandleOwner,
    coords: Array,
    component: int = 0,
    *,
    depends_on: Depends = (),
) -> Array:
    """Gather one channel of the four pixels that linear filtering would blend.

    The pixels are those of a linear sample whatever the sampler's filtering is; its addressing and its coordinates
    hold. Coordinates count in steps of 1/256 of a pixel, as texture units do. Pixels are fetched, not filtered, so
    that every device with `fetch_image` of sampled images can do it, and integers of 32 bits as well.

    Parameters
    ----------
    queue
        Where it runs.
    handle
        A sampled, two-dimensional image of `create_image`, a standard one.
    coords
        (N, 2) float32, (x, y): pixels with centres at +0.5, or 0 to 1 where the sampler has normalized coordinates.
    component
        The channel, 0 to 3. One that the image lacks is 0.
    depends_on
        Events to wait for.

    Returns
    -------
    numpy.ndarray
        (N, 4) of the image's own type, float32 for normalized types: the pixels at (x, y + 1), (x + 1, y + 1),
        (x + 1, y) and (x, y), where (x, y) is the one of the smallest indices.

    Raises
    ------
    InvalidError
        The handle is no such image, or another argument is of the wrong type or shape.
    FeatureNotSupportedError
        The device does not fetch from sampled images.

    Examples
    --------
    >>> import bindless as bl, numpy as np
    >>> queue = bl.Queue("reference")
    >>> memory = bl.ImageMem(bl.ImageDescriptor(3, 2, num_channels=1), queue)
    >>> _ = queue.ext_oneapi_copy(np.arange(6, dtype=np.float32).reshape(2, 3, 1), memory)
    >>> sampler = bl.BindlessImageSampler("clamp_to_edge")
    >>> handle = bl.create_image(memory, memory.get_descriptor(), queue, sampler=sampler)
    >>> bl.gather_image(queue, handle, np.float32([[1, 1]]))
    array([[3., 4., 1., 0.]], dtype=float32)
    """
    sampled = handle._image_handle(sampled=True) if isinstance(handle, HandleOwner) else handle
    record = _record(queue, sampled)
    if type(component) is not int or not 0 <= component <= 3:
        raise InvalidError(f"component={shown(component)}: it is 0, 1, 2 or 3")
    points = as_array("coords", coords)
    if points.dtype != np.float32 or points.ndim != 2 or points.shape[1] != 2:
        raise InvalidError(f"coords: an array {points.shape} of {points.dtype}; it is (N, 2) of float32")
    desc, sampler = record.descriptor, record.sampler
    assert sampler is not None  # of a sampled image
    size = desc.width, desc.height
    columns, rows = (_axis(points[:, axis], size, axis, sampler) for axis in (0, 1))
    places = np.stack(
        [np.stack([columns[x], rows[y]], -1) for x, y in _CORNERS],
        axis=1,
    ).reshape(-1, 2)
    inside = (places >= 0).all(-1)
    texels = fetch_image(queue, sampled, np.maximum(places, 0).astype(np.int32), depends_on=depends_on)
    if component >= desc.num_channels:
        return np.zeros((len(points), 4), texels.dtype)
    values = np.where(inside, texels[:, component], texels.dtype.type(0))
    return np.ascontiguousarray(values.reshape(-1, 4))


def _record(queue: Queue, handle: object) -> HandleRecord:
    if not isinstance(handle, SampledImageHandle):
        raise InvalidError(f"gather_image: {handle!r} is no sampled image: create it with a sampler")
    try:
        record: HandleRecord | None = queue.context._handles.get(handle_key(handle.raw_handle, True))
    except AttributeError:
        raise InvalidError(
            f"gather_image: queue={shown(queue)} is no Queue: bindless.Queue(selector) makes one"
        ) from None
    if record is None:
        raise InvalidError(f"gather_image: {handle!r} is no image of the queue's context")
    desc: ImageDescriptor = record.descriptor
    if desc.type is not ImageType.standard or desc.dimensions != 2:
        raise InvalidError(f"gather_image: {desc} is no standard image of two dimensions")
    return record


def _axis(coordinates: Array, size: tuple[int, int], axis: int, sampler: BindlessImageSampler) -> tuple[Array, Array]:
    """Indices of the two pixels along an axis, -1 for the border, in the arithmetic of docs/internals/numerics.md."""
    extent, bits = size[axis], fraction_bits(max(size))
    large = np.abs(coordinates) >= np.float32(2.0**-126)  # false of what is no number
    cleaned = np.where(large, coordinates, np.float32(0))
    x = np.clip(cleaned.astype(np.float64), -_FARTHEST, _FARTHEST)
    if sampler.is_normalized:
        whole, part = np.divmod(np.floor(x * 2.0**bits).astype(np.int64), 1 << bits)
        position = whole * (256 * extent) + ((part * (256 * extent) + (1 << (bits - 1))) >> bits)
    else:
        position = np.floor(x * 256.0 + 0.5).astype(np.int64)
    first = (position - 128) >> 8
    boundary = Filter.from_sampler(sampler).boundary[axis]
    return _texels(first, extent, boundary), _texels(first + 1, extent, boundary)


def _texels(index: Array, extent: int, boundary: Boundary) -> Array:
    """The texels that are read; -1 for those outside of a border."""
    if boundary is Boundary.border:
        return np.where((index >= 0) & (index < extent), index, -1)
    texels: Array = fold(index, extent, boundary)
    return texels
