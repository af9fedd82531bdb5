"""Pixels and coordinates of any layout brought into contiguous memory of a device, by a kernel.

The kernel is ``csrc/kernels/source/pack.cl``. Nothing here waits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import choose
from ..model.arrays import DType
from ..model.channels import ELEMENTS
from ..model.errors import InvalidError
from ..model.ranges import NdRange
from ..submission.event import Event
from ..sycl.kernel.builtin import builtin_kernel, launch, launch_range
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.strides import packed_strides, same_layout

__all__ = ["Layout", "Packing", "contiguous", "pack", "packs"]

After = tuple[Event, ...]

_FLOAT32, _BOOL = np.dtype(np.float32), np.dtype(np.bool_)
_INTEGERS = (np.dtype(np.int32), np.dtype(np.uint32))
# Types that are only read, in addition to ELEMENTS.
_WIDE: dict[DType, int] = {np.dtype(np.float64): 8, np.dtype(np.int64): 9, np.dtype(np.uint64): 10}
_MOST_AXES = 3  # of pixels
_UNSCALED = ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))


def _element(dtype: DType) -> int:
    """Number of an element's type in the kernel, or -1; bool is uint8."""
    kind: DType = np.dtype(np.uint8) if dtype == _BOOL else dtype
    return ELEMENTS.get(kind, _WIDE.get(kind, -1))


def packs(source: DType, target: DType) -> bool:
    """Whether elements of one type become those of another: the same, floats of 32 bits, or of integers those of 32."""
    element, other = _element(source), _element(target)
    if element < 0 or other < 0:
        return False
    return (
        element == other < min(_WIDE.values()) or target == _FLOAT32 or (target in _INTEGERS and source.kind in "iub")
    )


def pack(
    queue: Queue,
    source: UsmArray,
    target: UsmArray,
    after: After = (),
    units: tuple[tuple[float, ...], tuple[float, ...]] = _UNSCALED,
) -> After:
    """Copies the channels that two arrays have in common; further ones of the target become 0.

    Parameters
    ----------
    source : UsmArray
        Shape (..., channels), with any strides.
    target : UsmArray
        Shape (..., channels), contiguous, with as many pixels in the same order; ``packs`` says of which types.
    after : After
        What it comes after, in a queue out of order.
    units : tuple[tuple[float, ...], tuple[float, ...]]
        What each of three channels is divided by, and what is then added, where the target is float32.

    Returns
    -------
    After
        The event, or those before it where there is nothing to copy.
    """
    if not target.size:
        return after
    channels, stored_channels = source.shape[-1], target.shape[-1]
    axes = _merged(source.shape[:-1], source.strides[:-1])
    if len(axes) > _MOST_AXES:
        events: After = ()
        step = target.reshape(source.shape[0], -1, stored_channels)
        for index in range(source.shape[0]):
            events += pack(queue, source[index], step[index], after, units)
        return events
    aligned = stored_channels * target.itemsize
    if aligned in (2, 4, 8) and target.address % aligned:  # pixels are stored as words
        packed = usm_empty(target.shape, target.dtype, queue)
        return (queue.memcpy(target, packed, depends_on=pack(queue, source, packed, after, units)),)
    kernel = builtin_kernel(queue, choose.pack(source.dtype))
    count = math.prod(target.shape[:-1])
    before, behind = _arguments(source.dtype, axes, source.strides[-1], channels, target.dtype, stored_channels, count)
    scale, bias = (*units[0], 1.0, 1.0)[:3], (*units[1], 0.0, 0.0)[:3]
    arguments = source.pointer, *before, target.pointer, *behind, *scale, *bias
    return (launch(queue, kernel, count, *arguments, depends_on=after),)


