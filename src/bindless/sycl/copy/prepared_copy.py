"""Preparation of image copies, which ``core/_submission`` repeats.

A queue repeats a copy for arrays of the same shape and type, for images of the same descriptor where the driver takes
any such image, and for the same memory, other images and keywords.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core._submission import Copies, Copy, Openable, Prepared, stream_of_foreign
from ...model.copy_region import CopyRegion, HostMemory
from ...model.image_descriptor import ImageDescriptor
from ...submission.event import Event
from ...submission.foreign_stream import has_exchange_functions
from ..device.image_owner import ImageOwner
from ..usm.array import UsmArray
from ..usm.pointer import UsmPointer

if TYPE_CHECKING:
    from ...backends.contract.prepared_command import PreparedCommand
    from ...backends.contract.prepared_copy import PreparedCopy
    from ..device.queue_base import QueueBase

__all__ = [
    "add_copy",
    "comes_again",
    "command_of",
    "copy_command",
    "is_copied_again",
    "submit_levels",
    "submit_prepared",
]

_PLAIN = frozenset("biuf")  # kinds of elements whose type numpy's protocols tell in full
_MOST_AXES = 4
_COMPARED = (int, tuple, type(None), ImageDescriptor)  # types of keywords that C compares

_OPEN = Openable()  # in place of a kernel's bundle, which C asks whether it was closed
_OPEN._open = True


def is_copied_again(value: object) -> bool:
    """Whether C code may copy an array on the device again: memory of this package, or of another library on a device
    whose streams the libraries share."""
    if isinstance(value, (UsmPointer, int)):
        return False
    return type(value) is UsmArray or stream_of_foreign(value) is not None


def command_of(command: PreparedCommand, slots: Sequence[tuple[Any, ...]] = ()) -> Prepared:
    """A command of a driver, which is no launch of a kernel, as C code submits it."""
    return Prepared(
        command, 1, _OPEN, command.mark, command.lanes, command.settle, command.refused, (command, command.keep),
        command.submit, command.descriptions, tuple(slots),
    )  # fmt: skip


def copy_command(queue: QueueBase, region: CopyRegion) -> Prepared | None:
    """A copy within the device between the same memory each time; None where Python has to submit it."""
    stream = queue._stream
    with stream.lock:
        native = None if stream.closed else stream.native
        prepared = None if native is None else stream.backend.prepare_copy(native, region)
    return None if prepared is None else command_of(prepared.command)


def submit_prepared(
    queue: QueueBase,
    src: Any,
    dst: Any,
    region: CopyRegion,
    keywords: Mapping[str, object],
    depends_on: Iterable[Event] | Event,
) -> Event | None:
    """Prepare a copy, and submit it; None where Python has to submit it."""
    stream = queue._stream
    native, copies = stream.native, stream.copies
    if native is None:
        return None
    if copies is not None and copies.declined:  # it is prepared
        return None
    image: type | None = None
    for value, memory in ((src, region.src), (dst, region.dst)):
        if isinstance(value, ImageOwner):
            image = type(value)
        elif not comes_again(value, isinstance(memory, HostMemory)):
            return None
    for value in keywords.values():
        if not isinstance(value, _COMPARED):
            return None
    if copies is None and image is None:
        return None
    with stream.lock:
        prepared = stream.backend.prepare_copy(native, region)
    return None if prepared is None else add_copy(queue, src, dst, prepared, image, keywords, depends_on)


def submit_levels(
    queue: QueueBase, array: Any, image: ImageOwner, prepared: PreparedCopy, depends_on: Iterable[Event] | Event
) -> Event | None:
    """Add a command that fills all levels of a mipmap from an array, and submit it; None where Python has to."""
    if not comes_again(array, isinstance(array, np.ndarray)):
        return None
    return add_copy(queue, array, image, prepared, type(image), {}, depends_on, levels=True)


def comes_again(value: Any, on_host: bool) -> bool:
    """Whether C code reads an operand."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in _PLAIN and value.ndim <= _MOST_AXES
    return has_exchange_functions(value) if on_host else is_copied_again(value)


def add_copy(
    queue: QueueBase,
    src: Any,
    dst: Any,
    prepared: PreparedCopy,
    image: type | None,
    keywords: Mapping[str, object],
    depends_on: Iterable[Event] | Event,
    *,
    levels: bool = False,
    size: int = 0,
) -> Event | None:
    """Add a copy to the queue's, and submit it; ``size``: the bytes of a copy of bytes."""
    stream, copies = queue._stream, queue._stream.copies
    if copies is None or (image is not None and copies.image is not image):  # those of bytes know no images
        copies = stream.copies = Copies(image or ImageOwner, UsmArray, np.ndarray)
    # A copy of pixels is for one array of USM, whose address is not read.
    from_, to = (
        () if type(value) is UsmArray and not size else place for value, place in zip((src, dst), prepared.places)
    )
    sides, names, values = (from_, to, *prepared.offsets), tuple(keywords), tuple(keywords.values())
    copy = Copy(copies, src, dst, *sides, names, values, command_of(prepared.command), size)
    copies.remember(copy, levels)
    event: Event | None = copies.submit(stream, copy, src, dst, depends_on)
    return event
