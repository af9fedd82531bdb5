"""Device functions over arrays of coordinates, by the built-in kernels in PTX.

Each kernel is compiled for a device and for the formats of its image and values on first use.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels import choose
from ...kernels.launch_range import GROUP, groups_of
from ...kernels.load import Code
from ...kernels.words import image_call_format
from ...model.image_call import ImageCall
from ..common.image_kernels import address_places, arguments_of
from ..contract.prepared_command import PreparedCommand
from .event import Event
from .kernel import Kernel
from .launch import Launch, packed_launch, prepare, submit
from .module import load_module
from .prepared_command import address_of
from .queue import Queue
from .stream import nothing

__all__ = ["build", "image_call", "kernel_name", "kernel_of", "launch_of_call", "prepare_image_call"]


def kernel_name(call: ImageCall) -> str:
    """The built-in kernel of a call."""
    return choose.image_call(call, "ptx", "cuda")


def build(queue: Queue, code: Code) -> Kernel:
    """A kernel, compiled for the queue's device."""
    return Kernel(load_module(queue.context, queue.device, code.text), code.name)


def kernel_of(queue: Queue, name: str, format_word: int) -> Kernel:
    """A built-in kernel, compiled for the queue's device and a format on first use."""
    library = queue.primary.library
    kernel = library.load(name, queue.device, lambda code: build(queue, code), format=format_word)
    assert isinstance(kernel, Kernel)
    return kernel


def launch_of_call(queue: Queue, call: ImageCall) -> tuple[str, Launch]:
    """The built-in kernel of a call, and its launch."""
    name = kernel_name(call)
    format_word = image_call_format(call)
    kernel = kernel_of(queue, name, format_word)
    packed, sizes = arguments_of(call, name, format_word)
    return name, packed_launch(kernel, (groups_of(call.count), 1, 1, GROUP, 1, 1), sizes, packed)


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
