"""``submit_launch``: launches that C does not repeat by itself. ``plan_launch``: kernel, sizes and packed arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.errors import InvalidError
from ...model.message_values import shown
from ...model.ranges import NdRange, RangeLike
from ...submission.command_stream import Operation
from ...submission.event import Event
from ..device.handle_owner import HandleOwner
from ..device.native_stream import order_libraries_after
from ..usm.array_import import foreign_arguments
from .arguments import PACKERS, memory_of, no_groups, pack_arguments, with_images
from .kernel import Kernel
from .kernel_template import KernelTemplate
from .offset_launch import has_offset, launch_operation
from .prepared_launch import submit_prepared
from .reduction import Reduction, fill_variables, require_values, with_filled_variables

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase
    from .bound_launch import LaunchQueue

__all__ = ["plan_launch", "submit_launch"]

_MOST_ITEMS = 2**64 - 1

_Sizes = tuple[tuple[int, ...], "tuple[int, ...] | None"]


def submit_launch(
    queue: LaunchQueue,
    index_space: Any,
    kernel: Kernel | KernelTemplate,
    arguments: tuple[Any, ...],
    depends_on: Iterable[Event] | Event,
) -> Event:
    """Submit a launch, prepared for repetition where the back end can.

    Raises
    ------
    KernelArgumentError, NdRangeError, InvalidError
        As of ``Queue.parallel_for``.
    """
    if isinstance(kernel, KernelTemplate):
        filled = with_filled_variables(arguments)
        specialised, values = kernel._specialised(queue, index_space, filled)
        if filled is not arguments:
            depends_on = fill_variables(queue, arguments, depends_on)
        event = queue.parallel_for(index_space, specialised, *values, depends_on=depends_on)
        own = PACKERS.keys() >= set(map(type, values))  # else the launch itself orders the libraries
        return _order(queue, arguments, event) if own and any(map(_is_foreign, arguments)) else event
    here, sizes = _plan_range(queue, index_space, kernel)
    others = not PACKERS.keys() >= set(map(type, arguments))  # other libraries' arrays, perhaps
    stream, offset = queue._stream, type(index_space) is NdRange and has_offset(index_space)
    if stream.prepares and not offset and 0 not in sizes[0]:
        prepared = submit_prepared(queue, index_space, kernel, here, sizes, arguments, depends_on)
        if prepared is not None:
            return _order(queue, arguments, prepared) if others else prepared
    packed, own_arguments = _pack(queue, index_space, here, arguments)
    if 0 in sizes[0]:
        return queue._nothing(depends_on)
    if offset:
        operation: Operation = launch_operation(queue, index_space, here, sizes, packed)
    else:
        launch, native = queue._backend.launch, here._native
        operation = lambda waits: launch(stream.live, native, *sizes, packed, waits)  # noqa: E731
    event = stream.submit(operation, depends_on, (here._bundle, *memory_of(own_arguments)))
    return _order(queue, arguments, event) if others else event


def _is_foreign(value: object) -> bool:
    """Whether an argument of a template may be another library's array."""
    kind = type(value)
    return kind not in PACKERS and kind is not Reduction and not isinstance(value, (tuple, np.generic))


def _order(queue: QueueBase, arguments: tuple[object, ...], event: Event) -> Event:
    """The event, after which the later work of other libraries with arrays among the arguments comes."""
    order_libraries_after(queue, arguments, event)
    return event


def plan_launch(
    queue: QueueBase, index_space: RangeLike | NdRange, kernel: Kernel | KernelTemplate, arguments: tuple[object, ...]
) -> tuple[Kernel, _Sizes, Sequence[bytes | int], tuple[object, ...]]:
    """The kernel on this device, global and local size in its order, its arguments packed, and as they were taken.

    The last are the arguments themselves, unless images among them became their handles, or other libraries' arrays
    our own.
    """
    if isinstance(kernel, KernelTemplate):
        require_values(arguments)
        kernel, arguments = kernel._specialised(queue, index_space, arguments)
    here, sizes = _plan_range(queue, index_space, kernel)
    return here, sizes, *_pack(queue, index_space, here, arguments)


def _plan_range(queue: QueueBase, index_space: RangeLike | NdRange, kernel: Kernel) -> tuple[Kernel, _Sizes]:
    """The kernel on the queue's device, and global and local size in its order."""
    if type(kernel) is not Kernel or kernel._context is not queue.context or not kernel._bundle._open:
        _refuse(queue, kernel)
    if kernel._device is not queue.device:
        kernel = kernel._on(queue.device)
    if kernel._record.group_function and not isinstance(index_space, NdRange):
        kernel._require_groups()
    if type(index_space) is int and 0 < index_space <= _MOST_ITEMS:
        return kernel, ((index_space,), kernel._local)
    return kernel, kernel._sizes(index_space)


def _pack(
    queue: QueueBase, index_space: RangeLike | NdRange, kernel: Kernel, arguments: tuple[object, ...]
) -> tuple[Sequence[bytes | int], tuple[object, ...]]:
    """Packed arguments, and the arguments with handles of images and with other libraries' arrays as our own."""
    if not arguments and (not kernel._parameters or kernel._record.may_be_set):
        return (), arguments
    for value in arguments:
        if isinstance(value, HandleOwner):
            arguments = with_images(arguments, kernel._parameters)
            break
    try:
        packed = pack_arguments(kernel.name, kernel._parameters, arguments, queue)
    except InvalidError:
        adopted = foreign_arguments(arguments, queue)
        if adopted is None:
            raise
        packed, arguments = pack_arguments(kernel.name, kernel._parameters, adopted, queue), adopted
    if int in map(type, packed) and not isinstance(index_space, NdRange):
        raise no_groups(kernel.name)
    return tuple(packed), arguments


def _refuse(queue: QueueBase, kernel: object) -> None:
    """Raises the error of a kernel that the queue cannot launch."""
    if not isinstance(kernel, Kernel):
        way = (
            "write @bindless.kernel above the function"
            if inspect.isfunction(kernel)
            else "the call is parallel_for(range, kernel, ...), where @bindless.kernel above a function or "
            "load_kernel_bundle(...).get_kernel(name) makes one"
        )
        raise InvalidError(f"kernel={shown(kernel)} is no Kernel: {way}")
    kernel._require_usable(queue.context)
