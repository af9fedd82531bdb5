"""Device functions over arrays of coordinates, by the built-in kernels in OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...drivers.common.cffi_types import CData
from ...kernels import choose
from ...kernels.launch_range import GROUP, groups_of
from ...kernels.load import Code
from ...kernels.words import image_call_format
from ...model.errors import Error
from ...model.image_call import ImageCall
from ..common.image_kernels import address_places, values_of
from ..contract.prepared_command import PreparedCommand
from .context import Context
from .device import Device
from .event import Event
from .kernel import Kernel, get_kernel
from .launch import launch_shape, prepare_shape
from .module import load_kept, load_module, packed_of
from .queue import Queue

__all__ = ["image_call", "prepare_image_call"]


# Shared by all contexts: compiling takes most of a second.
_built: dict[tuple[Device, str], bytes] = {}


def _build(context: Context, device: Device, code: Code) -> Kernel:
    packed = _built.get((device, code.name))
    if packed:
        module = load_kept(context, device, packed, adapted=True)
    else:
        module = load_module(context, device, code.text)
        _built[device, code.name] = packed_of(module)
    try:
        return get_kernel(module, code.name, indirect=False)
    except Error:
        module.close()
        raise


def _plan(queue: Queue, call: ImageCall) -> tuple[Kernel, CData, str, tuple[bytes, ...]]:
    """Kernel, shape, name and arguments of a call; the shape is None for no items."""
    name = choose.image_call(call, "opencl_c", "opencl")
    context, device = queue.context, queue.device
    kernel = context.library.load(name, device, lambda code: _build(context, device, code))
    assert isinstance(kernel, Kernel)
    items = groups_of(call.count) * GROUP
    if items:  # Kernels take groups of any size: a driver whose own are smaller chooses.
        sizes = (items,), (GROUP,) if kernel.max_group >= GROUP else None
        shape = kernel.shapes.get(sizes) or kernel.shape(*sizes)
    else:
        shape = None
    return kernel, shape, name, values_of(call, name, image_call_format(call))


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    kernel, shape, name, values = _plan(queue, call)
    if shape is None:
        return queue.run_all((), name, waits)
    return launch_shape(queue, kernel, shape, values, waits)


def prepare_image_call(queue: Queue, call: ImageCall) -> PreparedCommand | None:
    """Prepare a device function for repetition; see the contract."""
    kernel, shape, name, values = _plan(queue, call)
    command = None if shape is None else prepare_shape(queue, kernel, shape, values)
    if command is None:
        return None
    places, sizes = address_places(call, name, command.places)
    return replace(command, places=places, sizes=sizes)
