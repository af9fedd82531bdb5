"""Samples that a built-in kernel computes from a copy of the image's texels: by the recorded arithmetic of texture
units, or exactly. The texture unit of the device has no part in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backends.contract import NativeEvent
from ..kernels import choose
from ..kernels.arguments import typed_arguments
from ..kernels.launch_range import groups_of, range_of
from ..kernels.words import format_word, texture_unit_mode
from ..model.aspects import Aspect
from ..model.copy_region import CopyRegion, ImageMemory, UsmMemory
from ..model.enums import FilteringMode, ImageType, Precision
from ..model.errors import FeatureNotSupportedError
from ..model.image_descriptor import CUBEMAP_FACES, ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..submission.event import Event
from ..sycl.kernel.builtin import builtin_kernel
from ..sycl.usm import UsmArray
from .prepared_call import report_error
from .scratch_memory import array_in, give_back, room, take

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue
    from .call_form import ArrayLike, CallImage, Form
    from .context_tables import HandleRecord
    from .scratch_memory import Block

__all__ = ["computed_samples", "require_computable", "require_computed"]

_MAX_GROUPS = 1 << 16
_MOST_LEVELS = 16


def require_computable(desc: ImageDescriptor, sampler: BindlessImageSampler, precision: Precision) -> None:
    """Refuse what no kernel computes.

    Raises
    ------
    FeatureNotSupportedError
        Anisotropic filtering, linear filtering between levels of integers of 32 bits, and blocks, words and codes of
        sRGB.
    """
    if desc.channel.is_sampled_only:
        raise FeatureNotSupportedError(
            f"precision={precision}: {desc.channel_type} is read by texture units and the reference device alone; use "
            "precision='hardware', or an image of the decoded pixels"
        )
    if desc.type is not ImageType.mipmap:
        return
    if sampler.mipmap_filtering is FilteringMode.linear and desc.channel.is_integer and desc.dtype.itemsize == 4:
        raise FeatureNotSupportedError(
            f"precision={precision}: mipmap_filtering=linear: {desc.channel_type} channels cannot be blended; use "
            "mipmap_filtering='nearest', or fp32"
        )
    if sampler.max_anisotropy >= 2 and desc.dimensions < 3:
        raise FeatureNotSupportedError(
            f"precision={precision}: max_anisotropy={sampler.max_anisotropy:g} is computed by texture units and the "
            "reference device alone; use precision='hardware', or max_anisotropy=0"
        )


# ---------------------------------------------------------------------- the sampler, as a kernel takes it


def _limits(sampler: BindlessImageSampler, levels: int, precision: Precision) -> tuple[int, int]:
    """Arguments ``low`` and ``high``: levels in 1/256, or the bits of floats."""
    low, high = sampler.min_mipmap_level_clamp, min(sampler.max_mipmap_level_clamp, levels)
    if precision is Precision.exact:
        bits = np.array([low, min(high, levels - 1)], np.float32).view(np.uint32)
        return int(bits[0]), int(bits[1])
    last = 256 * (levels - 1)
    return min(math.floor(min(low, _MOST_LEVELS) * 256), last), min(math.floor(high * 256), last)


def _border_of(desc: ImageDescriptor, fill: float) -> tuple[int, ...]:
    """The bits of a channel of a texel outside, for each channel."""
    if fill == 0.0:
        return (0, 0, 0, 0)
    channel = desc.channel
    if channel.normalized:
        largest: int = np.iinfo(desc.dtype).max  # type: ignore[type-var]
        stored = np.rint(np.clip(np.nan_to_num(fill), 0 if desc.dtype.kind == "u" else -1, 1) * largest)
    else:
        stored = np.float64(fill)
    element = np.array([stored]).astype(desc.dtype)
    return (int(element.view(f"u{element.itemsize}")[0]),) * 4


# ---------------------------------------------------------------------- texels


class _Source(NamedTuple):
    """The image of a call.

    Attributes
    ----------
    desc : ImageDescriptor
        Its descriptor.
    sampler : BindlessImageSampler
        Its sampler.
    fill : float
        Value outside.
    memory : UsmPointer | UsmArray | None
        The USM that it lies over; None for image memory.
    number : int
        Raw handle of the image memory; in USM the bytes between rows, or 0.
    keep : tuple[object, ...]
        What keeps it alive.
    """

    desc: ImageDescriptor
    sampler: BindlessImageSampler
    fill: float
    memory: Any
    number: int
    keep: tuple[object, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of a packed copy; 0 where none is needed."""
        if self.memory is not None:
            return 0
        if self.desc.type is not ImageType.mipmap:
            return self.desc.nbytes
        return sum(self.desc.get_mip_level_desc(level).nbytes for level in range(self.desc.num_levels))

    def copies(self, queue: Queue, address: int) -> list[CopyRegion]:
        """Copies of all texels to packed memory."""
        desc = self.desc
        if desc.type is not ImageType.mipmap:
            return [CopyRegion(ImageMemory(self.number, desc), UsmMemory(address, 0, desc), desc.extent)]
        copies = []
        for level in range(desc.num_levels):
            part = desc.get_mip_level_desc(level)
            raw = queue.context._backend.image_level(queue.context._native, self.number, level)
            copies.append(CopyRegion(ImageMemory(raw, part), UsmMemory(address, 0, part), part.extent))
            address += part.nbytes
        return copies

    def arguments(self, precision: Precision) -> dict[str, int]:
        """Arguments of the kernels that describe the image."""
        desc = self.desc
        levels = desc.num_levels if desc.type is ImageType.mipmap else 1
        layers = {ImageType.array: desc.array_size, ImageType.cubemap: CUBEMAP_FACES}.get(desc.type, 1)
        low, high = _limits(self.sampler, levels, precision)
        return {
            "pitch": 0 if self.memory is None else self.number,
            "width": desc.width,
            "height": desc.height or 1,
            "depth": desc.depth or 1,
            "num_layers": layers,
            "num_levels": levels,
            "low": low,
            "high": high,
            **{f"border_{axis}": bits for axis, bits in zip("xyzw", _border_of(desc, self.fill))},
        }


