"""Launches of the built-in kernels for whole pictures, loaded once for each context.

The reference device is the processor: its pictures are made there by the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .. import kernels
from ..model.aspects import Aspect
from ..model.ranges import NdRange
from ..submission.event import Event
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue

__all__ = ["builtin_kernel", "launch", "makes_pictures", "memory_kernel"]

_GROUP = 128
_MOST_ITEMS = 1 << 20  # of one launch; the kernels stride over the rest


def builtin_kernel(queue: Queue, name: str, format_word: int | None = None) -> Kernel | None:
    """A built-in kernel for a queue's device, or None where its driver takes none.

    Parameters
    ----------
    name : str
        Without the prefix: ``warp_2d_f``.
    format_word : int, optional
        Fixes the argument ``format``, which the kernel still takes.
    """
    target = queue._backend.traits.kernel_language
    if target is None or name not in kernels.modules(target):
        return None
    loaded = queue.context._kernels
    key = (queue.device, name, format_word)
    kernel: Kernel | None = loaded.get(key)
    if kernel is None:
        whole = f"bindless_{name}"
        text = kernels.source(name, target) if format_word is None else kernels.specialised(whole, format_word)
        kernel = loaded[key] = load_kernel_bundle(text, queue.device, queue.context).get_kernel(whole)
    return kernel


def memory_kernel(queue: Queue, name: str) -> Kernel:
    """A built-in kernel over linear memory alone, which every driver takes."""
    loaded, key = queue.context._kernels, (queue.device, name, None)
    kernel: Kernel | None = loaded.get(key)
    if kernel is None:
        text = kernels.source(name, queue._backend.traits.build_target)
        bundle = load_kernel_bundle(text, queue.device, queue.context)
        kernel = loaded[key] = bundle.get_kernel(f"bindless_{name}")
    return kernel


def makes_pictures(queue: Queue, name: str) -> bool:
    """Whether a queue's device follows maps itself: it has double precision, and the function that does it.

    Parameters
    ----------
    name : str
        Of the kernel, where it takes one: ``warp_2d_f``.
    """
    device = queue.device
    language = queue._backend.traits.function_language
    if language is None:
        return True
    if not device.has(Aspect.fp64):
        return False
    module = kernels.manifest()["modules"].get(name)
    return module is not None and language in module["targets"]


def launch(
    queue: Queue, kernel: Kernel, items: int, *arguments: Any, depends_on: Event | Iterable[Event] = ()
) -> Event:
    """Runs a built-in kernel with about a work-item for each of ``items``."""
    index_space = _index_space(-(-min(items, _MOST_ITEMS) // _GROUP))
    return queue.parallel_for(index_space, kernel, *arguments, depends_on=depends_on)


@lru_cache(64)
def _index_space(groups: int) -> NdRange:
    """One object for launches that come again."""
    return NdRange(groups * _GROUP, _GROUP)
