"""Preparation of launches: the packing rules of their arguments, for ``core/_submission``, which packs and submits.

A queue finds a prepared launch by kernel, range and number of arguments. Numbers, memory, handles and local memory are
read at each launch. Values that C does not read, such as arrays by value and accessors, are packed here each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.contract import KernelArgument
from ...core._submission import MOST_ARGUMENTS, Prepared
from ...model.errors import InvalidError
from ...model.image_handles import SampledImageHandle, UnsampledImageHandle
from ...model.ranges import NdRange
from ...submission.event import Event
from ..buffer.accessor import Accessor, LocalAccessor
from ..device.handle_owner import HandleOwner, HeldSampledHandle, HeldUnsampledHandle
from ..usm.array import UsmArray
from ..usm.array_import import foreign_array
from ..usm.pointer import UsmPointer
from .arguments import NO_NUMBERS, PACKERS, guessed_parameter, held_image, pack_argument, require_handle
from .element_types import is_typed, require_elements
from .struct_arguments import FLOATS, INTEGERS, Unfit

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase
    from .kernel import Kernel

__all__ = ["submit_prepared"]

_POINTER_SIZE = 8
_ADDRESSES = frozenset(("pointer", "value"))
_HELD = frozenset((HeldSampledHandle, HeldUnsampledHandle))  # handles that C holds like memory
_HANDLES = _HELD | {SampledImageHandle, UnsampledImageHandle}
_NUMBERS = (int, float, bytes, np.number, np.bool_)
_MOST_LOCAL = 2**31

# Packing rule of an argument for ``core/_submission``: kind, bytes, whether of ints and of floats, and a value of its
# type. The first letter of the kind decides.
_Rule = tuple[str, int, bool, bool, object]


@dataclass(slots=True)
class _Plan:
    """Arguments of a launch for the C code.

    Attributes
    ----------
    values : list[Any]
        The arguments; bytes in place of values that Python packs.
    keep : list[object]
        Memory of accessors.
    rules : list[_Rule]
        Packing rules.
    packed : list[bytes | int]
        Example of the bytes of each argument, or the size of local memory.
    """

    values: list[Any] = field(default_factory=list)
    keep: list[object] = field(default_factory=list)
    rules: list[_Rule] = field(default_factory=list)
    packed: list[bytes | int] = field(default_factory=list)


def submit_prepared(
    queue: QueueBase,
    index_space: object,
    kernel: Kernel,
    here: Kernel,
    sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
    arguments: tuple[Any, ...],
    depends_on: Iterable[Event] | Event,
) -> Event | None:
    """Prepare a launch if necessary, and submit it; None where Python has to submit it, or to explain a refusal.

    Parameters
    ----------
    kernel, here
        The kernel of the caller, and that of the queue's device.
    sizes
        Global and local size in the order of the native kernel.
    """
    if len(arguments) > MOST_ARGUMENTS:
        return None
    stream = queue._stream
    prepared = stream.find(kernel, index_space, len(arguments))
    try:
        plan = _plan_arguments(queue, here, arguments, isinstance(index_space, NdRange), prepared is not None)
    except (Unfit, InvalidError):
        return None
    native = stream.native
    if plan is None or native is None:
        return None
    values, keep = tuple(plan.values), tuple(plan.keep)
    if prepared is not None:  # C has refused the values themselves, or a wait
        event: Event | None = stream.submit_prepared(prepared, values, depends_on, keep)
        if event is not None or depends_on or stream.blocker is not None or stream.declined:
            return event
    command = queue._backend.prepare_launch(native, here._native, *sizes, plan.packed)
    if command is None:
        return None
    slots = tuple([(rule[0], place or 0, *rule[1:]) for rule, place in zip(plan.rules, command.places)])
    launch = Prepared(
        kernel, index_space, here._bundle, command.mark, command.lanes, command.settle, command.refused, command.keep,
        command.submit, command.descriptions, slots,
    )  # fmt: skip
    stream.remember(launch)
    submitted: Event | None = stream.submit_prepared(launch, values, depends_on, keep)
    return submitted


def _plan_arguments(
    queue: QueueBase, here: Kernel, arguments: tuple[Any, ...], grouped: bool, pack_numbers: bool
) -> _Plan | None:
    """Values and packing rules of arguments; None for arguments that the kernel does not take.

    Parameters
    ----------
    grouped
        Whether the range has work-groups, which share local memory.
    pack_numbers
        Whether numbers become bytes here.

    Raises
    ------
    Unfit, InvalidError
        The kernel does not take a value.
    """
    parameters: Sequence[KernelArgument] | None = here._parameters
    guessed = parameters is None
    if parameters is None:
        parameters = [guessed_parameter(here.name, index, value) for index, value in enumerate(arguments)]
    if len(parameters) != len(arguments):
        return None if arguments or not here._record.may_be_set else _Plan()
    plan = _Plan()
    for value, parameter in zip(arguments, parameters):
        kind, size = type(value), parameter.size
        if kind not in PACKERS and not isinstance(value, (np.generic, Accessor, HandleOwner)):
            value = foreign_array(value, queue)
            kind = type(value)
        elif isinstance(value, HandleOwner):
            value = held_image(value, parameter)
            kind = type(value)
        data: bytes | int
        if kind is UsmArray or kind is UsmPointer:
            if size != _POINTER_SIZE or parameter.kind not in _ADDRESSES:
                return None
            name, data = "pointer", value._packed
            if kind is UsmArray:
                name = "array"
                if parameter.type and is_typed(parameter):  # of the dtype of this one
                    require_elements(value.dtype, parameter)
                    name = "typed array"
            rule: _Rule = name, size, False, False, value
        elif kind in _HANDLES:
            require_handle(parameter, issubclass(kind, SampledImageHandle))
            data = value._raw_handle.to_bytes(_POINTER_SIZE, "little")
            rule = ("image" if kind in _HELD else "handle"), size, False, False, value
        elif isinstance(value, _NUMBERS) and not pack_numbers:
            if parameter.kind in NO_NUMBERS:
                return None
            data, rule = bytes(size), _number(parameter, guessed)
        elif value is None:
            data, rule = pack_argument(value, parameter, queue), ("same", 0, False, False, None)
        elif kind is LocalAccessor:
            data = pack_argument(value, parameter, queue)
            if not grouped or value.nbytes >= _MOST_LOCAL:
                return None
            rule = "local", value.nbytes, False, False, value
        else:
            data = pack_argument(value, parameter, queue)
            if isinstance(value, Accessor):
                assert value._place is not None
                plan.keep.append(value._place.memory)
                rule = "given", size, False, False, None
            else:
                rule = _number(parameter, guessed)
            value = data
        plan.values.append(value)
        plan.packed.append(data)
        plan.rules.append(rule)
    return plan


def _number(parameter: KernelArgument, guessed: bool) -> _Rule:
    """The rule of a number; of a guessed parameter only the size is known."""
    size = parameter.size
    becomes_float = parameter.type in FLOATS
    integers = not guessed and size in ((4, 8) if becomes_float else (1, 2, 4, 8))
    floats = not guessed and size in (4, 8) and parameter.type not in INTEGERS
    return ("float" if becomes_float else "number"), size, integers, floats, None
