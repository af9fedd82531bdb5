"""``recall``: calls with arrays and options like those of an earlier one, apart from addresses and maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..core._submission import empty_like_foreign
from ..core.ownership import after_fork
from ..image.array_library import is_of_cupy, new_of_cupy
from ..image.default_queue import is_own
from ..image.spline_filter import SplineLaunch, run_launches
from ..model.arrays import DType
from ..model.dlpack import dlpack_type
from ..model.filter import CoordinateMap, Filter
from ..sampling.memory.picture import MemoryPicture
from ..submission.active_streams import wait_for_all
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .images import ImageKey, Images
from .places import moved
from .prefilter import coefficients

__all__ = [
    "Coefficients",
    "Form",
    "HostCall",
    "Key",
    "RepeatedCall",
    "layout_of",
    "recall",
    "remember",
    "remember_host",
]

Key = tuple[Any, ...]

_MOST_CALLS = 512
_NUMBERS = frozenset((int, float))
_calls: dict[Key, RepeatedCall | HostCall] = {}


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
    margin : int
        Elements by which they exceed the array at each end.
    """

    launches: Sequence[SplineLaunch]
    form: Form
    margin: int


class RepeatedCall(NamedTuple):
    """A call that a kernel computes of the arrays of another library, which C code reads and orders.

    Attributes
    ----------
    queue : Queue
        One of the package.
    picture : MemoryPicture
        The launch.
    map : CoordinateMap
        Of calls that have no matrix.
    dims : tuple[int, int]
        Axes of the input and of the result.
    read : tuple[Form, ...]
        The input, and the coordinates.
    output : Form
        The result.
    of_cupy : bool
        Whether the library is CuPy; C code makes arrays of others.
    filter : Coefficients | None
        Of coefficients, which the kernel reads.
    """

    queue: Queue
    picture: MemoryPicture
    map: CoordinateMap
    dims: tuple[int, int]
    read: tuple[Form, ...]
    output: Form
    of_cupy: bool
    filter: Coefficients | None

    def submit(self, given: object, output: object, map_: CoordinateMap | None = None, coords: object = None) -> Any:
        """The result; None of arrays that are to be imported."""
        if output is None:
            output = self._new(given, self.output)
        elif not self._is_apart(given, output, coords):
            return None
        if output is None:
            return None
        texels, map_ = given, self.map if map_ is None else map_
        if self.filter is not None:
            launches, form, margin = self.filter
            texels, other = self._new(given, form), self._new(given, form)
            if texels is None or other is None:
                return None
            run_launches(self.queue, launches, (given, texels, other))
            map_ = moved(map_, margin) if margin else map_
        self.picture.submit(map_, texels, output, coords)
        return output

    def _new(self, given: Any, form: Form) -> Any:
        """A new array of the library, in the place of the input; None where the library makes none there."""
        if not self.of_cupy:
            return empty_like_foreign(given, form.shape, form.code, form.bits)
        try:
            return new_of_cupy(given.__dlpack_device__(), form.shape, form.dtype)
        except (MemoryError, RuntimeError):  # commands hold arrays until they end
            wait_for_all()
            return new_of_cupy(given.__dlpack_device__(), form.shape, form.dtype)

    def _is_apart(self, given: object, output: object, coords: object) -> bool:
        """Whether the output shares no memory with the arrays that are read."""
        place_of, (shape, code, bits, size, _) = self.queue._stream.place_of_foreign, self.output
        first = place_of(output, shape, code, bits)
        if first is None:
            return False
        for array, (shape, code, bits, nbytes, _) in zip((given, coords), self.read):
            start = place_of(array, shape, code, bits)
            if start is None or (first < start + nbytes and start < first + size):
                return False
        return True


