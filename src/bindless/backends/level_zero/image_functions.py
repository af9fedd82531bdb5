"""Device functions over arrays of coordinates, by the built-in SPIR-V kernels.

Each kernel is compiled for a device, and for the formats of its image and values, on first use.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ... import kernels
from ...model.enums import ImageType
from ...model.errors import Error, FeatureNotSupportedError
from ...model.image_call import ImageCall
from ..common.image_kernels import BLOCK, GEOMETRIES, arguments_of, blocks_of, format_of, operation_of
from .context import Context
from .device import Device
from .event import Event
from .kernel import Kernel, get_kernel
from .launch import launch_shape
from .module import load_module
from .queue import Queue
from .stream import nothing

__all__ = ["image_call", "kernel_name"]


def kernel_name(call: ImageCall) -> str:
    """The built-in kernel of a call.

    Raises
    ------
    InvalidError
        an image of this kind has no such function.
    """
    desc = call.descriptor
    geometry = GEOMETRIES[desc.dimensions] + ("_array" if desc.type is ImageType.array else "")
    return f"bindless_{operation_of(call, 'level_zero')}_{geometry}_{desc.channel.kind}"


def _kernel(context: Context, device: Device, name: str, format_word: int) -> Kernel:
    """A built-in kernel, compiled for a device and a format on first use."""
    native = context.native
    key = (device, name, format_word)
    found = native.functions.get(key)
    if found is None:
        with native.loading:
            found = native.functions.get(key)
            if found is None:
                try:
                    source = kernels.specialised(name, format_word, "spirv")
                except (KeyError, ValueError) as error:
                    raise FeatureNotSupportedError(
                        f"there is no built-in kernel for this call: {error}", backend="level_zero"
                    ) from None
                found = native.functions[key] = _load(context, device, source, name)
    return found


def _load(context: Context, device: Device, source: bytes, name: str) -> Kernel:
    module = load_module(context, device, source)
    try:
        return get_kernel(module, name)
    except Error:
        module.close()
        raise


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    name = kernel_name(call)
    format_word = format_of(call)
    kernel = _kernel(queue.context, queue.device, name, format_word)
    blocks = blocks_of(call)
    if not blocks:
        return queue.run(nothing, name, waits)
    packed, sizes = arguments_of(call, name, format_word)
    values = struct.unpack("=" + "".join(f"{size}s" for size in sizes), packed)
    shape = kernel.shape((blocks * BLOCK,), (BLOCK,))
    return launch_shape(queue, kernel, shape, values, waits)
