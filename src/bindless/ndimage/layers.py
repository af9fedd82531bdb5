"""``Layers``: axes of an array along which nothing is interpolated, as layers of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..image.array_library import AnyArray
from ..sampling.packing import contiguous
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .source import element_of, wait_unless_ordered

__all__ = ["MOST_CHANNELS", "Layers"]

MOST_CHANNELS = 4


class Layers(NamedTuple):
    """The layers of an array of shape (..., channels): some of its axes, and more than four channels.

    Attributes
    ----------
    axes : tuple[int, ...]
        The axes before the channels that are layers, ascending.
    channels : int
        Of the array.
    """

    axes: tuple[int, ...]
    channels: int

    @classmethod
    def of(cls, shape: Sequence[int], axes: Sequence[int]) -> Layers:
        return cls(tuple(sorted(axes)), int(shape[-1]))

    @property
    def in_place(self) -> bool:
        """Whether arrays have their layers first already, and at most four channels."""
        return self._channels_stay and self.axes == tuple(range(len(self.axes)))

    @property
    def _channels_stay(self) -> bool:
        return self.channels <= MOST_CHANNELS

    @property
    def is_whole(self) -> bool:
        """Whether the whole array is one layer."""
        return not self.axes and self._channels_stay

    def count(self, shape: Sequence[int]) -> int:
        """Layers of an array (..., channels)."""
        return math.prod(shape[axis] for axis in self.axes) * (1 if self._channels_stay else self.channels)

    def order(self, dims: int) -> list[int]:
        """Axes of an array (..., channels), or (..., channels, 1) with more than four, with the layers first."""
        others = [axis for axis in range(dims) if axis not in self.axes]
        return [*self.axes, *others, dims] if self._channels_stay else [*self.axes, dims, *others, dims + 1]

    def spread_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a result with its layers first, from its shape without channels."""
        whole = (*shape, self.channels) if self._channels_stay else (*shape, self.channels, 1)
        return tuple(whole[axis] for axis in self.order(len(shape)))

    def spread(self, queue: Queue, pixels: AnyArray) -> AnyArray:
        """The layers of an input as the first axis: (layers, ..., channels)."""
        dims = pixels.ndim - 1
        array = (pixels if self._channels_stay else pixels[..., None]).transpose(*self.order(dims))
        number = len(self.axes) + (not self._channels_stay)
        shape = (self.count(pixels.shape), *array.shape[number:])
        if isinstance(array, UsmArray) and number and not array.is_contiguous:
            packed, after = contiguous(queue, array, shape, element_of(array.dtype), "input")
            wait_unless_ordered(queue, after)
            return packed
        return array.reshape(shape)

    def join(self, values: AnyArray) -> AnyArray:
        """A result (..., channels), from one with its layers first."""
        dims = values.ndim - (1 if self._channels_stay else 2)
        order = self.order(dims)
        array = values.transpose(*(order.index(axis) for axis in range(len(order))))
        return array if self._channels_stay else array[..., 0]
