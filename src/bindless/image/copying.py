"""Copies and pickles of an ``Image``: its pixels and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.enums import ImageChannelType, ImageType
from ..model.errors import CopyError
from .levels.levels import Levels
from .options import ImageOptions

if TYPE_CHECKING:
    from .image import Image

__all__ = ["copied", "deep_copied", "levels_of_image", "pickled"]


def copied(image: Image) -> Image:
    """An image of its own memory on the same queue, with the same pixels and options."""
    _require_open(image, "copied")
    return type(image)._of(_pixels(image), image._options, image.queue)


def deep_copied(image: Image, memo: object) -> Image:
    """See ``copied``."""
    return copied(image)


def pickled(image: Image, protocol: object) -> tuple[Any, ...]:
    """The image's pixels and options; unpickled it lives on the default queue of that process."""
    _require_open(image, "pickled")
    return rebuilt, (type(image), _pixels(image), image._options)


def _pixels(image: Image) -> Any:
    """What an equal image is made of."""
    kind = image._described.channel_type
    is_whole = image._described.channel.is_sampled_only and kind is not ImageChannelType.unorm_int8_srgb
    return levels_of_image(image) if is_whole else image.numpy()


def levels_of_image(image: Image) -> Levels:
    """The elements of memory of all levels."""
    parts, described = image.parts, image._described
    if parts == (image,):
        arrays = tuple(image._native.download(level) for level in range(image.num_levels))
    elif described.type is ImageType.cubemap:
        arrays = tuple(part._native.download(0) for part in parts)
    else:
        join = np.stack if image._mipmaps else np.concatenate
        arrays = tuple(join(level) for level in zip(*(levels_of_image(part).arrays for part in parts)))
    return Levels(arrays, (described.height, described.width), described.channel_type)


def rebuilt(kind: type[Image], pixels: npt.NDArray[np.generic], options: ImageOptions) -> Image:
    """The image of a pickle."""
    return kind._of(pixels, options)


def _require_open(image: Image, what: str) -> None:
    if image._store.closed:
        raise CopyError(f"{image!r} cannot be {what}: its pixels ended with it; do that before close()")
    if image._planes is not None:
        raise CopyError(f"{image!r} cannot be {what}: it has planes; do that with its pixels, Image(image.numpy())")
