"""Pinned staging arrays for uploads of small images.

Of pinned memory a driver takes the address, ordinary memory it copies while the caller waits, which is most of what a
small copy costs. So the pixels of images that are made again and again go through pinned arrays, in turns. Whether the
copy of one is complete needs no question: until then the queue keeps a reference to the array.
"""

from __future__ import annotations

from typing import Union

import numpy as np

from ..core._submission import free_item
from ..core.ownership import Rank, Resource
from ..model.arrays import Array, DType
from ..model.enums import UsmKind
from ..model.errors import MemoryAllocationError
from ..model.image_descriptor import ImageDescriptor
from ..sycl.device.context import Context
from ..sycl.queue.queue import Queue

__all__ = ["free_array", "pinned_arrays"]

Uploads = dict[int, tuple[ImageDescriptor, int, Union[list[Array], None]]]

_ARRAYS = 16  # of a kind; twice as many as are made between two looks at what is complete
_KINDS = 8  # in a context
_COMMON = 64  # so many images of a descriptor make it one that comes again and again


class _Pinned:
    """Pinned memory as numpy sees it, freed with the last array over it."""

    __slots__ = ("__array_interface__", "_resource")

    def __init__(self, context: Context, shape: tuple[int, ...], dtype: DType, nbytes: int) -> None:
        backend, native = context._backend, context._native
        address = backend.allocate(native, None, UsmKind.host, nbytes)
        self._resource = Resource(Rank.MEMORY, context._resource, backend.free, native, address)
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": (address, False)}


def free_array(queue: Queue, desc: ImageDescriptor) -> Array | None:
    """A pinned array of an image's shape and dtype that no copy uses, to be filled, copied and dropped at once.

    None where there is none, and where the driver does not copy pinned memory any quicker.
    """
    uploads: Uploads = queue.context._uploads
    row = uploads.get(id(desc))  # which the row keeps
    if row is None:
        if queue._backend.traits.copies_pinned_quicker:
            if len(uploads) >= _KINDS:
                uploads.clear()
            uploads[id(desc)] = desc, 1, None
        return None
    count, arrays = row[1], row[2]
    if arrays is None:
        uploads[id(desc)] = desc, count + 1, _make(queue.context, desc) if count + 1 >= _COMMON else None
        return None
    return free_item(arrays)


def pinned_arrays(queue: Queue, desc: ImageDescriptor) -> list[Array] | None:
    """The arrays that ``free_array`` chooses from; None where there are none yet."""
    row = queue.context._uploads.get(id(desc))
    return None if row is None else row[2]


def _make(context: Context, desc: ImageDescriptor) -> list[Array]:
    try:
        memory = _Pinned(context, (_ARRAYS, *desc.shape), desc.dtype, _ARRAYS * desc.nbytes)
    except MemoryAllocationError:
        return []
    return list(np.asarray(memory))
