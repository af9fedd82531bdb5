"""``texture_arguments``: the arguments of ``Image`` and ``Image.from_blocks`` for what a texture file holds."""

from __future__ import annotations

from typing import Any

from ...model.arrays import Array
from ...model.enums import ImageChannelType
from ...model.errors import InvalidError
from .textures import Texture

__all__ = ["texture_arguments"]

_FACES = 6


def texture_arguments(texture: Texture, options: dict[str, Any]) -> tuple[list[Array], dict[str, Any]]:
    """The arrays of all levels, and the options of an image of a texture file.

    Parameters
    ----------
    texture : Texture
        Of the file.
    options : dict[str, Any]
        Arguments of ``Image``, before those of the file: ``layers=True`` makes layers of faces, ``layers=False`` and
        ``cubemap=False`` take the first picture, ``mipmaps=False`` its first level, ``srgb`` is another way to read
        the codes of colours.

    Raises
    ------
    InvalidError
        The file has several cubes, or no colours for ``srgb``.
    """
    kind = _kind(texture, options)
    options = {**options, "layers": kind == "array", "cubemap": kind == "cubemap"}
    options.setdefault("mipmaps", len(texture.levels) > 1)
    options.setdefault("dimensions", len(texture.shape))
    options.setdefault("channel_type", _channel_type(texture.format.channel_type, options.pop("srgb", None)))
    levels = list(texture.levels) if kind != "standard" else [level[0] for level in texture.levels]
    return [level[..., 0] if level.shape[-1] == 1 else level for level in levels], options


def _channel_type(name: str, srgb: bool | None) -> str:
    """The channel type of the file, or the one with or without the codes of sRGB in its place."""
    if srgb is None or name.endswith("_srgb") == bool(srgb):
        return name
    linear, curved = ("_unorm", "_srgb") if name.startswith("bc") else ("", "_srgb")
    other = name.removesuffix(linear) + curved if srgb else name.removesuffix(curved) + linear
    if other not in ImageChannelType.__members__:
        raise InvalidError(f"srgb={srgb}: the file has {name}, which is no code of colours")
    return other


def _kind(texture: Texture, options: dict[str, Any]) -> str:
    """The kind of the image."""
    count, kind = len(texture.levels[0]), texture.kind
    for name, own in (("layers", "array"), ("cubemap", "cubemap")):
        if options.get(name):
            kind = own
        elif kind == own and name in options:
            kind = "standard"
    if kind == "cubemap" and count != _FACES:
        raise InvalidError(f"the file has {count} faces, and a cubemap {_FACES}: layers=True makes layers of all")
    return kind
