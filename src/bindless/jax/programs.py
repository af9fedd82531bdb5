"""Programs: the commands of a custom call, as integers; ``csrc/jax/program.h`` describes them.

They depend on shapes and options alone. Pointers are written in when the call runs: a program names a buffer by its
index among the operands and results.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ..gradients import View, cuda, plan, processor
from .operation import Operands, Operation

__all__ = ["HOST_FUNCTION", "Program", "cuda_program", "host_program"]

HOST_FUNCTION = "blrSampleGradients"
"""The function of the reference driver that computes samples and their derivatives."""

_CLEAR, _CALL = 0, 1
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
        The buffers in the order of a plan of ``gradients``.
    """

    def __init__(self, operation: Operation, operands: int, results: int) -> None:
        self.operands: Operands[int] = operation.sort(range(operands))
        rest = iter(range(operands, operands + results))
        self.values = next(rest) if operation.kind in ("sample", "push") else None
        self.texels = [next(rest) for _ in range(operation.num_levels)] if operation.wanted.texels else []
        self.coords = next(rest) if operation.wanted.coords else None
        self.level = next(rest) if operation.wanted.level else None
        given = self.operands
        samples = {
            "coords": given.coords,
            "level": given.level,
            "out": self.values if operation.kind == "sample" else None,
            "grad_out": given.grad if operation.kind != "push" else given.coords,
            "cot_coords": given.coord_tangent,
            "cot_level": given.level_tangent,
            "grad_grad_out": self.values if operation.kind == "push" else None,
            "grad_coords": self.coords,
            "grad_level": self.level,
        }
        self.slots = [*map(samples.get, plan.NAMES), *given.levels, *given.texel_tangents, *self.texels]

    def at(self, slot: int) -> int:
        """The buffer of a slot that has one."""
        found = self.slots[slot]
        assert found is not None
        return found


def _view(buffer: Any) -> View:
    shape = tuple(buffer.shape)
    return View(0, buffer.dtype.char, shape, tuple(prod(shape[axis + 1 :]) for axis in range(len(shape))))


class Program(NamedTuple):
    """Commands of a custom call.

    Attributes
    ----------
    words : list[int]
        The commands.
    names : tuple[str, ...]
        Functions or kernels that they call; a kernel whose code is made for a mode is ``name@mode``.
    scratch : int
        Bytes of a further result, in which nothing is left for the caller; 0 if there is none.
    """

    words: list[int]
    names: tuple[str, ...]
    scratch: int


def host_program(operation: Operation, operands: Sequence[Any], results: Sequence[Any]) -> Program:
    """The program of an operation on processors.

    Parameters
    ----------
    operation : Operation
        What is computed.
    operands, results
        Objects with a shape and a dtype.
    """
    buffers = _Buffers(operation, len(operands), len(results))
    contents, places = processor.describe(_described(operation, buffers, operands, results))
    patches = [(offset, buffers.at(slot), 0) for offset, slot in places]
    words = [*_cleared(buffers, operands, results), *_call(0, (0,) * 6, contents, patches)]
    return Program(words, (HOST_FUNCTION,), 0)


def cuda_program(operation: Operation, operands: Sequence[Any], results: Sequence[Any]) -> Program:
    """The program of an operation on CUDA, where the scratch memory is the buffer after the results."""
    buffers = _Buffers(operation, len(operands), len(results))
    made = cuda.describe(_described(operation, buffers, operands, results), deterministic=operation.deterministic)
    scratch = len(operands) + len(results)
    words = _cleared(buffers, operands, results)
    if made.scratch:
        words += [_CLEAR, scratch, made.scratch]
    places = [(offset, buffers.at(slot), 0) for offset, slot in made.places]
    places += [(offset, scratch, start) for offset, start in made.scratch_places]
    names: list[str] = []
    for launch in made.launches:
        if launch.mode is None:
            name, (start, slot, count) = launch.kernel, launch.sums
            contents = struct.pack("4q", 0, 0, 0, count)
            patches = [(0, scratch, start), (8, buffers.at(slot), 0), (16, scratch, 0)]
        else:
            name = f"{launch.kernel}@{launch.mode}"
            contents, patches = made.template + struct.pack("I", launch.mode), places
        if name not in names:
            names.append(name)
        words += _call(names.index(name), (*launch.grid, 1, cuda.BLOCK, 1, 1), contents, patches)
    return Program(words, tuple(names), made.scratch)


def _cleared(buffers: _Buffers, operands: Sequence[Any], results: Sequence[Any]) -> list[int]:
    """Commands that fill gradients of texels with zeros: the call adds to them."""
    words = []
    for texels in buffers.texels:
        result = results[texels - len(operands)]
        words += [_CLEAR, texels, prod(result.shape) * result.dtype.itemsize]
    return words


def _call(name: int, grid: Sequence[int], contents: bytes, patches: Sequence[tuple[int, int, int]]) -> list[int]:
    words = [_CALL, name, *grid, len(contents), len(patches)]  # CUDA refuses more bytes than the parameters have
    for patch in patches:
        words += patch
    padded = contents + bytes(-len(contents) % 8)
    return [*words, *struct.unpack(f"{len(padded) // 8}q", padded)]


def _described(operation: Operation, buffers: _Buffers, operands: Sequence[Any], results: Sequence[Any]) -> plan.Plan:
    arrays = [*operands, *results]
    views = [None if index is None else _view(arrays[index]) for index in buffers.slots]
    if operation.kind == "push":
        # The gradients of values do not matter: one number in place of all.
        assert buffers.values is not None
        values = _view(arrays[buffers.values])
        views[plan.NAMES.index("grad_out")] = values._replace(strides=(0, 0, 0))
    counts = operation.num_levels, len(buffers.operands.texel_tangents), len(buffers.texels)
    return plan.check(_OPERATIONS[operation.kind], operation.texture, counts, views)
