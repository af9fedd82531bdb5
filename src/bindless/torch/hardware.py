"""``precision="hardware"``: values of the texture unit, from images that are kept until their tensors change."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from ..bindless_images import sample_image
from ..core import ownership
from ..core.lock import Lock
from ..image import Image
from ..image.default_queue import is_over
from ..model.image_handles import SampledImageHandle
from ..sycl.queue.queue import Queue
from .axes import mapped
from .options import Arguments, lookup_of
from .repeats import PLAIN

__all__ = ["remember", "repeated", "sample", "serves"]

Tensor = Any

MOST_CHANNELS = 4
_UNKNOWN = -1
"""Version of tensors of inference mode, which have none, and of those that were changed without being counted."""
_MOST_SEEN = 256
MOST_IMAGES = 64
"""Images that are kept at the same time; the one that was not used for longest goes first."""


class _Key(NamedTuple):
    """Identity of a tensor's image: the memory, and how it is read. Tensors of equal keys share an image."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    filtering: str
    boundary: tuple[str, ...]


class _CachedImage(NamedTuple):
    """An image, with the version of its tensor, the tensor's storage while that exists, and its ``_counter``."""

    image: Image
    version: int
    storage: weakref.ref[Any]
    counter: weakref.ref[Any] | None


class _TensorImage(NamedTuple):
    """A tensor with a kept image, and all of it that changes when it is changed."""

    tensor: Any
    pointer: int
    version: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    key: _Key
    entry: _CachedImage
    handle: SampledImageHandle


_cache: OrderedDict[_Key, _CachedImage] = OrderedDict()
_tensors: dict[tuple[int, Arguments], _TensorImage] = {}
_queues: dict[tuple[int, int], Queue] = {}
_lock = Lock()


def serves(levels: Sequence[Tensor], options: Arguments) -> bool:
    """Whether a texture unit computes the values: else they are those of ``exact``.

    Notes
    -----
    A CUDA graph reads the memory of its tensors anew at each replay. A kept image would not, so a capture has none.
    """
    image = levels[0]
    return (
        options.precision == "hardware"
        and options.between == "none"
        and options.coordinate != "direction"
        and options.filter.is_plain
        and image.dtype in (torch.float32, torch.float16)
        and image.shape[-1 if options.channels_last else 1] <= MOST_CHANNELS
        and image.numel() > 0
        and not (image.device.type == "cuda" and torch.cuda.is_current_stream_capturing())
    )


def sample(images: Tensor, coords: Tensor, options: Arguments, values: Tensor) -> None:
    """Writes the values (N, S, C) of images (N, *axes, C) at coordinates (N, S, d)."""
    sizes = tuple(images.shape[-2:0:-1])
    texture = lookup_of(options, sizes)
    if options.coordinate != "unnormalized":
        map_, dims = texture.map, len(sizes)
        offsets = [map_.shift * scale + offset + 0.5 for scale, offset in zip(map_.scale[:dims], map_.offset)]
        coords = mapped(coords, map_.scale[:dims], offsets)
    for number, part in enumerate(values):
        image = _image(images[min(number, len(images) - 1)], len(sizes), options)
        places = coords[min(number, len(coords) - 1)].detach().contiguous()
        if part.is_contiguous():
            image.sample(places, out=part)
        else:
            part.copy_(image.sample(places))


def remember(options: Arguments, image: Tensor, coords: Tensor) -> None:
    """Lets ``repeated`` find the kept image of a tensor that has been sampled at coordinates."""
    single = image.dim() == coords.shape[-1] + 1
    if options.coordinate != "unnormalized" or not options.channels_last or image.is_inference():
        return
    if any("repeat" in mode for mode in options.boundary):  # the handle takes other coordinates
        return
    if not single and len(image) > 1:
        return
    key = _key(image if single else image[0], options)
    row = _cache.get(key)
    if row is None:
        return
    if len(_tensors) >= _MOST_SEEN:
        _tensors.clear()
    _tensors[id(image), options] = _TensorImage(
        weakref.ref(image), image.data_ptr(), image._version, image.shape, image.stride(), key, row, row.image.handle
    )


def _find(options: Arguments, image: Tensor, coords: Tensor) -> _TensorImage | None:
    """The image of a tensor that did not change since ``remember``, if coordinates are in the form that it takes."""
    row = _tensors.get((id(image), options))
    if (
        row is None
        or image is not row.tensor()
        or row.pointer != image.data_ptr()
        or row.version != image._version
        or row.shape != image.shape
        or row.strides != image.stride()
        or type(coords) not in PLAIN
        or coords.dtype is not torch.float32
        or coords.device != row.key.device
        or coords.shape[-1] != len(row.key.shape) - 1
        or (len(row.shape) > len(row.key.shape) and (coords.dim() < 2 or len(coords) != 1))
        or not coords.is_contiguous()
        or not coords.numel()
        or coords.is_neg()
        or _cache.get(row.key) is not row.entry
        or (coords.is_cuda and torch.cuda.is_current_stream_capturing())
    ):
        return None
    return row


