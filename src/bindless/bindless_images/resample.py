"""``resample``: pictures that a device computes from an image, at coordinates from a matrix, an array, or both."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..model.aspects import Aspect
from ..model.enums import ImageType, Precision, UsmKind
from ..model.errors import InvalidError
from ..sycl.device.handle_owner import HeldSampledHandle
from ..sycl.usm import UsmArray
from ..sycl.usm.allocation import Allocation
from .call_arguments import ArrayLike, Form, Image, find_image
from .host_resampling import resample_on_host
from .prepared_call import report_error
from .resampling_kernels import (
    arguments_of,
    format_word,
    index_space,
    kernel_name,
    mode_word,
    numbers_of,
    specialised_kernel,
)
from .scratch_memory import ALIGNMENT, give_back, take

if TYPE_CHECKING:
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue
    from .scratch_memory import Block

__all__ = ["resample"]

_TYPES = (ImageType.standard, ImageType.array, ImageType.mipmap)
_SAMPLES = {type_: Form("resample", "sample", type_, sampled=True, unsampled=False) for type_ in _TYPES}
_FETCHES = {type_: Form("resample", "fetch", type_, sampled=True, unsampled=False) for type_ in _TYPES}


def resample(
    queue: Queue,
    handle: SampledImageHandle,
    picture: Resampling,
    out: ArrayLike,
    *,
    coords: ArrayLike | None = None,
    depends_on: Event | Iterable[Event] = (),
) -> Event | None:
    """A picture of an image.

    Parameters
    ----------
    handle : SampledImageHandle
        Of a standard image, an array or a mipmap, made by ``create_image`` for the queue's device.
    picture : Resampling
        What to compute. The fields for handle, descriptor, addresses and types of arrays follow from the other
        arguments and need not be right.
    out : ArrayLike
        The values: contiguous, ``picture.shape`` reversed times channels; on the host (waits, returns None) or in USM
        (returns the event).
    coords : ArrayLike | None, default None
        Vectors of float32 or float64. Its first element is the first component of the first vector, from which
        ``picture.coords_strides`` lead to the others; their number is that of the image's dimensions.
    depends_on : Event | Iterable[Event], default ()
        Events to wait for first.

    Raises
    ------
    InvalidError
        The handle is no such image of the queue's context.
    FeatureNotSupportedError
        ``Precision.reproducible``, or no double precision: the host computes the picture, and the image lies over USM.
    """
    desc = handle._descriptor
    if desc is None or desc.type not in _TYPES:
        raise InvalidError(f"resample: {handle!r} is no standard image, array or mipmap that create_image made")
    forms = _SAMPLES if picture.precision is Precision.hardware else _FETCHES
    image = find_image(queue, forms[desc.type], handle, out, None, None)
    picture = replace(
        picture,
        handle=image.raw,
        descriptor=image.desc,
        value_dtype=out.dtype,
        value_channels=out.shape[-1],
        coords=0,
        coords_dtype=picture.coords_dtype if coords is None else coords.dtype,
    )
    if math.prod(picture.shape) == 0:
        return None if isinstance(out, np.ndarray) else queue._nothing(depends_on)
    call = _Call(queue, image, picture)
    if queue._backend.resampling is not None:
        return call.by_back_end(out, coords, depends_on)
    if picture.precision is Precision.reproducible or not queue.device.has(Aspect.fp64):
        return resample_on_host(queue, image, picture, out, coords, depends_on, resample)
    return call.by_kernel(out, coords, depends_on)


class _Call(NamedTuple):
    """A picture that is to be computed.

    Attributes
    ----------
    queue : Queue
        Does the work.
    image : Image
        The source.
    picture : Resampling
        Without the addresses of arrays.
    """

    queue: Queue
    image: Image
    picture: Resampling

    def by_back_end(
        self, out: ArrayLike, coords: ArrayLike | None, depends_on: Event | Iterable[Event]
    ) -> Event | None:
        """By the back end, which reads and writes the arrays where they are."""
        group, native = self.queue._backend.resampling, self.queue._native
        assert group is not None
        picture = replace(self.picture, values=_address(out), coords=0 if coords is None else _address(coords))
        keep = (*self.image.keep, out, coords)
        event = self.queue._stream.submit(lambda waits: group.resample(native, picture, waits), depends_on, keep)
        if isinstance(out, UsmArray):
            return event
        _finish(event)
        return None

    def by_kernel(self, out: ArrayLike, coords: ArrayLike | None, depends_on: Event | Iterable[Event]) -> Event | None:
        """By a built-in kernel, with copies of arrays on the host."""
        queue, picture = self.queue, self.picture
        if isinstance(out, UsmArray) and not isinstance(coords, np.ndarray):
            return self._launch(out, coords, depends_on)
        vectors = None
        if isinstance(coords, np.ndarray):
            vectors, first, strides = _packed(coords, picture)
            picture = replace(picture, coords_strides=strides)
        room = 0 if vectors is None else -(-vectors.nbytes // ALIGNMENT) * ALIGNMENT
        block = take(queue, max(room + (out.nbytes if isinstance(out, np.ndarray) else 0), 1))
        there: ArrayLike | None = coords
        if vectors is not None:
            copied = _array_in(queue, block, 0, vectors.shape, vectors.dtype)
            depends_on = queue.memcpy(copied, vectors, depends_on=depends_on)
            there = copied[first:]
        call = self._replace(picture=picture)
        if isinstance(out, UsmArray):
            event = call._launch(out, there, depends_on)
            event.wait()  # for the block
            give_back(queue, block)
            return event
        values = _array_in(queue, block, room, out.shape, out.dtype)
        done = call._launch(values, there, depends_on)
        _finish(queue.memcpy(out, values, depends_on=done))
        give_back(queue, block)
        return None

    def _launch(self, out: UsmArray, coords: ArrayLike | None, depends_on: Event | Iterable[Event]) -> Event:
        queue, picture, image = self.queue, self.picture, self.image
        name = kernel_name(queue, image.desc, picture.precision, in_usm=image.usm)
        format_ = format_word(image.desc, out.dtype, picture.value_channels, _address(out))
        mode = mode_word(picture, has_vectors=coords is not None)
        kernel = specialised_kernel(queue, name, format_, mode)
        held = HeldSampledHandle(image.raw)
        held._held = image.keep
        values: dict[str, Any] = numbers_of(picture)
        values |= {"image": held, "values": out, "format": format_, "mode": mode}
        values["coords"] = None if coords is None else coords.pointer  # type: ignore[union-attr]
        return queue.parallel_for(
            index_space(picture.shape), kernel, *arguments_of(name, values), depends_on=depends_on
        )


def _packed(coords: np.ndarray[Any, Any], picture: Resampling) -> tuple[np.ndarray[Any, Any], int, tuple[int, int]]:
    """Vectors on the host without gaps: the elements, which of them is the first, and the strides."""
    count, components = math.prod(picture.shape), picture.descriptor.dimensions
    step, component = picture.coords_strides
    size = coords.dtype.itemsize
    found = as_strided(coords, (count, components), (step * size, component * size))
    if component < 0:
        found = found[:, ::-1]
    if step < 0:
        found = found[::-1]
    planes = abs(component) > abs(step)
    flat = np.ascontiguousarray(found.T if planes else found).reshape(-1)
    steps = (1, count) if planes else (components, 1)
    first = (steps[0] * (count - 1) if step < 0 else 0) + (steps[1] * (components - 1) if component < 0 else 0)
    return flat, first, (-steps[0] if step < 0 else steps[0], -steps[1] if component < 0 else steps[1])


def _array_in(queue: Queue, block: Block, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> UsmArray:
    """An array in a part of a block, which it keeps."""
    size, kind = math.prod(shape) * dtype.itemsize, UsmKind.device
    memory = Allocation(queue.context, queue.device, kind, block.address + start, size, owned=False, lender=block)
    return UsmArray(memory, shape, dtype)


def _address(array: ArrayLike) -> int:
    return int(array.ctypes.data) if isinstance(array, np.ndarray) else array.address


def _finish(event: Event) -> None:
    """Waits; a call that waits reports its own failure, also where the queue has an ``async_handler``."""
    event.wait()
    report_error(event)
