"""``recall``: calls with arrays and options like those of an earlier one, apart from addresses and maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..core._submission import empty_like_foreign
from ..core.ownership import after_fork
from ..image.array_library import Library, is_of_cupy, new_of_cupy
from ..image.default_queue import is_own
from ..image.spline_filter import HostFilter, SplineLaunch, run_launches
from ..model.arrays import DType
from ..model.dlpack import dlpack_type
from ..model.filter import CoordinateMap
from ..sampling.memory.picture import MemoryPicture
from ..submission.active_streams import wait_for_all
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .images import ImageKey, Images
from .places import shift
from .prefilter import give_back, take

__all__ = [
    "Coefficients",
    "Form",
    "HostCall",
    "HostCoefficients",
    "Key",
    "RepeatedCall",
    "add",
    "layout_of",
    "recall",
    "remember",
]

Key = tuple[Any, ...]

_MOST_CALLS = 512
_NUMBERS = frozenset((int, float))
_calls: dict[Key, RepeatedCall | HostCall] = {}  # in queues of the package, which nobody drops
_NO_CALLS: dict[Key, RepeatedCall | HostCall] = {}
_FLOAT32: DType = np.dtype(np.float32)


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


class HostCoefficients(NamedTuple):
    """The filter of B-splines of packed arrays of the host.

    Attributes
    ----------
    filter : HostFilter
        Of float32.
    shape : tuple[int, ...]
        Of the coefficients.
    margin : int
        Elements by which they exceed the array at each end.
    """

    filter: HostFilter
    shape: tuple[int, ...]
    margin: int


class Coefficients(NamedTuple):
    """The filter of B-splines of a packed array of float32.

    Attributes
    ----------
    launches : Sequence[SplineLaunch]
        Of its kernels.
    form : Form
        Of the coefficients.
    margin : int
        Elements by which they exceed the array at each end.
    """

    launches: Sequence[SplineLaunch]
    form: Form
    margin: int


class RepeatedCall(NamedTuple):
    """A call that kernels compute of arrays on a device, which C code reads and orders.

    Attributes
    ----------
    queue : Queue
        In order; lasts as long as the call.
    picture : MemoryPicture | None
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
    empty : Callable[..., Any] | None
        Makes arrays, of a shape and a dtype; None: C code does.
    library : Library | None
        Makes its array of a ``UsmArray``.
    filter : Coefficients | None
        Of coefficients, which the kernel reads.
    """

    queue: Queue
    picture: MemoryPicture | None
    map: CoordinateMap
    dims: tuple[int, int, int]
    read: tuple[Form, ...]
    output: Form
    writes: bool
    empty: Callable[..., Any] | None
    library: Library | None
    filter: Coefficients | None

    def submit(self, value: object, output: object, map_: CoordinateMap | None = None, coords: object = None) -> Any:
        """The result; None of arrays that are to be imported."""
        if not self.writes:
            output = self._new(value)
        elif not self._is_apart(value, output, coords):
            return None
        if output is None:
            return None
        map_ = self.map if map_ is None else map_
        if self.filter is None:
            assert self.picture is not None
            self.picture.submit(map_, value, output, coords)
        else:
            launches, form, margin = self.filter
            texels, other = pair = take(self.queue, form.shape)
            if self.picture is None:
                run_launches(self.queue, launches, (value, output, other))
            else:
                run_launches(self.queue, launches, (value, texels, other))
                self.picture.submit(shift(map_, margin) if margin else map_, texels, output, coords)
            give_back(self.queue, pair)
        return output if self.library is None or self.writes else self.library(output)

    def _new(self, like: Any) -> Any:
        """A new array of the result, in the place of the input; None where the library makes none there."""
        shape, code, bits, _, dtype = self.output
        if self.empty is None:
            return empty_like_foreign(like, shape, code, bits)
        if self.empty is usm_empty:
            return usm_empty(shape, dtype, self.queue)
        try:
            return new_of_cupy(like.__dlpack_device__(), shape, dtype)
        except (MemoryError, RuntimeError):  # commands hold arrays until they end
            wait_for_all()
            return new_of_cupy(like.__dlpack_device__(), shape, dtype)

    def _is_apart(self, value: object, output: object, coords: object) -> bool:
        """Whether the output shares no memory with the arrays that are read."""
        place_of, (shape, code, bits, size, _) = self.queue._stream.place_of_foreign, self.output
        if type(output) is UsmArray:
            first = output._owner.address + output._offset
            for array in (value, coords):
                if isinstance(array, UsmArray):
                    start = array._owner.address + array._offset
                    if start < first + size and first < start + array.nbytes:
                        return False
            return True
        place = place_of(output, shape, code, bits)
        if place is None:
            return False
        for array, (shape, code, bits, nbytes, _) in zip((value, coords), self.read):
            other = place_of(array, shape, code, bits)
            if other is None or (place < other + nbytes and other < place + size):
                return False
        return True


class HostCall(NamedTuple):
    """A call on arrays of the host, by an image that the queue keeps.

    Attributes
    ----------
    queue : Queue
        In order; lasts as long as the call.
    images : Images
        Of the queue.
    image : ImageKey
        Key of the image.
    plan : object
        Key of the picture.
    map : CoordinateMap
        Of calls that have no matrix.
    dims : tuple[int, int, int]
        Axes of the input and of the result, and those that the map concerns.
    pixels : tuple[int, ...]
        Shape of the input, channels last.
    shape : tuple[int, ...]
        Of the result.
    dtype : np.dtype
        Of the result.
    writes : bool
        Whether the caller gives the array of the result.
    copies : bool
        Whether the input is small, and as the image stores it: the queue reads a copy after the call.
    library : Library | None
        Of the arrays, if not numpy.
    filter : HostCoefficients | None
        Of coefficients, which the image has.
    """

    queue: Queue
    images: Images
    image: ImageKey
    plan: object
    map: CoordinateMap
    dims: tuple[int, int, int]
    pixels: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: DType
    writes: bool
    copies: bool
    library: Library | None
    filter: HostCoefficients | None

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: object = None) -> Any:
        """The result; None where the queue keeps no such image now, or the library does not give the input."""
        try:
            array = value if self.library is None else np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError):
            return None
        image = self.images.free.pop(self.image, None)  # nobody else uses it then
        if image is None:
            return None
        try:
            picture = image.pictures.get(self.plan)
            if picture is None:
                return None
            values = output if self.writes else empty_result(self.shape, self.dtype)
            pixels, map_ = array.reshape(self.pixels), self.map if map_ is None else map_
            if self.filter is not None:
                filter_, shape, margin = self.filter
                texels = np.empty(shape, _FLOAT32)
                filter_.run(np.ascontiguousarray(pixels, _FLOAT32), texels)
                pixels, map_ = texels, shift(map_, margin) if margin else map_
            if self.copies:
                own = pixels.copy() if self.filter is None else pixels
                self.queue.ext_oneapi_copy(own, image.store._memory)
            else:
                image.store.fill(pixels, again=True)
            picture.submit(map_, values)
        finally:
            self.images.give_back(image)
        return values if self.library is None else self.library(values)


def recall(
    function: str, queue: Queue | None, input: object, output: object, cval: object, options: Key, coords: object = None
) -> tuple[Key | None, RepeatedCall | HostCall | None]:
    """The key of a call, and the call that was remembered for it; no key of a call that is not remembered.

    Parameters
    ----------
    function : str
        Name of the function.
    queue, input, output, cval, coords
        As the caller gave them.
    options : Key
        All other arguments, apart from those that a map is given for when the call is submitted.
    """
    if type(cval) not in _NUMBERS:
        return None, None
    calls = _calls
    if queue is not None:
        if type(queue) is not Queue or not queue._stream.in_order:
            return None, None
        calls = queue._storage.get(recall, _NO_CALLS)
    writes = output is not None and hasattr(output, "shape") and not isinstance(output, (np.dtype, type))
    try:
        layouts = (
            layout_of(input),
            layout_of(output) if writes else None,
            None if coords is None else layout_of(coords),
            None if writes else output,
        )
        key = (function, layouts, repr(cval), options, queue is None)  # 0.0 and -0.0 are equal
        call = calls.get(key)
    except (AttributeError, TypeError, RuntimeError, BufferError):  # no layout, or no hash
        return None, None
    if call is None or call.queue._stream.closed:
        return key, None
    return key, call if queue is not None or is_own(call.queue) else None


def layout_of(array: Any) -> Key:
    """What identifies arrays of one library, place, type, shape and strides."""
    kind = type(array)
    if kind is np.ndarray:
        return kind, None, array.dtype, array.shape, array.strides
    if kind is UsmArray:
        owner = array._owner
        place = owner.context, id(owner.device), owner.kind, owner.read_only  # the context keeps the device
        return kind, place, array.dtype, array.shape, array.strides
    strides = array.strides if hasattr(array, "strides") else array.stride() if hasattr(array, "stride") else None
    return kind, array.__dlpack_device__(), array.dtype, array.shape, strides


def remember(
    key: Key,
    queue: Queue,
    picture: MemoryPicture | None,
    map_: CoordinateMap,
    dims: tuple[int, int, int],
    input: tuple[tuple[int, ...], DType],
    output: tuple[tuple[int, ...], DType],
    coords: DType | None,
    filter_: Coefficients | None,
    library: Library | None,
) -> None:
    """Add a call on packed arrays of one library on a device.

    Parameters
    ----------
    input, output : tuple[tuple[int, ...], DType]
        Shape and dtype.
    """
    layouts = key[1]
    kind = layouts[0][0]
    if any(one is not None and one[0] is not kind for one in layouts[:3]):
        return
    read = [Form.of(*input)]
    if coords is not None:
        read.append(Form.of(tuple(layouts[2][3]), coords))
    empty: Callable[..., Any] | None = usm_empty
    if kind is UsmArray:
        library = None
    elif hasattr(kind, "__dlpack_c_exchange_api__"):
        empty = library = None
    elif is_of_cupy(kind):
        empty, library = new_of_cupy, None
    writes = layouts[1] is not None
    form = Form.of(*output)
    add(key, RepeatedCall(queue, picture, map_, dims, tuple(read), form, writes, empty, library, filter_))


def add(key: Key, call: RepeatedCall | HostCall) -> None:
    """Add a call that comes again, in a queue that is in order."""
    if not key[-1]:
        calls = call.queue._storage.setdefault(recall, {})
    elif is_own(call.queue):
        calls = _calls
    else:
        return
    if len(calls) >= _MOST_CALLS:
        calls.clear()
    for other in [other for other, old in calls.items() if old.queue.closed]:
        del calls[other]
    calls[key] = call


after_fork(_calls.clear)
