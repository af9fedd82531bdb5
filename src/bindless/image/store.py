"""``Store``: what every kind of device side of an ``Image`` does for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy.typing as npt

from ..model.arrays import Array
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from .array_library import AnyArray, ArrayLike, Library
from .drawing import Frame, Moves

if TYPE_CHECKING:
    from .device_image import ImageStore
    from .image import Image

__all__ = ["Store"]


class Store(Protocol):
    """The pixels of an ``Image`` on its device: one native image, groups of layers, or the levels of a cubemap.

    Methods take the image, whose arguments it has checked as far as they do not depend on the kind of store.
    """

    @property
    def descriptor(self) -> ImageDescriptor:
        """Descriptor of the whole."""

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""

    @property
    def parts(self) -> tuple[Image, ...]:
        """Images that it consists of; none where one native image holds the pixels."""

    def native(self) -> ImageStore:
        """The one native image with memory and handles.

        Raises
        ------
        InvalidError
            There are several.
        """

    def close(self) -> None:
        """Frees the memory; may be called again."""

    def numpy(self, image: Image, level: int) -> Array:
        """See ``Image.numpy``."""

    def repeat_update(self, array: Any, /) -> Event | Literal[True] | None:
        """An update that is prepared: its event, or True where pixels of the host have been read; None where it is not,
        and ``update`` is to be called."""

    def update(self, image: Image, pixels: AnyArray, array: Any) -> Event | None:
        """See ``Image.update``; the pixels are those of the array, and have the image's shape and dtype."""

    def sample(
        self,
        image: Image,
        coords: ArrayLike,
        level: ArrayLike | None,
        dx: ArrayLike | None,
        dy: ArrayLike | None,
        layers: ArrayLike | None,
        out: Any,
    ) -> Any:
        """See ``Image.sample``."""

    def fetch(self, image: Image, coords: ArrayLike, level: int, layers: ArrayLike | None, out: Any) -> Any:
        """See ``Image.fetch``."""

    def resize(self, image: Image, frame: Frame, shape: object, out: Any) -> Any:
        """See ``Image.resize``."""

    def warp(self, image: Image, matrix: npt.ArrayLike, frame: Frame, moves: Moves | None, out: Any) -> Any:
        """See ``Image.warp``; vectors have the shape of the frame's."""

    def remap(self, image: Image, vectors: AnyArray, relative: bool, out: Any, library: Library | None) -> Any:
        """See ``Image.remap``; vectors (..., d), and the library of the result."""
