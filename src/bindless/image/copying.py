"""Copies and pickles of an ``Image``: its pixels and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.enums import ImageType
from ..model.errors import CopyError
from ..model.filter import name_of_boundary

if TYPE_CHECKING:
    from .image import Image

__all__ = ["copied", "deep_copied", "pickled"]


def options_of(image: Image) -> dict[str, Any]:
    """The arguments of ``Image`` that make another of the same kind from ``image.numpy()``."""
    described, sampler = image._described, image._sampler
    return {
        "channel_type": described.channel_type,
        "mipmaps": image._mipmaps,
        "layers": described.type is ImageType.array,
        "cubemap": described.type is ImageType.cubemap,
        "addressing": tuple(map(name_of_boundary, image._filter.boundary)),
        "filtering": image._filter.interpolation,
        "precision": image._filter.precision,
        "fill": image._filter.fill,
        "nan": "ignore" if image._filter.ignore_nan else "propagate",
        "coordinate": sampler.coordinate,
        "max_anisotropy": sampler.max_anisotropy,
        "dimensions": described.dimensions,
    }


def copied(image: Image) -> Image:
    """An image of its own memory on the same queue, with the same pixels and options."""
    _require_open(image, "copied")
    return type(image)(image.numpy(), **options_of(image), queue=image.queue)


def deep_copied(image: Image, memo: object) -> Image:
    """See ``copied``."""
    return copied(image)


def pickled(image: Image, protocol: object) -> tuple[Any, ...]:
    """The image's pixels and options; unpickled it lives on the default queue of that process."""
    _require_open(image, "pickled")
    return rebuilt, (type(image), image.numpy(), options_of(image))


def rebuilt(kind: type[Image], pixels: npt.NDArray[np.generic], options: dict[str, Any]) -> Image:
    """The image of a pickle."""
    return kind(pixels, **options)


def _require_open(image: Image, what: str) -> None:
    if image._store.closed:
        raise CopyError(f"{image!r} cannot be {what}: its pixels ended with it; do that before close()")
