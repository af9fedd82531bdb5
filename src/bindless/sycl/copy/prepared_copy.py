"""``PreparedCopies``: cache of the repeated copies of a queue, which ``core/_submission`` submits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.contract.prepared_copy import PreparedCopyProtocol
from ...core._submission import Copies, Copy, Openable, Prepared
from ...model.copy_region import CopyRegion
from ...model.image_descriptor import ImageDescriptor
from ..device.image_owner import ImageOwner
from ..usm.array import UsmArray

if TYPE_CHECKING:
    from ...submission.command_stream import CommandStream

__all__ = ["PreparedCopies"]

_MOST_SEEN = 256
_PLAIN = frozenset("biuf")  # kinds of elements whose type numpy's protocols tell in full


_OPEN = Openable()  # in the place of a kernel's bundle, which is asked whether it was closed
_OPEN._open = True


class PreparedCopies:
    """Those of one queue. A copy is prepared when it comes the second time; again, should others have taken its place,
    the fourth time, the eighth and so on.

    A copy is the same if its arrays have the same shape and type, its images the same descriptor, where the driver
    takes any such image, and its memory, other images, and keywords are the same.

    """

    __slots__ = ("_image", "_seen")

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], int] = {}
        self._image: type | None = None  # that of image memory, which belongs to a layer above

    @classmethod
    def of(cls, stream: CommandStream) -> PreparedCopies | None:
        """For a stream's queue; None where the backend repeats none, and where each has times of its own."""
        if stream.profiling or stream.backend.prepared_copies is None:
            return None
        return cls()

    def _key(self, value: Any, other: object) -> object:
        """Cache key of a side; None for a kind that is not repeated.

        Of images that arrays go to and come from there may be one after the other.
        """
        kind = type(value)
        if kind is np.ndarray:
            return (value.shape, value.dtype.char) if value.dtype.kind in _PLAIN and value.ndim <= 4 else None
        if kind is not UsmArray and kind is not self._image:
            if self._image is not None or not issubclass(kind, ImageOwner):
                return None
            self._image = kind
        if kind is self._image and type(other) is np.ndarray:
            record = value._resource
            return None if record is None else id(record.descriptor)
        return id(value)

    def note(
        self, stream: CommandStream, src: object, dst: object, region: CopyRegion, keywords: Mapping[str, object]
    ) -> None:
        """Prepares a copy that has just been made, if it is time."""
        first, second = self._key(src, dst), self._key(dst, src)
        if first is None or second is None:
            return
        key = (first, second, *keywords.values())
        try:
            count = self._seen[key] = self._seen.get(key, 0) + 1
        except TypeError:  # a list among the keywords
            return
        if count & (count - 1) or count == 1:
            if len(self._seen) > _MOST_SEEN:
                self._seen.clear()
            return
        calls = stream.backend.prepared_copies
        if calls is not None and all(
            type(value) in (int, tuple) or isinstance(value, ImageDescriptor) for value in keywords.values()
        ):
            self._prepare(stream, calls, src, dst, region, keywords)

    def _prepare(
        self,
        stream: CommandStream,
        calls: PreparedCopyProtocol,
        src: object,
        dst: object,
        region: CopyRegion,
        keywords: Mapping[str, object],
    ) -> None:
        with stream.lock:
            direct = None
            if stream.native is not None:
                direct = calls.prepare_copy(stream.native, region)
            if direct is None or self._image is None:
                return
            copies = stream.copies
            if copies is None:
                copies = stream.copies = Copies(self._image, UsmArray, np.ndarray)
            command = direct.command
            launch = Prepared(
                direct, 1, _OPEN, command.mark, command.lanes, command.settle, command.refused,
                (direct, command.keep), command.submit, command.descriptions, (),
            )  # fmt: skip
            sides, names, values = (*direct.places, *direct.offsets), tuple(keywords), tuple(keywords.values())
            copies.remember(Copy(copies, src, dst, *sides, names, values, launch))