def repeated(options: Arguments, image: Tensor, coords: Tensor) -> Tensor | None:
    """Values of an image (*axes, C), or (1, *axes, C), at coordinates (..., d); None if it changed since
    ``remember``, or was not given to it.
    """
    row = _find(options, image, coords)
    if row is None:
        return None
    shape, channels, places = coords.shape, row.shape[-1], coords.detach()
    flat = coords.dim() == 2
    if not flat:
        places = places.view(-1, shape[-1])
    values = image.new_empty((len(places), channels))
    sample_image(row.entry.image.queue, row.handle, places, num_channels=channels, out=values)
    with _lock, suppress(KeyError):  # another thread closed it
        _cache.move_to_end(row.key)
    return values if flat else values.view(*shape[:-1], channels)


def _key(pixels: Tensor, options: Arguments) -> _Key:
    """Return the key of the image of a tensor (*axes, C)."""
    layout = tuple(pixels.shape), pixels.stride(), pixels.dtype, pixels.device
    return _Key(pixels.data_ptr(), *layout, options.filtering, options.boundary)


def _image(pixels: Tensor, dims: int, options: Arguments) -> Image:
    """The image of a tensor (*axes, C): a kept one, with new pixels if the tensor has changed since."""
    storage = pixels.untyped_storage()
    key = _key(pixels, options)
    version = _UNKNOWN if pixels.is_inference() else pixels._version
    counter = _counter(pixels, version)
    with _lock:
        entry = _cache.pop(key, None)
        if entry is not None and entry.storage() is not storage:
            entry.image.close()
            entry = None
        if entry is None:
            image = Image(
                pixels.detach(),
                addressing=options.filter.addressing,
                filtering=options.filtering,
                dimensions=dims,
                queue=_queue(pixels.device),
            )
            weakref.finalize(storage, _forget, key).atexit = False
            entry = _CachedImage(image, version, weakref.ref(storage), counter)
        elif version < 0 or entry.version != version or entry.counter is not counter:
            entry.image.update(pixels.detach())
            entry = entry._replace(version=version, counter=counter)
        _cache[key] = entry
        while len(_cache) > MOST_IMAGES:
            _cache.popitem(last=False)[1].image.close()
        return entry.image


def _counter(pixels: Tensor, version: int) -> weakref.ref[Any] | None:
    """The tensor that counts writes, where its number may be that of another: each ``p.data`` starts again at 0."""
    owner = pixels if pixels._base is None else pixels._base
    return weakref.ref(owner) if version == 0 and not owner.requires_grad else None


def _forget(key: _Key) -> None:
    """Closes the image of a storage that ended."""
    with _lock:
        entry = _cache.get(key)
        if entry is not None and entry.storage() is None:
            del _cache[key]
            entry.image.close()


def _after_step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Makes the images of an optimizer's parameters old: fused optimizers do not count their writes."""
    if torch.compiler.is_compiling() or not _cache:  # compiled steps count
        return
    with _lock:
        changed = {part.untyped_storage().data_ptr() for group in optimizer.param_groups for part in group["params"]}
        for key in list(_cache):  # at once: garbage that is collected in between may close an image
            entry = _cache.get(key)
            storage = None if entry is None else entry.storage()
            if entry is not None and storage is not None and storage.data_ptr() in changed:
                _cache[key] = entry._replace(version=_UNKNOWN)


register_optimizer_step_post_hook(_after_step)


def _queue(device: torch.device) -> Queue:
    """A queue on torch's current stream, or of the reference device for tensors of the host."""
    stream = 0 if device.type == "cpu" else torch.cuda.current_stream(device).cuda_stream
    place = (-1 if device.type == "cpu" else device.index), stream
    queue = _queues.get(place)
    if queue is None or is_over(queue):
        if device.type == "cpu":
            queue = Queue("reference", in_order=True)
        else:
            queue = Queue.from_stream(stream or 1, f"cuda:gpu:{device.index}")
        _queues[place] = queue
    return queue


def _after_fork() -> None:
    """Images and queues do not survive a fork, and another thread may have held the lock."""
    global _lock
    _lock = Lock()
    _cache.clear()
    _tensors.clear()
    _queues.clear()


ownership.after_fork(_after_fork)
