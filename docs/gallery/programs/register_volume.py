"""Registration of a volume to one projection of it: the pose of a CT scan, found by descent.

The volume is a made head: a skull with orbits, a jaw and teeth. ``bindless.torch.projections`` adds it up along the
rays from a source to the pixels of a detector. The descent starts from a wrong pose of the two, and follows the
gradient of the correlation of the two projections with respect to three angles and three shifts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from training import Tensor, beside, descend, main

from bindless.torch import Detector, projections

TRUE_POSE = (-0.10, 0.18, -0.07, -0.05, 0.04, -0.06)
"""Rotation vector in radians, and shift in widths of the volume."""

SOURCE, DETECTOR = -3.0, 1.5
"""Places on the axis of projection, in widths of the volume from its centre."""


def phantom(size: int) -> npt.NDArray[np.float32]:
    """Return the attenuation of a head, float32 (size, size, size) indexed [z, y, x], values 0 to 1."""
    z, y, x = (np.mgrid[:size, :size, :size] + 0.5) / size * 2 - 1

    def ball(centre: tuple[float, float, float], radii: tuple[float, float, float]) -> npt.NDArray[np.float64]:
        inside = 1 - np.sqrt(sum(((p - c) / r) ** 2 for p, c, r in zip((x, y, z), centre, radii)))
        edge: npt.NDArray[np.float64] = np.clip(inside * size * min(radii) / 3 + 0.5, 0, 1)
        return edge

    skin = ball((0, 0, 0), (0.66, 0.86, 0.76))
    bone = ball((0, -0.12, -0.03), (0.60, 0.68, 0.69)) - ball((0, -0.12, -0.03), (0.53, 0.61, 0.62))
    for side in (-1, 1):
        bone *= 1 - ball((side * 0.24, 0.05, 0.62), (0.15, 0.13, 0.2))  # orbits
        bone = np.maximum(bone, 0.9 * ball((side * 0.40, 0.42, 0.20), (0.07, 0.24, 0.22)))  # branches of the jaw
    jaw = ball((0, 0.60, 0.20), (0.42, 0.12, 0.44)) - ball((0, 0.56, 0.10), (0.32, 0.14, 0.40))
    bone = np.maximum(bone, np.clip(jaw, 0, 1))
    for tooth in range(-4, 5):
        place = (0.085 * tooth, 0.44, 0.58 - 0.012 * tooth**2)
        bone = np.maximum(bone, 1.3 * ball(place, (0.035, 0.07, 0.05)))
    found: npt.NDArray[np.float32] = (0.15 * skin + 0.85 * bone).astype(np.float32)
    return found


def project(volume: Tensor, pose: Tensor, size: int) -> Tensor:
    """Return the integrals along the rays to (size, size) pixels of the detector, moved together with the source."""
    width, step = volume.shape[0], 1.6 / size
    corner = (step - 1.6) / 2
    detector = Detector((0, 0, SOURCE), (corner, corner, DETECTOR), (step, 0, 0), (0, step, 0), size, size)
    to_voxels = [[width * (row == column) for column in range(3)] + [width / 2] for row in range(3)]
    return projections(volume, pose, detector, 3 * width, matrix=to_voxels)


def difference(first: Tensor, second: Tensor) -> Tensor:
    """Return 1 - the correlation of two pictures and of their gradients."""

    def correlation(a: Tensor, b: Tensor) -> Tensor:
        a, b = a - a.mean(), b - b.mean()
        return (a * b).sum() / (a.square().sum() * b.square().sum()).sqrt()

    edges = [correlation(first.diff(dim=axis), second.diff(dim=axis)) for axis in (0, 1)]
    return 1 - (correlation(first, second) + edges[0] + edges[1]) / 3


def register(device: torch.device, size: int, steps: int) -> tuple[Tensor, list[Tensor], Tensor]:
    """Return the projection to match, those of the first and the last pose, and the pose found."""
    volume = torch.from_numpy(phantom(size)).to(device)
    wanted = project(volume, torch.tensor(TRUE_POSE, device=device), size)
    pose = torch.zeros(6, device=device, requires_grad=True)
    before = project(volume, pose.detach(), size)
    descend(lambda: difference(project(volume, pose, size), wanted), [pose], steps, 0.02)
    return wanted, [before, project(volume, pose.detach(), size)], pose.detach()


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return the projection to match, and its overlays with the first and the last one, coloured where they differ."""
    wanted, found, pose = register(device, size, steps)
    error = (pose.cpu() - torch.tensor(TRUE_POSE)).abs()
    print(f"rotation to {error[:3].max() * 180 / np.pi:.3f} degrees, shift to {error[3:].max() * size:.3f} voxels")
    scale = wanted.max()
    overlays = [torch.stack([wanted, other, other], -1) / scale for other in found]
    return beside([wanted / scale, *overlays])


if __name__ == "__main__":
    main(learn, __doc__, size=128, steps=120)
