"""``result_axes``: the axes of a result in space, from those of its input and the map between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.errors import InvalidError
from .ome_zarr import Axis
from .warp import Warp

__all__ = ["ResultAxes", "result_axes"]


@dataclass(frozen=True)
class ResultAxes:
    """Axes, and what they leave out.

    Attributes
    ----------
    axes : tuple[Axis, ...]
        One for each axis of the result.
    remark : str
        Why scale and translation do not describe the map; else empty.
    """

    axes: tuple[Axis, ...]
    remark: str = ""


def result_axes(
    axes: Sequence[Axis], warp: Warp, scale: Sequence[float] | None = None, *, displaced: bool = False
) -> ResultAxes:
    """The axes of a result.

    A map that scales and moves each axis keeps the elements where they are in space: the result's scale and translation
    follow. Other maps turn, shear, flip or exchange axes, which scales and translations do not say: elements get
    their sizes along the new axes, and the first one is at 0.

    Parameters
    ----------
    axes : Sequence[Axis]
        Of the input.
    warp : Warp
        From indices of the result to those of the input.
    scale : Sequence[float], optional
        Sizes of the result's elements along its mapped axes, or along all, instead of those that follow.
    displaced : bool, default False
        Whether displacements are added.

    Raises
    ------
    InvalidError
        The mapped axes have different units, or an axis gets no size: ``scale`` is needed.
    """
    batch, mapped = tuple(axes[: warp.batch]), axes[warp.batch :]
    matrix, offset = np.array(warp.matrix), np.array(warp.offset)
    diagonal = bool((matrix == np.diag(np.diag(matrix))).all() and (np.diag(matrix) > 0).all())
    sizes = np.array([axis.scale for axis in mapped])
    if diagonal:
        steps = sizes * np.diag(matrix)
        places = [axis.translation + axis.scale * shift for axis, shift in zip(mapped, offset.tolist())]
    else:
        steps = np.sqrt(np.square(sizes[:, None] * matrix).sum(0))
        places = [0.0] * len(mapped)
    if scale is not None:
        steps = np.array(scale[-len(mapped) :], np.float64)
        batch = tuple(replace(axis, scale=size) for axis, size in zip(batch, scale[: -len(mapped)])) or batch
    elif not diagonal and len({axis.unit for axis in mapped}) > 1:
        units = ", ".join(axis.unit or "none" for axis in mapped)
        raise InvalidError(f"the map mixes axes with different units ({units}): give --scale-of-output")
    if not all(math.isfinite(number) for number in (*steps.tolist(), *places)) or not (steps > 0).all():
        raise InvalidError(f"the map gives elements the sizes {steps.tolist()} at {places}: give --scale-of-output")
    axes_ = [replace(axis, scale=size, translation=place) for axis, size, place in zip(mapped, steps.tolist(), places)]
    remark = ""
    if not diagonal:
        remark = "the map turns, shears, flips or exchanges axes"
    elif displaced:
        remark = "displacements move elements"
    return ResultAxes((*batch, *axes_), remark)
