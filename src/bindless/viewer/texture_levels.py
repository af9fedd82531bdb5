"""Levels of texture files (.dds, .ktx2), of which parts are read from a mapping: tiles of pictures of any size."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from ..image.image import Image
from ..image.picture_files.dds import read_dds
from ..image.picture_files.ktx2 import read_ktx2
from ..image.picture_files.textures import level_shape
from ..model.arrays import Array
from ..model.errors import InvalidError
from ..sycl.queue.queue import Queue

__all__ = ["TEXTURES", "levels_of_texture"]

TEXTURES = {".dds": read_dds, ".ktx2": read_ktx2}
_BLOCK = 4  # texels along an edge


def levels_of_texture(path: str, suffix: str, layer: int) -> tuple[list[Any], str] | None:
    """Arrays of all levels of a layer or face, of which parts are read, and the names of their axes.

    None of pixels whose channels are no elements, which ``Image.open`` reads whole.

    Raises
    ------
    InvalidError
        The file is damaged, of a format that the package does not know, or has no such layer.
    """
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise InvalidError(f"{path} is empty") from error
    try:
        texture = TEXTURES[suffix](data)  # type: ignore[arg-type]
    except InvalidError as error:
        raise InvalidError(f"{path}: {error}") from error
    form, shape, count = texture.format, texture.shape, len(texture.levels[0])
    if not 0 <= layer < count:
        raise InvalidError(f"time={layer}: {path} has {count} layers or faces, from 0 on")
    if len(shape) == 1 or (form.is_packed and (not form.is_compressed or len(shape) == 3)):
        return None
    levels = [level[layer] for level in texture.levels]
    if form.is_compressed:
        queue = Queue("reference")  # which decodes every format
        blocks = [
            _Blocks(level, level_shape(shape, number), form.channel_type, queue) for number, level in enumerate(levels)
        ]
        return blocks, "yxc"
    return levels, "zyxc"[3 - len(shape) :]


class _Blocks:
    """A level of compressed blocks, of which those are decoded that a part needs."""

    def __init__(self, blocks: Array, shape: tuple[int, ...], channel_type: str, queue: Queue) -> None:
        self._blocks, self._channel_type, self._queue = blocks, channel_type, queue
        first = self._decode(blocks[:1, :1])
        self.shape, self.dtype = (*shape, first.shape[2]), first.dtype

    def __getitem__(self, part: tuple[slice, ...]) -> Array:
        places = [np.arange(size)[own] for own, size in zip(part, self.shape)]
        tiles = [np.unique(place // _BLOCK) for place in places[:2]]
        pixels = self._decode(self._blocks[np.ix_(*tiles)])
        rows, columns = (
            np.searchsorted(tile, place // _BLOCK) * _BLOCK + place % _BLOCK for tile, place in zip(tiles, places)
        )
        texels: Array = pixels[np.ix_(rows, columns, places[2])]
        return texels

    def _decode(self, blocks: Array) -> Array:
        """Pixels of blocks, with an axis of channels."""
        shape = blocks.shape[0] * _BLOCK, blocks.shape[1] * _BLOCK
        with Image.from_blocks(blocks, shape, self._channel_type, queue=self._queue) as image:
            pixels = np.asarray(image.numpy())
        return pixels if pixels.ndim == 3 else pixels[..., None]
