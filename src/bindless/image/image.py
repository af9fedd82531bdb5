"""``Image``: numpy in, hardware sampling, numpy out (the class for programs that need no queue)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.device_limits import most_anisotropy
from ..bindless_images.result_arrays import empty_result
from ..model.channels import Channel
from ..model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    FilteringMode,
    ImageChannelType,
    ImageType,
)
from ..model.errors import InvalidError, SamplerWarning
from ..model.host_array import as_array
from ..model.image_descriptor import ImageDescriptor, integer
from ..model.masked_arrays import warn_of_mask
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler
from ..sycl.queue.queue import Queue
from .area_filter import to_storage
from .arguments import gradient_of, per_item, points_of, sizes_of
from .coordinates import cube_directions, panorama_coordinates, projection_matrix, warp_coordinates
from .copying import copied, deep_copied, pickled
from .default_queue import default_queue
from .device_image import ImageStore, Reader
from .device_resample import mapped
from .files import open_file, save_file
from .plan import planned
from .representation import as_html, as_png, as_text
from .resizing import enlarge, means
from .row_blocks import in_blocks, require_room

__all__ = ["Image"]

Array = npt.NDArray[Any]

_BYTES_OF_DIRECTION = 24  # three coordinates of 64 bits


class Image:
    """An image on a device, made from an array, read by the device's texture units.

    Coordinates are in (x, y, z) order and in pixels unless ``coordinate="normalized"``: the centre of pixel
    (i, j), that is of ``array[j, i]``, is (i + 0.5, j + 0.5), and the image spans 0 to its size. They keep
    that meaning with mipmaps and with repeating addresses too, for which the hardware itself wants 0..1.

    The image owns its memory on the device until ``close()``, the end of a ``with`` block, or collection.
    All methods wait for their results, and may be called from several threads.

    Parameters
    ----------
    array : ArrayLike
        Shape ([depth,] [height,] width[, channels]), with up to 4 channels. A last axis of at most four entries
        counts channels where there are three axes or more. dtype int8, uint8, int16 or uint16 (read as -1..1 and
        0..1), float16 or float32, or int32 or uint32. The array is copied.
    channel_type : ImageChannelType | str, optional
        How its channels are read; default by the dtype.
    mipmaps : bool, default False
        Make the smaller versions too, so that reduced pictures do not flicker and alias.
    layers : bool, default False
        The first axis counts images that are never blended with each other.
    cubemap : bool, default False
        The first axis counts the six faces +x, -x, +y, -y, +z, -z of a cube; coordinates are directions.
    addressing : AddressingMode | str | Sequence[AddressingMode | str], default AddressingMode.clamp_to_edge
        What lies outside: ``clamp_to_edge``, ``repeat``, ``mirrored_repeat``, ``clamp_to_border`` (transparent zero);
        one mode, or three for (x, y, z).
    filtering : FilteringMode | str, default FilteringMode.linear
        ``linear`` or ``nearest``; between the levels of a mipmap too.
    coordinate : CoordinateNormalizationMode | str, default CoordinateNormalizationMode.unnormalized
        ``unnormalized``, pixels, or ``normalized``, 0..1 over each dimension.
    max_anisotropy : float, default 0.0
        With mipmaps, how many times longer than wide the footprint of a sample may be.
    queue : Queue, optional
        Where the image lives and works; default: one queue on the default device.
    dimensions : int, optional
        Spatial dimensions, where the array's shape leaves that open (a 1D image with channels).

    Raises
    ------
    InvalidError
        The shape, dtype or an option is not that of an image; the message says what is allowed.
    FeatureNotSupportedError
        The device lacks the kind of image or the format.
    MemoryAllocationError
        The device has not enough memory.

    Examples
    --------
    >>> ramp = np.arange(12, dtype=np.float32).reshape(3, 4)
    >>> with bindless.Image(ramp, queue=bindless.Queue("reference")) as image:
    ...     image.sample([[0.5, 0.5], [1.0, 0.5]])
    array([[0. ],
           [0.5]], dtype=float32)
    """

    def __init__(
        self,
        array: npt.ArrayLike,
        *,
        channel_type: ImageChannelType | str | None = None,
        mipmaps: bool = False,
        layers: bool = False,
        cubemap: bool = False,
        addressing: AddressingMode | str | Sequence[AddressingMode | str] = AddressingMode.clamp_to_edge,
        filtering: FilteringMode | str = FilteringMode.linear,
        coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
        max_anisotropy: float = 0.0,
        queue: Queue | None = None,
        dimensions: int | None = None,
    ) -> None:
        warn_of_mask(array, "array")
        pixels = as_array("array", array)
        if queue is None:
            queue = default_queue()
        elif not isinstance(queue, Queue):
            raise InvalidError(f"queue={shown(queue)} is no Queue")
        self._queue = queue
        plan = planned(
            queue.device, pixels.shape, pixels.dtype, dimensions, channel_type, mipmaps, layers, cubemap,
            addressing, filtering, coordinate, max_anisotropy,
        )  # fmt: skip
        self._described, stored, shape, self._has_channel_axis, self._sampler = plan
        ratio = self._sampler.max_anisotropy
        if ratio > 1 and ratio > (most := most_anisotropy(queue.device)):
            told = f"max_anisotropy={ratio:g} samples as {most}, the most that {queue.device.name} does"
            warnings.warn(told, SamplerWarning, stacklevel=2)
        self._mipmaps = bool(mipmaps)
        self._store = ImageStore(
            pixels if self._has_channel_axis else pixels.reshape(shape), self._described, stored, queue
        )

    @classmethod
    def from_equirectangular(
        cls, panorama: npt.ArrayLike, size: int | None = None, *, queue: Queue | None = None, **options: Any
    ) -> Image:
        """A cubemap from a panorama of the whole sphere.

        The middle of the panorama looks along -z, its right quarter along +x, its top row along +y.

        Parameters
        ----------
        panorama : ArrayLike
            Shape (height, width[, channels]); usually twice as wide as high.
        size : int, optional
            Pixels of a side of a face; default half the panorama's height. Smaller ones are made from the mipmaps of
            the panorama, so that nothing aliases.
        queue : Queue, optional
            Where both live.
        options : Any
            Further arguments of ``Image``.

        Raises
        ------
        InvalidError
            The panorama has not two dimensions, or the size is not positive.
        """
        warn_of_mask(panorama, "panorama")
        pixels = as_array("panorama", panorama)
        if pixels.ndim not in (2, 3):
            raise InvalidError(f"a panorama has shape (height, width[, channels]), not {pixels.shape}")
        height, width = pixels.shape[:2]
        (side,) = sizes_of(max(height // 2, 1) if size is None else size, 1, "size", "(pixels of a face)")
        taken = {"mipmaps", "layers", "cubemap", "dimensions"} & options.keys()
        if taken:
            raise InvalidError(f"from_equirectangular makes a cubemap: leave {', '.join(sorted(taken))} out")
        if pixels.dtype.kind in "iu" and pixels.dtype.itemsize == 4:
            raise InvalidError(
                f"a panorama of {pixels.dtype} cannot be resampled to the faces of a cubemap, for integers of 32 bits "
                'are not filtered: convert with panorama.astype("float32")'
            )
        require_room(6 * side * side, f"size={side}", _BYTES_OF_DIRECTION)
        directions = cube_directions(side)
        with cls(pixels, mipmaps=True, addressing=AddressingMode.repeat, queue=queue, dimensions=2) as source:
            level = max(np.log2(height / (2 * side)), 0.0)
            values = source.sample(panorama_coordinates(directions, width, height), level=float(level))
            faces = to_storage(values, source._described.channel, codes=False)
            if not source._has_channel_axis:
                faces = faces[..., 0]
        return cls(faces, cubemap=True, queue=queue, **options)

    # ------------------------------------------------------------------ what it is

    @property
    def descriptor(self) -> ImageDescriptor:
        """Of the image on the device: it may have more channels than the array, and has the levels of mipmaps."""
        return self._store.descriptor

    @property
    def queue(self) -> Queue:
        """The queue the image was made with."""
        return self._queue

    @property
    def sampler(self) -> BindlessImageSampler:
        """The requested sampler; that of the hardware may differ in ``coordinate``."""
        return self._sampler

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self._array_shape(self._described)

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the array."""
        return self._described.dtype

    @property
    def size(self) -> tuple[int, ...]:
        """Pixels in (x, y, z) order, layers not counted."""
        described = self._described
        return (described.width, described.height, described.depth)[: described.dimensions]

    @property
    def num_channels(self) -> int:
        """Channels of the array."""
        return self._described.num_channels

    @property
    def num_layers(self) -> int:
        """Layers, or faces of a cubemap; 1 for other images."""
        return self._described.array_size

    @property
    def num_levels(self) -> int:
        """Levels of the mipmap, 1 without."""
        return self.descriptor.num_levels

    __repr__ = as_text
    _repr_html_ = as_html
    _repr_png_ = as_png

    # ------------------------------------------------------------------ reading

    def sample(
        self,
        coords: npt.ArrayLike,
        *,
        level: npt.ArrayLike | None = None,
        dx: npt.ArrayLike | None = None,
        dy: npt.ArrayLike | None = None,
        layers: npt.ArrayLike | None = None,
    ) -> Array:
        """The filtered values at any coordinates.

        Parameters
        ----------
        coords : ArrayLike
            Shape (..., dims) in (x, y, z) order; the centre of pixel (i, j) is (i + 0.5, j + 0.5), or that divided by
            the size with normalized coordinates. A cubemap takes directions (..., 3) of any length. A 1D image takes
            (N,) too. NaN reads at 0.
        level : ArrayLike, optional
            Level of a mipmap, a number or an array that broadcasts to (...): 1 is half the size.
        dx, dy : ArrayLike, optional
            Instead of a level, the change of ``coords`` from one output pixel to the next in two directions, shape
            (..., dims) or one that broadcasts to it; the level, and with ``max_anisotropy`` the shape of the
            footprint, follow from it.
        layers : ArrayLike, optional
            Layer of each sample, a number or an array that broadcasts to (...). Without it every layer is sampled.

        Returns
        -------
        Array
            Shape (..., channels), or (layers, ..., channels) where all layers are sampled: float32 (float16 of a
            float16 image, integers of an integer image).

        Raises
        ------
        InvalidError
            A shape or an option does not fit the image.
        """
        points, leading = points_of(self, coords, np.float64)
        if (dx is None) != (dy is None):
            raise InvalidError("dx and dy are given together or not at all")
        if level is not None and dx is not None:
            raise InvalidError("level and dx, dy exclude each other: gradients choose the level")
        if (level is not None or dx is not None) and not self._mipmaps:
            raise InvalidError("level, dx and dy need an image made with mipmaps=True")
        gradients = None
        if dx is not None and dy is not None:
            gradients = (gradient_of(self, "dx", dx, leading), gradient_of(self, "dy", dy, leading))
        levels = None if level is None else per_item("level", level, leading, np.float32)
        reader = self._store.reader(self._sampler)
        return self._over_layers(
            layers,
            leading,
            lambda chosen: self._store.sample(reader, points, chosen, levels, gradients),
            layered=self._described.type is ImageType.array,
        )

    def fetch(self, coords: npt.ArrayLike, *, level: int = 0, layers: npt.ArrayLike | None = None) -> Array:
        """The values of single pixels, without a sampler.

        Parameters
        ----------
        coords : ArrayLike
            Integers of shape (..., dims) in (x, y, z) order, from 0: (i, j) is ``array[j, i]``. A 1D image takes (N,)
            too; a cubemap takes (x, y) of a face.
        level : int, default 0
            Level of a mipmap.
        layers : ArrayLike, optional
            Layer or face of each pixel, a number or an array that broadcasts to (...). Without it every layer is
            fetched.

        Returns
        -------
        Array
            Shape (..., channels), or (layers, ..., channels): float32 of normalized images, else the dtype.

        Raises
        ------
        InvalidError
            Coordinates or layers outside of the image, or no integers.
        """
        values = as_array("coords", coords)
        if values.dtype.kind not in "iu":
            raise InvalidError(f"coords are {values.dtype}; pixels are fetched by integers, sample() takes floats")
        points, leading = points_of(self, values, values.dtype, fetch=True)
        described = self._level(level)
        for axis, extent in enumerate((described.width, described.height, described.depth)[: points.shape[1]]):
            along = points[:, axis]
            if along.size and not (along.min() >= 0 and along.max() < extent):
                first = int(np.flatnonzero((along < 0) | (along >= extent))[0])
                raise InvalidError(
                    f"coords[{first}] is {tuple(map(int, points[first]))}; {'xyz'[axis]} is 0 to {extent - 1}"
                )
        points = np.ascontiguousarray(points, np.int32)
        return self._over_layers(
            layers,
            leading,
            lambda chosen: self._store.fetch(points, chosen, level),
            layered=self._described.is_layered,
        )

    def numpy(self, level: int = 0) -> Array:
        """The stored pixels, in the array's dtype and axes; of a smaller level, the smaller array.

        Raises
        ------
        InvalidError
            The image has no such level.
        """
        described = self._level(level)
        return self._store.download(level)[..., : self.num_channels].reshape(self._array_shape(described))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an Image lies on a device: an array of it is always a copy")
        result = self.numpy()
        return result if dtype is None else result.astype(dtype, copy=False)

    # ------------------------------------------------------------------ whole pictures

    def resize(self, size: int | Sequence[int]) -> Array:
        """The picture in another size.

        Where it shrinks, each pixel is the mean of the area that it covers, so that nothing aliases; where it
        grows, the device's linear filter interpolates between pixel centres, and the edges are clamped. An
        image with ``filtering="nearest"`` keeps its values: each pixel is the nearest one.

        Parameters
        ----------
        size : int | Sequence[int]
            (width, height); (width,) of a 1D image, (width, height, depth) of a 3D one.

        Returns
        -------
        Array
            The array's dtype (integers rounded) and axes, in the new size; every layer of an array.

        Raises
        ------
        InvalidError
            The size is not made of positive integers, or the image is a cubemap.
        """
        self._refuse_cubemap("resize")
        sizes = sizes_of(size, len(self.size), "size", "(width, height, depth)")
        require_room(math.prod(sizes), "size", self._bytes_of_pixel())
        channel = self._described.channel
        if self._sampler.filtering is FilteringMode.nearest:
            return self._as_given(self._enlarge(sizes, channel, codes=False), sizes)
        reduced = tuple(min(new, old) for new, old in zip(sizes, self.size))
        if reduced == self.size:
            return self._as_given(self._enlarge(sizes, channel, codes=False), sizes)
        means = self._means(reduced, rounded=reduced == sizes)
        if reduced == sizes:
            return self._as_given(means, sizes)
        with Image(
            means.astype(np.float32, copy=False),
            layers=self._described.is_layered,
            queue=self._queue,
            dimensions=len(sizes),
        ) as smaller:
            return self._as_given(smaller._enlarge(sizes, channel, codes=True), sizes)

    def warp(self, matrix: npt.ArrayLike, shape: Sequence[int]) -> Array:
        """The picture seen through an affine or projective map.

        The matrix maps from the output to the input: output pixel (i, j) reads the image at
        ``matrix @ (i + 0.5, j + 0.5, 1)``, the result of a projective matrix divided by its third component.
        (Invert a matrix that maps input pixels to output pixels.) The input coordinates are those of ``sample``:
        pixels, or 0..1 with normalized coordinates. With mipmaps, the level and the footprint of each pixel
        follow from the matrix, so that parts that shrink do not alias.

        Parameters
        ----------
        matrix : ArrayLike
            (2, 3), affine, or (3, 3), projective.
        shape : Sequence[int]
            (height, width) of the output.

        Returns
        -------
        Array
            Shape (height, width[, channels]), with the layers first, in the array's dtype (integers rounded).

        Raises
        ------
        InvalidError
            The image has not two dimensions or is a cubemap, or the matrix or shape is none.
        """
        self._refuse_cubemap("warp")
        if len(self.size) != 2:
            raise InvalidError(f"warp needs a two-dimensional image; this one has {len(self.size)} dimensions")
        full = projection_matrix(matrix)
        height, width = sizes_of(shape, 2, "shape", "(height, width)")
        require_room(height * width, "shape", self._bytes_of_pixel())
        reader = self._store.reader(self._sampler)
        picture = self._mapped(reader, full, (width, height), gradients=self._mipmaps)
        if picture is not None:
            return picture

        def coordinates(start: int, stop: int) -> tuple[Array, tuple[Array, Array] | None]:
            points, dx, dy = warp_coordinates(full, width, start, stop, gradients=self._mipmaps)
            return points, None if dx is None or dy is None else (dx, dy)

        result = self._draw(reader, (width, height), coordinates, self._described.channel, codes=False)
        return self._as_given(result, (width, height))

    def _bytes_of_pixel(self) -> int:
        """Of a result: in all its layers."""
        return max(self.num_layers, 1) * self.num_channels * self.dtype.itemsize

    _means = means
    _enlarge = enlarge

    def _mapped(
        self, reader: Reader, matrix: npt.NDArray[np.float64], sizes: tuple[int, int], *, gradients: bool
    ) -> Array | None:
        """A picture of every layer made by the device, shaped as given; None where the processor has to."""
        picture = mapped(self._queue, self._store, reader, matrix, sizes, self._described, gradients=gradients)
        return None if picture is None else self._as_given(picture, sizes)

    def _draw(
        self,
        reader: Reader,
        sizes: Sequence[int],
        coordinates: Callable[[int, int], tuple[Array, tuple[Array, Array] | None]],
        channel: Channel,
        *,
        codes: bool,
    ) -> Array:
        """A picture of every layer, block by block, each made, sampled and stored before it leaves the cache.

        Parameters
        ----------
        sizes : Sequence[int]
            Of the picture, in (x, y, z) order.
        coordinates : Callable[[int, int], tuple[Array, tuple[Array, Array] | None]]
            Gives those of a range of rows (slices, pixels), (N, dims), and their gradients.
        channel : Channel
            How the picture is stored.
        codes : bool
            Whether samples are stored codes rather than 0..1 or -1..1.
        """
        layered = self._described.is_layered
        shape = (self.num_layers if layered else 1, *reversed(sizes), self.num_channels)
        result = empty_result(shape, channel.storage)

        def fill(start: int, stop: int) -> None:
            points, gradients = coordinates(start, stop)
            for layer, picture in enumerate(result):
                values = self._store.sample(reader, points, layer if layered else None, None, gradients)
                part = picture[start:stop]
                to_storage(values.reshape(part.shape), channel, codes=codes, out=part)

        in_blocks(fill, sizes[-1], int(np.prod(sizes[:-1])))
        return result

    def _as_given(self, result: Array, sizes: Sequence[int]) -> Array:
        """A picture with the axes of the array that the image was made from."""
        layers = (self.num_layers,) if self._described.is_layered else ()
        channels = (self.num_channels,) if self._has_channel_axis else ()
        return result.reshape(*layers, *reversed(tuple(sizes)), *channels)

    # ------------------------------------------------------------------ lifetime

    def close(self) -> None:
        """Frees the memory on the device; any further use raises ``InvalidError``. May be called again."""
        self._store.close()

    def __enter__(self) -> Image:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    __copy__ = copied
    __deepcopy__ = deep_copied
    __reduce_ex__ = pickled

    # ------------------------------------------------------------------ files

    open = classmethod(open_file)
    save = save_file

    # ------------------------------------------------------------------ arguments

    def _array_shape(self, described: ImageDescriptor) -> tuple[int, ...]:
        layers = (self.num_layers,) if self._described.is_layered else ()
        spatial = tuple(n for n in (described.depth, described.height, described.width) if n)
        return layers + spatial + ((self.num_channels,) if self._has_channel_axis else ())

    def _refuse_cubemap(self, method: str) -> None:
        if self._described.type is ImageType.cubemap:
            raise InvalidError(f"{method} has no meaning for a cubemap; make an Image with layers=True of its faces")

    def _level(self, level: int) -> ImageDescriptor:
        level = integer("level", level)
        if self.num_levels == 1:
            if level != 0:
                raise InvalidError(f"level={level}: this image has one level, 0; mipmaps=True makes more")
            return self._described
        return self._store.descriptor.get_mip_level_desc(level)

    def _over_layers(
        self, layers: npt.ArrayLike | None, leading: tuple[int, ...], read: Callable[[Any], Array], *, layered: bool
    ) -> Array:
        """Calls ``read`` with None, a layer or (N,) layers, as the image needs it, and shapes the results.

        Parameters
        ----------
        layers : ArrayLike | None
            As the user gave them; None reads every layer.
        leading : tuple[int, ...]
            Shape of the coordinates.
        read : Callable[[Any], Array]
            Gives (N, channels).
        layered : bool
            Whether the read chooses a layer at all.
        """

        def shaped(layer: Any) -> Array:
            return read(layer).reshape(*leading, self.num_channels)

        if not layered:
            if layers is not None:
                raise InvalidError(f"layers={shown(layers)}: there are none to choose; layers=True makes them")
            return shaped(None)
        count = self.num_layers
        if layers is None:
            return np.stack([shaped(layer) for layer in range(count)])
        given = as_array("layers", layers)
        if given.dtype.kind not in "iu":
            raise InvalidError(f"layers have dtype {given.dtype}; they are integers")
        if given.size and not (given.min() >= 0 and given.max() < count):
            raise InvalidError(f"layers run from {given.min()} to {given.max()}; this image has 0 to {count - 1}")
        return shaped(per_item("layers", given, leading, np.uint32))
