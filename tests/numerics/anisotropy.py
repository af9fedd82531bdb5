"""The ideal anisotropic footprint: an average along its longer axis, with a bound on the error of a numerical one.

Two gradients map a circle of one pixel to an ellipse of texels. The shorter axis, at least the longer axis divided by
the largest allowed ratio, determines the level of detail; the average extends over the excess of the longer axis.
"""

from __future__ import annotations

import numpy as np

from tests.goldens.configuration import Array

from .cases import Case
from .model import GRADIENTS, at_levels, split_level

# Step of the model's own integral: half the widest step of the implementations under test.
_STEPS = 600
# Step of the exact mode: the widest step of its integral, in texels of the finer level.
STEP = 1 / 8


def _axes(case: Case) -> tuple[Array, Array, Array]:
    """Return the longer axis in texels of level 0, (N, dims), and the lengths of the longer and of the shorter axis."""
    columns = np.stack([case.point(name).astype(np.float64) * case.sizes for name in GRADIENTS], 2)
    vectors, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    longer = lengths[:, 0]
    shorter = lengths[:, 1] if lengths.shape[1] > 1 else np.zeros_like(longer)
    return vectors[:, :, 0] * longer[:, None], longer, np.maximum(shorter, longer / min(case.max_anisotropy, 16.0))


def expected(case: Case) -> tuple[Array, Array]:
    """Return values, (points, channels), and the error bound of an average with steps of STEP, (points, 1)."""
    axis, longer, shorter = _axes(case)
    level = np.log2(shorter)
    place, total = case.point("coordinates").astype(np.float64), np.zeros((case.count, case.channels))
    span = (1 - shorter / longer)[:, None]
    for step in range(_STEPS):
        total += at_levels(case, place + ((step + 0.5) / _STEPS - 0.5) * span * axis / case.sizes, level)
    finer, share = split_level(case, level)
    allowed = np.zeros(case.count)
    for number in range(case.levels):
        used = np.where(finer == number, 1 - share, 0) + np.where(finer + 1 == number, share, 0)
        # A texel is as large as two of the finer level, or slightly less where a size is odd.
        length = (longer - shorter) * max(b / a for a, b in zip(case.sizes, case.level_sizes(number)))
        widest = np.where(finer == number, STEP, STEP * 0.6)
        allowed += used * sum(_midpoint_error(case, number, length, step) for step in (widest, length / _STEPS))
    return total / _STEPS, allowed[:, None]


def _midpoint_error(case: Case, level: int, length: Array, step: Array) -> Array:
    """Bound on the error of a mean of linearly filtered texels along a line of that many texels, by the midpoint rule.

    With D the largest difference of neighbours, along a line the slope jumps by at most 2 D |cos| at a column of texel
    centres, of which there are length |cos| + 1, and 2 D |sin| at a row. A jump J costs at most J step² / 8. Between
    them the second derivative is at most 2 D, which costs step² / 24 of it.
    """
    values = case.values(level)
    axes = range(len(case.sizes))
    difference = max(float(np.abs(np.roll(values, 1, axis) - values).max()) for axis in axes)
    step = np.minimum(step, length)
    jumps = 2 * difference / 8 * (step**2 + np.sqrt(2) * step**2 / np.maximum(length, 1e-300))
    return np.asarray(jumps + 2 * difference / 24 * step**2)
