"""The common copy in a few steps: a whole image between image memory, arrays and shared memory that fit exactly.

All other copies are left to ``image_copy``, which has the other forms and raises the errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.copy_region import CopyRegion, Endpoint, HostMemory, ImageMemory, UsmMemory
from ...model.enums import ImageType, UsmKind
from ...model.image_descriptor import ImageDescriptor
from ..device.image_owner import ImageOwner
from ..usm.array import UsmArray
from ..usm.host_memory import address_of

if TYPE_CHECKING:
    from ..queue.queue import Queue

__all__ = ["whole_copy"]

_ORIGIN = (0, 0, 0)
_Found = tuple[Endpoint, object] | None


def whole_copy(queue: Queue, src: Any, dst: Any) -> tuple[CopyRegion, tuple[object, ...]] | None:
    """The copy of a whole image, and what must live until it is complete; None where ``copies`` has to look.

    Raises
    ------
    InvalidError
        An ``ImageMem`` was closed.
    """
    first, second = _image(queue, src), _image(queue, dst)
    source: _Found = first
    target: _Found = second
    if first is not None:
        desc = first[0].descriptor
        if second is None:
            target = _linear(queue, dst, desc, True)
        elif second[0].descriptor is not desc:
            return None
    elif second is not None:
        desc = second[0].descriptor
        source = _linear(queue, src, desc, False)
    if source is None or target is None:
        return None
    return CopyRegion.whole(source[0], target[0], desc), (source[1], target[1])


def _image(queue: Queue, value: Any) -> tuple[ImageMemory, object] | None:
    """An ``ImageMem`` of the queue's context and device."""
    if not isinstance(value, ImageOwner):
        return None
    raw, desc, context, device, keep = value._image_memory()
    if context is not queue.context or device is not queue.device or desc.type is ImageType.mipmap:
        return None
    return tuple.__new__(ImageMemory, (raw, desc, _ORIGIN)), keep  # without the detour of its own constructor


def _linear(queue: Queue, value: Any, desc: ImageDescriptor, written: bool) -> _Found:
    """An array of the image's own shape and dtype, or contiguous memory of as many bytes."""
    if type(value) is np.ndarray:
        flags = value.flags
        if (
            value.shape != desc.shape
            or value.dtype != desc.dtype
            or not flags.c_contiguous
            or (written and not flags.writeable)
        ):
            return None
        return HostMemory(address_of(value), desc.extent, desc.pixel_size, value.nbytes, _ORIGIN), value
    if type(value) is not UsmArray or not value.is_contiguous or value.nbytes < desc.nbytes:
        return None
    owner = value._owner
    if (
        not owner.open
        or owner.context is not queue.context
        or (owner.kind is UsmKind.device and owner.device is not queue.device)
        or (written and owner.read_only)
    ):
        return None
    return UsmMemory(owner.address + value._offset, 0, desc, _ORIGIN, value.nbytes, 1), value
