"""Accessors: the requirements of a command group (SYCL 2020 section 4.7.6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, DType
from ...model.enums import AccessMode, Target, coerce
from ...model.errors import AccessorError
from ...model.image_descriptor import integer
from ..usm.pointer import size_of
from ..usm.strides import packed_strides
from .access_mode import NWO, OF_MODE, RW, WO, requirement_of
from .array_view import HostView
from .byte_ranges import Region, SizesLike, region_of

if TYPE_CHECKING:
    from .memory_object import MemoryObject
    from .replica import Place

__all__ = ["Accessor", "LocalAccessor"]

_device = Target.device


class Accessor(HostView):
    """Access of one command group to a buffer; ``Buffer.get_access`` makes one.

    Its elements are those of its range, on the device and on the host: element 0 is the one at its offset, as for
    SYCL's ``operator[]``. A command touches no others of the buffer. As an argument of a kernel in Python it is an
    array of its shape, for other kernels the pointer to its first element; rows of two and three dimensions lie as far
    apart as the buffer's (``strides``). With ``target="host_task"`` it is a numpy array in the host task:
    ``accessor[...]``, ``accessor.array`` or ``numpy.asarray(accessor)``.

    Attributes
    ----------
    buffer
        What it accesses.
    mode : AccessMode | str
        ``read``, ``write`` or ``read_write``.
    no_init : bool
        Whether the contents before are of no interest.
    target : Target | str
        ``device``, ``constant_buffer`` (deprecated in SYCL 2020) or ``host_task``.
    is_placeholder
        Whether it was made without a handler, for ``handler.require``.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_contiguous",
        "_data",
        "_mode",
        "_place",
        "_region",
        "_requirement",
        "buffer",
        "is_placeholder",
        "no_init",
        "target",
    )

    def __init__(
        self,
        _buffer: MemoryObject,
        mode: AccessMode | str = "read_write",
        no_init: bool = False,
        range: SizesLike | None = None,
        offset: SizesLike | None = None,
        target: Target | str = _device,
    ) -> None:
        self.buffer = _buffer
        try:
            requirement = OF_MODE.get((mode, no_init)) or requirement_of(mode, no_init)
        except TypeError:  # what has no hash is no mode
            requirement = requirement_of(mode, no_init)
        self._requirement = requirement
        self._mode = mode
        self.no_init = no_init
        self.target = target if target is _device else coerce(Target, target, "target")
        self.is_placeholder = False
        self._region: Region | None = None
        self._data = _buffer._span
        self._contiguous = True
        # Where the command finds the data; known while its group is submitted.
        self._place: Place | None = None
        self._array: Array | None = None
        if range is not None or offset is not None:
            self._region = region = region_of(_buffer.shape, _buffer.dtype, range, offset)
            self._data = (_buffer._span[0] + region.begin, _buffer._span[0] + region.end)
            self._contiguous = region.is_contiguous
            if not self._contiguous and not requirement.needs:  # what lies between stays as it is
                self._requirement = WO if requirement is NWO else RW

    @property
    def mode(self) -> AccessMode:
        """The access mode: ``read``, ``write`` or ``read_write`` (SYCL 2020, 4.7.6.2)."""
        return AccessMode(self._mode)

    @property
    def region(self) -> Region:
        """The elements it gives access to, in the buffer."""
        if self._region is None:
            shape = self.buffer.shape
            self._region = Region(shape, (0,) * len(shape), shape, self.buffer.dtype.itemsize)
        return self._region

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the accessible elements."""
        return self.region.shape

    @property
    def offset(self) -> tuple[int, ...]:
        """Index of the first accessible element in the buffer."""
        return self.region.offset

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between elements in each dimension, those of the buffer."""
        return packed_strides(self.buffer.shape, self.buffer.dtype.itemsize)

    @property
    def dtype(self) -> DType:
        """The dtype of an element, that of the buffer."""
        return self.buffer.dtype

    @property
    def size(self) -> int:
        """Number of elements it gives access to."""
        return self.nbytes // self.buffer.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of them."""
        return self._data[1] - self._data[0] if self._contiguous else self.region.nbytes

    # ------------------------------------------------------------------ for the layers of the package

    @property
    def _address(self) -> int:
        """First byte of its elements for the command being submitted."""
        place = self._place
        if place is None:
            raise self._foreign()
        return place.address + self._data[0] if place.address else 0

    def _foreign(self) -> AccessorError:
        """The error of a use outside its command group."""
        hint = "pass it to handler.require first" if self.is_placeholder else "make one with this handler"
        return AccessorError(f"{self!r} does not belong to this command group: {hint}")

    def _see(self, place: Place) -> None:
        """Lets a host task see the elements."""
        buffer = self.buffer
        writable = self._requirement.writes
        self._array = place.view(buffer._span[0], buffer.shape, buffer.dtype, writable=writable)[self.region.slices]

    # ------------------------------------------------------------------ in a host task

    @property
    def array(self) -> Array:
        """The elements in place, read-only with mode ``read``.

        Raises
        ------
        AccessorError
            It is not one with ``target="host_task"`` in its host task.
        """
        if self._array is None:
            raise AccessorError(
                f"{self!r} is not seen by the host here: make it with target='host_task' and use it in its host task, "
                "or use buffer.get_host_access()"
            )
        return self._array

    def __repr__(self) -> str:
        placeholder = ", placeholder" if self.is_placeholder else ""
        return f"<Accessor {self._requirement} on {self.target} to {self.buffer!r}{placeholder}>"


class LocalAccessor:
    """Local memory of a work-group, as an argument of a kernel over an ``NdRange``.

    Parameters
    ----------
    nbytes : int | tuple[int, ...]
        Bytes for each work-group, at least 1; with ``dtype`` the number of elements, or the shape of an array.
    dtype : np.dtype, optional
        Of the elements, for kernels in Python.

    Raises
    ------
    InvalidError
        ``nbytes`` is no positive integer, or a shape without ``dtype``.
    """

    __slots__ = ("dtype", "nbytes", "shape")

    def __init__(self, nbytes: int | tuple[int, ...], dtype: npt.DTypeLike | None = None) -> None:
        self.dtype: DType | None = None
        self.nbytes: int
        self.shape: tuple[int, ...]
        if dtype is None:
            self.nbytes = integer("nbytes", size_of(nbytes), 2**63 - 1)
            self.shape = (self.nbytes,)
        else:
            self.dtype = np.dtype(dtype)
            sizes = nbytes if isinstance(nbytes, tuple) else (nbytes,)
            self.shape = tuple(integer("shape", size, 2**31 - 1) for size in sizes)
            self.nbytes = math.prod(self.shape) * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"LocalAccessor({self.nbytes})" if self.dtype is None else f"LocalAccessor({self.shape}, {self.dtype})"
