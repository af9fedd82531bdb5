"""The matrix and the distortion of a lens, found from one photograph of a picture that is known.

A wide-angle lens has photographed a table, whose true appearance is known, as a pinhole camera would see it. The
program changes focal lengths, centre and four coefficients until the photograph, straightened, is that picture.
``bindless.torch.reproject`` straightens it, and ``torch.func.jacfwd`` gives the slopes of each pixel for steps of Gauss
and Newton, from coarse pictures to fine ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from common import photograph
from optical_flow import smaller
from training import Tensor, beside, main

import bindless as bl
from bindless.torch import reproject

FOCAL_LENGTHS, CENTRE = (0.75, 0.76), (0.51, 0.485)  # parts of the height
COEFFICIENTS = (-0.25, 0.06, 0.002, -0.001)
START = (0.7, 0.7, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0)
TRUE = (*FOCAL_LENGTHS, *CENTRE, *COEFFICIENTS)
LEVELS = 3
DAMPING = 0.01
INSIDE = 0.999
PINHOLE = 0.45  # focal length of the camera that sees the table


def matrix_of(numbers: Tensor, size: int) -> Tensor:
    """Return the matrix (3, 3) of focal lengths and a centre, parts of the height."""
    fx, fy, cx, cy = (size * numbers[:4]).unbind()
    zero, one = torch.zeros_like(fx), torch.ones_like(fx)
    return torch.stack([fx, zero, cx - 0.5, zero, fy, cy - 0.5, zero, zero, one]).reshape(3, 3)


def pinhole(size: int) -> bl.Camera:
    """Return the camera that sees the table as it is."""
    return bl.Camera([[PINHOLE * size, 0, size / 2 - 0.5], [0, PINHOLE * size, size / 2 - 0.5], [0, 0, 1]])


def expose(scene: Tensor) -> Tensor:
    """Return what the lens makes of the table, (size, size, 1)."""
    size = len(scene)
    lens = bl.Camera(matrix_of(torch.tensor(TRUE, dtype=torch.float64), size).numpy(), COEFFICIENTS)
    with bl.Image(scene.cpu().numpy(), precision="exact", filtering="catmull_rom") as image:
        return torch.from_numpy(image.reproject(pinhole(size), to=lens)).to(scene.device)


def straighten(photo: Tensor, numbers: Tensor) -> Tensor:
    """Return the photograph, straightened, and where it lies: (size, size, 2)."""
    size = len(photo)
    both = torch.cat([photo, torch.ones_like(photo)], -1)
    lens = matrix_of(numbers, size), numbers[4:]
    return reproject(both, *lens, to=pinhole(size), shape=(size, size))


def estimate(photo: Tensor, scene: Tensor, steps: int) -> Tensor:
    """Return focal lengths, centre and coefficients, (8,) in float64."""
    numbers = torch.tensor(START, dtype=torch.float64, device=scene.device)
    for level in reversed(range(LEVELS)):
        seen, wanted = (smaller(picture, 2**level) for picture in (photo, scene))

        def differences(numbers: Tensor, seen: Tensor = seen, wanted: Tensor = wanted) -> Tensor:
            view = straighten(seen, numbers)
            inside = view[..., 1:].detach() > INSIDE  # the edge of the photograph is no part of the table
            return (inside * (view[..., :1] - wanted)).flatten().double()

        for _ in range(steps):  # of Gauss and Newton, damped
            slopes = torch.func.jacfwd(differences)(numbers)
            squares = slopes.T @ slopes
            damped = squares + DAMPING * squares.diagonal().diag()
            numbers = numbers - torch.linalg.solve(damped, slopes.T @ differences(numbers))
    return numbers


def fit(device: torch.device, size: int, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the photograph and the table, (size, size, 1), and the numbers of the lens."""
    full = torch.from_numpy(photograph("coffee.png")[..., :3].mean(-1)).float().to(device)[None, None] / 255
    side = min(full.shape[-2:])
    square = torch.nn.functional.interpolate(full[..., :side, 100 : 100 + side], (size, size), mode="area")
    scene = square[0, 0, ..., None].contiguous()
    photo = expose(scene)
    return photo, scene, estimate(photo, scene, steps)


def learn(device: torch.device, size: int, steps: int) -> npt.NDArray[np.float32]:
    """Return the photograph, and overlays of its straightened forms with the table: at the start, and at the end."""
    photo, scene, numbers = fit(device, size, steps)
    start = torch.tensor(START, dtype=torch.float64, device=device)
    views = [straighten(photo, each) for each in (start, numbers)]
    overlays = [torch.cat([view[..., :1], *[scene * view[..., 1:]] * 2], -1) for view in views]
    return beside([photo[..., 0], *overlays])


if __name__ == "__main__":
    main(learn, __doc__, size=256, steps=8)
