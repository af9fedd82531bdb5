"""Device functions over arrays of coordinates, by the built-in kernels in OpenCL C."""

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
from .module import load_kept, load_module, packed_of
from .queue import Queue

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
    return f"bindless_{operation_of(call, 'opencl')}_{geometry}_{desc.channel.kind}"


def _kernel(context: Context, device: Device, name: str) -> Kernel:
    """A built-in kernel, compiled for a device on first use."""
    found = context.functions.get((device, name))
    if found is None:
        with context.loading:
            found = context.functions.get((device, name))
            if found is None:
                try:
                    source = kernels.source(kernels.module_of(name), "opencl_c")
                except (KeyError, ValueError) as error:
                    raise FeatureNotSupportedError(
                        f"there is no built-in kernel for this call: {error}", backend="opencl"
                    ) from None
                found = context.functions[device, name] = _load(context, device, source, name)
    return found


# Shared by all contexts: compiling takes most of a second.
_built: dict[tuple[Device, str], bytes] = {}


def _load(context: Context, device: Device, source: bytes, name: str) -> Kernel:
    packed = _built.get((device, name))
    if packed:
        module = load_kept(context, device, packed, adapted=True)
    else:
        module = load_module(context, device, source)
        _built[device, name] = packed_of(module)
    try:
        return get_kernel(module, name, indirect=False)
    except Error:
        module.close()
        raise


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    name = kernel_name(call)
    kernel = _kernel(queue.context, queue.device, name)
    blocks = blocks_of(call)
    if not blocks:
        return queue.run_all((), name, waits)
    packed, sizes = arguments_of(call, name, format_of(call))
    values = struct.unpack("=" + "".join(f"{size}s" for size in sizes), packed)
    # The kernels support work-groups of any size; if the driver's limit is smaller, the driver chooses.
    shape = kernel.shape((blocks * BLOCK,), (BLOCK,) if kernel.max_group >= BLOCK else None)
    return launch_shape(queue, kernel, shape, values, waits)