def _arguments(
    dtype: DType,
    axes: tuple[tuple[int, int], ...],
    step: int,
    channels: int,
    target: DType,
    target_channels: int,
    count: int,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The kernel's arguments between the two arrays, and those behind them but for the units: plain numbers, which a
    launch that comes again packs in C."""
    plane, row, pixel = ((1, 0),) * (_MOST_AXES - len(axes)) + axes
    flat = len(axes) < 2
    strides = plane[1], row[1], pixel[1], step
    sizes = 0 if flat else row[0], 0 if flat else pixel[0], channels
    return (_element(dtype), *strides, *sizes), (_element(target), target_channels, count)


class Layout(NamedTuple):
    """An array apart from its address.

    Attributes
    ----------
    shape : tuple[int, ...]
        Sizes by axis.
    strides : tuple[int, ...]
        Bytes by axis.
    dtype : np.dtype
        Of an element.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType

    @classmethod
    def of(cls, array: UsmArray) -> Layout:
        """Of an array."""
        return cls(array.shape, array.strides, array.dtype)

    @classmethod
    def packed(cls, shape: tuple[int, ...], dtype: DType) -> Layout:
        """Of elements that lie one after the other."""
        return cls(shape, packed_strides(shape, dtype.itemsize), dtype)

    @property
    def is_packed(self) -> bool:
        """Whether the elements lie one after the other; axes of one element may have any stride."""
        return same_layout(self.shape, self.strides, packed_strides(self.shape, self.dtype.itemsize))

    def transpose(self, order: Sequence[int]) -> Layout:
        """With the axes in another order."""
        return Layout(
            tuple(self.shape[axis] for axis in order), tuple(self.strides[axis] for axis in order), self.dtype
        )


class Packing(NamedTuple):
    """``pack`` as a launch that comes again in an in-order queue, of arrays of one layout at any addresses.

    Attributes
    ----------
    queue : Queue
        Does the work.
    space : NdRange
        The range.
    kernel : Kernel
        The kernel; its arguments are the source, ``before``, the target and ``behind``.
    before, behind : tuple[object, ...]
        Plain numbers.
    """

    queue: Queue
    space: NdRange
    kernel: Kernel
    before: tuple[object, ...]
    behind: tuple[object, ...]

    @classmethod
    def of(cls, queue: Queue, source: Layout, target: DType, target_channels: int) -> Packing | None:
        """None of more axes than one launch has, or of types that it does not convert.

        Parameters
        ----------
        source : Layout
            Of (..., channels).
        target, target_channels
            Type and channels of the target, which is packed, and whose address is a multiple of its pixels' size.
        """
        axes, channels = _merged(source.shape[:-1], source.strides[:-1]), source.shape[-1]
        if len(axes) > _MOST_AXES or not packs(source.dtype, target):
            return None
        count = math.prod(source.shape[:-1])
        kernel = builtin_kernel(queue, choose.pack(source.dtype))
        before, behind = _arguments(source.dtype, axes, source.strides[-1], channels, target, target_channels, count)
        return cls(queue, launch_range(count), kernel, before, (*behind, *_UNSCALED[0], *_UNSCALED[1]))

    def submit(self, source: object, target: UsmArray) -> UsmArray:
        """The target, which gets the elements of the source."""
        self.queue.parallel_for(self.space, self.kernel, source, *self.before, target, *self.behind)
        return target


def _merged(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """(size, stride) of the axes, without those of one element, and with neighbours joined where they can be."""
    axes: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides):
        if size == 1:
            continue
        if axes and axes[-1][1] == size * stride:
            axes[-1] = axes[-1][0] * size, stride
        else:
            axes.append((size, stride))
    return tuple(axes)


def contiguous(
    queue: Queue, source: UsmArray, shape: tuple[int, ...], dtype: DType, name: str, after: After = ()
) -> tuple[UsmArray, After]:
    """An array as one of contiguous elements of a type, in place where it is one: and what its use comes after.

    Raises
    ------
    InvalidError
        No conversion leads from its type to the other.
    """
    if source.dtype == dtype and source.is_contiguous:
        return source.reshape(shape), after
    if not packs(source.dtype, dtype):
        raise InvalidError(f"{name} is {source.dtype} on a device, where it does not become {dtype}: convert it first")
    target = usm_empty(source.shape, dtype, queue)
    pixels = (*source.shape, 1)
    events = pack(queue, source[..., None], target.reshape(pixels), after)
    return target.reshape(shape), events
