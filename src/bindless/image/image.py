"""``Image``: numpy in, hardware sampling, numpy out (the class for programs that need no queue)."""

from __future__ import annotations

import warnings
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..bindless_images import ImageMem
from ..bindless_images.device_limits import most_anisotropy
from ..model.arrays import Array, DType
from ..model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    FilteringMode,
    ImageChannelType,
    ImageType,
    Interpolation,
    Precision,
)
from ..model.errors import InvalidError, SamplerWarning
from ..model.grid import Grid
from ..model.image_descriptor import ImageDescriptor, integer
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..model.names import add_name
from ..model.sampler import BindlessImageSampler
from ..sampling.source import Source
from ..submission.event import Event
from ..sycl.device.handle_owner import HandleOwner, HeldHandle
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import warn_of_channels
from .array_library import OWN_TYPES, ArrayLike, Library, Maker, hand_over, leads_on_device, library_of, maker_of, view
from .coefficients import Coefficients
from .copying import copied, deep_copied, pickled
from .creation.blocks import from_blocks, store_levels, update_levels
from .creation.memory import from_memory
from .cubemap_levels import CubemapLevels
from .default_queue import queue_of_array
from .device_image import ImageStore
from .drawing import Frame
from .files import open_file, save_file
from .layer_groups import LayerGroup, layers_of_part
from .levels.levels import Levels
from .native_store import NativeStore
from .options import Addressing, ImageOptions, image_options
from .panoramas import from_equirectangular
from .plan import ImagePlan, planned, taken_dtype
from .remapping import remap
from .repetition import picture_calls
from .representation import as_html, as_png, as_text
from .resizing import resize
from .sampling import fetch, sample
from .store import Store
from .uploading import plan_of_copy
from .video.frames import Planes, from_nv12, from_yuv420, update_nv12, update_yuv420
from .warping import reproject, resample, warp

__all__ = ["Image"]


