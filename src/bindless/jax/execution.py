"""Execution of an operation by a custom call of XLA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..sampling.memory.programs import Program
from . import hardware
from .operation import Operation
from .programs import cuda_program, host_program
from .targets import TARGET, TEXTURE_TARGET, add_kernels, prepare

__all__ = ["execute", "run_program"]


def execute(*operands: Any, operation: Operation, platform: str) -> list[Any]:
    """Compute an operation on traced arrays.

    Parameters
    ----------
    operands
        In the order of ``Operation``.
    operation
        What is computed.
    platform
        ``cpu`` or ``cuda``, where arrays of float64 are computed in float32.
    """
    results = operation.results(operands)
    if operation.is_empty(operands):
        return [jnp.zeros(shape, dtype) for shape, dtype in results]
    prepare(platform)
    if platform == "cuda":
        operands = tuple(
            operand.astype(jnp.float32) if operand.dtype == jnp.float64 else operand for operand in operands
        )
    if operation.hardware:
        values = _by_texture_unit(*operands, operation=operation, platform=platform)
    else:
        buffers = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in operation.buffers(operands)]
        program = (cuda_program if platform == "cuda" else host_program)(operation, operands, buffers)
        if platform == "cuda":
            add_kernels(program.names)
        if program.scratch:
            buffers.append(jax.ShapeDtypeStruct((program.scratch,), jnp.uint8))
        values = run_program(TARGET, program, operands, buffers)
    return [value.astype(dtype) for value, (_, dtype) in zip(values, results)]


def _by_texture_unit(image: Any, coords: Any, *, operation: Operation, platform: str) -> list[Any]:
    (shape, dtype), lookup = operation.results((image, coords))[0], operation.lookup
    image, coords = hardware.arranged(lookup, image, coords, platform)
    values = jax.ShapeDtypeStruct(shape, dtype)
    if platform != "cuda":
        return run_program(TARGET, hardware.host_program(lookup, image, coords, values), (image, coords), [values])
    program = hardware.cuda_program(lookup, image, coords, values)
    add_kernels(program.names)
    return run_program(TEXTURE_TARGET, program, (image, coords), [values])


def run_program(target: str, program: Program, operands: Sequence[Any], results: list[Any]) -> list[Any]:
    """The results of a program, by a custom call."""
    words, names = np.array(program.words, np.int64), " ".join(program.names)
    buffers: list[Any] = jax.ffi.ffi_call(target, results)(*operands, program=words, names=names)
    return buffers
