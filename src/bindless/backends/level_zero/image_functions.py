"""Device functions over arrays of coordinates, by the built-in SPIR-V kernels.

Each kernel is compiled for a device, and for the formats of its image and values, on first use.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from .launch import Launch, prepare, submit
from .module import load_module
from .queue import Queue
from .stream import nothing

__all__ = ["image_call", "prepare_image_call"]


def _kernel(context: Context, device: Device, name: str, format_word: int) -> Kernel:
    """A built-in kernel, compiled for a device and a format on first use."""
    library = context.native.library
    return library.load(name, device, lambda code: _build(context, device, code), format=format_word)


def _build(context: Context, device: Device, code: Code) -> Kernel:
    module = load_module(context, device, code.text)
    try:
        return get_kernel(module, code.name)
    except Error:
        module.close()
        raise


def _launch(queue: Queue, call: ImageCall, streams: int = 1) -> tuple[str, Launch]:
    """The built-in kernel of a call, and its launch."""
    name = choose.image_call(call, "spirv", "level_zero")
    format_word = image_call_format(call)
    kernel = _kernel(queue.context, queue.device, name, format_word)
    shape = kernel.shape((groups_of(call.count) * GROUP,), (GROUP,))
    return name, Launch(kernel, shape.group, shape.count, values_of(call, name, format_word), streams=streams)


def image_call(queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    name, launch = _launch(queue, call)
    return submit(queue, launch, waits) if call.count else queue.run(nothing, name, waits)


def prepare_image_call(queue: Queue, call: ImageCall) -> PreparedCommand | None:
    """Prepare a device function for repetition; see the contract. None for no items, and for events with timestamps."""
    if queue.profiling or not call.count:
        return None
    name, launch = _launch(queue, call, len(queue.ordered))
    places, sizes = address_places(call, name, launch.places)
    return prepare(queue, launch, places, sizes)
