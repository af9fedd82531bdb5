"""``plan_launch``: the kernel, sizes and packed arguments of a launch, checked; a method of ``Queue``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.errors import InvalidError
from ...model.message_values import shown
from ...model.ranges import NdRange, RangeLike
from ..device.handle_owner import HandleOwner
from ..usm.array_import import foreign_arguments
from .arguments import no_groups, pack_arguments, with_images
from .kernel import Kernel

if TYPE_CHECKING:
    from ..queue.queue import Queue

__all__ = ["plan_launch"]

_MOST_ITEMS = 2**64 - 1


def plan_launch(
    queue: Queue, index_space: RangeLike | NdRange, kernel: Kernel, arguments: tuple[object, ...]
) -> tuple[Kernel, tuple[tuple[int, ...], tuple[int, ...] | None], Sequence[bytes | int], tuple[object, ...]]:
    """The kernel on this device, global and local size in its order, its arguments packed, and as they were taken.

    The last are the arguments themselves, unless images among them became their handles, or other libraries' arrays
    our own.
    """
    if type(kernel) is not Kernel or kernel._context is not queue.context or not kernel._bundle._open:
        _refuse(queue, kernel)
    if kernel._device is not queue.device:
        kernel = kernel._on(queue.device)
    if type(index_space) is int and 0 < index_space <= _MOST_ITEMS:
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None] = (index_space,), kernel._local
    else:
        sizes = kernel._sizes(index_space)
    if not arguments and (not kernel._parameters or kernel._record.may_be_set):
        return kernel, sizes, (), arguments
    for value in arguments:
        if isinstance(value, HandleOwner):
            arguments = with_images(arguments, kernel._parameters)
            break
    try:
        packed = pack_arguments(kernel.name, kernel._parameters, arguments, queue)
    except InvalidError:
        packed, arguments = _adopt(queue, kernel, arguments)
    if int in map(type, packed) and not isinstance(index_space, NdRange):
        raise no_groups(kernel.name)
    return kernel, sizes, packed, arguments


def _adopt(queue: Queue, kernel: Kernel, arguments: tuple[object, ...]) -> tuple[list[bytes | int], tuple[object, ...]]:
    """Arguments that were refused, packed with the arrays of other libraries among them taken as our own."""
    adopted = foreign_arguments(arguments, queue)
    if adopted is None:
        raise
    return pack_arguments(kernel.name, kernel._parameters, adopted, queue), adopted


def _refuse(queue: Queue, kernel: object) -> None:
    """Says what is wrong with a kernel."""
    if not isinstance(kernel, Kernel):
        raise InvalidError(f"kernel={shown(kernel)} is no Kernel: load_kernel_bundle(...).get_kernel(name) makes one")
    kernel._require_usable(queue.context)
