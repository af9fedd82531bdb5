"""Copies and pickles of an ``Image``: its pixels and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.errors import CopyError
from .options import ImageOptions

if TYPE_CHECKING:
    from .image import Image

__all__ = ["copied", "deep_copied", "pickled"]


def copied(image: Image) -> Image:
    """An image of its own memory on the same queue, with the same pixels and options."""
    _require_open(image, "copied")
    return type(image)._of(image.numpy(), image._options, image.queue)


def deep_copied(image: Image, memo: object) -> Image:
    """See ``copied``."""
    return copied(image)


def pickled(image: Image, protocol: object) -> tuple[Any, ...]:
    """The image's pixels and options; unpickled it lives on the default queue of that process."""
    _require_open(image, "pickled")
    return rebuilt, (type(image), image.numpy(), image._options)


def rebuilt(kind: type[Image], pixels: npt.NDArray[np.generic], options: ImageOptions) -> Image:
    """The image of a pickle."""
    return kind._of(pixels, options)


def _require_open(image: Image, what: str) -> None:
    if image._store.closed:
        raise CopyError(f"{image!r} cannot be {what}: its pixels ended with it; do that before close()")
    if image._planes is not None:
        raise CopyError(f"{image!r} cannot be {what}: it has planes; do that with its pixels, Image(image.numpy())")
