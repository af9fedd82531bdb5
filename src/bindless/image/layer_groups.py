"""``LayerGroup``: the store of an ``Image`` whose layers lie in several native images.

Image arrays have a limited number of layers, and those of the extension no mipmaps. A group has as many arrays as its
layers need, or one mipmap for each layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.device_limits import limit
from ..model.arrays import Array, DType
from ..model.errors import InvalidError
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, gradient_of, per_item
from .array_library import AnyArray, ArrayLike, Library, hand_over, library_of, view
from .drawing import Frame, Moves, frame_of
from .group_store import GroupStore, after_all, given_from_host, given_from_parts, place_of
from .levels.levels import Levels
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["LayerGroup", "layers_of_part"]


def layers_of_part(queue: Queue, mipmaps: bool) -> int | None:
    """The most layers of one native image; None where the device has no limit."""
    return 1 if mipmaps else limit(queue.device, "image_max_array_size")


class LayerGroup(GroupStore):
    """A store of more layers than a native array has, or of layers with mipmaps; see ``Store``.

    Parameters
    ----------
    image : Image
        The image, complete but for its store, which is not kept.
    pixels : AnyArray | Levels
        Its array, or its levels.
    most : int
        Layers of a part.
    """

    def __init__(self, image: Image, pixels: AnyArray | Levels, most: int) -> None:
        count, self._step, self._mipmaps = image.num_layers, most, image._mipmaps
        self._ranges = [slice(start, min(start + most, count)) for start in range(0, count, most)]
        options = replace(image._options, layers=not self._mipmaps)
        make, queue = type(image)._of, image._queue
        super().__init__(make(self._place(pixels, layers), options, queue) for layers in self._ranges)
        if self._mipmaps:
            self.descriptor = self.parts[0].descriptor
            self._reason = "layers with mipmaps are an image each"
        else:
            self.descriptor = replace(self.parts[0].descriptor, array_size=count)
            name = f"the {most} of an image array of {queue.device.name} (info.device.image_max_array_size)"
            self._reason = f"{count} layers are more than {name}"

    def _place(self, values: AnyArray | Levels, layers: slice) -> Any:
        """The place of a part in an array whose first axis counts the layers."""
        return values[layers.start] if self._mipmaps else values[layers]

    def _places(self, values: AnyArray | Levels) -> Iterator[tuple[Image, Any]]:
        """Each part, and its place in an array whose first axis counts the layers."""
        for part, layers in zip(self.parts, self._ranges):
            yield part, self._place(values, layers)

    def split_levels(self, levels: Levels) -> Iterator[tuple[Image, Any]]:
        """Each image, and its part of levels."""
        return self._places(levels)

    def numpy(self, image: Image, level: int) -> Array:
        pixels = [part.numpy(level) for part in self.parts]
        result = np.empty(image._array_shape(image._level(level)), pixels[0].dtype)
        for layers, place in zip(self._ranges, pixels):
            result[layers] = place
        return result

    def repeat_update(self, array: object, /) -> None:
        """Its images repeat their updates."""

    def update(self, image: Image, pixels: AnyArray, array: object) -> Event | None:
        events = [part.update(place) for part, place in self._places(pixels)]
        return after_all(image._queue) if any(event is not None for event in events) else None

    # ------------------------------------------------------------------ reading

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
        """An array of layers goes through the host, also where it lies on the device."""
        arguments = {"coords": coords, "level": level, "dx": dx, "dy": dy, "layers": layers}
        return self._read(image, arguments, out, {})

    def fetch(self, image: Image, coords: ArrayLike, level: int, layers: ArrayLike | None, out: Any) -> Any:
        """See ``sample`` for arrays of layers."""
        return self._read(image, {"coords": coords, "layers": layers}, out, {"level": level})

    def _read(self, image: Image, arguments: Mapping[str, Any], out: Any, fetched: dict[str, Any]) -> Any:
        """``sample``, or with the options ``fetched`` of it ``fetch``."""
        queue = image._queue
        arrays = {name: view(name, value, queue) for name, value in arguments.items() if value is not None}
        leading = tuple(coordinate_axes(image, arrays["coords"], fetch=bool(fetched)).shape[:-1])
        name, dtype = "fetch" if fetched else "sample", self.descriptor.value_dtype
        channels = (image.num_channels,) if image._has_channel_axis else ()
        chosen = _chosen(image, arrays.pop("layers", None))
        library = library_of(arguments["coords"])
        if chosen is None:
            result = Result(queue, out, (image.num_layers, *leading, *channels), dtype, arrays.values())
            place = place_of(result, on_device=any(isinstance(array, UsmArray) for array in arrays.values()))
            for part, target in self._places(place):
                getattr(part, name)(**arrays, **fetched, out=target)
            for key, array in arrays.items():
                hand_over(arguments[key], array)
            return given_from_parts(result, place, queue, library)
        result = Result(queue, out, (*leading, *channels), dtype, arrays.values())
        on_device = isinstance(arrays["coords"], UsmArray)
        values = self._scattered(image, name, arrays, leading, chosen, dtype, fetched).reshape(result.shape)
        return given_from_host(result, values, queue, library, on_device=on_device)

    def _scattered(
        self,
        image: Image,
        name: str,
        arrays: Mapping[str, AnyArray],
        leading: tuple[int, ...],
        layers: Array,
        dtype: DType,
        fetched: dict[str, Any],
    ) -> Array:
        """(N, channels) with a layer for each item: the items of each part are read together."""
        host = {key: array.numpy() if isinstance(array, UsmArray) else array for key, array in arrays.items()}
        axes = coordinate_axes(image, host.pop("coords"), fetch=bool(fetched))
        points = np.asarray(axes).reshape(-1, axes.shape[-1])
        items: dict[str, Any] = {
            key: gradient_of(image, key, host[key], leading) for key in ("dx", "dy") if key in host
        }
        if "level" in host:
            items["level"] = per_item("level", host["level"], leading, np.float32)
        numbers = np.broadcast_to(per_item("layers", layers, leading, np.int64), len(points))
        values = np.empty((len(points), image.num_channels), dtype)
        few = np.min_scalar_type(len(self.parts))  # numpy sorts small integers by their digits
        owners = (numbers // self._step).astype(few)
        order = np.argsort(owners, kind="stable")
        first = np.flatnonzero(np.diff(owners[order], prepend=len(self.parts)))
        for start, stop in zip(first, [*first[1:], len(order)]):
            index = order[start:stop]
            part = self.parts[owners[index[0]]]
            options = {key: item[index] if np.ndim(item) else item for key, item in items.items()}
            if not self._mipmaps:
                options["layers"] = numbers[index] % self._step
            read = getattr(part, name)(points[index], **options, **fetched)
            values[index] = np.asarray(read).reshape(len(index), -1)
        return values

    # ------------------------------------------------------------------ whole pictures

    def resize(self, image: Image, frame: Frame, shape: object, out: Any) -> Any:
        sizes = frame.sizes[::-1]
        return self._pictures(image, frame, out, lambda part, target, layers: part.resize(sizes, out=target))

    def warp(self, image: Image, matrix: npt.ArrayLike, frame: Frame, moves: Moves | None, out: Any) -> Any:
        matrices = np.asarray(matrix) if np.ndim(matrix) == 3 else None
        if matrices is not None and len(matrices) != image.num_layers:
            raise InvalidError(
                f"matrix has shape {matrices.shape}: it is one, or one for each of the {image.num_layers} layers"
            )

        def draw(part: Image, target: Any, layers: slice) -> None:
            own = matrix if matrices is None else matrices[layers.start if self._mipmaps else layers]
            sizes = frame.sizes[::-1]
            if isinstance(moves, tuple):
                part._store.warp(part, own, frame_of(part, sizes, "resample"), moves, target)
            else:
                part.warp(own, sizes, displacement=moves, out=target)

        return self._pictures(image, frame, out, draw)

    def remap(self, image: Image, vectors: AnyArray, relative: bool, out: Any, library: Library | None) -> Any:
        channels = (image.num_channels,) if image._has_channel_axis else ()
        shape = (image.num_layers, *vectors.shape[:-1], *channels)
        result = Result(image._queue, out, shape, image.dtype, (vectors,))
        place = place_of(result, on_device=isinstance(vectors, UsmArray))
        for part, target in self._places(place):
            part.remap(vectors, relative=relative, out=target)
        return given_from_parts(result, place, image._queue, library)

    def _pictures(self, image: Image, frame: Frame, out: Any, draw: Callable[[Image, Any, slice], object]) -> Any:
        result = Result(image._queue, out, frame.shape, image.dtype)
        place = place_of(result, on_device=image._leads_on_device)
        for part, layers in zip(self.parts, self._ranges):
            draw(part, self._place(place, layers), layers)
        return given_from_parts(result, place, image._queue, image._library)


def _chosen(image: Image, layers: AnyArray | None) -> Array | None:
    """An array of layers on the host, checked."""
    if layers is None:
        return None
    host = layers.numpy() if isinstance(layers, UsmArray) else layers
    if host.dtype.kind not in "iu":
        raise InvalidError(f"layers have dtype {host.dtype}; they are integers")
    if host.size and not (host.min() >= 0 and host.max() < image.num_layers):
        raise InvalidError(f"layers run from {host.min()} to {host.max()}; this image has 0 to {image.num_layers - 1}")
    return host
