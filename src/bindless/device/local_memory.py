"""Arrays in the local memory of a work-group."""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from .declaration import KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic
from .number_types import OPENCL_TYPES, numpy_name
from .work_item import current

__all__ = ["local_array"]

_MOST_BYTES = 2**31 - 1


def _local_array(launch: LaunchFacts, shape: Type, dtype: Type | None = None) -> Lower:
    sizes = shape.value if shape.kind == "tuple" else (shape.value,)
    if sizes is None or not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        raise KernelTypeError("local_array: the shape is a constant, a number or a tuple of 1 to 3 numbers")
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise KernelTypeError(f"local_array: the shape {sizes} is no 1 to 3 positive numbers")
    kind = numpy_name("local_array", dtype, "float32", tuple(OPENCL_TYPES))
    size = math.prod(sizes) * np.dtype(kind).itemsize
    if size > _MOST_BYTES:
        raise KernelTypeError(
            f"local_array: the shape {sizes} of {kind} has {size} bytes: local memory is smaller than {_MOST_BYTES} on "
            "every device, and than 256 KiB on most"
        )
    result = Type("array", kind, dimensions=len(sizes))
    return Lower(result, "local_arrays:make", (), {"shape": tuple(sizes), "dtype": kind}, of_group=True)


@device_intrinsic(_local_array)
def local_array(shape: int | tuple[int, ...], dtype: npt.DTypeLike = "float32") -> Array:
    """Return an array in local memory (CUDA's shared memory), which the work-items of a work-group share.

    Access costs about as much as the first-level cache. It is not initialised. Each call in the source is one array: in
    a loop or in a helper that is called twice it is the same one. A ``LocalAccessor`` is an argument of a size known at
    the launch. Both need an ``NdRange``, which names the work-groups.

    Parameters
    ----------
    shape : int or tuple of int
        1 to 3 sizes, constants.
    dtype : dtype
        Of the elements, a number type; a constant.

    Returns
    -------
    array
        In C order. ``barrier`` makes what one work-item wrote visible to the others.
    """
    frame = sys._getframe(1)
    place = frame.f_code, frame.f_lasti
    memory = current().named_group.memory
    if place not in memory:
        memory[place] = np.zeros(shape, np.dtype(dtype))
    return memory[place]
