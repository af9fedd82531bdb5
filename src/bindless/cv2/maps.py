"""Maps of ``remap`` as coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindless_images.scratch_memory import array_in, take
from ..core._submission import array_layout
from ..image.array_library import AnyArray, view
from ..model.arrays import DType
from ..model.errors import ArgumentError
from ..ndimage.device_call import DeviceCall
from ..ndimage.host_call import HostCall
from ..ndimage.repeated import Call
from ..ndimage.source import Input
from ..sampling.memory.picture import MemoryPicture, Planes
from ..sampling.packing import Layout, Packing
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .constants import INTER_NEAREST
from .errors import left_to_cv2
from .pictures import settle

__all__ = ["layout_of_maps", "stack_again", "stack_maps"]

_STEPS_BITS = 5  # of fractions in fixed-point maps
_FRACTION = (1 << _STEPS_BITS) - 1
_FLOAT32: DType = np.dtype(np.float32)
_MOST_PACKINGS = 64
_FLOATS = 2, 32  # DLPack's code and bits of float32

Form = tuple[Any, Any]


def layout_of_maps(map1: Any, map2: Any) -> Form | None:
    """How the maps lie, apart from their addresses; None of maps that are no arrays."""
    try:
        form = array_layout(map1), None if map2 is None else array_layout(map2)
        hash(form)
    except (AttributeError, TypeError, RuntimeError, BufferError):
        return None
    return None if form[1] is not None and 0 in form[1][3] else form


def stack_again(call: Call, src: Any, map1: Any, map2: Any, form: Form) -> Any:
    """Coordinates of maps that lie like those of the call; None where they are to be read as if they were the first.

    ``leave_array`` when the commands are submitted.
    """
    queue = call.queue
    if type(call) is DeviceCall and type(map1) is type(map2) is type(src):
        # Packed maps of float32, of the library whose stream the commands are ordered with, are read where they lie.
        if type(call.picture) is MemoryPicture and hasattr(type(map1), "__dlpack_c_exchange_api__"):
            place_of, shape = queue._stream.place_of_foreign, form[0][3]
            x, y = place_of(map1, shape, *_FLOATS), place_of(map2, shape, *_FLOATS)
            if x is not None and y is not None:
                return Planes(map1, x, y, 4 * shape[0] * shape[1])
    elif not call.on_device:
        x, y = _parts(view("map1", map1, queue), None if map2 is None else view("map2", map2, queue))
        if isinstance(x, UsmArray) or x.dtype.kind != "f":
            return None
        return (x, y) if type(call) is HostCall else np.stack([y, x]).reshape(2, -1)
    packings = queue._storage.get(stack_maps, {}).get(form)
    return None if packings is None else _pack(queue, _parts(map1, map2), packings)


def stack_maps(name: str, map1: Any, map2: Any, kind: int, source: Input) -> tuple[AnyArray, tuple[int, int]]:
    """Coordinates (2, N), y first, and the shape of the result; ``leave_array`` when the commands are submitted.

    Parameters
    ----------
    name : str
        Name of the function, for errors.
    map1, map2 : array
        As the caller gave them.
    kind : int
        OpenCV's number of the interpolation.
    source : Input
        The picture that is read.
    """
    queue = source.queue
    first, second = view("map1", map1, queue), None if map2 is None else view("map2", map2, queue)
    if second is not None and not second.size:
        second = None
    both = first.ndim == 3 and first.shape[2] == 2
    if not both and (first.ndim != 2 or second is None):
        raise ArgumentError(
            f"map1 has shape {tuple(first.shape)}: it is (height, width, 2), or (height, width) with map2"
        )
    shape = int(first.shape[0]), int(first.shape[1])
    if second is not None and tuple(second.shape) != shape:
        raise ArgumentError(f"map2 has shape {tuple(second.shape)}; that of map1 is {shape}")
    if first.dtype == np.int16 and both:
        x, y = _fixed(name, first, second, kind)
    elif both is (second is None) and (second is None or first.dtype == second.dtype):
        x, y = _parts(first, second)
    else:
        raise ArgumentError("map1 and map2 are of no form of OpenCV's: x and y, or both in map1 and None")
    if x.dtype not in (np.float32, np.float64):
        raise ArgumentError(f"map1 has dtype {first.dtype}: it is float32 or float64, or int16 with two channels")
    if not (isinstance(x, UsmArray) or isinstance(y, UsmArray)):
        return np.stack([y, x]).reshape(2, -1), shape
    planes = [part for part in (x, y) if isinstance(part, UsmArray) and part.is_contiguous]  # others have strides
    if len(planes) == 2 and x.dtype == _FLOAT32 and queue._stream.in_order:
        packings = tuple([Packing.of(queue, _layout(plane), _FLOAT32, 1) for plane in planes])
        form = layout_of_maps(map1, map2)
        if form is not None and all(packings):
            table = queue._storage.setdefault(stack_maps, {})
            if len(table) >= _MOST_PACKINGS:
                table.clear()
            table[form] = packings
            return _pack(queue, (x, y), packings), shape
    stack: UsmArray = usm_empty((2, *shape), x.dtype, queue)
    stack[0], stack[1] = y, x
    settle(stack, queue)
    return stack.reshape(2, -1), shape


def _parts(first: Any, second: Any) -> tuple[Any, Any]:
    """x and y."""
    return (first[..., 0], first[..., 1]) if second is None else (first, second)


def _layout(part: UsmArray) -> Layout:
    return Layout((*part.shape, 1), (*part.strides, part.itemsize), part.dtype)


def _pack(queue: Queue, parts: tuple[Any, Any], packings: tuple[Any, ...]) -> UsmArray:
    count = int(parts[0].shape[0]) * int(parts[0].shape[1])
    stack = array_in(queue, take(queue, 8 * count), 0, (2, count), _FLOAT32)
    for part, packing, row in zip(parts, packings, (1, 0)):
        packing.submit(part, UsmArray(stack._owner, (count,), _FLOAT32, None, stack._offset + 4 * count * row))
    return stack


def _fixed(name: str, first: AnyArray, second: AnyArray | None, kind: int) -> tuple[AnyArray, AnyArray]:
    """x and y of fixed-point maps: integers, and 1024 pairs of fractions."""
    if not isinstance(first, np.ndarray) or isinstance(second, UsmArray):
        raise left_to_cv2(name, "a fixed-point map on a device")
    x, y = first[..., 0].astype(np.float32), first[..., 1].astype(np.float32)
    if second is None or kind == INTER_NEAREST:
        return x, y
    if second.dtype != np.uint16:
        raise ArgumentError(f"map2 has dtype {second.dtype}: that of a fixed-point map is uint16")
    pairs = second.astype(np.int32)
    scale = np.float32(1 / (_FRACTION + 1))
    return x + (pairs & _FRACTION) * scale, y + (pairs >> _STEPS_BITS & _FRACTION) * scale
