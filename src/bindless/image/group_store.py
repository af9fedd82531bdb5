"""``GroupStore``: the device side of an ``Image`` that consists of several images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..model.errors import InvalidError
from ..model.image_descriptor import ImageDescriptor

if TYPE_CHECKING:
    from .image import Image

__all__ = ["GroupStore"]


class GroupStore:
    """The images of a group. It has no memory and no handles of its own, and says so.

    Parameters
    ----------
    parts : Sequence[Image]
        The images, which the group owns.
    descriptor : ImageDescriptor
        Descriptor of the group; no memory is allocated for it.
    reason : str
        Why it is no single native image, for errors.
    """

    def __init__(self, parts: Sequence[Image], descriptor: ImageDescriptor, reason: str) -> None:
        self._parts, self._reason = tuple(parts), reason
        self.descriptor = descriptor
        self.closed = False

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

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidError(
            f"{self._reason}: this Image consists of {len(self.parts)} images, which have memory and handles; "
            "take those of image.parts"
        )

    memory = reader = unsampled_handle = held = download = copy_to_device = fill = _refuse
