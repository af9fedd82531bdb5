"""Execution of an operation by a custom call of XLA."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .operation import Operation
from .programs import cuda_program, host_program
from .targets import TARGET, add_kernels, prepare

__all__ = ["execute"]


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
    buffers = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in operation.buffers(operands)]
    program = (cuda_program if platform == "cuda" else host_program)(operation, operands, buffers)
    if platform == "cuda":
        add_kernels(program.names)
    if program.scratch:
        buffers.append(jax.ShapeDtypeStruct((program.scratch,), jnp.uint8))
    words, names = np.array(program.words, np.int64), " ".join(program.names)
    found = jax.ffi.ffi_call(TARGET, buffers)(*operands, program=words, names=names)
    return [value.astype(dtype) for value, (_, dtype) in zip(found, results)]
