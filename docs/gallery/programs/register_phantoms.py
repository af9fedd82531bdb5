"""Registration of two scans in millimetres: an affine map, then a displacement field, found by descent.

Both scans show one made chest, the second one turned, scaled and breathed in. Their voxels differ in size and place.
``bindless.torch.resample`` takes both into the world; gradients reach the matrix, and the field on its coarse grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from training import Tensor, beside, descend, main

from bindless.space import Affine, BSpline, Grid
from bindless.torch import resample

Floats = npt.NDArray[np.float64]

EXTENT = (300.0, 240.0, 240.0)
"""Of the fixed scan along x, y and z, in millimetres about the origin."""

TURN = Affine.rotation((4, -3, 9), (0, 0, 0), (7, -9, 5)).matrix @ np.diag([1.05, 0.96, 1.02, 1])
"""From points of the fixed scan to those of the moving one, but for the breath."""


def chest(points: Floats) -> Floats:
    """Return the density at points (..., 3) of the world: air 0, tissue about 1, bone 2."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]

    def ball(centre: tuple[float, float, float], radii: tuple[float, float, float]) -> Floats:
        inside = 1 - np.sqrt(sum(((p - c) / r) ** 2 for p, c, r in zip((x, y, z), centre, radii)))
        return np.asarray(np.clip(inside * min(radii) / 6 + 0.5, 0, 1))

    density = ball((0, 0, 0), (130, 85, 200))
    for side in (-1, 1):
        density -= 0.8 * ball((side * 58, -5, 5), (46, 62, 96))  # lungs
    density += 0.5 * ball((14, -22, -10), (34, 30, 40)) * (density > 0.1)  # heart
    density += 0.3 * ball((-40, 5, -100), (80, 60, 42))  # liver
    shell = np.abs(np.sqrt((x / 118) ** 2 + (y / 74) ** 2) - 1)
    ribs = np.clip(1 - shell * 14, 0, 1) * np.clip(1.5 - 3 * np.abs(((z + 0.35 * y) / 30) % 1 - 0.5), 0, 1)
    spine = ball((0, 56, 0), (17, 17, 200)) * (0.7 + 0.3 * np.cos(z / 4))
    return np.asarray(density + np.maximum(ribs * (np.abs(z) < 105), spine))


def breathe(points: Floats) -> Floats:
    """Return points moved as the moving scan's chest is: down and forwards, most near the diaphragm."""
    weight = np.exp(-(((points - (0.0, -20.0, -50.0)) / (90.0, 70.0, 70.0)) ** 2).sum(-1))
    return points + weight[..., None] * np.array([3.0, -9.0, -14.0])


def points_of(grid: Grid) -> Floats:
    """Return the world positions (*grid.shape, 3) of the pixels of a grid."""
    index = np.stack(np.meshgrid(*map(np.arange, grid.shape), indexing="ij")[::-1], -1)
    return np.asarray(index @ grid.index_matrix[:3, :3].T + grid.index_matrix[:3, 3])


def scans(size: int) -> tuple[Grid, Floats, Grid, Floats]:
    """Return the grids and densities of the fixed and of the moving scan; ``size``: rows of a slice."""
    step = np.array([1.0, 1.0, 1.6]) * EXTENT[1] / size
    shape = tuple(np.ceil(np.array(EXTENT) / step).astype(int)[::-1].tolist())
    fixed = Grid(shape, step, -step * (np.array(shape[::-1]) - 1) / 2)
    turn = Affine.rotation((0, 15, 0), (0, 0, 0)).matrix[:3, :3]
    other = EXTENT[1] / size * 1.25
    sizes = (int(280 / other), int(250 / other), int(330 / other))
    moving = Grid(sizes, other, -turn @ (other * (np.array(sizes[::-1]) - 1) / 2), turn)
    back = np.linalg.inv(TURN)
    places = points_of(moving)
    still = places @ back[:3, :3].T + back[:3, 3]
    for _ in range(20):  # the point that the breath moves here
        still = still - (breathe(still) - (places @ back[:3, :3].T + back[:3, 3]))
    return fixed, chest(points_of(fixed)), moving, chest(still)


def register(device: torch.device, size: int, steps: int) -> tuple[Tensor, list[Tensor], list[float]]:
    """Return the fixed scan, the moving one on its grid before, after the affine map and after the field, and the mean
    distance in millimetres of the anatomy at each stage."""
    fixed, pixels, moving, others = scans(size)
    still, breath = (torch.as_tensor(array, dtype=torch.float32, device=device) for array in (pixels, others))
    matrix = torch.eye(4, device=device)[:3].clone()
    scale = torch.tensor([1.0, 1.0, 1.0, 100.0], device=device)  # a radian is as much as 100 mm
    change = torch.zeros(3, 4, device=device, requires_grad=True)
    coarse = Grid((9, 9, 10), (45.0, 40.0, 40.0), (-202.5, -160.0, -160.0))
    field = torch.zeros(*coarse.shape, 3, device=device, requires_grad=True)

    def picture(*parts: Any) -> Tensor:
        return resample(breath, moving, fixed, list(parts))

    def apart(*parts: Any) -> float:
        truth = breathe(points_of(fixed)) @ TURN[:3, :3].T + TURN[:3, 3]
        # The map itself, read by resampling the world's coordinates.
        wide = Grid((15, 15, 15), 60.0, -420.0)
        world = torch.as_tensor(points_of(wide), dtype=torch.float64, device=device)
        reached = resample(world, wide, fixed, [part.double() if isinstance(part, Tensor) else part for part in parts])
        inside = torch.as_tensor(pixels > 0.5, device=device)
        return float((reached - torch.as_tensor(truth, device=device)).norm(dim=-1)[inside].mean())

    def loss(*parts: Any) -> Tensor:
        return (picture(*parts) - still).square().mean()

    def affine() -> Tensor:
        return matrix + change * scale / 100

    stages, distances = [picture(matrix)], [apart(matrix)]
    descend(lambda: loss(affine()), [change], steps, 1.0)
    turn = affine().detach()
    stages.append(picture(turn).detach())
    distances.append(apart(turn))

    def objective() -> Tensor:
        rough = sum(field.diff(dim=axis).square().mean() for axis in range(3))
        return loss(BSpline(field, coarse), turn) + 2e-5 * rough

    descend(objective, [field], steps, 1.0)
    end = BSpline(field.detach(), coarse)
    stages.append(picture(end, turn).detach())
    distances.append(apart(end, turn))
    return still, stages, distances


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return a coronal slice of the fixed scan, and its overlays with the moving one at each stage, coloured where they
    differ."""
    still, stages, distances = register(device, size, steps)
    print("anatomy apart by " + ", ".join(f"{distance:.2f}" for distance in distances) + " mm")
    row = still.shape[1] // 2

    height = round(still.shape[0] * 1.6)

    def slice_of(volume: Tensor) -> Tensor:
        part = volume[None, None, :, row].flip(2) / 2
        return torch.nn.functional.interpolate(part, (height, still.shape[2]), mode="bilinear")[0, 0]

    pictures = [slice_of(volume) for volume in (still, *stages)]
    return beside([pictures[0], *(torch.stack([pictures[0], other, other], -1) for other in pictures[1:])])


if __name__ == "__main__":
    main(learn, __doc__, size=96, steps=60)
