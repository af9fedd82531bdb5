"""Programs of the levels of textures: mipmaps with their transpose, and levels of detail of footprints.

The kernels are those of ``csrc/kernels/source/pyramid.cl`` and ``footprint.cl``. Buffers of a program are its operands,
its results and its scratch memory, in this order.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...kernels.load import variant_of
from .programs import Program, command

__all__ = ["Pyramid", "footprint_gradients", "footprint_levels", "pyramid_gradients", "pyramid_means"]

_ITEMS = 128  # of a work-group
_MOST_GROUPS = 65535  # along the second and third dimension of a launch

_MEANS = struct.Struct("@2P4IQI")
_GRADIENTS = struct.Struct("@3P4IQI")
_FOOTPRINTS = struct.Struct("@3P3fQI")
_OWN, _NEXT, _MADE = 1, 2, 4  # bits of the mode: arrays of halves


@dataclass(frozen=True)
class Pyramid:
    """A mipmap.

    Attributes
    ----------
    images : int
        Textures, times faces of a cubemap.
    size : tuple[int, int, int]
        Texels of the first level along x, y and z; 1 for axes that it lacks.
    channels : int
        Numbers of a texel, the last axis in memory.
    halves : bool
        Whether numbers are float16, else float32.
    count : int
        Levels after the first.
    """

    images: int
    size: tuple[int, int, int]
    channels: int
    halves: bool
    count: int

    @property
    def sizes(self) -> list[tuple[int, int, int]]:
        """Texels of all levels."""
        sizes = [self.size]
        for _ in range(self.count):
            x, y, z = (max(size // 2, 1) for size in sizes[-1])
            sizes.append((x, y, z))
        return sizes


def pyramid_means(pyramid: Pyramid) -> Program:
    """Levels 1, 2, ... of a texture: operand 0 and the results. Rounded to the type of the texture level by level."""
    mode = (_OWN | _NEXT) if pyramid.halves else 0
    words: list[int] = []
    for number, (size, following_size) in enumerate(pairwise(pyramid.sizes)):
        contents = _MEANS.pack(0, 0, *size, pyramid.channels, pyramid.images, mode)
        words += command(0, _groups(pyramid, following_size), contents, [(0, number, 0), (8, number + 1, 0)])
    return Program(words, (variant_of("bindless_pyramid_means", mode=mode),), 0)


def pyramid_gradients(pyramid: Pyramid, has_gradient: Sequence[bool], *, added: bool = False) -> Program:
    """The gradient of a texture, the result, from those of levels 1, 2, ..., and one of itself, the operands.

    Parameters
    ----------
    has_gradient : Sequence[bool]
        Which gradients of levels exist, one at least; the others are zeros.
    added : bool
        Whether there is the last operand, which is added to the result.
    """
    result, scratch = pyramid.count + 1, pyramid.count + 2
    halves = pyramid.halves
    last = max(number for number, there in enumerate(has_gradient, 1) if there)
    words: list[int] = []
    names: list[str] = []
    size_of_scratch = 0
    following, mode_of_following = (last - 1, 0), _NEXT * halves
    for number, (size, _) in reversed(list(enumerate(pairwise(pyramid.sizes)))[:last]):
        own = has_gradient[number - 1] if number else added
        mode = (_OWN * halves if own else 0) | mode_of_following | (_MADE * halves if number == 0 else 0)
        target = (scratch, size_of_scratch) if number else (result, 0)
        name = variant_of("bindless_pyramid_gradients", mode=mode)
        if name not in names:
            names.append(name)
        contents = _GRADIENTS.pack(0, 0, 0, *size, pyramid.channels, pyramid.images, mode)
        patches = [(8, *following), (16, *target)] + ([(0, number - 1 if number else pyramid.count, 0)] if own else [])
        words += command(names.index(name), _groups(pyramid, size), contents, patches)
        following, mode_of_following = target, 0
        if number:
            size_of_scratch += 4 * pyramid.images * pyramid.channels * size[0] * size[1] * size[2]
    return Program(words, tuple(names), size_of_scratch)


def footprint_levels(count: int, sizes: Sequence[int], *, biased: bool) -> Program:
    """Levels of detail, the result, from steps and biases, the operands."""
    return _footprints("levels", count, sizes, [(0, 0, 0), (16, 2, 0)] + ([(8, 1, 0)] if biased else []))


def footprint_gradients(count: int, sizes: Sequence[int]) -> Program:
    """Gradients of steps, the result, from steps and gradients of levels of detail, the operands."""
    return _footprints("gradients", count, sizes, [(0, 0, 0), (8, 1, 0), (16, 2, 0)])


def _footprints(name: str, count: int, sizes: Sequence[int], patches: Sequence[tuple[int, int, int]]) -> Program:
    mode = int(len(sizes) == 3)
    contents = _FOOTPRINTS.pack(0, 0, 0, *sizes, *[1] * (3 - len(sizes)), count, mode)
    words = command(0, (-(-count // _ITEMS), 1, 1, _ITEMS, 1, 1), contents, patches)
    return Program(words, (variant_of(f"bindless_footprint_{name}", mode=mode),), 0)


def _groups(pyramid: Pyramid, size: tuple[int, int, int]) -> tuple[int, ...]:
    x, y, z = size
    rows = -(-x * pyramid.channels // _ITEMS)
    return rows, min(y, _MOST_GROUPS), min(z * pyramid.images, _MOST_GROUPS), _ITEMS, 1, 1
