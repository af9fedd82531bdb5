"""``Plan``: pictures of one image, prepared for any map and arrays; its classes are the roads of pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bindless_images.call_arguments import find_image
from ..bindless_images.call_form import ArrayLike, CallImage, Form
from ..bindless_images.prepared_call import report_error
from ..model.enums import ImageType, Precision
from ..model.errors import InvalidError

if TYPE_CHECKING:
    from ..core._submission import Prepared
    from ..model.arrays import Array
    from ..model.filter import CoordinateMap
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling, Window
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["Plan", "Program", "address_of", "finish"]

_TYPES = (ImageType.standard, ImageType.array, ImageType.mipmap)
_SAMPLES = {type_: Form("resample", "sample", type_, sampled=True, unsampled=False) for type_ in _TYPES}
_FETCHES = {type_: Form("resample", "fetch", type_, sampled=True, unsampled=False) for type_ in _TYPES}


class Program(NamedTuple):
    """The command of a plan as C code repeats it; see ``PictureCalls``.

    Attributes
    ----------
    command : Prepared
        The command.
    arguments : tuple[Any, ...]
        Its arguments; those that each call writes have any value.
    keep : tuple[object, ...]
        What the command uses, apart from its arguments and the arrays.
    values, coords : int
        Places of the addresses of the values and of the vectors among the arguments.
    packed : int
        Place of the bytes of the map; -1 where each entry is an argument.
    entries : tuple[tuple[int, int], ...]
        Places of entries of the map among the arguments, and indices of the entries; packed in this order.
    alignment : int
        Bytes of which the address of the values is a multiple.
    stages : bool
        Whether arrays of the host need memory that the device reaches.
    """

    command: Prepared
    arguments: tuple[Any, ...]
    keep: tuple[object, ...]
    values: int
    coords: int
    packed: int
    entries: tuple[tuple[int, int], ...]
    alignment: int
    stages: bool

    def with_coords(self, array: object) -> Program:
        """The same with vectors that are those of all calls."""
        arguments = (*self.arguments[: self.coords], array, *self.arguments[self.coords + 1 :])
        return self._replace(arguments=arguments, coords=-1)


class Plan:
    """Pictures of one image, or of one layer of an array, of which the map and the arrays are left open.

    Everything that depends on neither addresses nor entries of the matrix is computed here, once.

    Parameters
    ----------
    queue : Queue
        Runs the work.
    handle : SampledImageHandle
        Handle of a standard image, an array or a mipmap, made by ``create_image`` for the queue's device.
    picture : Resampling
        The picture. Its handle, descriptor, addresses and matrix need not be right; the centre of its map must be.
        ``coords_strides`` are (0, 0) where there are no vectors.

    Attributes
    ----------
    image : CallImage
        The image, which the plan keeps.
    reads_memory : bool
        Whether ``submit_in_place`` is there.

    Raises
    ------
    InvalidError
        The handle is no such image of the queue's context.
    """

    def __init__(self, queue: Queue, handle: SampledImageHandle, picture: Resampling) -> None:
        desc = handle._descriptor
        if desc is None or desc.type not in _TYPES:
            raise InvalidError(f"resample: {handle!r} is no standard image, array or mipmap that create_image made")
        self._form = (_SAMPLES if picture.filter.precision is Precision.hardware else _FETCHES)[desc.type]
        self.image: CallImage = find_image(queue, self._form, handle, np.empty(0), None, None)
        self._queue, self._handle, self._images = queue, handle, queue.context._handles
        self._key, self._record = self.image.key, self.image.record
        self._picture = replace(picture, handle=self.image.raw, descriptor=desc, values=0, coords=0)
        self._is_empty = math.prod(picture.shape) == 0
        self.reads_memory = False

    def submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None = None,
        depends_on: Event | Iterable[Event] = (),
        offset: int = 0,
    ) -> Event | None:
        """Compute one picture.

        Parameters
        ----------
        map_ : CoordinateMap
            The map, with the centre that was prepared; of a plane its column of z has zeros.
        out : ArrayLike
            Contiguous array for the values, of the dtype that was prepared: on the host (waits, returns None) or in USM
            (returns the event).
        coords : ArrayLike | None, default None
            Vectors of the dtype that was prepared. The first element is the first component of the first vector.
        depends_on : Event | Iterable[Event], default ()
            Events to wait for first.
        offset : int, default 0
            Bytes of ``out`` before the picture.
        """
        if self._images.get(self._key) is not self._record:
            self._require_image()
        if self._is_empty:
            return None if isinstance(out, np.ndarray) else self._queue._nothing(depends_on)
        return self._submit(map_, out, coords, depends_on, offset)

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
    ) -> Event | None:
        """``submit`` of a picture with values, of an image that exists."""
        raise NotImplementedError

    def submit_in_place(
        self, map_: CoordinateMap, out: Array, texels: Array, coords: Array | tuple[Array, Array] | None
    ) -> None:
        """Compute one picture of an array of the host, which is read where it lies, and not of the image's texels.

        Parameters
        ----------
        map_, out, coords
            As of ``submit``, on the host; vectors of two components also as packed arrays of each.
        texels : Array
            Packed texels of the whole image, aligned; they do not overlap ``out``.
        """
        raise NotImplementedError

    def move(self, first: tuple[int, int, int], window: Window) -> None:
        """Set the place of the next pictures, and that of the image, in larger ones; they were prepared with a window.

        Nobody else submits pictures of this plan meanwhile.
        """
        self._picture = replace(self._picture, first=first, window=window)

    def program(self, map_: CoordinateMap, *, is_aligned: bool) -> Program | None:
        """The command of pictures through maps like this one, which was submitted before; None without one.

        Parameters
        ----------
        is_aligned : bool
            Whether the address of the values is a multiple of the size of a pixel.
        """
        return None

    def _require_image(self) -> None:
        """Raise the error of an image that was destroyed, or made again with the same number."""
        find_image(self._queue, self._form, self._handle, np.empty(0), None, None)
        raise InvalidError(f"resample: {self._handle!r} was destroyed, and its number is that of another image now")

    def _part(self, out: ArrayLike, offset: int) -> ArrayLike:
        """The values of the picture in ``out``, as (elements, channels)."""
        picture = self._picture
        channels, count = picture.value_channels, math.prod(picture.shape)
        first = offset // picture.value_dtype.itemsize
        part: ArrayLike = out.reshape(-1)[first : first + count * channels].reshape(count, channels)
        return part


def address_of(array: ArrayLike) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else array.address


def finish(event: Event) -> None:
    """Wait; a call that waits reports its own failure, also where the queue has an ``async_handler``."""
    event.wait()
    report_error(event)
