"""Cubic splines on CUDA by the kernels that filter samples and that make pictures of arrays in memory."""

from __future__ import annotations

from math import prod

import numpy as np

from ..image.spline_filter import SECOND, described_filter, spline_steps
from ..kernels.launch_range import GROUP, rows_range
from ..kernels.load import variant_of
from ..kernels.manifest import parameters_of
from ..model.enums import Boundary
from ..model.filter import Filter
from ..sampling.memory.picture import Arrangement, picture_arguments
from ..sampling.memory.programs import Program, launch_command
from ..sycl.kernel.builtin import launch_range

__all__ = ["is_small", "spline_program"]

_FLOAT32 = np.dtype(np.float32)
_ARRAY, _COORDS, _VALUES, _SCRATCH = range(4)
_ALIGNED = 256  # bytes
_MOST = 1 << 30  # elements along an axis, and values


def is_small(shape: tuple[int, ...], count: int) -> bool:
    """Whether the kernels can count the elements of an array along its axes, and the values."""
    return max(*shape, count) <= _MOST


def spline_program(filter_: Filter, shape: tuple[int, ...], count: int) -> Program:
    """The program of an array's values at coordinates.

    Its buffers are the array, the coordinates (axes, count) in the order of the array's axes, the values, all packed
    and float32, and scratch memory, which gets the coefficients.

    Parameters
    ----------
    filter_ : Filter
        Of an exact cubic spline, with one boundary.
    shape : tuple[int, ...]
        Of the array, one to three axes.
    count : int
        Of values.
    """
    dims, margin = len(shape), filter_.spline_margin[0]
    fill = filter_.fill if Boundary.border in filter_.boundary else None
    described = described_filter((*shape, 1), dims, filter_.spline_lines[:dims], margin, fill)
    sizes = tuple(size + 2 * margin for size in shape)
    size = -(-prod(sizes) * _FLOAT32.itemsize // _ALIGNED) * _ALIGNED
    places = (_ARRAY, 0), (_SCRATCH, 0), (_SCRATCH, size)
    words: list[int] = []
    names: list[str] = []
    steps = spline_steps(described)
    for step in steps:
        if step.name not in names:
            names.append(step.name)
        values = {parameter.name: value for parameter, value in zip(parameters_of(step.name)[2:], step.arguments)}
        arrays = {"source": places[step.source], "target": places[step.target]}
        groups = launch_range(step.items).global_range[0] // GROUP
        words += launch_command(names.index(step.name), step.name, (groups, 1, 1), values, arrays)
    strides = tuple(prod(sizes[axis + 1 :]) for axis in range(dims))
    arranged = Arrangement.of((*sizes, 1), (*strides, 1), (count,), (), at_points=True)
    assert arranged is not None
    name, values = picture_arguments(arranged, _FLOAT32, _FLOAT32, filter_, 0.0, _FLOAT32)
    values |= {f"m{row}3": float(margin) for row in range(dims)}
    names.append(variant_of(name, format=values["format"], mode=values["mode"]))
    arrays = {"texels": (_SCRATCH, 0), "coords": (_COORDS, 0), "values": (_VALUES, 0)}
    layers, items = rows_range(arranged.picture, arranged.layers).global_range
    words += launch_command(len(names) - 1, name, (items // GROUP, layers, 1), values, arrays)
    moves = any(SECOND in (step.source, step.target) for step in steps)
    return Program(words, tuple(names), size * (2 if moves else 1))
