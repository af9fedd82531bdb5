"""``DeviceCall``: calls that kernels compute of arrays on a device, which lie where they are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from ..core._submission import empty_like_foreign
from ..image.array_library import Library, is_of_cupy, new_of_cupy
from ..image.spline_filter import SECOND, SplineLaunch, run_launches
from ..model.arrays import DType
from ..model.dlpack import dlpack_type
from ..model.filter import CoordinateMap
from ..sampling.memory.picture import Planes
from ..submission.active_streams import make_room
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.functions import new_array
from .places import AS_IT_IS
from .prefilter import give_back, take

__all__ = ["Coefficients", "DeviceCall", "Form", "Launch", "device_call"]


class Launch(Protocol):
    """The launch of a kernel over arrays on a device, at any addresses."""

    def submit(self, map_: CoordinateMap, pixels: object, values: object, coords: object = None, /) -> object:
        """Submit it, in a queue that is in order."""


class Form(NamedTuple):
    """A packed array: its shape, DLPack's code and bits, its bytes, and its dtype."""

    shape: tuple[int, ...]
    code: int
    bits: int
    nbytes: int
    dtype: DType

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: DType) -> Form:
        code, bits = dlpack_type(dtype) or (0, 0)
        return cls(tuple(shape), code, bits, math.prod(shape) * dtype.itemsize, dtype)


class Coefficients(NamedTuple):
    """The filter of B-splines of a packed array of float32.

    Attributes
    ----------
    launches : Sequence[SplineLaunch]
        Of its kernels.
    form : Form
        Of the coefficients.
    samples : Launch | None
        What makes the samples float32; None where they are.
    """

    launches: Sequence[SplineLaunch]
    form: Form
    samples: Launch | None


class DeviceCall(NamedTuple):
    """A call that kernels compute of arrays on a device, which C code reads and orders.

    Attributes
    ----------
    queue : Queue
        In order; lasts as long as the call.
    picture : Launch | None
        The launch; None: the result are coefficients.
    map : CoordinateMap
        Of calls that have no matrix.
    dims : tuple[int, int, int]
        Axes of the input and of the result, and those that the map concerns.
    read : tuple[Form, ...]
        The input, and the coordinates.
    output : Form
        The result.
    writes : bool
        Whether the caller gives the array of the result.
    empty : Callable[[Any], Any]
        Makes the array of the result in the place of the input; None where the library makes none there.
    library : Library | None
        Makes its array of a ``UsmArray``.
    filter : Coefficients | None
        Of coefficients, which the kernel reads.
    margin : int
        As of ``repeated.Call``.
    """

    queue: Queue
    picture: Launch | None
    map: CoordinateMap
    dims: tuple[int, int, int]
    read: tuple[Form, ...]
    output: Form
    writes: bool
    empty: Callable[[Any], Any]
    library: Library | None
    filter: Coefficients | None
    margin: int

    @property
    def on_device(self) -> bool:
        """See ``repeated.Call``."""
        return True

    def submit(self, value: object, output: object, map_: CoordinateMap | None = None, coords: object = None) -> Any:
        """The result; None of arrays that are to be imported."""
        if not self.writes:
            output = self.empty(value)
        elif not self._is_apart(value, output, coords):
            return None
        if output is None:
            return None
        map_ = self.map if map_ is None else map_
        if self.filter is None:
            assert self.picture is not None
            self.picture.submit(map_, value, output, coords)
        else:
            launches, form, samples = self.filter
            texels, other = pair = take(self.queue, form.shape)
            if samples is not None:  # they lie in the array that the first launch does not write
                packed = texels if launches[0].target == SECOND else other
                samples.submit(AS_IT_IS, value, packed)
                value = packed
            if self.picture is None:
                run_launches(self.queue, launches, (value, output, other))
            else:
                run_launches(self.queue, launches, (value, texels, other))
                self.picture.submit(map_, texels, output, coords)
            give_back(self.queue, pair)
        return output if self.library is None or self.writes else self.library(output)

    def _is_apart(self, value: object, output: object, coords: object) -> bool:
        """Whether the output shares no memory with the arrays that are read."""
        size = self.output.nbytes
        if type(output) is UsmArray:
            first = output._owner.address + output._offset
            for array in (value, coords):
                if isinstance(array, UsmArray):
                    start = array._owner.address + array._offset
                    if start < first + size and first < start + array.nbytes:
                        return False
            return True
        place = self.queue._stream.place_apart(output, self.output, (value, coords), self.read)
        return place is not None and (type(coords) is not Planes or coords.is_apart(place, size))


def _new_in_usm(form: Form, queue: Queue, _: object) -> UsmArray:
    return new_array(form.shape, form.dtype, queue)


def _new_by_exchange(form: Form, like: object) -> Any:
    return empty_like_foreign(like, form.shape, form.code, form.bits)


def _new_of_cupy(form: Form, like: Any) -> Any:
    place = like.__dlpack_device__()
    try:
        return new_of_cupy(place, form.shape, form.dtype)
    except (MemoryError, RuntimeError):  # commands hold arrays until they end
        make_room()
        return new_of_cupy(place, form.shape, form.dtype)


def device_call(
    layouts: tuple[Any, ...],
    queue: Queue,
    picture: Launch | None,
    map_: CoordinateMap,
    dims: tuple[int, int, int],
    input: tuple[tuple[int, ...], DType],
    output: tuple[tuple[int, ...], DType],
    coords: DType | None,
    filter_: Coefficients | None,
    library: Library | None,
    margin: int,
) -> DeviceCall | None:
    """A call on packed arrays of one library on a device; None for arrays of several.

    Parameters
    ----------
    layouts : tuple[Any, ...]
        Of the input, the caller's result and the coordinates, as ``array_layout`` gives them; None for what there is
        not.
    input, output : tuple[tuple[int, ...], DType]
        Shape and dtype.
    """
    kind = layouts[0][0]
    if any(one is not None and one[0] is not kind for one in layouts[:3]):
        return None
    read = [Form.of(*input)]
    if coords is not None and layouts[2] is not None:  # others are the package's, apart from all
        read.append(Form.of(tuple(layouts[2][3]), coords))
    form = Form.of(*output)
    empty: Callable[[Any], Any] = partial(_new_in_usm, form, queue)
    if kind is UsmArray:
        library = None
    elif hasattr(kind, "__dlpack_c_exchange_api__"):
        empty, library = partial(_new_by_exchange, form), None
    elif is_of_cupy(kind):
        empty, library = partial(_new_of_cupy, form), None
    writes = layouts[1] is not None
    return DeviceCall(queue, picture, map_, dims, tuple(read), form, writes, empty, library, filter_, margin)
