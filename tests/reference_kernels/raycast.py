"""The ray-caster of source/raycast.cl in numpy, with weights in full precision, and a scene for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "in_numpy", "scene"]

Floats = npt.NDArray[np.float32]


def scene(shape: tuple[int, int, int], colors: int) -> tuple[Floats, Floats]:
    """Return a ball of density in a volume (depth, height, width), and colours with opacity."""
    z, y, x = (axis / size - 0.5 for axis, size in zip(np.indices(shape), shape))
    ramp = np.linspace(0, 1, colors)
    transfer = np.stack([ramp, ramp**2, 1 - ramp, 0.02 * ramp], 1)
    return np.exp(-8 * (x * x + y * y + z * z)).astype(np.float32), transfer.astype(np.float32)


def in_numpy(volume: Floats, transfer: Floats, side: int, steps: int) -> npt.NDArray[Any]:
    """Return the picture (side, side, 4)."""
    y, x = (np.indices((side, side)).astype(np.float32) + np.float32(0.5)) / np.float32(side) - np.float32(0.5)
    total = np.zeros((side, side, 4), np.float32)
    for step in range(steps):
        t = np.float32(step / steps)
        at = [np.full_like(x, t), 0.8 * y + 0.5 + 0.2 * y * t, 0.8 * x + 0.5 + 0.2 * x * t]
        places = [np.clip(a * size - 0.5, 0, size - 1) for a, size in zip(at, volume.shape)]
        low = [place.astype(int) for place in places]
        weights = [place - n for place, n in zip(places, low)]
        density = np.zeros_like(x)
        for corner in range(8):
            upper = [corner >> axis & 1 for axis in range(3)]
            index = tuple(np.minimum(n + u, size - 1) for n, u, size in zip(low, upper, volume.shape))
            density += np.prod([w if u else 1 - w for w, u in zip(weights, upper)], axis=0) * volume[index]
        place = np.clip(density * len(transfer) - 0.5, 0, len(transfer) - 1)
        n = place.astype(int)
        w = (place - n)[..., None]
        color = (1 - w) * transfer[n] + w * transfer[np.minimum(n + 1, len(transfer) - 1)]
        opacity = np.where(total[..., 3] > 0.98, 0, color[..., 3] * (1 - total[..., 3]))[..., None]
        total += np.concatenate([color[..., :3] * opacity, opacity], 2)
    return total
