"""``ImageStore``: the device side of one ``Image``: memory, levels, handles, and their release.

Differences between the request and the hardware are handled here: three channels are padded to four where
the device has no such format, and pixel coordinates become 0..1 where the hardware takes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images import (
    ImageMem,
    create_image,
    destroy_image_handle,
    fetch_cubemap,
    fetch_image,
    fetch_image_array,
    sample_cubemap,
    sample_image,
    sample_image_array,
    sample_mipmap,
)
from ..bindless_images.context_tables import handle_key
from ..bindless_images.device_limits import most_anisotropy
from ..bindless_images.result_arrays import empty_result
from ..core.lock import Lock
from ..core.ownership import is_finished
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    CubemapFilteringMode,
    FilteringMode,
    ImageType,
    Precision,
)
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..model.sampler import BindlessImageSampler
from ..sampling.area import AreaSource
from ..sampling.packing import After
from ..submission.event import Event
from ..sycl.device.handle_owner import HeldHandle, HeldSampledHandle, HeldUnsampledHandle
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import AnyArray
from .channel_copy import copy_channels
from .coordinates import normalized_units
from .levels.levels import smaller_levels, upload_levels
from .results import leave_arrays
from .uploading import Uploads

__all__ = ["ImageStore", "Reader"]


_MAX_KERNEL_ARGUMENTS = 8
_REPEATING = (AddressingMode.repeat, AddressingMode.mirrored_repeat)


@dataclass(frozen=True)
class Reader:
    """A sampled handle and what turns coordinates of the user into its own.

    Attributes
    ----------
    handle : SampledImageHandle
        Made by the store, which destroys it.
    scale : NDArray[np.float32] | None
        (dims,) what coordinates are divided by, or None where they are the handle's own.
    bias : NDArray[np.float32] | None
        (dims,) added afterwards: the hardware cuts 0..1 to a fixed number of bits, and half of the last one makes
        that a rounding.
    """

    handle: SampledImageHandle
    scale: npt.NDArray[np.float32] | None = None
    bias: npt.NDArray[np.float32] | None = None

    def coordinates(self, points: Array) -> Array:
        if self.scale is None or self.bias is None:
            return np.ascontiguousarray(points, np.float32)
        result = points / self.scale
        result += self.bias
        return np.ascontiguousarray(result, np.float32)

    @property
    def units(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Divisor and summand of ``coordinates``, for kernels that do the same."""
        if self.scale is None or self.bias is None:
            return (1.0,), (0.0,)
        return tuple(self.scale.tolist()), tuple(self.bias.tolist())

    def gradients(self, steps: Array) -> Array:
        return np.ascontiguousarray(steps if self.scale is None else steps / self.scale, np.float32)


