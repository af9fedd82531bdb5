"""``Target``: the result of a call, and the conversions between what devices compute and what scipy returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bindless_images.result_arrays import SMALLEST, empty_result
from ..image.array_library import AnyArray, Library, hand_over
from ..model.arrays import Array, DType
from ..model.errors import ArgumentError
from ..model.message_values import shown
from ..model.resampling import Rounding
from ..sampling.row_blocks import require_room
from ..submission.command_stream import events_of_users
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.array_import import foreign_array
from ..sycl.usm.functions import new_array
from .casting import cast
from .errors import left_to_scipy
from .source import Input, native

__all__ = ["Output", "converted", "returned", "round_to", "to_device", "to_host"]


_LARGEST = 8  # bytes of an element
# A bool is true from 1, less what single precision may lose of a 1.
_TRUE = 1 - 1e-6


class Output:
    """The result of a call.

    Parameters
    ----------
    function : str
        Name of the function, for errors.
    source : Input
        The input of the call.
    output : array
        As the caller gave it: an array, a dtype, or None for that of the input.
    shape : tuple[int, ...]
        Of the result, without channels.
    rounding : str
        Of integers halfway between two: ``away`` from zero, or to ``even``.

    Attributes
    ----------
    dtype : np.dtype
        Of the result.
    shape : tuple[int, ...]
        Of the result, without channels.
    array : AnyArray | None
        The caller's, in place, with the channels in the last axis.
    caller : Any
        The same as the caller gave it.

    Raises
    ------
    ArgumentError
        ``output`` is neither an array of the shape nor a dtype of real numbers.
    FeatureNotSupportedError
        It is complex.
    """

    def __init__(
        self, function: str, source: Input, output: Any, shape: tuple[int, ...], rounding: Rounding = "away"
    ) -> None:
        require_room(math.prod(shape), f"a result of shape {shape}", source.pixels.shape[-1] * _LARGEST)
        self._source, self.shape, self.rounding = source, shape, rounding
        self.caller: Any = None
        self._channels = int(source.pixels.shape[-1])
        self._axis: int | None = None
        if source.channel_axis is not None:
            last = source.channel_axis == len(source.shape)
            self._axis = len(shape) if last else min(source.channel_axis, len(shape))
        self.array: AnyArray | None = None
        if output is None:
            self.dtype = source.dtype
        elif getattr(output, "shape", None) is None or isinstance(output, (np.dtype, type)):
            self.dtype = _dtype_of(output)
        else:
            self.caller = output
            self.array = self._view(output)
            self.dtype = self.array.dtype
        if self.dtype.kind == "c":
            raise left_to_scipy(function, f"output of {self.dtype}")
        if self.dtype.kind not in "biuf" or self.dtype.itemsize > 8:
            raise ArgumentError(f"output of {self.dtype}: it is made of real numbers of at most 64 bits")

    def memory(self, computed: DType, *, in_usm: bool) -> AnyArray | None:
        """The caller's memory, if values that are computed there are the result.

        Parameters
        ----------
        computed : np.dtype
            Of the values, which lie in the order of the result.
        in_usm : bool
            Whether they are computed on the device.
        """
        array = self.array
        if array is None or array.dtype != computed or isinstance(array, UsmArray) is not in_usm:
            return None
        packed = array.is_contiguous if isinstance(array, UsmArray) else array.flags.c_contiguous
        return array if packed else None

    def deliver(self, values: AnyArray) -> Any:
        """The result for the caller, from the values (..., channels)."""
        if values.dtype != self.dtype:
            values = round_to(_on_host(values), self.dtype)
        if self.array is not None:
            return self._written(values)
        if self._axis is not None and self._axis != len(self.shape):
            axes = list(range(len(self.shape)))
            axes.insert(self._axis, len(self.shape))
            values = values.transpose(*axes)
        elif self._axis is None:
            values = values[..., 0]
        return returned(values, self._source.queue, self._source.library, on_device=self._source.on_device)

    def _view(self, output: Any) -> AnyArray:
        array = foreign_array(output, self._source.queue)
        whole = list(self.shape)
        if self._axis is not None:
            whole.insert(self._axis, self._channels)
        if not isinstance(array, (np.ndarray, UsmArray)):
            raise ArgumentError(f"output is a {type(output).__name__}; it is an array or a dtype")
        if tuple(array.shape) != tuple(whole):
            raise ArgumentError(f"output has shape {tuple(array.shape)}; the result has {tuple(whole)}")
        if not array.flags.writeable if isinstance(array, np.ndarray) else array.read_only:
            raise ArgumentError("output cannot be written: give another array")
        if self._axis is None:
            return array[..., None]
        return array.transpose(*(axis for axis in range(array.ndim) if axis != self._axis), self._axis)

    def _written(self, values: AnyArray) -> Any:
        assert self.array is not None
        if not _same(self.array, values):
            if isinstance(self.array, np.ndarray):
                self.array[...] = _on_host(values)
            else:
                self.array[...] = values
        hand_over(self.caller, self.array)
        return self.caller


def _dtype_of(output: Any) -> DType:
    """A dtype as numpy's; those of torch have names that end with numpy's."""
    try:
        dtype: DType = np.dtype(output)
    except TypeError:
        try:
            dtype = np.dtype(str(output).rpartition(".")[2])
        except TypeError:
            raise ArgumentError(f"output={shown(output)} is neither an array nor a dtype") from None
    if isinstance(output, str) and dtype.kind not in "iufc":
        raise ArgumentError(f"output={shown(output)} is no dtype of numbers")
    return dtype


def returned(values: AnyArray, queue: Queue, library: Library | None, *, on_device: bool) -> Any:
    """A result as its caller wants it: on the device or on the host, of the library of the input."""
    if on_device and isinstance(values, np.ndarray):
        values = to_device(values, queue)
    elif not on_device and isinstance(values, UsmArray):
        values = values.numpy()
    if library is None:
        return values
    return library(np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values)


def converted(values: AnyArray, dtype: DType) -> AnyArray:
    """Values that a device computed, in the type of the result; on the host if the device does not compute it."""
    return values if values.dtype == dtype else round_to(_on_host(values), dtype)


def round_to(values: Array, dtype: DType) -> Array:
    """Values that a device computed, on the host, in another type."""
    if dtype.kind == "b":
        return np.abs(values) >= _TRUE
    if dtype.kind == "f" or values.dtype == native(dtype):
        return cast(values, dtype)
    if values.dtype.kind == "f":
        values = np.copysign(np.floor(np.abs(values.astype(np.float64)) + 0.5), values)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if values.dtype.kind in "iu":  # of 32 bits, into 64
        return np.maximum(values, max(low, np.iinfo(values.dtype).min)).astype(dtype)
    with np.errstate(invalid="ignore"):
        numbers = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
        inside = (numbers > low) & (numbers < high)
        whole = np.where(inside, numbers, 0.0).astype(dtype)
    whole[numbers >= high] = high
    whole[numbers <= low] = low
    return whole


def _on_host(values: AnyArray) -> Array:
    return values.numpy() if isinstance(values, UsmArray) else values


def to_device(values: Array, queue: Queue, target: UsmArray | None = None) -> UsmArray:
    """Values of the host in a packed array on the device, which others may use, default a new one; waits."""
    array = np.ascontiguousarray(values)
    if target is None:
        target = new_array(array.shape, array.dtype, queue)
    if array.size:
        queue.memcpy(target, array, depends_on=events_of_users(target._owner)).wait()
    return target


def to_host(values: UsmArray, queue: Queue) -> Array:
    """Values of a packed array on the device, after the work submitted so far that uses it; waits."""
    array = (
        np.empty(values.shape, values.dtype) if values.nbytes < SMALLEST else empty_result(values.shape, values.dtype)
    )
    if array.size:
        queue.memcpy(array, values, depends_on=events_of_users(values._owner)).wait()
    return array


def _same(one: AnyArray, other: AnyArray) -> bool:
    """Whether the values were computed in the caller's memory."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        where = [array.__array_interface__["data"][0] for array in (one, other)]
        return bool(where[0] == where[1]) and one.dtype == other.dtype
    if isinstance(one, UsmArray) and isinstance(other, UsmArray):
        return one.address == other.address and one.dtype == other.dtype
    return False
