"""Programs of operations, whose buffers are the operands and results of a custom call; see
``sampling.memory.programs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..sampling.memory import MemoryArray, plan, programs
from .operation import Operands, Operation

__all__ = ["cuda_program", "host_program"]

_OPERATIONS = {
    "sample": plan.Operation.forward,
    "push": plan.Operation.backward_backward,
    "pull": plan.Operation.backward,
    "bend": plan.Operation.backward_backward,
}


class _Buffers:
    """Operands and results of a custom call by meaning, as indices.

    Attributes
    ----------
    operands : Operands[int]
        The operands.
    texels, coords, level
        The results of ``pull`` and ``bend``.
    values : int | None
        The result of ``sample`` and ``push``.
    slots : list[int | None]
        The buffers in the order of a plan of ``sampling.memory``.
    """

    def __init__(self, operation: Operation, operands: int, results: int) -> None:
        self.operands: Operands[int] = operation.sort(range(operands))
        rest = iter(range(operands, operands + results))
        self.values = next(rest) if operation.kind in ("sample", "push") else None
        self.texels = [next(rest) for _ in range(operation.num_levels)] if operation.gradients.texels else []
        self.coords = next(rest) if operation.gradients.coords else None
        self.level = next(rest) if operation.gradients.level else None
        numbers = self.operands
        samples = {
            "coords": numbers.coords,
            "level": numbers.level,
            "out": self.values if operation.kind == "sample" else None,
            "grad_out": numbers.grad if operation.kind != "push" else numbers.coords,
            "cot_coords": numbers.coord_tangent,
            "cot_level": numbers.level_tangent,
            "grad_grad_out": self.values if operation.kind == "push" else None,
            "grad_coords": self.coords,
            "grad_level": self.level,
        }
        self.slots = [*map(samples.get, plan.NAMES), *numbers.levels, *numbers.texel_tangents, *self.texels]

    def at(self, slot: int) -> int:
        """The buffer of a slot that has one."""
        number = self.slots[slot]
        assert number is not None
        return number


def _view(buffer: Any) -> MemoryArray:
    shape = tuple(buffer.shape)
    return MemoryArray(0, buffer.dtype.char, shape, tuple(prod(shape[axis + 1 :]) for axis in range(len(shape))))


def host_program(operation: Operation, operands: Sequence[Any], results: Sequence[Any]) -> programs.Program:
    """The program of an operation on processors.

    Parameters
    ----------
    operation : Operation
        What is computed.
    operands, results
        Objects with a shape and a dtype.
    """
    buffers = _Buffers(operation, len(operands), len(results))
    description = _described(operation, buffers, operands, results)
    return programs.host_program(description, buffers.at, _cleared(buffers, operands, results))


def cuda_program(operation: Operation, operands: Sequence[Any], results: Sequence[Any]) -> programs.Program:
    """The program of an operation on CUDA, where the scratch memory is the buffer after the results."""
    buffers = _Buffers(operation, len(operands), len(results))
    description = _described(operation, buffers, operands, results)
    return programs.cuda_program(
        description,
        buffers.at,
        _cleared(buffers, operands, results),
        len(operands) + len(results),
        deterministic=operation.deterministic,
    )


def _cleared(buffers: _Buffers, operands: Sequence[Any], results: Sequence[Any]) -> list[tuple[int, int]]:
    """Gradients of texels, to which the call adds, and their bytes."""
    sizes = []
    for texels in buffers.texels:
        result = results[texels - len(operands)]
        sizes.append((texels, prod(result.shape) * result.dtype.itemsize))
    return sizes


def _described(
    operation: Operation, buffers: _Buffers, operands: Sequence[Any], results: Sequence[Any]
) -> plan.MemoryPlan:
    arrays = [*operands, *results]
    views = [None if index is None else _view(arrays[index]) for index in buffers.slots]
    if operation.kind == "push":
        # The gradients of values do not matter: one number in place of all.
        assert buffers.values is not None
        values = _view(arrays[buffers.values])
        views[plan.NAMES.index("grad_out")] = values._replace(strides=(0, 0, 0))
    counts = operation.num_levels, len(buffers.operands.texel_tangents), len(buffers.texels)
    return plan.check(_OPERATIONS[operation.kind], operation.lookup, counts, views, operation.picture)
