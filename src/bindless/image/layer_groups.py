"""``ImageGroup``: an ``Image`` whose layers lie in several native images.

Image arrays have a limited number of layers, and those of the extension no mipmaps. A group has as many arrays as its
layers need, or one mipmap for each layer. ``Image`` makes a group where one native image does not do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.device_limits import limit
from ..model.errors import InvalidError
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, gradient_of, per_item, shape_order, sizes_of
from .array_library import AnyArray, ArrayLike, hand_over, library_of, seen
from .default_queue import queue_of_array
from .group_results import after_all, given_from_host, given_from_parts, place_of
from .group_store import GroupStore
from .image import Image
from .options import ImageOptions
from .plan import planned, taken_dtype
from .results import Result
from .warping import matrices_of, vectors_of_picture

__all__ = ["ImageGroup", "layers_of_part"]

Array = npt.NDArray[Any]


def layers_of_part(queue: Queue, mipmaps: bool) -> int | None:
    """The most layers of one native image; None where the device has no limit."""
    return 1 if mipmaps else limit(queue.device, "image_max_array_size")


class ImageGroup(Image):
    """An ``Image`` made with ``layers=True`` of more layers than a native array has, or with mipmaps.

    It has the methods of ``Image``. Handles and memory belong to its parts.
    """

    _store: GroupStore  # type: ignore[assignment]

    def _fill(self, array: ArrayLike, options: ImageOptions, queue: Queue | None) -> None:
        queue = queue_of_array(array) if queue is None else queue
        pixels = seen("array", array, queue)
        mipmaps, flat = options.mipmaps, replace(options, mipmaps=False, max_anisotropy=0.0)
        plan = planned(queue.device, pixels.shape, taken_dtype(pixels.dtype), flat)
        self._take(plan, queue, stacklevel=4)
        self._library, self._leads_on_device = library_of(array), isinstance(pixels, UsmArray)
        self._mipmaps = mipmaps
        self._options = replace(plan.options, mipmaps=mipmaps, max_anisotropy=options.max_anisotropy)
        self._step = min(layers_of_part(queue, mipmaps) or self.num_layers, self.num_layers)
        own = replace(self._options, layers=not mipmaps)
        parts: list[Image] = []
        try:
            for layers in self._ranges():
                parts.append(Image._of(pixels[layers.start] if mipmaps else pixels[layers], own, queue))
        except BaseException:
            for part in parts:
                part.close()
            raise
        self._sampler = parts[0].sampler
        descriptor = parts[0].descriptor
        if mipmaps:
            reason = "layers with mipmaps are an image each"
        else:
            descriptor = replace(descriptor, array_size=self.num_layers)
            most = f"the {self._step} of an image array of {queue.device.name} (info.device.image_max_array_size)"
            reason = f"{self.num_layers} layers are more than {most}"
        self._store = GroupStore(parts, descriptor, reason)
        hand_over(array, pixels)

    @property
    def parts(self) -> tuple[Image, ...]:
        """The images that the group consists of, in the order of the layers; each has handles and memory."""
        return self._store.parts

    # ------------------------------------------------------------------ layers

    def _ranges(self) -> Iterator[slice]:
        """The layers of each part."""
        for start in range(0, self.num_layers, self._step):
            yield slice(start, min(start + self._step, self.num_layers))

    def _places(self, values: AnyArray) -> Iterator[tuple[Image, Any]]:
        """Each part, and its place in an array whose first axis counts the layers."""
        for part, layers in zip(self._store.parts, self._ranges()):
            yield part, values[layers.start] if self._mipmaps else values[layers]

    def numpy(self, level: int = 0) -> Array:
        """The stored pixels of all layers; see ``Image.numpy``."""
        result = np.empty(self._array_shape(self._level(level)), self.dtype)
        for layers, part in zip(self._ranges(), self._store.parts):
            result[layers] = part.numpy(level)
        return result

    def update(self, array: ArrayLike) -> Event | None:
        """Gives the image new pixels; see ``Image.update``."""
        pixels = seen("array", array, self._queue)
        if pixels.shape != self.shape:
            raise InvalidError(f"an array of shape {pixels.shape}; update takes one of shape {self.shape}")
        events = [part.update(place) for part, place in self._places(pixels)]
        hand_over(array, pixels)
        return after_all(self._queue) if any(event is not None for event in events) else None

    # ------------------------------------------------------------------ reading

    def sample(
        self,
        coords: ArrayLike,
        *,
        level: ArrayLike | None = None,
        dx: ArrayLike | None = None,
        dy: ArrayLike | None = None,
        layers: ArrayLike | None = None,
        out: Any = None,
    ) -> Any:
        """The filtered values at any coordinates; see ``Image.sample``.

        An array of layers goes through the host, also where it lies on the device.
        """
        given = {"coords": coords, "level": level, "dx": dx, "dy": dy, "layers": layers}
        arrays = {name: seen(name, value, self._queue) for name, value in given.items() if value is not None}
        leading = tuple(coordinate_axes(self, arrays["coords"]).shape[:-1])
        return self._read(arrays, leading, out, given, {})

    def fetch(self, coords: ArrayLike, *, level: int = 0, layers: ArrayLike | None = None, out: Any = None) -> Any:
        """The values of single pixels; see ``Image.fetch``, and ``sample`` for arrays of layers."""
        given = {"coords": coords, "layers": layers}
        arrays = {name: seen(name, value, self._queue) for name, value in given.items() if value is not None}
        leading = tuple(coordinate_axes(self, arrays["coords"], fetch=True).shape[:-1])
        return self._read(arrays, leading, out, given, {"level": level})

    def _read(
        self,
        arrays: dict[str, AnyArray],
        leading: tuple[int, ...],
        out: Any,
        given: Mapping[str, Any],
        fetched: dict[str, Any],
    ) -> Any:
        """``sample``, or with the options ``fetched`` of it ``fetch``."""
        name, dtype = "fetch" if fetched else "sample", self._store.descriptor.value_dtype
        channels = (self.num_channels,) if self._has_channel_axis else ()
        chosen = self._chosen(arrays.pop("layers", None))
        library = library_of(given["coords"])
        if chosen is None:
            result = Result(self._queue, out, (self.num_layers, *leading, *channels), dtype, arrays.values())
            place = place_of(result, on_device=any(isinstance(array, UsmArray) for array in arrays.values()))
            for part, target in self._places(place):
                getattr(part, name)(**arrays, **fetched, out=target)
            for key, array in arrays.items():
                hand_over(given[key], array)
            return given_from_parts(result, place, self._queue, library)
        result = Result(self._queue, out, (*leading, *channels), dtype, arrays.values())
        on_device = isinstance(arrays["coords"], UsmArray)
        values = self._scattered(name, arrays, leading, chosen, dtype, fetched).reshape(result.shape)
        return given_from_host(result, values, self._queue, library, on_device=on_device)

    def _chosen(self, layers: AnyArray | None) -> Array | None:
        if layers is None:
            return None
        host = layers.numpy() if isinstance(layers, UsmArray) else layers
        if host.dtype.kind not in "iu":
            raise InvalidError(f"layers have dtype {host.dtype}; they are integers")
        if host.size and not (host.min() >= 0 and host.max() < self.num_layers):
            raise InvalidError(
                f"layers run from {host.min()} to {host.max()}; this image has 0 to {self.num_layers - 1}"
            )
        return host

    def _scattered(
        self,
        name: str,
        arrays: Mapping[str, AnyArray],
        leading: tuple[int, ...],
        layers: Array,
        dtype: np.dtype[Any],
        fetched: dict[str, Any],
    ) -> Array:
        """(N, channels) with a layer for each item: the items of each part are read together."""
        host = {key: array.numpy() if isinstance(array, UsmArray) else array for key, array in arrays.items()}
        axes = coordinate_axes(self, host.pop("coords"), fetch=bool(fetched))
        points = np.asarray(axes).reshape(-1, axes.shape[-1])
        items: dict[str, Any] = {key: gradient_of(self, key, host[key], leading) for key in ("dx", "dy") if key in host}
        if "level" in host:
            items["level"] = per_item("level", host["level"], leading, np.float32)
        numbers = np.broadcast_to(per_item("layers", layers, leading, np.int64), len(points))
        values = np.empty((len(points), self.num_channels), dtype)
        few = np.min_scalar_type(len(self._store.parts))  # numpy sorts small integers by their digits
        owners = (numbers // self._step).astype(few)
        order = np.argsort(owners, kind="stable")
        first = np.flatnonzero(np.diff(owners[order], prepend=len(self._store.parts)))
        for start, stop in zip(first, [*first[1:], len(order)]):
            index = order[start:stop]
            part = self._store.parts[owners[index[0]]]
            options = {key: item[index] if np.ndim(item) else item for key, item in items.items()}
            if not self._mipmaps:
                options["layers"] = numbers[index] % self._step
            read = getattr(part, name)(points[index], **options, **fetched)
            values[index] = np.asarray(read).reshape(len(index), -1)
        return values

    # ------------------------------------------------------------------ whole pictures

    def resize(self, shape: int | Sequence[int], *, out: Any = None) -> Any:
        """Every layer in another size; see ``Image.resize``."""
        dims = len(self.size)
        sizes = sizes_of(shape, dims, "shape", shape_order(dims))[::-1]
        return self._pictures(sizes, out, lambda part, target: part.resize(shape, out=target))

    def warp(
        self,
        matrix: npt.ArrayLike,
        shape: int | Sequence[int],
        *,
        displacement: ArrayLike | None = None,
        out: Any = None,
    ) -> Any:
        """Every layer seen through an affine or projective map, and a displacement field; see ``Image.warp``."""
        dims = len(self.size)
        sizes = sizes_of(shape, dims, "shape", shape_order(dims))[::-1]
        full = matrices_of(self, matrix)
        vectors = None
        if displacement is not None:
            vectors = vectors_of_picture("displacement", seen("displacement", displacement, self._queue), sizes)
        layers = iter(self._ranges())

        def draw(part: Image, target: Any) -> None:
            own = next(layers)
            matrices = full if len(full) == 1 else full[own]
            given = matrices[0] if len(matrices) == 1 else np.stack(matrices)
            part.warp(given, sizes[::-1], displacement=vectors, out=target)

        picture = self._pictures(sizes, out, draw)
        if vectors is not None:
            hand_over(displacement, vectors)
        return picture

    def remap(self, coords: ArrayLike, *, relative: bool = False, out: Any = None) -> Any:
        """Every layer at any coordinates, in the image's dtype; see ``Image.remap``."""
        vectors = seen("coords", coords, self._queue)
        leading = tuple(coordinate_axes(self, vectors).shape[:-1])
        channels = (self.num_channels,) if self._has_channel_axis else ()
        result = Result(self._queue, out, (self.num_layers, *leading, *channels), self.dtype, (vectors,))
        place = place_of(result, on_device=isinstance(vectors, UsmArray))
        for part, target in self._places(place):
            part.remap(vectors, relative=relative, out=target)
        hand_over(coords, vectors)
        return given_from_parts(result, place, self._queue, library_of(coords))

    def _pictures(self, sizes: tuple[int, ...], out: Any, draw: Any) -> Any:
        channels = (self.num_channels,) if self._has_channel_axis else ()
        result = Result(self._queue, out, (self.num_layers, *reversed(sizes), *channels), self.dtype)
        place = place_of(result, on_device=self._leads_on_device)
        for part, target in self._places(place):
            draw(part, target)
        return given_from_parts(result, place, self._queue, self._library)
