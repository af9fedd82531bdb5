"""Arguments of ``sample`` in the front ends, checked over shapes and dtypes, of arrays of any library.

Compilers of these libraries trace the functions: sizes may be symbols, and members of enumerations are unknown to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...model.enums import LevelFilter, Precision
from ...model.errors import ArgumentError
from ...model.filter import Filter

__all__ = ["filter_of", "require_filtering", "require_image", "require_precision"]

_BETWEEN_TEXELS = ("nearest", "linear")


def filter_of(
    addressing: str | Iterable[str],
    filtering: str,
    precision: str,
    *,
    fill: float = 0.0,
    levels: LevelFilter | str = LevelFilter.none,
) -> tuple[Filter, int]:
    """The filter of options, and the number of modes that ``addressing`` has.

    Raises
    ------
    ArgumentError
        An option has no meaning for arrays in memory.
    """
    modes = (addressing,) if isinstance(addressing, str) else tuple(addressing)
    filter_ = Filter.from_addressing(modes, filtering, fill=fill, precision=precision, levels=levels)
    require_precision(filter_)
    return filter_, len(modes)


def require_precision(filter_: Filter) -> None:
    """Refuse a precision that arrays with gradients do not have.

    Raises
    ------
    ArgumentError
        The filter has it.
    """
    if filter_.precision is Precision.reproducible:
        raise ArgumentError("precision='reproducible' is not one of arrays with gradients: bindless.Image has it")


def require_image(levels: Sequence[Any], coords: Any, modes: int, *, cubemap: bool, repeats: bool) -> None:
    """Refuse shapes and dtypes of levels and coordinates that do not fit each other.

    Parameters
    ----------
    levels : Sequence
        Arrays ([N,] *axes, C), the first level first.
    coords : array
        Array (..., d), (N, ..., d) of a batch.
    modes : int
        Number of modes of ``addressing``.
    cubemap : bool
        Whether the images are cubemaps.
    repeats : bool
        Whether the coordinates of a batch may be one set for all images.

    Raises
    ------
    ArgumentError
        They do not fit.
    """
    if not levels:
        raise ArgumentError("an image of 0 levels: at least one is needed")
    image, places = levels[0].shape, coords.shape
    dims = places[-1] if len(places) else 0
    shapes = f"image {tuple(image)} and coords {tuple(places)}"
    if dims not in (1, 2, 3) or len(image) - dims not in (1, 2):
        raise ArgumentError(
            f"{shapes}: for coords (..., d), d from 1 to 3, an image has d axes and one of channels, and may have "
            "one of images first"
        )
    if cubemap and (dims != 3 or image[-4] != 6):
        raise ArgumentError(f"{shapes}: a cubemap is ([N,] 6, height, width, channels), with directions (..., 3)")
    for level in levels:
        if 0 in level.shape[-1 - dims :]:
            raise ArgumentError(f"{shapes}: an image has at least one pixel along each axis, and a channel")
        if len(level.shape) != len(image) or level.dtype != levels[0].dtype:
            raise ArgumentError("the levels of an image have one dtype and the same number of axes")
    if modes != 1 and modes != dims:
        raise ArgumentError(f"addressing has {modes} modes for {dims} axes: give one, or one for each axis")
    if len(image) == dims + 1:
        return
    if len(places) < 2 or (places[0] != image[0] and not (repeats and places[0] == 1)):
        raise ArgumentError(
            f"{shapes}: the first axis of coords has an entry for each image, {image[0]}"
            + (", or one for all" if repeats else "")
        )


def require_filtering(filtering: str, levels: int, *, has_level: bool, cubemap: bool) -> None:
    """Refuse levels of which none is chosen, and filters that cubemaps and mipmaps do not have.

    Parameters
    ----------
    filtering : str
        A member of ``Interpolation``.
    levels : int
        Number of levels that the caller gave; 0 where they are made of one image.
    has_level : bool
        Whether samples have levels of detail.
    cubemap : bool
        Whether the images are cubemaps.

    Raises
    ------
    ArgumentError
        They do not fit.
    """
    if levels and not has_level:
        raise ArgumentError(f"an image of {levels} levels: level says which to read")
    if filtering not in _BETWEEN_TEXELS and (cubemap or (filtering == "cubic" and has_level)):
        raise ArgumentError(
            f"filtering={filtering!r} is not one of cubemaps, and 'cubic' not one of levels: use 'linear'"
        )
