"""Rules of ``vmap``: the mapped axis joins the axis of images, or a function is called for each of its elements.

The first argument of a rule is the operator, or a function of the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

__all__ = ["along", "each", "sample", "sample_backward", "sample_backward_backward", "stacked"]

Operator = Callable[..., Any]


def sample(
    operator: Operator, info: Any, dims: Any, levels: Any, coords: Any, level: Any, *static: Any
) -> tuple[Any, int]:
    """``vmap`` of ``bindless::sample``: operands that are not mapped are shared, where they are one for all images."""
    count = max(_count(levels[0], dims[0][0]), _count(coords, dims[1]))
    fold = _folding(info.batch_size, count, share=True)
    places = _folding(info.batch_size, count, share=dims[2] is None)  # levels of detail are as many as coordinates
    values = operator(
        [fold(*pair) for pair in zip(levels, dims[0])], places(coords, dims[1]), fold(level, dims[2]), *static
    )
    return values.unflatten(0, (info.batch_size, count)), 0


def sample_backward(
    operator: Operator, info: Any, dims: Any, grad: Any, levels: Any, coords: Any, level: Any, *static: Any
) -> tuple[Any, Any]:
    """``vmap`` of ``bindless::sample_backward``: gradients of all operands are mapped."""
    operands = (levels, coords, level)
    counts = [_count(levels[0], dims[1][0]), _count(coords, dims[2]), _count(level, dims[3])]
    fold = _folding(info.batch_size, max(counts), share=False)
    gradients = operator(
        fold(grad, dims[0]),
        [fold(*pair) for pair in zip(levels, dims[1])],
        fold(coords, dims[2]),
        fold(level, dims[3]),
        *static,
    )
    return _unfold(gradients, operands, counts, info.batch_size)


def sample_backward_backward(
    operator: Operator,
    info: Any,
    dims: Any,
    cot_levels: Any,
    cot_coords: Any,
    cot_level: Any,
    grad: Any,
    levels: Any,
    coords: Any,
    level: Any,
    *static: Any,
) -> tuple[Any, Any]:
    """``vmap`` of ``bindless::sample_backward_backward``: gradients of all operands are mapped."""
    counts = [_count(grad, dims[3]), _count(levels[0], dims[4][0]), _count(coords, dims[5]), _count(level, dims[6])]
    fold = _folding(info.batch_size, max(counts), share=False)
    gradients = operator(
        [fold(*pair) for pair in zip(cot_levels, dims[0])],
        fold(cot_coords, dims[1]),
        fold(cot_level, dims[2]),
        fold(grad, dims[3]),
        [fold(*pair) for pair in zip(levels, dims[4])],
        fold(coords, dims[5]),
        fold(level, dims[6]),
        *static,
    )
    return _unfold(gradients, (grad, levels, coords, level), counts, info.batch_size)


def along(
    function: Operator,
    info: Any,
    dims: Any,
    texels: Sequence[Any],
    places: Any,
    depths: Any,
    levels: Sequence[Any],
    coords: Any,
    level: Any,
) -> tuple[Any, int]:
    """``vmap`` of the derivative of ``bindless::sample`` along tangents of levels, coordinates, levels of detail."""
    count = max(_count(levels[0], dims[3][0]), _count(coords, dims[4]))
    fold = _folding(info.batch_size, count, share=False)
    values = function(
        [fold(*pair) for pair in zip(texels, dims[0])],
        fold(places, dims[1]),
        fold(depths, dims[2]),
        [fold(*pair) for pair in zip(levels, dims[3])],
        fold(coords, dims[4]),
        fold(level, dims[5]),
    )
    return values.unflatten(0, (info.batch_size, count)), 0


def each(count: int, dims: Sequence[int | None], *operands: Any) -> Iterator[list[Any]]:
    """The operands of each element of a mapped axis."""
    for number in range(count):
        yield [
            operand if dim is None else operand.select(dim, number)
            for operand, dim in zip(operands, dims, strict=False)
        ]


def stacked(results: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """Results of all elements, each with the mapped axis first."""
    return tuple(torch.stack(parts) for parts in zip(*results))


def _count(tensor: Any, dim: int | None) -> int:
    """Images, or coordinate sets, of one operand."""
    if tensor is None:
        return 1
    return int(tensor.shape[0 if dim is None else int(dim == 0)])


def _folding(size: int, count: int, *, share: bool) -> Callable[[Any, int | None], Any]:
    """A function that joins the mapped axis of an operand, None if it has none, with its first."""

    def fold(tensor: Any, dim: int | None) -> Any:
        if tensor is None or (dim is None and share and len(tensor) == 1):
            return tensor
        mapped = tensor.unsqueeze(0) if dim is None else tensor.movedim(dim, 0)
        return mapped.expand(size, count, *mapped.shape[2:]).flatten(0, 1)

    return fold


def _unfold(gradients: Sequence[Any], operands: Sequence[Any], counts: Sequence[int], size: int) -> tuple[Any, Any]:
    """Gradients with the mapped axis first, those of operands shared by several images added."""

    def one(tensor: Any, count: int) -> Any:
        if tensor.dim() == 1:  # not wanted
            return tensor
        mapped = tensor.unflatten(0, (size, tensor.shape[0] // size))
        return mapped if mapped.shape[1] == count else mapped.sum(1, keepdim=True)

    parts: list[Any] = []
    for tensor, operand, count in zip(gradients, operands, counts):
        several = isinstance(operand, (list, tuple))
        parts.append([one(part, count) for part in tensor] if several else one(tensor, count))
    axes = tuple([0] * len(part) if isinstance(part, list) else (None if part.dim() == 1 else 0) for part in parts)
    return tuple(parts), axes
