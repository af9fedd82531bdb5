"""``HandleOwner``: the base of objects that stand for their image handles, for code below the layer that defines them.

The handle that such an object gives keeps the image: a command holds it as it holds memory.
"""

from __future__ import annotations

from typing import Union

from ...model.image_handles import SampledImageHandle, UnsampledImageHandle

__all__ = ["HandleOwner", "HeldHandle", "HeldSampledHandle", "HeldUnsampledHandle"]


class HandleOwner:
    """An object with a sampled and an unsampled image, such as ``Image``. Where a handle is taken, it may be given."""

    __slots__ = ()

    def _image_handle(self, sampled: bool) -> HeldHandle:
        """Its sampled or unsampled image.

        Raises
        ------
        InvalidError
            It was closed.
        """
        raise NotImplementedError


class HeldSampledHandle(SampledImageHandle):
    """A handle of a sampled image that is not destroyed while this object lives."""

    __slots__ = ("_held",)

    _held: object


class HeldUnsampledHandle(UnsampledImageHandle):
    """A handle of an unsampled image that is not destroyed while this object lives."""

    __slots__ = ("_held",)

    _held: object


HeldHandle = Union[HeldSampledHandle, HeldUnsampledHandle]
