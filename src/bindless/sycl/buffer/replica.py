"""Replicas of a buffer's contents, in the memory of a device or of the host."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...model.arrays import Array, DType
from ...model.aspects import Aspect
from ...model.copy_region import ImageMemory
from ...model.enums import DeviceType, UsmKind
from ...submission.command_stream import CommandStream
from ..usm.allocation import Allocation

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device

__all__ = ["Home", "Place", "home_of"]


class Home:
    """A device in a context: its memory, and a stream for what is moved there and from there.

    Attributes
    ----------
    visible
        Whether the host reads and writes the memory of buffers there itself: where processor and device are one, that
        is host memory.
    """

    __slots__ = ("_stream", "context", "device", "visible")

    def __init__(self, context: Context, device: Device) -> None:
        self.context = context
        self.device = device
        self.visible = device.type is DeviceType.cpu and device.has(Aspect.usm_host_allocations)
        self._stream: CommandStream | None = None

    @property
    def stream(self) -> CommandStream:
        """An out-of-order stream of its own: moves wait for no other commands than they must."""
        if self._stream is None or self._stream.closed or self._stream.native is None:
            self.context._native  # noqa: B018  raises if it has ended
            self._stream = CommandStream(self.context, self.device, in_order=False, profiling=False, handler=None)
            self._stream.log.silent = True
        return self._stream

    def allocate(self, nbytes: int) -> Place:
        """New memory.

        Raises
        ------
        MemoryAllocationError
            There is not enough.
        """
        if not nbytes:
            return Place(self, 0, None)
        memory = Allocation.make(self.context, self.device, UsmKind.host if self.visible else UsmKind.device, nbytes)
        return Place(self, memory.address, memory)


class Place:
    """Memory of the size of the buffer.

    Attributes
    ----------
    home : Home | None
        None for ordinary memory of the host.
    address : int
        Of the first byte; 0 for a buffer without elements. Of image memory the number of the image that kernels
        receive.
    memory : object
        What keeps it alive: an ``Allocation``, a numpy array.
    image : ImageMemory | None
        Image memory, which is copied as a whole; None for linear memory.
    visible
        Whether the host reads and writes it itself; ``hidden`` memory is none of that.
    """

    __slots__ = ("__weakref__", "address", "home", "image", "memory", "visible")

    def __init__(
        self,
        home: Home | None,
        address: int,
        memory: object,
        image: ImageMemory | None = None,
        *,
        hidden: bool = False,
    ) -> None:
        self.home = home
        self.address = address
        self.memory = memory
        self.image = image
        self.visible = image is None and not hidden and (home is None or home.visible)

    @classmethod
    def of_array(cls, array: Array) -> Place:
        """Ordinary memory of the host."""
        return cls(None, array.__array_interface__["data"][0] if array.nbytes else 0, array)

    def view(self, begin: int, shape: tuple[int, ...], dtype: DType, *, writable: bool) -> Array:
        """The elements in place, from a byte on, of visible memory; the array keeps the memory alive."""
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes:
            array: Array = np.asarray(_Window(self, begin, nbytes)).view(dtype).reshape(shape)
        else:
            array = np.empty(shape, dtype)
        array.flags.writeable = writable
        return array


class _Window:
    """Object with an array interface over the memory, which numpy holds."""

    __slots__ = ("__array_interface__", "place")

    def __init__(self, place: Place, begin: int, nbytes: int) -> None:
        self.place = place
        self.__array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (place.address + begin, False),
            "version": 3,
        }


def home_of(context: Context, device: Device) -> Home:
    """The one home of a device in a context."""
    home = context._homes.get(device)
    if not isinstance(home, Home):
        home = context._homes[device] = Home(context, device)
    return home
