"""Results of groups of images: the values' place, which the parts fill, and its way to the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import AnyArray, Library
from .results import Result

__all__ = ["after_all", "given_from_host", "given_from_parts", "place_of"]


def place_of(result: Result, *, on_device: bool) -> AnyArray:
    """Memory for the values, in ``out`` if that is possible: each part gives its share of it as ``out``."""
    in_usm = result.on_device or (result.array is None and on_device)
    return result.in_usm() if in_usm else result.on_host()


def given_from_parts(result: Result, values: AnyArray, queue: Queue, library: Library | None) -> Any:
    """The result for the caller, from a place that the parts have filled."""
    after = () if queue._stream.in_order or isinstance(values, np.ndarray) else (after_all(queue),)
    return result.given(values, after, library)


def given_from_host(
    result: Result, values: npt.NDArray[Any], queue: Queue, library: Library | None, *, on_device: bool
) -> Any:
    """The result for the caller, on the device if it belongs there, from values on the host."""
    place = place_of(result, on_device=on_device)
    if not isinstance(place, UsmArray):
        return result.given(values, (), library)
    event = queue.memcpy(place, np.ascontiguousarray(values))
    return result.given(place, (event,), library)


def after_all(queue: Queue) -> Event:
    """An event after all commands that the queue has now."""
    return queue.ext_oneapi_submit_barrier()
