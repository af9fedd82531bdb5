"""Copies of elements between strided arrays: from the host to a ``UsmArray``, and from one ``UsmArray`` to another.

A copy is made of boxes of rows. Where there would be too many of them, the bytes from the first element to the last
go to the host and back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...backends.contract import NativeEvent
from ...model.arrays import Array
from ...model.copy_region import CopyRegion, HostMemory, UsmMemory
from ...model.image_descriptor import ImageDescriptor
from ...submission.command_stream import events_of_users
from .elements import Elements
from .pointer import UsmPointer
from .strides import Boxes, boxes, reach

if TYPE_CHECKING:
    from ...submission.event import Event
    from ..device.queue_base import QueueBase

__all__ = ["copy_elements", "write_elements"]

_MOST_COMMANDS = 256  # more of them take longer than the way to the host and back


def write_elements(target: Elements, values: Array, queue: QueueBase) -> None:
    """Writes host elements of the target's shape and dtype, and waits.

    They come after the work submitted so far, to any queue, that uses the target's memory.
    """
    if not target.size:
        return
    keys, strides, offset = _forward(target)
    packed = np.ascontiguousarray(values[keys]).reshape(target.shape)
    cut = _cut(target, strides, packed.strides, queue)
    if cut.number > _MOST_COMMANDS:
        _write_through_host(target, values, queue)
        return
    bytes_of = packed.reshape(-1).view(np.uint8)
    start = packed.__array_interface__["data"][0]
    before = events_of_users(target._owner)

    def piece(to: int, of: int) -> Event:
        pointer = UsmPointer(target._owner, offset + to)
        if cut.rows == 1:
            return queue.memcpy(pointer, bytes_of[of : of + cut.row], cut.row, depends_on=before)
        source = HostMemory(start + of, (cut.row, cut.rows, 1), 1, cut.row * cut.rows)
        return _copy_box(queue, _box(pointer, cut, 0), source, before, (target, packed))

    _run(piece, cut)


def copy_elements(target: Elements, source: Elements, strides: tuple[int, ...], queue: QueueBase) -> bool:
    """Copies elements of equal dtype in one context and waits; False where that would take too many commands.

    They come after the work submitted so far, to any queue, that uses the memory of either array.

    Parameters
    ----------
    source : UsmArray
        Memory that does not overlap the target's.
    strides : tuple[int, ...]
        Bytes between the source's elements, broadcast to the target's shape.
    """
    if not target.size:
        return True
    keys, own, offset = _forward(target)
    turned = tuple(step * key.step for step, key in zip(strides, keys))
    base = source._offset + sum(
        step * (size - 1) for step, size, key in zip(strides, target.shape, keys) if key.step < 0
    )
    cut = _cut(target, own, turned, queue)
    if cut.number > _MOST_COMMANDS:
        return False
    before = [*events_of_users(target._owner), *events_of_users(source._owner)]

    def piece(to: int, of: int) -> Event:
        pointer, first = UsmPointer(target._owner, offset + to), UsmPointer(source._owner, base + of)
        if cut.rows == 1:
            return queue.memcpy(pointer, first, cut.row, depends_on=before)
        return _copy_box(queue, _box(pointer, cut, 0), _box(first, cut, 1), before, (target, source))

    _run(piece, cut)
    return True


def _cut(target: Elements, strides: tuple[int, ...], source: tuple[int, ...], queue: QueueBase) -> Boxes:
    """Boxes of rows, or single rows where the driver copies nothing else."""
    cut = boxes(target.shape, strides, source, target.itemsize)
    return cut if queue._backend.traits.copies_boxes else cut.single_rows()


def _write_through_host(target: Elements, values: Array, queue: QueueBase) -> None:
    """Writes elements into a copy of the bytes from the first element to the last, and copies those back."""
    first, last = reach(target.shape, target.strides, target.itemsize)
    staged = np.empty(last - first, np.uint8)
    pointer = UsmPointer(target._owner, target._offset + first)
    queue.memcpy(staged, pointer, last - first, depends_on=events_of_users(target._owner)).wait()
    view: Array = np.ndarray(target.shape, target.dtype, staged, -first, target.strides)
    view[...] = values
    queue.memcpy(pointer, staged, last - first, depends_on=events_of_users(target._owner)).wait()


def _forward(target: Elements) -> tuple[tuple[slice, ...], tuple[int, ...], int]:
    """Slices that reverse dimensions with negative strides, the strides after that, and the first byte's offset."""
    keys = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in target.strides)
    first, _ = reach(target.shape, target.strides, target.itemsize)
    return keys, tuple(map(abs, target.strides)), target._offset + first


def _box(pointer: UsmPointer, cut: Boxes, side: int) -> UsmMemory:
    desc = ImageDescriptor(cut.row, cut.rows, num_channels=1, channel_type="unsigned_int8")
    return UsmMemory(pointer.address, cut.pitches[side], desc)


def _copy_box(
    queue: QueueBase,
    target: UsmMemory,
    source: UsmMemory | HostMemory,
    before: Sequence[Event],
    keep: tuple[object, ...],
) -> Event:
    region = CopyRegion(source, target, target.extent)
    backend, native = queue._backend, queue._native

    def submit(waits: Sequence[NativeEvent]) -> NativeEvent:
        return backend.copy_image(native, region, waits)

    return queue._enqueue(submit, before, keep)


def _run(piece: Callable[[int, int], Event], cut: Boxes) -> None:
    """Submits all boxes, and waits for them."""
    for event in [piece(*place) for place in cut.offsets()]:
        event.wait()
