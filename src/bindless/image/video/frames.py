"""Images of video frames: planes of brightness and of colour differences, whose pictures are red, green and blue."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ...core.lock import Lock
from ...model.arrays import Array, DType
from ...model.aspects import Aspect
from ...model.enums import (
    AddressingMode,
    Boundary,
    CoordinateNormalizationMode,
    FilteringMode,
    Interpolation,
    Precision,
)
from ...model.errors import ArgumentError, InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.message_values import shown
from ...model.video import VideoColours
from ...sampling.fields import scale_fields, shift_fields
from ...sampling.planes import Chroma, PlanesSource, blend_planes, separate_fills
from ...submission.event import Event
from ...sycl.queue.queue import Queue
from ..arguments import coordinate_axes
from ..array_library import AnyArray, ArrayLike, Library, hand_over
from ..computed_sampling import matrix_of_coordinates
from ..default_queue import queue_of_array
from ..device_image import ImageStore
from ..drawing import Frame, Moves, draw
from ..group_store import GroupStore
from ..options import Addressing, ImageOptions, image_options
from ..plan import planned
from ..remapping import remap_native
from ..resizing import resize_native
from ..results import Result
from ..sampling import sample_native
from ..warping import warp_native
from .chroma_planes import ChromaPlanes, HostChromaPlanes
from .frame_planes import in_pairs, pair, settle, triple

if TYPE_CHECKING:
    from ...sampling.source import Source
    from ..image import Image

__all__ = ["Planes", "from_nv12", "from_yuv420", "update_nv12", "update_yuv420"]

_FILTERS = (Interpolation.nearest, Interpolation.linear)
_UPPER, _LOWER = 64, 1  # integers of 16 bits from one code of ten bits to the next
_FLOAT32: DType = np.dtype(np.float32)


class Planes(GroupStore):
    """The images of a frame's planes; see ``Store``.

    Parameters
    ----------
    luma, chroma : Image
        Images of the brightness, of one channel, and of the colour differences, of two.
    colours : VideoColours
        The numbers of the planes.
    described : ImageDescriptor
        Of the frame in colours.

    Attributes
    ----------
    step : int
        Of uint16, from one code of ten bits to the next; 0 of uint8.
    """

    _reason = "the pixels are the planes of a video frame"

    def __init__(self, luma: Image, chroma: Image, colours: VideoColours, described: ImageDescriptor) -> None:
        super().__init__((luma, chroma))
        self.descriptor = described
        self.colours = colours
        self._shape, self.step = luma.shape, colours.step if luma.dtype.itemsize > 1 else 0
        self._lock = Lock()
        self._whole: Image | None = None  # the frame in colours, for smaller pictures
        self._rgb: AnyArray | None = None  # its pixels
        self._ones: Image | None = None
        self._is_old = True
        self._differences: ChromaPlanes | HostChromaPlanes | None = None  # of frames of three planes

    def close(self) -> None:
        super().close()
        self._differences = None
        others = getattr(self, "_whole", None), getattr(self, "_ones", None)
        self._whole = self._rgb = self._ones = None
        for other in others:
            if other is not None:
                other.close()

    def source(self, image: Image, edges: bool) -> tuple[ImageStore, Source]:
        """As ``source_of`` gives it."""
        luma, chroma = (part._native for part in self.parts)
        filter_ = image._filter
        if edges:
            filter_ = filter_.with_boundary(Boundary.edge)
        filter_, fills = separate_fills(filter_)
        largest = float(np.iinfo(image.dtype.name).max)
        second = Chroma(chroma.held(chroma.reader(self.parts[1]._sampler).handle), self.colours, fills)
        normalized = image._sampler.is_normalized and not edges
        return luma, PlanesSource(
            image._queue,
            luma.reader(self.parts[0]._sampler).handle,
            replace(filter_, fill=filter_.fill / largest),
            2,
            unit=tuple(map(float, image.size)) if normalized else None,
            reads_host=image._queue.device.has(Aspect.usm_system_allocations),
            chroma=second,
        )

    def draw_apart(
        self,
        image: Image,
        matrix: Any,
        sizes: tuple[int, ...],
        shape: tuple[int, ...],
        out: Any,
        library: Library | None,
        moves: Moves | None,
        name: str,
        on_device: bool,
        edges: bool,
        dtype: DType,
    ) -> Any:
        """As ``draw``: pictures of both planes, and then their colours, on the host. None where one kernel does it.

        The reference device has commands of its own for pictures of single images, and needs a fifth of the time.
        """
        queue, fields = image._queue, moves if isinstance(moves, tuple) else ()
        vectors = None if isinstance(moves, tuple) else moves
        if queue._backend.resampling is None or on_device or any(field.on_device for field in fields):
            return None
        if any(type(array) is not np.ndarray for array in (out, vectors) if array is not None):
            return None
        result = Result(queue, out, shape, dtype, [vectors])
        values = result.on_host()
        unit = np.array(image.size, float) if image._sampler.is_normalized and not edges else np.ones(2)
        own: dict[str, Any] = {"name": name, "edges": edges, "dtype": _FLOAT32}
        ways = (1.0, np.zeros(2)), (0.5, 0.25 + np.array(self.colours.bias)), (1.0, np.zeros(2))
        parts = (*self.parts, self._inside(image)) if separate_fills(image._filter)[1] and not edges else self.parts
        pictures = []
        for part, channels, (scale, shift) in zip(parts, ((), (2,), ()), ways):
            place, steps = _scale(matrix, moves, scale * unit, shift)
            pictures.append(draw(part, place, sizes, (*shape[:-1], *channels), None, None, moves=steps, **own))
        fill = image._filter.fill / float(np.iinfo(image.dtype.name).max)
        blend_planes(pictures[0], pictures[1], self.colours, values, *pictures[2:], fill=fill)
        return result.deliver(values, (), library)

    def _inside(self, image: Image) -> Image:
        """An image of ones, whose pictures are the shares of the frame."""
        with self._lock:
            if self._ones is None:
                options = ImageOptions(replace(image._filter, fill=0.0), dimensions=2)
                self._ones = type(image)._of(np.full(image.size[::-1], 255, np.uint8), options, image._queue)
            return self._ones

    def sample(
        self,
        image: Image,
        coords: ArrayLike,
        level: ArrayLike | None,
        dx: ArrayLike | None,
        dy: ArrayLike | None,
        layers: ArrayLike | None,
        out: Any,
    ) -> Any:
        if type(coords) is np.ndarray and layers is None:
            points = coordinate_axes(image, coords)
            shape = (*points.shape[:-1], 3)
            values = self.draw_apart(
                image, matrix_of_coordinates(2), (math.prod(shape[:-1]),), shape, out, None, points, "coords", False,
                False, _FLOAT32,
            )  # fmt: skip
            if values is not None:
                return values
        return sample_native(image, coords, level, dx, dy, layers, out)

    def numpy(self, image: Image, level: int) -> Array:
        image._level(level)
        size: tuple[int, ...] = image.size
        return np.asarray(draw(image, np.eye(3), size, image.shape, None, None, edges=True))

    def repeat_update(self, array: Any, /) -> Event | Literal[True] | None:
        raise InvalidError(f"{self._reason}: update_nv12(y, uv) or update_yuv420(y, u, v) takes new ones")

    def update(self, image: Image, pixels: AnyArray, array: Any) -> Event | None:
        raise AssertionError  # ``repeat_update`` comes first

    def repeat(self, step: int, luma: Any, *chroma: Any) -> Event | Literal[True] | None:
        """An update that is prepared, of planes of one library: its event, or True where the planes have been read.

        None where ``renew`` is to be called, which follows checks of the planes.

        Parameters
        ----------
        step : int
            Of uint16, from one code of ten bits to the next.
        luma
            The brightness.
        *chroma
            The colour differences in one array, or each of them.
        """
        one, dtype = chroma[0], getattr(luma, "dtype", None)
        if dtype is None or type(luma) is not type(one) or luma.shape != self._shape or one.dtype != dtype:
            return None
        if step != self.step and self.step:
            return None
        first, second = self._parts
        with self._lock:  # no event is kept: drivers record those of which a reference exists
            if len(chroma) == 1:
                if second._store.repeat_update(one) is None:
                    return None
            else:
                pixels = None if self._differences is None else self._differences.join(*chroma)
                if pixels is None:
                    return None
                second.update(pixels)
            self._is_old = True
            return first.update(luma) or True

    def renew(self, luma: ArrayLike, chroma: ArrayLike) -> Event | None:
        """New planes, of the types and shapes of the old ones."""
        first, second = self.parts
        with self._lock:
            self._is_old = True
            second.update(chroma)
            settle(second._queue)
            return first.update(luma)

    def expect(self, chroma: AnyArray) -> None:
        """Lets ``repeat`` take the colour differences of other frames as those of one were: each in its plane."""
        queue, shape, on_host = self.parts[1]._queue, chroma.shape[:2], isinstance(chroma, np.ndarray)
        if on_host != isinstance(self._differences, HostChromaPlanes) or self._differences is None:
            self._differences = None
            if on_host:
                self._differences = HostChromaPlanes(shape, chroma.dtype)
            elif queue._stream.in_order:
                self._differences = ChromaPlanes(queue, shape, chroma.dtype)

    def resize(self, image: Image, frame: Frame, shape: object, out: Any) -> Any:
        if frame.keeps_values:
            return resize_native(image, frame, shape, out)
        return self._in_colours(image).resize(frame.sizes[::-1], out=out)

    def _in_colours(self, image: Image) -> Image:
        """The image of the whole frame in red, green and blue, of which smaller pictures have the means."""
        with self._lock:
            if self._whole is None or self._is_old:
                settle(image._queue)
                on_device = image._queue._backend.resampling is None
                self._rgb = draw(
                    image, np.eye(3), image.size, image.shape, self._rgb, None, on_device=on_device, edges=True
                )  # fmt: skip
                settle(image._queue)
                if self._whole is None:
                    whole = self._whole = type(image)._of(self._rgb, image._options, image._queue)
                    whole._library, whole._leads_on_device = image._library, image._leads_on_device
                    whole._maker = image._maker
                else:
                    self._whole.update(self._rgb)
                self._is_old = False
            return self._whole

    def fetch(self, image: Image, coords: ArrayLike, level: int, layers: ArrayLike | None, out: Any) -> Any:
        """Refused: see ``Store``."""
        raise InvalidError(f"{self._reason}, which have no pixels in colours to fetch: sample(coords + 0.5) reads them")

    warp = staticmethod(warp_native)
    remap = staticmethod(remap_native)


def from_nv12(
    cls: type[Image],
    /,
    y: ArrayLike,
    uv: ArrayLike,
    *,
    standard: str = "bt709",
    full_range: bool = False,
    siting: str = "left",
    addressing: Addressing = AddressingMode.clamp_to_edge,
    filtering: FilteringMode | Interpolation | str = FilteringMode.linear,
    fill: float = 0.0,
    coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
    queue: Queue | None = None,
) -> Image:
    """An image of a video frame in NV12 or P010, whose samples and pictures are red, green and blue.

    It is used as an image of the frame in RGB, of shape (height, width, 3) and of the planes' dtype: ``sample`` gives
    float32 from 0 to 1, the other methods integers of the dtype over its whole range, rounded. One kernel samples both
    planes with exact weights, and then applies the matrix of colours.

    Parameters
    ----------
    y : ArrayLike
        The brightness, shape (height, width): uint8 (NV12), or uint16 with ten bits in the upper ones (P010).
    uv : ArrayLike
        The colour differences Cb, Cr of half the size, rounded up, and of the same dtype: shape (height / 2,
        width / 2, 2), or the same rows (height / 2, width).
    standard : {"bt709", "bt601", "bt2020"}
        The matrix of colours: of high definition, of standard definition (and JPEG files), of ultra high definition.
        Transfer functions stay as they are.
    full_range : bool, default False
        Whether black and white are the least and the largest code, as in JPEG files, instead of 16 and 235.
    siting : {"left", "center", "topleft"}
        Where the colours lie between the four pixels that have them: at the left ones in the middle of their height, as
        in MPEG-2, H.264 and HEVC; in the middle, as in JPEG and MPEG-1; or at the first one, as in BT.2020.
    addressing, fill, coordinate, queue
        As of ``Image``; each plane is continued by itself, and the fill value is one of RGB.
    filtering : {"linear", "nearest"}
        As of ``Image``, in both planes.

    Returns
    -------
    Image
        Its ``parts`` are the images of the two planes, for kernels.

    Raises
    ------
    ArgumentError
        A plane has another shape or dtype, or an option is not known.

    See Also
    --------
    Image.from_yuv420 : Frames of three planes.

    Notes
    -----
    A smaller picture of ``resize`` has the means of the pixels of the whole frame in RGB, which it makes first.

    Examples
    --------
    >>> y, uv = np.full((2, 2), 81, np.uint8), np.array([[[90, 240]]], np.uint8)
    >>> with bindless.Image.from_nv12(y, uv, standard="bt601", queue=bindless.Queue("reference")) as image:
    ...     image.warp([[1, 0, 0], [0, 1, 0]], (1, 1))
    array([[[254,   0,   0]]], dtype=uint8)
    """
    queue = queue_of_array(y) if queue is None else queue
    luma, chroma = pair(y, uv, queue)
    colours = _colours(luma, standard, full_range, siting, _UPPER)
    image = _image(cls, y, chroma, colours, _options(addressing, filtering, fill, coordinate), queue)
    hand_over(uv, chroma)
    return image


def from_yuv420(
    cls: type[Image],
    /,
    y: ArrayLike,
    u: ArrayLike,
    v: ArrayLike,
    *,
    standard: str = "bt709",
    full_range: bool = False,
    siting: str = "left",
    addressing: Addressing = AddressingMode.clamp_to_edge,
    filtering: FilteringMode | Interpolation | str = FilteringMode.linear,
    fill: float = 0.0,
    coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
    queue: Queue | None = None,
) -> Image:
    """An image of a video frame of three planes (I420, ``yuv420p``); see ``Image.from_nv12``.

    Parameters
    ----------
    y : ArrayLike
        The brightness, shape (height, width): uint8, or uint16 with ten bits in the lower ones, as ``yuv420p10`` has.
    u, v : ArrayLike
        The colour differences Cb and Cr, shape (height / 2, width / 2), rounded up, of the same dtype.
    standard, full_range, siting, addressing, filtering, fill, coordinate, queue
        As of ``Image.from_nv12``.

    Returns
    -------
    Image
        Its ``parts`` are the images of the brightness and of both differences, for kernels.

    Raises
    ------
    ArgumentError
        A plane has another shape or dtype, or an option is not known.

    Examples
    --------
    >>> y, grey = np.array([[16, 235]], np.uint8), np.full((1, 1), 128, np.uint8)
    >>> with bindless.Image.from_yuv420(y, grey, grey, queue=bindless.Queue("reference")) as image:
    ...     image.numpy().tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    """
    queue = queue_of_array(y) if queue is None else queue
    luma, chroma = triple(y, u, v, queue)
    colours = _colours(luma, standard, full_range, siting, _LOWER)
    return _image(cls, y, chroma, colours, _options(addressing, filtering, fill, coordinate), queue)


def update_nv12(image: Image, y: ArrayLike, uv: ArrayLike) -> Event | None:
    """Gives an image of ``from_nv12`` the planes of another frame; as ``update`` otherwise.

    Parameters
    ----------
    y, uv : ArrayLike
        Of any library, of the shapes and the dtype of the image's planes.

    Returns
    -------
    Event | None
        Of planes on the device, which are read until then. None of planes of the host: they have been read, and may be
        overwritten.

    Raises
    ------
    InvalidError
        The image has no planes, others have another shape or dtype, or it was closed.

    Examples
    --------
    >>> grey, black, white = (np.full((1, size), code, np.uint8) for size, code in ((2, 128), (2, 16), (2, 235)))
    >>> with bindless.Image.from_nv12(black, grey, queue=bindless.Queue("reference")) as image:
    ...     image.update_nv12(white, grey)
    ...     image.numpy().tolist()
    [[[255, 255, 255], [255, 255, 255]]]
    """
    planes, uv = _planes_of(image), in_pairs(uv)
    event = planes.repeat(_UPPER, y, uv)
    if event is not None:
        return None if event is True else event
    luma, chroma = pair(y, uv, image._queue)
    _require_equal(image, luma, _UPPER)
    if getattr(uv, "shape", None) == chroma.shape:  # the caller's array is one that comes again
        return planes.renew(y, uv)
    event = planes.renew(y, chroma)
    hand_over(uv, chroma)
    return event


def update_yuv420(image: Image, y: ArrayLike, u: ArrayLike, v: ArrayLike) -> Event | None:
    """Gives an image of ``from_yuv420`` the planes of another frame; as ``update_nv12`` otherwise.

    Parameters
    ----------
    y, u, v : ArrayLike
        Of any library, of the shapes and the dtype of the image's planes.

    Returns
    -------
    Event | None
        As of ``update_nv12``.

    Raises
    ------
    InvalidError
        The image has no planes, others have another shape or dtype, or it was closed.
    """
    planes = _planes_of(image)
    event = planes.repeat(_LOWER, y, u, v)
    if event is None:
        luma, chroma = triple(y, u, v, image._queue)
        _require_equal(image, luma, _LOWER)
        event = planes.renew(y, chroma)
        planes.expect(chroma)
    return None if event is True else event


def _scale(
    matrix: Any, moves: Moves | None, factors: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]
) -> tuple[Any, Moves | None]:
    """A map, and what moves its places, to places of another unit: so many of them, and then so far away."""
    if isinstance(moves, tuple):
        return matrix, shift_fields(scale_fields(moves, factors), shift)
    try:
        place = np.array(matrix, np.float64)
    except (TypeError, ValueError, OverflowError):  # refused by what takes it
        return matrix, moves
    if place.shape in ((2, 3), (3, 3)):  # others are refused
        last = place[2] if len(place) == 3 else np.array([0.0, 0.0, 1.0])
        place[:2] = factors[:, None] * place[:2] + shift[:, None] * last
    if moves is not None and (factors != 1).any():
        assert isinstance(moves, np.ndarray)
        moves = moves * (factors if moves.dtype != _FLOAT32 or factors[0] != 0.5 else np.float32(0.5))
    return place, moves


def _planes_of(image: Image) -> Planes:
    if image._planes is None:
        raise InvalidError(f"{image!r} has no planes: update(array) takes its pixels, from_nv12 makes images of planes")
    return image._planes


def _options(addressing: Any, filtering: Any, fill: float, coordinate: Any) -> ImageOptions:
    options = image_options(
        addressing, filtering, Precision.exact, fill, "propagate", coordinate, 0.0, None, False, False, False, 2
    )  # fmt: skip
    if options.filter.interpolation not in _FILTERS:
        raise ArgumentError(f"filtering={shown(filtering)}: planes of video frames have linear and nearest")
    return options


def _colours(luma: AnyArray, standard: Any, full_range: bool, siting: Any, step: int) -> VideoColours:
    """The numbers of planes; step: of uint16, integers from one code of ten bits to the next."""
    if luma.dtype.itemsize == 1:
        return VideoColours.of(standard, full_range, siting, 255, 8, 1)
    return VideoColours.of(standard, full_range, siting, 65535, 10, step)


def _image(
    cls: type[Image], y: ArrayLike, chroma: AnyArray, colours: VideoColours, options: ImageOptions, queue: Queue
) -> Image:
    """The image of two planes: of the brightness as the caller gave it, and of both colour differences."""
    filter_ = replace(separate_fills(options.filter)[0], fill=0.0)
    if queue._backend.resampling is None:  # the kernel has the boundaries, some devices one for all axes
        filter_ = filter_.with_boundary(Boundary.edge)
    plain = ImageOptions(filter_, dimensions=2)
    luma = cls._of(y, plain, queue)
    try:
        image, second = cls.__new__(cls), cls._of(chroma, plain, queue)
        settle(queue)
        plan = planned(queue.device, (*luma.shape, 3), luma.dtype, options)
        image._take(plan, queue)
        image._planes = image._store = Planes(luma, second, colours, plan.described)
    except BaseException:
        luma.close()
        raise
    for part, black in zip((luma, second), colours.black):
        part._filter = replace(part._filter, fill=black)  # where a place is no number
    image._native = luma._native
    image._library, image._leads_on_device, image._maker = luma._library, luma._leads_on_device, luma._maker
    return image


def _require_equal(image: Image, luma: AnyArray, step: int) -> None:
    assert image._planes is not None
    if image._planes.step not in (0, step):
        raise InvalidError(
            f"{image!r} has its ten bits elsewhere: from_nv12 and update_nv12 take them in the upper bits, from_yuv420 "
            "and update_yuv420 in the lower ones"
        )
    if luma.shape != image.shape[:2] or luma.dtype != image.dtype:
        raise InvalidError(
            f"y is {luma.dtype} of shape {luma.shape}; this image takes {image.dtype} of shape {image.shape[:2]}: make "
            "another Image of it"
        )
