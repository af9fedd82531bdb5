"""Device functions over arrays of coordinates: the choice of the built-in kernel of a call, and of its arguments.

``bindless.kernels`` defines the kernels and their arguments. Each kernel is compiled for a device and for the formats
of its image and values on first use.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ... import kernels
from ...model.create_once import create_once
from ...model.enums import ImageType
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_call import ImageCall
from ..common.image_kernels import (
    BLOCK,
    address_places,
    arguments_of,
    blocks_of,
    format_of,
    geometry_of,
    operation_of,
    refused_without_kernel,
)
from ..contract.prepared_command import PreparedCommand
from .event import Event
from .kernel import Kernel
from .launch import Launch, packed_launch, prepare, submit
from .module import load_module
from .prepared_command import address_of
from .queue import Queue
from .stream import nothing

__all__ = ["image_call", "kernel_name", "kernel_of", "launch_of_call", "prepare_image_call"]

# Loaded kernels, by the address of the primary context, the kernel's name and its format.
_loaded: dict[tuple[int, str, int], Kernel] = {}
_loading = threading.RLock()


def _geometry(call: ImageCall) -> str:
    """The geometry in a kernel's name. Faces of an unsampled cubemap are layers."""
    desc = call.descriptor
    if desc.type is ImageType.cubemap:
        if call.operation == "write" or not call.sampled:
            return "2d_array"
        if call.operation in ("sample", "sample_lod"):
            return "cube"
        raise InvalidError(
            f"{call.operation} of a sampled cubemap: it is sampled by directions; fetch faces through an unsampled "
            "image",
            backend="cuda",
        )
    if call.usm and desc.dimensions == 1:
        if call.operation != "fetch":
            raise FeatureNotSupportedError(
                f"{call.operation} of a one-dimensional image over USM: NVIDIA's linear textures are only fetched. Use "
                "a pitched 2D image of height 1 (height=1 in the descriptor); ask aspect "
                "ext_oneapi_bindless_images_sample_1d_usm first",
                backend="cuda",
            )
        return "1d_linear"
    return geometry_of(call)


def kernel_name(call: ImageCall) -> str:
    """The built-in kernel of a call.

    Raises
    ------
    InvalidError
        an image of this kind has no such function.
    FeatureNotSupportedError
        this device has no such function.
    """
    operation = operation_of(call, "cuda")
    return f"bindless_{operation}_{_geometry(call)}_{call.descriptor.channel.kind}"


def kernel_of(queue: Queue, name: str, format_word: int) -> Kernel:
    """A built-in kernel, compiled for the queue's device and a format on first use."""
    key = (queue.primary.address, name, format_word)
    return create_once(_loaded, _loading, key, lambda: _load(queue, name, format_word))


def _load(queue: Queue, name: str, format_word: int) -> Kernel:
    with refused_without_kernel("cuda"):
        source = kernels.specialised(name, format_word)
    return Kernel(load_module(queue.context, queue.device, source), name)


def launch_of_call(queue: Queue, call: ImageCall) -> tuple[str, Launch]:
    """The built-in kernel of a call, and its launch."""
    name = kernel_name(call)
    format_word = format_of(call)
    kernel = kernel_of(queue, name, format_word)
    packed, sizes = arguments_of(call, name, format_word)
    return name, packed_launch(kernel, (blocks_of(call), 1, 1, BLOCK, 1, 1), sizes, packed)


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    name, launch = launch_of_call(queue, call)
    return submit(queue, launch, waits) if call.count else queue.run(nothing, name, waits)


def prepare_image_call(queue: Queue, call: ImageCall) -> PreparedCommand | None:
    """Prepare a device function for repetition; see the contract."""
    if not (call.count and queue.prepares):
        return None
    name, launch = launch_of_call(queue, call)
    return prepare(queue, launch, *address_places(call, name, list(map(address_of, launch.pointers))))
