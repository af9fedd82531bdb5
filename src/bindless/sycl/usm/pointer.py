"""``UsmPointer``: an address in unified shared memory (SYCL 2020 section 4.8.3)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy.typing as npt

from ...model.enums import UsmKind
from ...model.errors import CopyError, InvalidError
from ...model.message_values import shown
from .allocation import Allocation

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device
    from .array import UsmArray

__all__ = ["UsmPointer", "size_of"]


class UsmPointer:
    """An address in unified shared memory that keeps the memory alive.

    It counts as a number: ``int(pointer)``, ``pointer + nbytes``. The memory ends with ``free(pointer)``, or when the
    last pointer or array of it is dropped; work that uses it ends first.

    It is a value that points to memory, as ``pointer + 0`` is: the allocation is the one owner, which every pointer
    shares. ``copy.copy`` therefore gives an equal pointer to the same memory. ``copy.deepcopy`` and ``pickle`` would
    need other memory, and raise ``CopyError``; ``pointer.array(shape, dtype).copy()`` makes that.

    Examples
    --------
    >>> pointer = bindless.malloc_shared(16, bindless.Queue("reference"))
    >>> pointer.array(4, np.float32).shape
    (4,)
    """

    __slots__ = ("__weakref__", "_offset", "_owner", "_packed")

    _array_from: ClassVar[Callable[[UsmPointer, Any, npt.DTypeLike], UsmArray]]
    """Set by the module ``array``, which imports this one."""

    def __init__(self, _owner: Allocation, _offset: int = 0) -> None:
        self._owner = _owner
        self._offset = _offset
        # What a kernel receives.
        self._packed = (_owner.address + _offset).to_bytes(8, "little")

    @classmethod
    def _adopt(
        cls,
        address: int,
        nbytes: int,
        kind: UsmKind,
        device: Device,
        context: Context,
        *,
        owned: bool = True,
        lender: object = None,
    ) -> UsmPointer:
        """A pointer to memory that the caller has from the backend.

        Parameters
        ----------
        owned : bool, default True
            Whether the memory is freed with its last pointer.
        lender : object, optional
            What must live as long as memory that is not owned.
        """
        return cls(Allocation(context, device, kind, address, nbytes, owned=owned, lender=lender))

    @property
    def address(self) -> int:
        """First byte. Raises ``InvalidError`` once the memory has been freed."""
        self._owner.require_open()
        return self._owner.address + self._offset

    @property
    def nbytes(self) -> int:
        """Bytes from here to the end of the allocation."""
        return self._owner.nbytes - self._offset

    @property
    def kind(self) -> UsmKind:
        """The kind of the allocation: ``device``, ``host`` or ``shared``."""
        return self._owner.kind

    @property
    def context(self) -> Context:
        """The context of the allocation."""
        return self._owner.context

    @property
    def device(self) -> Device:
        """The device that it was asked for."""
        return self._owner.device

    @property
    def pointer(self) -> UsmPointer:
        """Itself: what pointers and arrays have in common."""
        return self

    @property
    def closed(self) -> bool:
        """Whether the memory has been freed."""
        return not self._owner.open

    def array(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike) -> UsmArray:
        """The memory from here on as an array, which keeps it.

        Parameters
        ----------
        shape : SupportsIndex | Sequence[SupportsIndex]
            Sizes by dimension, numpy order.
        dtype : DTypeLike
            dtype of an element.

        Returns
        -------
        UsmArray
            An array over the memory, which keeps it alive.

        Raises
        ------
        InvalidError
            The memory was freed, or the array takes more than is left of it; no shape or dtype.
        """
        return UsmPointer._array_from(self, shape, dtype)

    def close(self) -> None:
        """Frees the whole allocation, after the work that uses it; a second call does nothing."""
        self._owner.close()

    def __index__(self) -> int:
        return self.address

    __int__ = __index__

    def __add__(self, nbytes: SupportsIndex) -> UsmPointer:
        try:
            offset = self._offset + operator.index(nbytes)
        except TypeError:
            return NotImplemented
        if not 0 <= offset <= self._owner.nbytes:
            raise InvalidError(
                f"{self!r} + {shown(operator.index(nbytes))} leaves the allocation of {self._owner.nbytes} bytes"
            )
        return UsmPointer(self._owner, offset)

    def __sub__(self, nbytes: SupportsIndex) -> UsmPointer:
        try:
            return self + -operator.index(nbytes)
        except TypeError:
            return NotImplemented

    def __bool__(self) -> bool:
        return self._owner.open

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UsmPointer) and other._owner is self._owner and other._offset == self._offset

    def __hash__(self) -> int:
        return hash((id(self._owner), self._offset))

    def __copy__(self) -> UsmPointer:
        return UsmPointer(self._owner, self._offset)

    def __deepcopy__(self, memo: object) -> UsmPointer:
        raise CopyError(
            f"{self!r} is not copied with its memory: copy.copy(pointer) points to the same, "
            "pointer.array(shape, dtype).copy() makes new memory"
        )

    def __reduce_ex__(self, protocol: object) -> Any:
        raise CopyError(
            f"{self!r} cannot be pickled, for its memory is of this process: pickle what "
            "pointer.array(shape, dtype).numpy() gives"
        )

    def __repr__(self) -> str:
        state = "" if self._owner.open else ", freed"
        return f"<UsmPointer {self._owner.address + self._offset:#x} {self.kind}, {self.nbytes} bytes{state}>"


def size_of(value: object, name: str = "nbytes") -> int:
    """A size in bytes, at least 1.

    Raises
    ------
    InvalidError
        No integer, zero or negative.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer") from None
    if number < 1:
        raise InvalidError(f"{name}={shown(number)}: memory has at least 1 byte")
    return number
