"""``Library``: the library that an array belongs to, to which results go back.

Arrays of other libraries are seen in place (``foreign_array``): on the host as numpy arrays, on a device as
``UsmArray``. Of the library itself only its ``from_dlpack`` is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, Union

import numpy as np
import numpy.typing as npt

from ..core._submission import empty_like_foreign
from ..model.arrays import Array, DType
from ..model.dlpack import dlpack_type
from ..model.enums import UsmKind
from ..model.errors import InvalidError
from ..model.host_array import as_array
from ..model.masked_arrays import warn_of_mask
from ..model.message_values import shown
from ..submission.active_streams import events_of_users
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.array_import import foreign_array
from .pillow_arrays import array_of_pillow

__all__ = [
    "OWN_TYPES", "AnyArray", "ArrayLike", "Library", "Maker", "hand_over", "is_of_cupy", "leads_on_device",
    "library_of", "maker_of", "new_of_cupy", "view",
]  # fmt: skip


class _DLPack(Protocol):
    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


class _SyclArray(Protocol):
    @property
    def __sycl_usm_array_interface__(self) -> Any: ...


class _Picture(Protocol):  # Pillow's
    @property
    def __array_interface__(self) -> Any: ...


ArrayLike = Union[npt.ArrayLike, _DLPack, _CudaArray, _SyclArray, _Picture]
"""Types of array arguments: arrays of any library, and whatever numpy converts to an array."""
AnyArray = Union[Array, UsmArray]
Library = Callable[[Any], Any]
"""``from_dlpack`` of a library: makes its array of a numpy array or a ``UsmArray``, in place. On a device the library's
current stream comes after the work submitted so far that uses the memory."""

Maker = Callable[[tuple[int, ...], DType], Union[Callable[[], Any], None]]
"""Gives a function that makes an array of a shape and a dtype in a library's way, without values; or None."""

_OWN = (np.ndarray, np.generic, UsmArray)
OWN_TYPES = frozenset((np.ndarray, UsmArray))
"""Types of arrays that are used as they are."""
_BYTE = (1, 8)  # DLPack's code and bits of uint8
# ``from_dlpack`` by the type of the array; None of types that have none.
_constructors: dict[type, Library | None] = {}


def library_of(value: object) -> Library | None:
    """The library of an array; None for numpy, for ``UsmArray`` and for what is no array of another library."""
    kind = type(value)
    if kind in _constructors:
        return _constructors[kind]
    constructor: Library | None = None
    if not isinstance(value, _OWN) and hasattr(value, "__dlpack__"):
        space = getattr(value, "__array_namespace__", None)
        module = sys.modules.get(kind.__module__.partition(".")[0]) if space is None else space()
        constructor = getattr(module, "from_dlpack", None)
    _constructors[kind] = constructor
    return constructor


def maker_of(array: Any) -> Maker | None:
    """What makes arrays of the library of an array, on its device, ordered with its current stream.

    Libraries with DLPack's exchange functions allocate by these, CuPy by ``new_of_cupy``.
    """
    example = empty_like_foreign(array, (0,), *_BYTE)
    if example is not None:

        def by_exchange(shape: tuple[int, ...], dtype: DType) -> Callable[[], Any] | None:
            element = dlpack_type(dtype)
            return None if element is None else partial(empty_like_foreign, example, shape, *element)

        return by_exchange
    if not is_of_cupy(type(array)):
        return None
    return partial(partial, new_of_cupy, array.__dlpack_device__())


def is_of_cupy(kind: type) -> bool:
    """Whether a type is that of CuPy's arrays, which have no exchange functions."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and kind is cupy.ndarray


def new_of_cupy(place: tuple[int, int], shape: tuple[int, ...], dtype: DType) -> Any:
    """A new array of CuPy on a device, as ``__dlpack_device__`` gives it; None where CuPy's current one is another."""
    array = sys.modules["cupy"].empty(shape, dtype)
    return array if array.__dlpack_device__() == place else None


def view(name: str, value: Any, queue: Queue) -> AnyArray:
    """An argument as a numpy array, or where it lies on a device as a ``UsmArray``, in place if its library allows.

    Raises
    ------
    InvalidError
        It is no array, or memory of a device that the queue does not reach.
    """
    if type(value) is np.ndarray:
        return value
    if isinstance(value, UsmArray):
        if value._owner.context is not queue.context:
            raise InvalidError(f"{name} {value!r} is memory of another context than that of {queue!r}")
        return value
    try:
        foreign = foreign_array(value, queue)
    except (BufferError, RuntimeError, TypeError) as error:  # its library refuses
        raise InvalidError(f"{name}: a {type(value).__name__} does not give its memory: {error}") from error
    if isinstance(foreign, UsmArray):
        return foreign
    if foreign is value:
        warn_of_mask(value, name)
        pillow = array_of_pillow(value)
        foreign = value if pillow is None else pillow
    array = as_array(name, foreign)
    if array.dtype.kind in "OSU":
        way = "; Image.open reads a picture file" if isinstance(value, (str, bytes, os.PathLike)) else ""
        raise InvalidError(f"{name}={shown(value)} makes an array of {array.dtype}, not of numbers{way}")
    return array


def leads_on_device(value: object, array: AnyArray) -> bool:
    """Whether results for an argument, as ``view`` gave it, lie on the device: those for another library's pinned
    memory lie on the host, as its library sees that memory."""
    return isinstance(array, UsmArray) and (array is value or array._owner.kind is not UsmKind.host)


def hand_over(value: object, array: AnyArray) -> None:
    """Orders the current stream of an argument's library after the work submitted so far that uses the argument.

    Memory of the host is not read and written in a stream: the work is waited for.

    Parameters
    ----------
    value : object
        The argument as the caller gave it.
    array : AnyArray
        As ``view`` gave it.
    """
    if not isinstance(array, UsmArray) or array is value or not array.size:
        return
    if array._owner.kind is UsmKind.host:
        for event in events_of_users(array._owner):
            event.wait()
        return
    library = library_of(value)
    if library is not None:
        library(array)
