"""``GroupStore``: the base of stores that consist of several images, and the way of the results that the parts fill."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import AnyArray, Library
from .device_image import ImageStore
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["GroupStore", "after_all", "given_from_host", "given_from_parts", "place_of"]


class GroupStore:
    """The images of a group, and their end. It has no memory and no handles of its own, and says so.

    Parameters
    ----------
    parts : Iterable[Image]
        The images, which the group owns. Where one cannot be made, those before it are closed.

    Attributes
    ----------
    descriptor : ImageDescriptor
        Descriptor of the group, set by the subclass; no memory is allocated for it.
    """

    descriptor: ImageDescriptor
    _reason: str
    """Why it is no single native image, for errors."""

    def __init__(self, parts: Iterable[Image]) -> None:
        self._parts: tuple[Image, ...] = ()
        self.closed = False
        try:
            for part in parts:
                self._parts += (part,)
        except BaseException:
            self.close()
            raise

    @property
    def parts(self) -> tuple[Image, ...]:
        """The images, or an error where they were closed."""
        if self.closed:
            raise InvalidError("this Image is closed; make a new one")
        return self._parts

    def close(self) -> None:
        """Closes the images."""
        self.closed = True
        for part in self._parts:
            part.close()

    def native(self) -> ImageStore:
        """Refused: see ``Store``."""
        raise InvalidError(
            f"{self._reason}: this Image consists of {len(self.parts)} images, which have memory and handles; "
            "take those of image.parts"
        )


def place_of(result: Result, *, on_device: bool) -> AnyArray:
    """Memory for the values, in ``out`` if that is possible: each part gives its share of it as ``out``."""
    in_usm = result.on_device or (result.array is None and on_device)
    return result.in_usm() if in_usm else result.on_host()


def given_from_parts(result: Result, values: AnyArray, queue: Queue, library: Library | None) -> Any:
    """The result for the caller, from a place that the parts have filled."""
    after = () if queue._stream.in_order or isinstance(values, np.ndarray) else (after_all(queue),)
    return result.deliver(values, after, library)


def given_from_host(result: Result, values: Array, queue: Queue, library: Library | None, *, on_device: bool) -> Any:
    """The result for the caller, on the device if it belongs there, from values on the host."""
    place = place_of(result, on_device=on_device)
    if not isinstance(place, UsmArray):
        return result.deliver(values, (), library)
    event = queue.memcpy(place, np.ascontiguousarray(values))
    return result.deliver(place, (event,), library)


def after_all(queue: Queue) -> Event:
    """An event after all commands that the queue has now."""
    return queue.ext_oneapi_submit_barrier()
