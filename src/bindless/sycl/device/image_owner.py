"""``ImageOwner``: the base of objects that own image memory, for code below the layer that defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...model.image_descriptor import ImageDescriptor
    from .context import Context
    from .device import Device

__all__ = ["ImageOwner"]


class ImageOwner:
    """An object that owns image memory, such as ``ImageMem``."""

    __slots__ = ()

    def _image_memory(self) -> tuple[int, ImageDescriptor, Context, Device, object]:
        """Raw handle, descriptor, context and device of the memory, and the object that keeps it alive.

        Raises
        ------
        InvalidError
            It owns no memory.
        """
        raise NotImplementedError