class Image(HandleOwner):
    """An image on a device, made from an array, read by the device's texture units.

    Arrays may be of any library: numpy, or what has ``__dlpack__``, ``__cuda_array_interface__`` or
    ``__sycl_usm_array_interface__``, such as those of torch, CuPy, JAX and dpctl, and ``UsmArray``. Those on the
    image's device are used there, in the order of their library's current stream, and nothing waits. Results are arrays
    of the library of the coordinates, and whole pictures of that of the array that the image was made from.

    Coordinates are in (x, y, z) order and in pixels unless ``coordinate="normalized"``: the centre of pixel
    (i, j), that is of ``array[j, i]``, is (i + 0.5, j + 0.5), and the image spans 0 to its size. They keep
    that meaning with mipmaps and with repeating addresses too, for which the hardware itself wants 0..1.

    The image owns its memory on the device until ``close()``, the end of a ``with`` block, or collection.
    Methods wait for results on the host, and may be called from several threads.

    Parameters
    ----------
    array : ArrayLike
        Shape ([depth,] [height,] width[, channels]), with up to 4 channels. A last axis of at most four entries
        counts channels where there are three axes or more. dtype int8, uint8, int16 or uint16 (read as -1..1 and
        0..1), float16 or float32, or int32 or uint32; float64 is taken as float32, and bool as uint8. The array is
        copied. Images of Pillow may be given, too; palettes are expanded.
    channel_type : ImageChannelType | str, optional
        How its channels are read; default by the dtype.
    mipmaps : bool, default False
        Make the smaller versions too, so that reduced pictures do not flicker and alias.
    layers : bool, default False
        The first axis counts images that are never blended with each other. Layers beyond the device's limit, and
        layers with mipmaps, lie in several native images (``parts``), behind the same methods.
    cubemap : bool, default False
        The first axis counts the six faces +x, -x, +y, -y, +z, -z of a cube; coordinates are directions. With mipmaps
        each level is a native image (``parts``).
    addressing : AddressingMode | str | Sequence[AddressingMode | str], default AddressingMode.clamp_to_edge
        What lies outside: ``clamp_to_edge``, ``repeat``, ``mirrored_repeat``, ``mirror`` at the centres of the outer
        pixels, ``border`` (``fill``), which SYCL calls ``clamp``, or ``extent``: the outer pixels up to their outer
        borders, and ``fill`` beyond; one mode, or one for each axis, x first. Texture units lack ``mirror`` and
        ``extent``: they are computed exactly, in all levels. Cubemaps without seams have no outside.
    filtering : FilteringMode | Interpolation | str, default FilteringMode.linear
        ``linear`` or ``nearest``; between the levels of a mipmap too. ``cubic`` is the interpolating cubic B-spline,
        scipy's order 3, whose coefficients the device computes first, and keeps next to the pixels. ``catmull_rom`` and
        ``bicubic`` are cubic convolutions with a = -0.5 and -0.75. Cubic filters are those of ``sample``, ``warp`` and
        ``remap``; results of integers are clamped, because they overshoot.
    precision : Precision | str, default Precision.hardware
        Arithmetic of ``sample``, ``warp`` and ``remap``. ``hardware`` is the texture unit: positions are rounded to
        1/256 of a pixel, so that linear values are wrong by up to 1/512 of the difference between neighbours along
        each axis. ``exact`` computes weights in float32, on GPUs by kernels that fetch: values are those of float64 to
        1e-6 of the range of the pixels. ``reproducible`` computes the recorded arithmetic of a texture unit: the
        accuracy of ``hardware``, and the same bits on every device. What texture units lack is exact in any case:
        ``catmull_rom``, ``bicubic``, and a ``fill`` other than 0.
    fill : float, default 0.0
        The value outside with ``border`` and ``extent``, in the numbers of the array, for all channels.
    nan : str, default "propagate"
        Of float images: ``propagate``, NaN pixels spoil the values around them, or ``ignore``, which needs
        ``precision="exact"`` and no cubic filter: the weights of the other pixels are divided by their sum, and there
        is NaN where there are no others.
    coordinate : CoordinateNormalizationMode | str, default CoordinateNormalizationMode.unnormalized
        ``unnormalized``, pixels, or ``normalized``, 0..1 over each dimension.
    max_anisotropy : float, default 0.0
        With mipmaps, how many times longer than wide the footprint of a sample may be.
    queue : Queue, optional
        Where the image lives and works; default: one queue on the device of the array, or on the default device.
    dimensions : int, optional
        Of space, where the shape leaves that open (1D with channels; ``ShapeWarning`` names likely channels).
    grid : bindless.space.Grid, optional
        Where the pixels lie in the world, for ``resample``: its shape is the array's without layers and channels.
    srgb : bool, default False
        The array, of uint8, has grey, or red, green and blue, in the codes of sRGB, and linear alpha. Samples are
        linear: texture units convert texels before they filter them. So are the means of mipmaps.

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
    array([0. , 0.5], dtype=float32)
    """

    _name: str
    """See ``model.names``."""

    def __init__(
        self,
        array: ArrayLike,
        *,
        channel_type: ImageChannelType | str | None = None,
        mipmaps: bool = False,
        layers: bool = False,
        cubemap: bool = False,
        addressing: Addressing = AddressingMode.clamp_to_edge,
        filtering: FilteringMode | Interpolation | str = FilteringMode.linear,
        precision: Precision | str = Precision.hardware,
        fill: float = 0.0,
        nan: str = "propagate",
        coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
        max_anisotropy: float = 0.0,
        queue: Queue | None = None,
        dimensions: int | None = None,
        grid: Grid | None = None,
        srgb: bool = False,
    ) -> None:
        options = image_options(
            addressing, filtering, precision, fill, nan, coordinate, max_anisotropy, channel_type, mipmaps, layers,
            cubemap, dimensions, grid, srgb,
        )  # fmt: skip
        self._fill(array, options, queue)
        if options.dimensions is None and self._described.dimensions == 3 and not self._has_channel_axis:
            warn_of_channels(self.shape, self._described)
        if self._sampler.max_anisotropy > 1:
            self._warn_of_anisotropy()

    __init__.__doc__ = __doc__

    _library: Library | None

    _maker: Maker | None
    """Makes arrays of the library on the device."""

    _store: Store

    _native: ImageStore
    """Memory and handles, where one native image holds the pixels."""

    _planes: Planes | None = None
    """The store, where it has the planes of a video frame."""

    @classmethod
    def _of(cls, array: ArrayLike, options: ImageOptions, queue: Queue | None = None) -> Image:
        """An image of an array with options."""
        image = cls.__new__(cls)
        image._fill(array, options, queue)
        return image

    def _fill(self, array: ArrayLike, options: ImageOptions, queue: Queue | None) -> None:
        """The constructor, but for warnings."""
        if isinstance(array, Levels):
            store_levels(self, array, options, queue)
            return
        if queue is None:
            queue = queue_of_array(array)
        elif not isinstance(queue, Queue):
            raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
        direct = None if type(array) in OWN_TYPES else plan_of_copy(array, options, queue)
        if direct is not None:  # one copy, which C code repeats for later images
            self._take(direct, queue)
            self._library, self._leads_on_device = library_of(array), True
            self._hold(ImageStore.copied(array, direct.described, direct.stored, queue, self._handle_precision))
            self._maker = maker_of(array)
            return
        pixels = view("array", array, queue)
        plan = planned(queue.device, pixels.shape, taken_dtype(pixels.dtype), options)
        self._take(plan, queue)
        if type(array) is not np.ndarray:
            self._library, self._leads_on_device = library_of(array), leads_on_device(array, pixels)
        most = layers_of_part(queue, options.mipmaps) if options.layers else None
        if options.cubemap and options.mipmaps:
            self._store = CubemapLevels(self, pixels)
        elif most and (options.mipmaps or most < self.num_layers):
            self._store = LayerGroup(self, pixels, most)
        else:
            stored = pixels if self._has_channel_axis else pixels[..., None]
            self._hold(ImageStore.filled(stored, self._described, plan.stored, queue, self._handle_precision))
        if isinstance(pixels, UsmArray):
            hand_over(array, pixels)
            self._maker = maker_of(array) if self._leads_on_device else None

    def _hold(self, native: ImageStore) -> None:
        """Makes a native image the store."""
        self._native, self._store = native, NativeStore(native)

    def _take(self, plan: ImagePlan, queue: Queue) -> None:
        """Everything but the store."""
        options, described = plan.options, plan.described
        self._name = add_name(self)
        self._queue, self._options, self._library, self._leads_on_device = queue, options, None, False
        self._dtype, self._size = (
            described.number_dtype,
            (described.width, described.height, described.depth)[: described.dimensions],
        )
        self._layer_axis = (described.array_size,) if described.type is not ImageType.standard else ()
        self._channel_axis = (described.num_channels,) if plan.has_channel_axis else ()
        self._pixel_bytes = described.array_size * described.num_channels * self._dtype.itemsize
        self._described, self._has_channel_axis, self._sampler = described, plan.has_channel_axis, plan.sampler
        self._maker, self._pictures = None, picture_calls(queue)
        self._frames: dict[tuple[int, ...], Frame] = {}
        self._views: dict[object, int] = {}  # numbers of lenses, for pictures that come again
        self._lenses: dict[int, UsmArray] = {}  # those that are on the device
        self._sources: dict[tuple[bool, bool], tuple[ImageStore, Source]] = {}
        self._filter, self._mipmaps = options.filter, options.mipmaps
        self._coefficients = Coefficients() if self._filter.interpolation is Interpolation.cubic else None
        self._is_computed, self._handle_precision = plan.is_computed, plan.handle_precision

    def _warn_of_anisotropy(self) -> None:
        """Warns where the device does less than was asked for."""
        ratio, most = self._sampler.max_anisotropy, most_anisotropy(self._queue.device)
        if ratio > most:
            text = f"max_anisotropy={ratio:g} samples as {most}, the most that {self._queue.device.name} does"
            warnings.warn(text, SamplerWarning, stacklevel=3)

    from_equirectangular = classmethod(from_equirectangular)

    from_memory, from_blocks = classmethod(from_memory), classmethod(from_blocks)

    from_nv12, from_yuv420 = classmethod(from_nv12), classmethod(from_yuv420)

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
        """The requested sampler; that of the hardware may differ in ``coordinate``. Linear for cubic filters."""
        return self._sampler

    @property
    def filtering(self) -> Interpolation:
        """Interpolation of ``sample``, ``warp`` and ``remap``."""
        return self._filter.interpolation

    @property
    def precision(self) -> Precision:
        """Arithmetic of ``sample``, ``warp`` and ``remap``."""
        return self._filter.precision

    @property
    def fill(self) -> float:
        """Value outside with ``border``, in the numbers of the array."""
        return self._filter.fill

    @property
    def grid(self) -> Grid | None:
        """Where its pixels lie in the world, as it was given."""
        return self._options.grid

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self._array_shape(self._described)

    @property
    def dtype(self) -> DType:
        """dtype of the array."""
        return self._dtype

    @property
    def size(self) -> tuple[int, ...]:
        """Pixels in (x, y, z) order, layers not counted."""
        return self._size

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

    @property
    def parts(self) -> tuple[Image, ...]:
        """The images with memory and handles of their own that it consists of: itself alone where one native image
        holds it, else one for each group of layers, or for each layer or level of an image with mipmaps."""
        return self._store.parts or (self,)

    __repr__ = as_text
    _repr_html_ = as_html
    _repr_png_ = as_png

    # ------------------------------------------------------------------ reading

    sample = sample
    fetch = fetch

    def numpy(self, level: int = 0) -> Array:
        """The stored pixels, in the array's dtype and axes; of a smaller level, the smaller array. Blocks are decoded:
        to codes of 8 bits, of 16 for BC4, BC5 and words of ten bits, and to halves for BC6H.

        Raises
        ------
        InvalidError
            The image has no such level.
        """
        return self._store.numpy(self, level)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an Image lies on a device: an array of it is always a copy")
        result = self.numpy()
        return result if dtype is None else result.astype(dtype, copy=False)

    # ------------------------------------------------------------------ whole pictures

    resize = resize
    warp = warp

    resample = resample

    reproject = reproject
    remap = remap

    # ------------------------------------------------------------------ new pixels

    def update(self, array: ArrayLike) -> Event | None:
        """Gives the image new pixels, in all levels. Nothing is allocated but, at the first time, buffers.

        Commands that read the image and were submitted to its queue before read the old pixels, and those that are
        submitted afterwards the new ones.

        Parameters
        ----------
        array : ArrayLike
            Of any library, of the shape and dtype of the image's array; of blocks those of ``from_blocks``.

        Returns
        -------
        Event | None
            Of pixels on the device, which are read until then; their library's current stream comes after it. None of
            pixels of the host: they have been read, and may be overwritten.

        Raises
        ------
        InvalidError
            Another shape or dtype, or the image was closed.

        Examples
        --------
        >>> with bindless.Image(np.zeros((2, 2), np.float32), queue=bindless.Queue("reference")) as image:
        ...     image.update(np.eye(2, dtype=np.float32))
        ...     image.fetch([1, 1])
        array(1., dtype=float32)
        """
        event = self._store.repeat_update(array)
        if event is None:
            event = self._update_any(array)
        if self._coefficients is not None:
            self._coefficients.renew()
        return None if event is True else event

    def _update_any(self, array: ArrayLike) -> Event | None:
        """``update`` of an array for which no copy is prepared."""
        if self._described.channel.block or isinstance(array, (list, tuple)):
            update_levels(self, array)
            return None
        pixels, dtype = view("array", array, self._queue), self._described.dtype
        if pixels.shape != self.shape or taken_dtype(pixels.dtype) != dtype:
            raise InvalidError(
                f"an array of {pixels.dtype} of shape {pixels.shape}; update takes {dtype} of shape {self.shape}, "
                "as the image has: make another Image of it"
            )
        event = self._store.update(self, pixels, array)
        hand_over(array, pixels)
        return event

    update_nv12, update_yuv420 = update_nv12, update_yuv420

    # ------------------------------------------------------------------ for kernels

    @property
    def handle(self) -> SampledImageHandle:
        """The sampled image, for kernels and functions that take handles; it ends with ``close()``.

        Its coordinates are pixels. They are 0..1 over each dimension with ``coordinate="normalized"``, and always so of
        mipmaps, of repeating addresses and, as directions, of cubemaps: then the hardware takes nothing else.

        A kernel takes the ``Image`` itself, too: as a sampled image, and for a parameter that the source declares as
        ``unsampled_image_handle`` as ``unsampled_handle()``. Unlike this handle, that keeps the image until the kernel
        is complete.

        Raises
        ------
        InvalidError
            The image was closed.
        """
        return self._store.native().reader(self._sampler).handle

    def unsampled_handle(self, level: int = 0) -> UnsampledImageHandle:
        """The image without a sampler, which kernels also write; it ends with ``close()``.

        Parameters
        ----------
        level : int, default 0
            Level of a mipmap.

        Raises
        ------
        InvalidError
            The image was closed, or has no such level.
        """
        self._level(level)
        self._lend()
        return self._store.native().unsampled_handle(level)

    @property
    def memory(self) -> ImageMem:
        """The memory, with channels and layers that are only stored; the image owns it, and closes it in ``close()``.

        Raises
        ------
        InvalidError
            The image was closed.
        """
        self._lend()
        return self._store.native().memory()

    def _image_handle(self, sampled: bool) -> HeldHandle:
        if not sampled:
            self._lend()
        return self._store.native().kernel_argument(self._sampler if sampled else None)

    def _lend(self) -> None:
        """Others may write the pixels from now on."""
        if self._coefficients is not None:
            self._coefficients.share()

    # ------------------------------------------------------------------ lifetime

    def close(self) -> None:
        """Frees the memory on the device; any further use raises ``InvalidError``. May be called again."""
        self._sources.clear()
        self._pictures.forget()
        self._lenses.clear()
        self._store.close()
        if self._coefficients is not None:
            self._coefficients.close()

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
        spatial = tuple(n for n in (described.depth, described.height, described.width) if n)
        return self._layer_axis + spatial + self._channel_axis

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