class ImageStore:
    """Image memory with all levels filled, and the handles over it.

    Parameters
    ----------
    memory : ImageMem
        Of the descriptor.
    described : ImageDescriptor
        The image as the user sees it, with type ``standard`` for a mipmap.
    descriptor : ImageDescriptor
        What is allocated for it, see ``ImagePlan``.
    queue : Queue
        Does all work; every method that gives values on the host waits.
    precision : Precision, default Precision.hardware
        Of its sampled handles.
    """

    def __init__(
        self,
        memory: ImageMem,
        described: ImageDescriptor,
        descriptor: ImageDescriptor,
        queue: Queue,
        precision: Precision = Precision.hardware,
    ) -> None:
        self._queue = queue
        # Of ``create_image``.
        self._options: dict[str, Any] = {} if precision is Precision.hardware else {"precision": precision}
        self._channels = described.num_channels
        self._layers = described.array_size
        self._lock = Lock()
        self._readers: dict[BindlessImageSampler, Reader] = {}
        self._unsampled: dict[int, UnsampledImageHandle] = {}
        # What launches took last, by the identity of the sampler: key in the table of handles, record, handle, sampler.
        self._kernel_arguments: dict[int, tuple[int, Any, HeldHandle, BindlessImageSampler | None]] = {}
        self.descriptor = descriptor
        self._memory: ImageMem | None = memory
        self._uploads = Uploads(memory, descriptor, queue)
        self.areas: AreaSource | None = None  # of smaller pictures
        self.pictures: dict[Any, UsmArray] = {}  # memory of the device for pictures on their way to pinned memory

    @classmethod
    def filled(
        cls,
        pixels: AnyArray,
        described: ImageDescriptor,
        descriptor: ImageDescriptor,
        queue: Queue,
        precision: Precision = Precision.hardware,
    ) -> ImageStore:
        """New memory with the pixels of an array, which has the shape of ``described``."""
        store = cls.empty(described, descriptor, queue, precision)
        try:
            store.fill(pixels, again=False)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def copied(
        cls,
        array: object,
        described: ImageDescriptor,
        descriptor: ImageDescriptor,
        queue: Queue,
        precision: Precision = Precision.hardware,
    ) -> ImageStore:
        """New memory with the pixels of another library's packed array on the device, which are those of the memory."""
        store = cls.empty(described, descriptor, queue, precision)
        try:
            store._uploads.copy(array)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def empty(
        cls,
        described: ImageDescriptor,
        descriptor: ImageDescriptor,
        queue: Queue,
        precision: Precision = Precision.hardware,
    ) -> ImageStore:
        """New memory without pixels."""
        return cls(ImageMem(descriptor, queue), described, descriptor, queue, precision)

    def __del__(self, _is_finished: Callable[[], bool] = is_finished) -> None:  # bound: at exit the names are gone
        # The memory ends with its owner; handles have none but this. A constructor that was interrupted made none.
        if getattr(self, "_memory", None) is not None and (self._readers or self._unsampled) and not _is_finished():
            self.close()

    @property
    def closed(self) -> bool:
        return self._memory is None

    def memory(self) -> ImageMem:
        if self._memory is None:
            raise InvalidError("this Image is closed; make a new one")
        return self._memory

    def close(self) -> None:
        """Destroys the handles and frees the memory, once. Those of a closed context end with it."""
        with self._lock:
            memory, self._memory = self._memory, None
            if self._readers or self._unsampled:
                self._end_handles()
        if memory is not None:
            self._uploads.close()
            memory.close()
            leave_arrays(self._queue, self.pictures)
            self.areas = None

    def _end_handles(self) -> None:
        """Destroys them; the lock is held."""
        self._kernel_arguments.clear()
        handles: list[SampledImageHandle | UnsampledImageHandle] = [*self._unsampled.values()]
        handles += [reader.handle for reader in self._readers.values()]
        self._readers.clear()
        self._unsampled.clear()
        context = self._queue.context
        for handle in () if context.closed else handles:
            destroy_image_handle(handle, self._queue.device, context)

    # ------------------------------------------------------------------ pixels

    def fill(
        self, pixels: AnyArray, *, again: bool, source: tuple[object, tuple[int, ...]] | None = None
    ) -> Event | None:
        """See ``Uploads.fill``. Smaller levels of formats that samplers alone read are made by the host."""
        self.memory()
        desc = self.descriptor
        if desc.type is ImageType.mipmap and desc.channel.is_sampled_only:
            host = pixels.numpy() if isinstance(pixels, UsmArray) else pixels
            level = desc.get_mip_level_desc(0)
            padded = np.zeros(level.shape, level.dtype)
            padded[..., : host.shape[-1]] = host
            self.fill_levels(smaller_levels(padded, desc))
            return None
        with self._lock:
            return self._uploads.fill(pixels, self._held_level, again=again, source=source)

    def fill_levels(self, arrays: Sequence[Array]) -> None:
        """Brings the elements of all levels into the image, after what reads it; waits."""
        before = () if self._queue._stream.in_order else (self._queue.ext_oneapi_submit_barrier(),)
        upload_levels(self._queue, self.memory(), self.descriptor, arrays, before)

    def fill_level(self, level: int, pixels: Array) -> None:
        """Brings pixels (..., channels) of the host into one level of a mipmap, and waits."""
        target, desc = self.memory().get_mip_level_mem_handle(level), self.descriptor.get_mip_level_desc(level)
        stored = np.zeros(desc.shape, desc.dtype)
        copy_channels(stored, pixels)
        self._queue.ext_oneapi_copy(stored, target, dst_desc=desc, depends_on=self.ready).wait()

    @property
    def ready(self) -> After:
        """Events that reads of the image wait for, where the queue does not order them."""
        return self._uploads.ready

    def download(self, level: int) -> Array:
        """The stored pixels, or blocks, of a level: the shape of its descriptor, padded channels included."""
        memory = self.memory()
        if self.descriptor.type is ImageType.mipmap:
            desc = self.descriptor.get_mip_level_desc(level)
            pixels = empty_result(desc.storage.shape, desc.dtype)
            source = memory.get_mip_level_mem_handle(level)
            self._queue.ext_oneapi_copy(source, pixels, src_desc=desc, depends_on=self.ready).wait()
            return pixels
        pixels = empty_result(self.descriptor.storage.shape, self.descriptor.dtype)
        self._queue.ext_oneapi_copy(memory, pixels, depends_on=self.ready).wait()
        return pixels[: self._layers] if self.descriptor.is_layered else pixels

    def copy_to_device(self, target: UsmArray) -> Event:
        """Copies the stored pixels of the first level, added channels and layers included, to an array of the shape."""
        memory, desc = self.memory(), self.descriptor
        if desc.type is not ImageType.mipmap:
            return self._queue.ext_oneapi_copy(memory, target, depends_on=self.ready)
        source, level = memory.get_mip_level_mem_handle(0), desc.get_mip_level_desc(0)
        return self._queue.ext_oneapi_copy(source, target, src_desc=level, depends_on=self.ready)

    # ------------------------------------------------------------------ handles

    def reader(self, sampler: BindlessImageSampler) -> Reader:
        """The sampled handle for a sampler; ``coordinate`` says what the coordinates given to it are."""
        memory = self.memory()
        with self._lock:
            reader = self._readers.get(sampler)
            if reader is None:
                reader = self._readers.setdefault(sampler, self._make_reader(memory, sampler))
            return reader

    def _make_reader(self, memory: ImageMem, sampler: BindlessImageSampler) -> Reader:
        desc, is_exact = self.descriptor, self._options.get("precision") is Precision.exact
        dims = desc.dimensions
        sampler = sampler if is_exact else sampler.of_units  # others are computed without the handle's sampler
        cubemap = desc.type is ImageType.cubemap
        repeats = any(mode in _REPEATING for mode in sampler.addressing[:dims])
        normalized = sampler.is_normalized or desc.type is ImageType.mipmap or cubemap or repeats
        seamless = cubemap and self._queue.device.has(Aspect.ext_oneapi_cubemap_seamless_filtering)
        hardware = replace(
            sampler,
            coordinate=CoordinateNormalizationMode.normalized
            if normalized
            else CoordinateNormalizationMode.unnormalized,
            max_mipmap_level_clamp=float(desc.num_levels - 1),
            max_anisotropy=min(sampler.max_anisotropy, most_anisotropy(self._queue.device)),  # ``Image`` has warned
            cubemap_filtering=CubemapFilteringMode.seamless if seamless else CubemapFilteringMode.disjointed,
        )
        handle = create_image(memory, desc, self._queue, sampler=hardware, **self._options)
        assert isinstance(handle, SampledImageHandle)
        if cubemap or not normalized or sampler.is_normalized:
            return Reader(handle)
        scale, bias = normalized_units((desc.width, desc.height, desc.depth)[:dims])
        rounds = not is_exact or sampler.filtering is FilteringMode.nearest  # also between two pixels: up
        return Reader(handle, scale, bias if rounds else np.zeros_like(bias))

    def unsampled_handle(self, level: int) -> UnsampledImageHandle:
        memory = self.memory()
        with self._lock:
            handle = self._unsampled.get(level)
            if handle is None:
                if self.descriptor.type is ImageType.mipmap:
                    desc = self.descriptor.get_mip_level_desc(level)
                    fresh = create_image(memory.get_mip_level_mem_handle(level), desc, self._queue)
                else:
                    fresh = create_image(memory, self.descriptor, self._queue)
                assert isinstance(fresh, UnsampledImageHandle)
                handle = self._unsampled.setdefault(level, fresh)
            return handle

    def _held_level(self, level: int) -> HeldHandle:
        """The handle of a level, for work that may outlast the image."""
        return self.held(self.unsampled_handle(level))

    def kernel_argument(self, sampler: BindlessImageSampler | None) -> HeldHandle:
        """``held`` of the handle for a sampler, or of the unsampled one; repeated launches take the same object."""
        cached = self._kernel_arguments.get(id(sampler))
        if cached is not None and self._queue.context._handles.get(cached[0]) is cached[1]:
            return cached[2]
        held = self.held(self.unsampled_handle(0) if sampler is None else self.reader(sampler).handle)
        key = handle_key(held.raw_handle, sampler is not None)
        with self._lock:
            if self._memory is not None:
                if len(self._kernel_arguments) >= _MAX_KERNEL_ARGUMENTS:
                    self._kernel_arguments.clear()
                self._kernel_arguments[id(sampler)] = key, self._queue.context._handles.get(key), held, sampler
        return held

    def held(self, handle: SampledImageHandle | UnsampledImageHandle) -> HeldHandle:
        """A handle of this store that keeps the image, also after ``close``."""
        raw, sampled = handle.raw_handle, isinstance(handle, SampledImageHandle)
        record = self._queue.context._handles.get(handle_key(raw, sampled))
        keep = None if record is None else record.keep(self._queue.context)
        if record is None or keep is None:
            self.memory()
            raise InvalidError(f"{handle!r} of this Image was destroyed; leave that to the Image, and make a new one")
        kind: type[HeldHandle] = HeldSampledHandle if sampled else HeldUnsampledHandle
        held = kind(raw, handle.descriptor)
        held._held = keep, record.memory
        return held

    # ------------------------------------------------------------------ values

    def sample(
        self,
        reader: Reader,
        points: Array,
        layers: Any = None,
        levels: Any = None,
        gradients: tuple[Array, Array] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Values of shape (N, channels of the described image), on the host.

        Parameters
        ----------
        reader : Reader
            Of this store.
        points : Array
            (N, dims), or directions of a cubemap (N, 3), as the sampler given for the reader says.
        layers : Any, optional
            A layer or (N,) of them, for an array.
        levels : Any, optional
            A level or (N,) of them, for a mipmap.
        gradients : tuple[Array, Array], optional
            Two arrays like ``points`` instead of levels.
        out : Array, optional
            Where the values go.
        """
        steps = None if gradients is None else (reader.gradients(gradients[0]), reader.gradients(gradients[1]))
        values: Array = self.read(reader.handle, reader.coordinates(points), layers, levels, steps, out, self.ready)
        return values

    def read(
        self,
        handle: SampledImageHandle,
        coords: Any,
        layers: Any,
        levels: Any,
        gradients: tuple[Any, Any] | None,
        out: AnyArray | None,
        after: After,
    ) -> Any:
        """``sample`` in the handle's own coordinates, float32: on the device, with all arrays there, an event."""
        queue = self._queue
        options: dict[str, Any] = {"num_channels": self._channels}
        if out is not None:
            options["out"] = out
        if after:
            options["depends_on"] = after
        if not len(coords):
            return np.empty((0, self._channels), self.descriptor.value_dtype) if out is None else out
        if self.descriptor.type is ImageType.cubemap:
            return sample_cubemap(queue, handle, coords, **options)
        if self.descriptor.type is ImageType.array:
            return sample_image_array(queue, handle, coords, layers, **options)
        if self.descriptor.type is ImageType.standard:
            return sample_image(queue, handle, coords, **options)
        if gradients is None:
            return sample_mipmap(queue, handle, coords, level=0.0 if levels is None else levels, **options)
        return sample_mipmap(queue, handle, coords, dx=gradients[0], dy=gradients[1], **options)

    def fetch(self, points: AnyArray, layers: Any, level: int, out: AnyArray | None, after: After) -> Any:
        """Values of single pixels: (N, channels of the described image); ``points`` (N, dims) int32.

        On the device, with all arrays there, an event.
        """
        if self.descriptor.channel.is_sampled_only:
            return self._fetch_by_sampler(points, layers, level, out, after)
        handle = self.unsampled_handle(level)
        options: dict[str, Any] = {"num_channels": self._channels, "out": out, "depends_on": after}
        if not len(points):
            return np.empty((0, self._channels), self.descriptor.value_dtype) if out is None else out
        if self.descriptor.type is ImageType.cubemap:
            return fetch_cubemap(self._queue, handle, points, layers, **options)
        if self.descriptor.type is ImageType.array:
            return fetch_image_array(self._queue, handle, points, layers, **options)
        return fetch_image(self._queue, handle, points, **options)

    def _fetch_by_sampler(self, points: AnyArray, layers: Any, level: int, out: AnyArray | None, after: After) -> Any:
        """``fetch`` of formats without unsampled images: nearest samples at the centres of pixels."""
        desc = self.descriptor
        if isinstance(points, UsmArray) or desc.type is ImageType.cubemap:
            what = "a cubemap" if desc.type is ImageType.cubemap else "places on the device"
            raise FeatureNotSupportedError(
                f"fetch of {what} of {desc.channel_type}, which samplers alone read: use sample"
            )
        sizes = np.array([max(size >> level, 1) for size in (desc.width, desc.height, desc.depth)][: desc.dimensions])
        is_mipmap = desc.type is ImageType.mipmap
        coordinate = CoordinateNormalizationMode.normalized if is_mipmap else CoordinateNormalizationMode.unnormalized
        sampler = BindlessImageSampler(
            AddressingMode.clamp_to_edge, coordinate, FilteringMode.nearest, mipmap_filtering=FilteringMode.nearest
        )
        centres = np.ascontiguousarray((points + 0.5) / (sizes if is_mipmap else 1), np.float32)
        levels = float(level) if is_mipmap else None
        return self.read(self.reader(sampler).handle, centres, layers, levels, None, out, after)