def require_computed(form: Form, image: CallImage, precision: Precision) -> HandleRecord:
    """The record of an image whose samples can be computed.

    Raises
    ------
    FeatureNotSupportedError
        ``create_image`` did not make the handle, or no kernel computes its samples.
    """
    record = image.record
    if record is None or record.source is None or record.sampler is None:
        raise FeatureNotSupportedError(
            f"{form.name}: precision={precision} of {image.raw:#x}, whose pixels are not known here: create_image did "
            "not make it; use precision='hardware'"
        )
    require_computable(image.desc, record.sampler, precision)
    return record


def _source_of(form: Form, image: CallImage, precision: Precision) -> _Source:
    """The image of a call, if a kernel can compute its samples."""
    record = require_computed(form, image, precision)
    assert record.source is not None and record.sampler is not None
    memory = record.memory if record.usm else None
    return _Source(image.desc, record.sampler, record.fill, memory, record.source, image.keep)


# ---------------------------------------------------------------------- the call


def computed_samples(
    queue: Queue,
    form: Form,
    image: CallImage,
    inputs: dict[str, ArrayLike | None],
    values: ArrayLike,
    fields: dict[str, Any],
    depends_on: Event | Iterable[Event],
) -> Event | None:
    """Submit a sample whose arrays are all on the host (wait, return None) or all in USM (return its event).

    Parameters
    ----------
    image : CallImage
        With its record.
    inputs, values, fields
        As of ``enqueue``.

    Raises
    ------
    FeatureNotSupportedError
        No kernel computes this sample.
    """
    source = _source_of(form, image, fields["precision"])
    arrays: dict[str, Any] = {name: array for name, array in inputs.items() if array is not None}
    arrays["values"] = values
    if isinstance(values, UsmArray):
        block = take(queue, max(source.nbytes, 1))
        return _launch(queue, form, source, block, arrays, fields, depends_on)
    size, starts = room(source.nbytes), {}
    for name, array in arrays.items():
        starts[name] = size
        size += room(array.nbytes)
    block = take(queue, size)
    there = {name: array_in(queue, block, starts[name], array.shape, array.dtype) for name, array in arrays.items()}
    copied = [
        queue.memcpy(there[name], array, depends_on=depends_on) for name, array in arrays.items() if name != "values"
    ]
    event = _launch(queue, form, source, block, there, fields, copied)
    event = queue.memcpy(values, there["values"], depends_on=event)
    event.wait()
    report_error(event)
    give_back(queue, block)
    return None


def _launch(
    queue: Queue,
    form: Form,
    source: _Source,
    block: Block,
    arrays: dict[str, UsmArray],
    fields: dict[str, Any],
    depends_on: Any,
) -> Event:
    """Copy the texels to the beginning of a block, and launch the kernel."""
    desc, precision = source.desc, fields["precision"]
    texels = source.memory
    if texels is None:
        texels = array_in(queue, block, 0, (source.nbytes,), np.dtype(np.uint8))
        depends_on = _copy_texels(queue, source, block, depends_on)
    target, has_doubles = queue.context._library.target, queue.device.has(Aspect.fp64)
    name = choose.computed_samples(precision, target, has_doubles=has_doubles)
    mode = texture_unit_mode(desc, source.sampler, form.operation == "sample_lod", source.memory is not None)
    word = format_word(fields["value_dtype"], fields["value_channels"], desc.channel, desc.num_channels)
    kernel = builtin_kernel(queue, name, format=word, mode=mode)
    arguments = {
        "texels": texels.pointer,
        "coords": arrays["coords"],
        "layers": arrays.get("layers"),
        "layer": fields.get("layer", 0),
        "level": arrays.get("levels"),
        "lod": fields.get("level", 0.0),
        "values": arrays["values"],
        "count": fields["count"],
        "format": word,
        "mode": mode,
        **source.arguments(precision),
    }
    space = range_of(groups_of(fields["count"], _MAX_GROUPS))
    return queue.parallel_for(space, kernel, *typed_arguments(name, arguments), depends_on=depends_on)


def _copy_texels(queue: Queue, source: _Source, block: Block, depends_on: Any) -> Event:
    copies = source.copies(queue, block.address)
    backend, native = queue._backend, queue._native

    def submit(waits: Sequence[NativeEvent]) -> NativeEvent:
        events: list[NativeEvent] = []
        try:
            for region in copies[:-1]:
                events.append(backend.copy_image(native, region, events[-1:] or waits))
            return backend.copy_image(native, copies[-1], events[-1:] or waits)
        finally:
            for event in events:
                backend.release_event(event)

    return queue._enqueue(submit, depends_on, (block, *source.keep))
