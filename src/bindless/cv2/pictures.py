"""``draw``: a picture with OpenCV's borders, on the roads of ``bindless.ndimage``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..image.array_library import AnyArray
from ..model.arrays import Array
from ..model.enums import Backend, Boundary, Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.filter import Filter
from ..model.resampling import Rounding
from ..ndimage.places import Places
from ..ndimage.plan import resample
from ..ndimage.repeated import Key, recall
from ..ndimage.source import Input, wait_unless_ordered
from ..ndimage.target import Output
from ..submission.command_stream import events_of_users
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .arguments import filter_of
from .constants import BORDER_CONSTANT, BORDER_TRANSPARENT, INTER_NEAREST
from .errors import left_to_cv2

__all__ = ["arrays_of_processor", "draw", "output_of", "repeat", "settle"]


def draw(
    function: str,
    source: Input,
    places: Places,
    interpolation: int,
    border: int,
    values: tuple[float, ...],
    dst: Any,
    key: Key | None = None,
) -> Any:
    """The picture, as the caller gets it.

    Parameters
    ----------
    function : str
        Name of the function, for errors.
    source : Input
        The picture that is read.
    places : Places
        Where the pixels are read; its shape is that of the result.
    interpolation, border : int
        OpenCV's numbers.
    values : tuple[float, ...]
        Values outside, one for each channel.
    dst : array
        As the caller gave it, or None.
    key : Key | None
        As of ``recall``.
    """
    target = output_of(function, source, dst, places.shape)
    if border == BORDER_TRANSPARENT:
        return _over(function, source, target, places, interpolation)
    if len(set(values)) == 1:
        filter_ = filter_of(interpolation, border, values[0], source.dtype)
        return resample(source, target, places, filter_, key=key)
    return target.deliver(_by_channel(function, source, places, interpolation, border, values))


def repeat(
    function: str, queue: Queue | None, src: Any, dst: Any, size: Any, *options: object
) -> tuple[Key | None, Any]:
    """The key of a call whose map follows from its options, and the result if an earlier one is repeated, or None."""
    sizes = tuple(size) if isinstance(size, list) else size
    key, call = recall(f"cv2.{function}", queue, src, dst, 0.0, (sizes, *options))
    return key, None if call is None else call.submit(src, dst)


def output_of(function: str, source: Input, dst: Any, shape: tuple[int, ...], rounding: Rounding = "even") -> Output:
    """The result, in the caller's array or in a new one.

    Raises
    ------
    ArgumentError
        The array has another shape or dtype.
    """
    target = Output(function, source, dst, shape, rounding)
    if target.dtype != source.dtype:
        raise ArgumentError(f"dst is {target.dtype}; src is {source.dtype}, and the result too")
    return target


def arrays_of_processor(source: Input, target: Output) -> tuple[Array, Array] | None:
    """The packed pixels of the host and memory for the result, both (height, width, channels), if a processor computes
    it: it needs no image of them. None of other calls."""
    pixels, kind = source.pixels, source.dtype
    if source.queue.device.backend is not Backend.reference or not isinstance(pixels, np.ndarray):
        return None
    packed: Array = np.require(pixels, kind, ["C_CONTIGUOUS", "ALIGNED"])
    values = target.memory(kind, in_usm=False)
    if values is None or np.may_share_memory(values, packed):
        values = empty_result((*target.shape, packed.shape[-1]), kind)
    return packed, values  # type: ignore[return-value]


def settle(array: AnyArray, queue: Queue) -> None:
    """Waits for an array of the device that later commands read, in a queue out of order."""
    if isinstance(array, UsmArray):
        wait_unless_ordered(queue, tuple(events_of_users(array._owner)))


def _by_channel(
    function: str, source: Input, places: Places, interpolation: int, border: int, values: tuple[float, ...]
) -> AnyArray:
    """The values (height, width, channels), each channel with its own value outside."""
    planes = []
    for channel, fill in enumerate(values):
        pixels = source.pixels[..., channel : channel + 1]
        if isinstance(pixels, np.ndarray):
            pixels = np.ascontiguousarray(pixels)
        one = source._replace(value=None, pixels=pixels, channel_axis=None, library=None)
        filter_ = filter_of(interpolation, border, fill, source.dtype)
        planes.append(resample(one, Output(function, one, None, places.shape, "even"), places, filter_))
        settle(planes[-1], source.queue)
    if not source.on_device:
        return np.stack(planes, -1)
    whole: UsmArray = usm_empty((*places.shape, len(planes)), source.dtype, source.queue)
    for channel, plane in enumerate(planes):
        whole[..., channel] = plane
    settle(whole, source.queue)
    return whole


def _over(function: str, source: Input, target: Output, places: Places, interpolation: int) -> Any:
    """The picture over the caller's: pixels that are read outside keep their values."""
    array = target.array
    if array is None:
        raise ArgumentError("dst is None: with BORDER_TRANSPARENT it has the pixels that stay")
    if not isinstance(array, np.ndarray) or source.on_device:
        raise left_to_cv2(function, "BORDER_TRANSPARENT with arrays on a device")
    queue, size = source.queue, source.shape
    plain = source._replace(value=None, channel_axis=2, library=None)
    filter_ = filter_of(interpolation, BORDER_TRANSPARENT, 0.0, source.dtype)
    picture = resample(plain, Output(function, plain, None, places.shape, "even"), places, filter_)
    ones = np.ones((*size, 1), np.uint8)
    inside = Input(queue, None, ones, size, ones.dtype, None, False, None)
    mask = Filter.of(Interpolation.nearest, Boundary.constant, precision=Precision.exact)
    if interpolation == INTER_NEAREST:
        mask = filter_of(interpolation, BORDER_CONSTANT, 0.0, ones.dtype)  # of two nearest pixels, the one that is read
    covered = resample(inside, Output(function, inside, None, places.shape), places, mask)
    np.copyto(array, picture, where=covered[..., None] != 0)
    return target.caller
