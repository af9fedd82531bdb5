"""Start and end of reductions in a kernel's entry: identities before the Python function, results after it."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.np import numpy_support

from ...device.declaration import Call, mangled
from ...device.number_types import OPENCL_TYPES
from ...model.combiners import identity_of
from ..argument_type import ArgumentType
from .atomic_combination import combine_atomically
from .device_calls import call_function
from .numba_names import Builder, Context, LlvmType, Value
from .reducers import ReducerType

__all__ = ["finish", "reducer_type", "start"]

_LOCAL = 3
_GROUP_FUNCTIONS = ("add", "min", "max")  # OpenCL C's reductions of work-groups


def reducer_type(argument: ArgumentType) -> ReducerType:
    """Return the type of the parameter."""
    from . import active

    dtype = numpy_support.from_dtype(np.dtype(argument.dtype))
    language = active.target().typing_context.launch.language
    return ReducerType(dtype, argument.name, argument.count, argument.count > 1, language)


def start(context: Context, builder: Builder, argument: ArgumentType) -> Value:
    """Return the reducer: a variable with the identity, or an array of local memory filled with it."""
    identity = _identity(context, argument)
    pointer = ir.PointerType(ir.IntType(8))
    if argument.count == 1:
        return builder.bitcast(cgutils.alloca_once_value(builder, identity), pointer)
    first = _local_array(builder, identity.type, argument.count)
    with _elements(context, builder, argument.count) as place:
        builder.store(identity, builder.gep(first, [place]))
    _barrier(context, builder)
    return builder.bitcast(first, pointer)


def finish(context: Context, builder: Builder, argument: ArgumentType, reducer: Value, variable: Value) -> None:
    """Combine the values of a group with the variable of the launch.

    Parameters
    ----------
    reducer
        From ``start``.
    variable
        Its address.
    """
    type_ = reducer_type(argument)
    element = context.get_value_type(type_.dtype)
    signed = getattr(type_.dtype, "signed", True)
    own = builder.bitcast(reducer, ir.PointerType(element))
    target = builder.bitcast(variable, ir.PointerType(element, variable.type.addrspace))

    def add(pointer: Value, value: Value, scope: str) -> None:
        combine_atomically(builder, argument.name, pointer, value, signed, type_.language, scope)

    if argument.count > 1:
        _barrier(context, builder)
        with _elements(context, builder, argument.count) as place:
            add(builder.gep(target, [place]), builder.load(builder.gep(own, [place])), "device")
        return
    value = builder.load(own)
    if argument.name in _GROUP_FUNCTIONS:
        c_type = OPENCL_TYPES[np.dtype(argument.dtype).name]
        symbol = mangled(f"work_group_reduce_{argument.name}", c_type)
        call = Call(c_type, symbol, (c_type,), (), of_group=True)
        total = call_function(context, builder, call, [(type_.dtype, value)])
        with builder.if_then(_is_first(context, builder)):
            add(target, total, "device")
        return
    shared = _local_array(builder, element, 1)
    with builder.if_then(_is_first(context, builder)):
        builder.store(_identity(context, argument), shared)
    _barrier(context, builder)
    add(shared, value, "work_group")
    _barrier(context, builder)
    with builder.if_then(_is_first(context, builder)):
        add(target, builder.load(shared), "device")


def _identity(context: Context, argument: ArgumentType) -> Value:
    dtype = np.dtype(argument.dtype)
    kind = context.get_value_type(numpy_support.from_dtype(dtype))
    return ir.Constant(kind, identity_of(argument.name, dtype).item())


def _local_array(builder: Builder, element: LlvmType, count: int) -> Value:
    """Return the address of the first element of a new array in local memory."""
    module = builder.module
    kind = ir.ArrayType(element, count)
    variable = ir.GlobalVariable(module, kind, module.get_unique_name("bindless_reduction"), addrspace=_LOCAL)
    variable.linkage, variable.align = "internal", 16
    variable.initializer = ir.Constant(kind, ir.Undefined)
    return builder.addrspacecast(variable, ir.PointerType(element))


def _elements(context: Context, builder: Builder, count: int) -> _Loop:
    """Loop over the elements of an array that a work-item of the group is in charge of; yields the index."""
    first, step = _linear(context, builder)
    return _Loop(builder, first, step, count)


class _Loop:
    """``for place in range(first, count, step)`` around the instructions of a with statement."""

    def __init__(self, builder: Builder, first: Value, step: Value, count: int) -> None:
        self._builder, self._first, self._step, self._count = builder, first, step, count

    def __enter__(self) -> Value:
        builder = self._builder
        before = builder.block
        self._head = builder.append_basic_block("elements")
        body, self._end = builder.append_basic_block("element"), builder.append_basic_block("elements.end")
        builder.branch(self._head)
        builder.position_at_end(self._head)
        self._place = builder.phi(self._first.type)
        self._place.add_incoming(self._first, before)
        inside = builder.icmp_unsigned("<", self._place, self._first.type(self._count))
        builder.cbranch(inside, body, self._end)
        builder.position_at_end(body)
        return self._place

    def __exit__(self, *_: object) -> None:
        builder = self._builder
        self._place.add_incoming(builder.add(self._place, self._step), builder.block)
        builder.branch(self._head)
        builder.position_at_end(self._end)


def _linear(context: Context, builder: Builder) -> tuple[Value, Value]:
    """Return the number of the work-item in its group, and the group's size."""
    place, size = None, None
    for dimension in reversed(range(_dimensions(context))):
        here, extent = (
            _call(context, builder, f"local_id_{dimension}"),
            _call(context, builder, f"local_size_{dimension}"),
        )
        place = here if place is None else builder.add(builder.mul(place, extent), here)
        size = extent if size is None else builder.mul(size, extent)
    return place, size


def _is_first(context: Context, builder: Builder) -> Value:
    """Whether the work-item is the first one of its group."""
    place, _ = _linear(context, builder)
    return builder.icmp_unsigned("==", place, place.type(0))


def _dimensions(context: Context) -> int:
    count: int = context.typing_context.launch.dimensions
    return count


def _call(context: Context, builder: Builder, name: str) -> Value:
    return call_function(context, builder, Call("long", f"__bindless_{name}"), [])


def _barrier(context: Context, builder: Builder) -> None:
    call_function(context, builder, Call("void", "__bindless_barrier", of_group=True), [])