class HostCall(NamedTuple):
    """A call on numpy's arrays, by an image that the queue keeps.

    Attributes
    ----------
    queue : Queue
        One of the package.
    images : Images
        Of the queue.
    image : ImageKey
        Key of the image.
    plan : object
        Key of the picture.
    map : CoordinateMap
        Of calls that have no matrix.
    dims : tuple[int, int]
        Axes of the input and of the result.
    pixels : tuple[int, ...]
        Shape of the input, channels last.
    shape : tuple[int, ...]
        Of the result.
    dtype : np.dtype
        Of the result.
    copies : bool
        Whether the input is small, and as the image stores it: the queue reads a copy after the call.
    filter : Filter | None
        Of coefficients, which the image has.
    """

    queue: Queue
    images: Images
    image: ImageKey
    plan: object
    map: CoordinateMap
    dims: tuple[int, int]
    pixels: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: DType
    copies: bool
    filter: Filter | None

    def submit(self, given: Any, output: Any, map_: CoordinateMap | None = None, coords: object = None) -> Any:
        """The result; None where the queue keeps no such image now."""
        image = self.images.free.pop(self.image, None)  # nobody else uses it then
        if image is None:
            return None
        try:
            picture = image.pictures.get(self.plan)
            if picture is None:
                return None
            values = empty_result(self.shape, self.dtype) if output is None else output
            pixels, map_ = given.reshape(self.pixels), self.map if map_ is None else map_
            if self.filter is not None:
                texels, margin = coefficients(self.queue, pixels[None], self.dims[0], self.filter, extend=True)
                pixels, map_ = texels[0], moved(map_, margin)
            if self.copies:
                own = pixels.copy() if self.filter is None else pixels
                self.queue.ext_oneapi_copy(own, image.store._memory)
            else:
                image.store.fill(pixels, again=True)
            picture.submit(map_, values)
        finally:
            self.images.give_back(image)
        return values


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
    if queue is not None or type(cval) not in _NUMBERS:
        return None, None
    try:
        layouts = (
            layout_of(input),
            None if output is None else layout_of(output),
            None if coords is None else layout_of(coords),
        )
        key = (function, layouts, repr(cval), options)  # 0.0 and -0.0 are equal
        call = _calls.get(key)
    except (AttributeError, TypeError, RuntimeError, BufferError):  # no layout, or no hash
        return None, None
    return key, call if call is not None and is_own(call.queue) and not call.queue._stream.closed else None


def layout_of(array: Any) -> Key:
    """What identifies arrays of one library, place, type, shape and strides."""
    if type(array) is np.ndarray:
        return np.ndarray, None, array.dtype, array.shape, array.strides
    strides = array.strides if hasattr(array, "strides") else array.stride()  # of PyTorch
    return type(array), array.__dlpack_device__(), array.dtype, array.shape, strides


def remember(
    key: Key,
    queue: Queue,
    picture: MemoryPicture,
    map_: CoordinateMap,
    dims: tuple[int, int],
    input: tuple[tuple[int, ...], DType],
    output: tuple[tuple[int, ...], DType],
    coords: DType | None,
    filter_: Coefficients | None,
) -> None:
    """Add a call on packed arrays of one other library.

    Parameters
    ----------
    input, output : tuple[tuple[int, ...], DType]
        Shape and dtype.
    """
    layouts = key[1]
    kind = layouts[0][0]
    if kind is UsmArray or not is_own(queue) or any(one is not None and one[0] is not kind for one in layouts):
        return
    read = [Form.of(*input)]
    if coords is not None:
        read.append(Form.of(tuple(layouts[2][3]), coords))
    of_cupy, makes_none = is_of_cupy(kind), layouts[1] is not None and filter_ is None
    if of_cupy or makes_none or hasattr(kind, "__dlpack_c_exchange_api__"):
        _add(key, RepeatedCall(queue, picture, map_, dims, tuple(read), Form.of(*output), of_cupy, filter_))


def remember_host(key: Key, call: HostCall) -> None:
    """Add a call on packed arrays of numpy, of types that are computed as they are, by one image."""
    if is_own(call.queue) and all(one is None or one[0] is np.ndarray for one in key[1]):
        _add(key, call)


def _add(key: Key, call: RepeatedCall | HostCall) -> None:
    if len(_calls) >= _MOST_CALLS:
        _calls.clear()
    for other in [other for other, old in _calls.items() if old.queue.closed]:
        del _calls[other]
    _calls[key] = call


after_fork(_calls.clear)
