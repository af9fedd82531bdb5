"""Image functions of an interpreted kernel: each is a call of the package's own function on the image's device."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import bindless_images as images
from ..bindless_images.context_tables import HandleRecord, handle_key
from ..model.arrays import Array
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..sycl.device.context import Context, contexts
from ..sycl.device.handle_owner import HandleOwner
from ..sycl.device.queue_base import transfer_queue
from ..sycl.queue.queue import Queue
from .sampling import split_layer
from .values import KernelImage, Number, Operand
from .vector import Vector

__all__ = ["fetched", "gathered", "layered", "sampled", "written"]


def sampled(
    function: str,
    image: KernelImage,
    place: Sequence[Number | None],
    dtype: npt.DTypeLike,
    *,
    layer: int | None = None,
    level: Number | None = None,
    dx: Operand | None = None,
    dy: Operand | None = None,
    filtering: object = None,
) -> Vector:
    """Return one sample.

    Raises
    ------
    ValueError
        The filter is none of kernels.
    """
    queue, handle = _handle(image, sampled=True)
    at = _coordinates(place, np.float32)
    if filtering is not None:
        if filtering != "cubic" or np.dtype(dtype) != np.float32:
            raise ValueError(f'{function}: filtering={shown(filtering)} of {dtype}: it is None or "cubic", of float32')
        return _cubic(queue, handle, at, layer)
    given = _options(dtype)
    if function == "sample_image_array":
        found = images.sample_image_array(queue, handle, at, _layers(layer), **given)
    elif function == "sample_cubemap":
        found = images.sample_cubemap(queue, handle, at, **given)
    elif function == "sample_mipmap" and level is not None:
        found = images.sample_mipmap(queue, handle, at, level=np.array([level], np.float32), **given)
    elif function == "sample_mipmap":
        slopes = [np.array([slope if isinstance(slope, tuple) else (slope,)], np.float32) for slope in (dx, dy)]
        found = images.sample_mipmap(queue, handle, at, dx=slopes[0], dy=slopes[1], **given)
    else:
        found = images.sample_image(queue, handle, at, **given)
    return _four(found, dtype)


def gathered(image: KernelImage, x: Number, y: Number, component: int, dtype: npt.DTypeLike) -> Vector:
    """Return one channel of four pixels."""
    queue, handle = _handle(image, sampled=True)
    found = images.gather_image(queue, handle, _coordinates((x, y, None), np.float32), component=component)
    return _four(found, dtype)


def layered(
    function: str, place: Sequence[Number | None], layer: Number | None
) -> tuple[tuple[Number | None, ...], int]:
    """Return coordinates and the layer, of which the last coordinate is one in a call without ``layer=``.

    Raises
    ------
    TypeError
        The layer is absent or no integer.
    """
    at, number = split_layer(place, layer)
    try:
        return at, operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{function}: the layer is an integer after the coordinates, not {shown(number)}") from None


def fetched(
    function: str,
    image: KernelImage,
    place: Sequence[Number | None],
    dtype: npt.DTypeLike,
    channels: int,
    *,
    layer: int | None = None,
) -> Any:
    """Return one pixel."""
    whole = function == "fetch_cubemap" or (
        not function.startswith("fetch_sampled") and not isinstance(image, (HandleOwner, SampledImageHandle))
    )
    queue, handle = _handle(image, sampled=not whole)
    at = _coordinates(place, np.int32)
    given = _options(dtype)
    if layer is None:
        found = images.fetch_image(queue, handle, at, **given)
    elif function == "fetch_cubemap":
        found = images.fetch_cubemap(queue, handle, at, _layers(layer), **given)
    else:
        found = images.fetch_image_array(queue, handle, at, _layers(layer), **given)
    values = _four(found, dtype)
    if whole and channels < 4:
        return values[0] if channels == 1 else Vector(values[:channels], dtype)
    return values


def written(
    function: str, image: KernelImage, place: Sequence[Number | None], value: Operand, *, layer: int | None = None
) -> None:
    """Write one pixel."""
    queue, handle = _handle(image, sampled=False)
    at = _coordinates((*place, None, None, None)[:3], np.int32)
    colour = np.array([value if isinstance(value, tuple) else (value,)])
    if colour.dtype == np.float64:
        colour = colour.astype(np.float32)
    if layer is None:
        event = images.write_image(queue, handle, at, colour)
    elif function == "write_cubemap":
        event = images.write_cubemap(queue, handle, at, _layers(layer), colour)
    else:
        event = images.write_image_array(queue, handle, at, _layers(layer), colour)
    if event is not None:
        event.wait()


def _cubic(queue: Queue, handle: SampledImageHandle, at: Array, layer: int | None) -> Vector:
    """The B-spline: the 4, 16 or 64 pixels around a place, with their weights in float64."""
    dims = at.shape[1]
    size = tuple(reversed(_found(handle)[1].descriptor.shape[:-1]))
    base = np.floor(at[0] - 0.5).astype(int)
    weights = [_weights(float(at[0, axis]) - 0.5 - base[axis]) for axis in range(dims)]
    total = np.zeros(4)
    for offset in np.ndindex(*[4] * dims):
        texel = np.clip(base + np.array(offset) - 1, 0, np.array(size[:dims]) - 1)
        centre = np.array([texel + 0.5], np.float32)
        if layer is None:
            found = images.sample_image(queue, handle, centre, dtype=np.float32)
        else:
            found = images.sample_image_array(queue, handle, centre, _layers(layer), dtype=np.float32)
        weight = float(np.prod([weights[axis][offset[axis]] for axis in range(dims)]))
        total += weight * np.array(_four(found, np.float32), np.float64)
    return Vector(total)


def _weights(t: float) -> tuple[float, float, float, float]:
    return (1 - t) ** 3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6


def _options(dtype: npt.DTypeLike) -> dict[str, Any]:
    """Integers have the type of the image, and are converted then."""
    return {"dtype": np.dtype(dtype)} if np.dtype(dtype).kind == "f" else {}


def _coordinates(place: Sequence[Number | None], dtype: npt.DTypeLike) -> Array:
    """One row."""
    return np.array([[part for part in place if part is not None]], dtype)


def _layers(layer: int | None) -> Array:
    return np.array([layer], np.uint32)


def _four(found: npt.ArrayLike, dtype: npt.DTypeLike) -> Vector:
    """Four channels; those that the image lacks are 0."""
    values = np.asarray(found).reshape(-1)
    return Vector([*values, *[0] * (4 - len(values))], dtype)


def _handle(image: KernelImage, *, sampled: bool) -> tuple[Queue, Any]:
    """A queue of the image's device, and its handle.

    Raises
    ------
    TypeError
        It is neither an image nor a number of one.
    """
    kind = SampledImageHandle if sampled else UnsampledImageHandle
    if isinstance(image, HandleOwner):
        handle: Any = image._image_handle(sampled)
    elif isinstance(image, (SampledImageHandle, UnsampledImageHandle)):
        handle = image
    else:
        try:
            handle = kind(operator.index(image))
        except TypeError:
            raise TypeError(
                f"{shown(image)} is no image: kernels take a bindless.Image of the array, a handle, or its number"
            ) from None
    context, record = _found(handle)
    queue = transfer_queue(context, record.device)
    assert isinstance(queue, Queue)
    return queue, handle


def _found(handle: SampledImageHandle | UnsampledImageHandle) -> tuple[Context, HandleRecord]:
    """The context of a handle, and its record.

    Raises
    ------
    TypeError
        There is no such image.
    """
    key = handle_key(int(handle), isinstance(handle, SampledImageHandle))
    for context in contexts():
        record = context._handles.get(key)
        if record is not None:
            return context, record
    raise TypeError(f"{handle!r} is no image of this process")
