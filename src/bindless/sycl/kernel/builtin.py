"""Built-in kernels as kernels of a queue, and their launches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...kernels.launch_range import GROUP, range_of
from ...kernels.load import Code
from ...model.ranges import NdRange
from .bundle import load_kernel_bundle
from .kernel import Kernel

if TYPE_CHECKING:
    from ...submission.event import Event
    from ..device.queue_base import QueueBase
    from .bound_launch import LaunchQueue

__all__ = ["builtin_kernel", "launch", "launch_range"]

_MAX_ITEMS = 1 << 20  # of one launch; the kernels stride over the rest


def builtin_kernel(queue: QueueBase, name: str, *, format: int | None = None, mode: int | None = None) -> Kernel:
    """A built-in kernel for a queue's device.

    Parameters
    ----------
    name : str
        Name of the kernel.
    format, mode : int, optional
        Fixes the argument of this name, which the kernel still takes.

    Raises
    ------
    FeatureNotSupportedError
        There is no such kernel in the language of the device.
    """
    context, device = queue.context, queue.device

    def build(code: Code) -> Kernel:
        bundle = load_kernel_bundle(code.text, device, context, specialization=code.constants)
        return bundle.get_kernel(code.name)

    kernel = context._library.load(name, device, build, format=format, mode=mode)
    assert isinstance(kernel, Kernel)
    return kernel


def launch(
    queue: LaunchQueue, kernel: Kernel, items: int, *arguments: Any, depends_on: Event | Iterable[Event] = ()
) -> Event:
    """Runs a built-in kernel with about a work-item for each of ``items``."""
    return queue.parallel_for(launch_range(items), kernel, *arguments, depends_on=depends_on)


def launch_range(items: int) -> NdRange:
    """The range of a launch with about a work-item for each of ``items``."""
    return range_of(-(-min(items, _MAX_ITEMS) // GROUP))
