"""Partition of an operation over devices: by textures, and by samples.

Without it XLA gathers sharded operands on every device. Each device samples its own textures at its own coordinates.
Gradients of textures that several devices sample are added up across them.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from .execution import execute
from .operation import Operation

__all__ = ["execute_sharded"]


def execute_sharded(*operands: Any, operation: Operation, platform: str) -> list[Any]:
    """``execute``, which the compiler partitions when operands are sharded."""
    if not jax.config.jax_use_shardy_partitioner:
        return execute(*operands, operation=operation, platform=platform)
    results: list[Any] = _partitioned(operation, platform, tuple(operand.ndim for operand in operands))(*operands)
    return results


@lru_cache(maxsize=1024)
def _partitioned(operation: Operation, platform: str, ranks: tuple[int, ...]) -> Any:
    texels = operation.texel_operands(len(ranks))

    def call(*operands: Any) -> list[Any]:
        return execute(*operands, operation=operation, platform=platform)

    def partition(mesh: Any, operands: Sequence[Any], results: Sequence[Any]) -> Any:
        textures, samples = _two(operands[operation.num_levels].sharding.spec)
        # An axis of the mesh may divide only one of the two.
        by_texture = NamedSharding(mesh, PartitionSpec(textures))
        by_sample = NamedSharding(mesh, PartitionSpec(textures, samples))
        added = operation.num_levels if operation.gradients.texels else 0

        def local(*parts: Any) -> list[Any]:
            values = call(*parts)
            if samples:
                values[:added] = [lax.psum(value, samples) for value in values[:added]]
            return values

        placed = [by_texture if index in texels else by_sample for index in range(len(operands))]
        return mesh, local, [by_texture if index < added else by_sample for index in range(len(results))], tuple(placed)

    partitioned = custom_partitioning(call)
    rule, whole = _rule(operation, ranks, texels)
    # Older versions of JAX have no such argument, and replicate these axes after the propagation of shardings.
    has_whole = "need_replication_factors" in inspect.signature(partitioned.def_partition).parameters
    partitioned.def_partition(partition, sharding_rule=rule, **{"need_replication_factors": whole} if has_whole else {})
    return partitioned


def _two(spec: Sequence[Any]) -> tuple[Any, Any]:
    first, second = (*spec, None, None)[:2]
    return first, second


def _rule(operation: Operation, ranks: Sequence[int], texels: frozenset[int]) -> tuple[str, tuple[str, ...]]:
    """The factors of all axes in the notation of Shardy, and those that are not divided."""
    whole = [f"w{level}_{axis}" for level in range(operation.num_levels) for axis in range(ranks[0] - 2)]
    levels = [
        " ".join(["n", *(f"w{level}_{axis}" for axis in range(ranks[0] - 2)), "c"])
        for level in range(operation.num_levels)
    ]
    sorted_ = operation.sort(range(len(ranks)))
    names = {index: levels[order % operation.num_levels] for order, index in enumerate(sorted(texels))}
    coords, detail, values = "n s d", "n s", "n s c"
    for index, name in (
        (sorted_.coords, coords),
        (sorted_.level, detail),
        (sorted_.grad, values),
        (sorted_.coord_tangent, coords),
        (sorted_.level_tangent, detail),
    ):
        if index is not None:
            names[index] = name
    if operation.kind in ("sample", "push"):
        results = [values]
    else:
        results = levels if operation.gradients.texels else []
        results = [
            *results,
            *([coords] if operation.gradients.coords else []),
            *([detail] if operation.gradients.level else []),
        ]
    text = ", ".join(names[index] for index in range(len(ranks))) + " -> " + ", ".join(results)
    return text, (*whole, "c", "d")
