"""``Detector``: the source and the pixels of projections, and how poses move them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..model.errors import ArgumentError

__all__ = ["Detector", "frames_of", "gradient_of_poses", "tangent_of_frames"]

Tensor = Any
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Detector:
    """A source of rays, and a detector of ``height`` rows of ``width`` pixels, in units of your choice.

    Parameters
    ----------
    source : tuple[float, float, float]
        Where rays start.
    first : tuple[float, float, float]
        Centre of the first pixel.
    column, row : tuple[float, float, float]
        Steps from a pixel to the next one in its row, and to that in the next row.
    width, height : int
        Pixels of a row, and rows.

    Raises
    ------
    ArgumentError
        A vector is not three finite numbers, or there are no pixels.

    Examples
    --------
    >>> from bindless.torch import Detector
    >>> Detector(source=(0, 0, -700), first=(-150, -150, 300), column=(1, 0, 0), row=(0, 1, 0), width=301, height=301)
    Detector(source=(0.0, 0.0, -700.0), first=(-150.0, -150.0, 300.0), ... width=301, height=301)
    """

    source: Triple
    first: Triple
    column: Triple
    row: Triple
    width: int
    height: int
    numbers: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("source", "first", "column", "row"):
            value = getattr(self, name)
            vector = tuple(float(number) for number in value)
            if len(vector) != 3 or not all(map(math.isfinite, vector)):
                raise ArgumentError(f"{name}={value!r}: three finite numbers are needed")
            object.__setattr__(self, name, vector)
        if self.width < 1 or self.height < 1:
            raise ArgumentError(f"{self.width} x {self.height} pixels: a detector has at least one")
        object.__setattr__(self, "numbers", (*self.source, *self.first, *self.column, *self.row))


def frames_of(poses: Tensor, numbers: Sequence[float]) -> Tensor:
    """Source, first pixel and the two steps of each pose, (poses, 4, 3) in texels whose centres are at +0.5.

    Parameters
    ----------
    poses : Tensor
        (poses, 6), rotation vectors and translations, or (poses, 12), matrices of three rows; float64.
    numbers : Sequence[float]
        The 12 numbers of the detector, and the 12 of the matrix from its units to texels.
    """
    detector, matrix, places = _constants(poses, numbers)
    if poses.shape[-1] == 12:
        moves = poses.view(-1, 3, 4)
        turns, shifts = moves[..., :3], moves[..., 3]
    else:
        turns, shifts = torch.linalg.matrix_exp(_cross_matrices(poses[:, :3])), poses[:, 3:]
    points = detector @ turns.transpose(1, 2) + places * shifts[:, None]
    return points @ matrix[:, :3].T + places * matrix[:, 3]


def tangent_of_frames(moves: Tensor, poses: Tensor, numbers: Sequence[float]) -> Tensor:
    """The change of frames (poses, 4, 3) along changes of poses; other arguments as in ``frames_of``."""
    detector, matrix, places = _constants(poses, numbers)
    if poses.shape[-1] == 12:
        rows = moves.view(-1, 3, 4)
        turns, shifts = rows[..., :3], rows[..., 3]
    else:
        turns = _exponential_of_blocks(_cross_matrices(poses[:, :3]), _cross_matrices(moves[:, :3]))
        shifts = moves[:, 3:]
    points = detector @ turns.transpose(1, 2) + places * shifts[:, None]
    return points @ matrix[:, :3].T


def gradient_of_poses(frames: Tensor, poses: Tensor, numbers: Sequence[float]) -> Tensor:
    """The gradient of poses from that of their frames (poses, 4, 3); other arguments as in ``frames_of``."""
    detector, matrix, places = _constants(poses, numbers)
    points = frames @ matrix[:, :3]
    turns, shifts = points.transpose(1, 2) @ detector, (points * places).sum(1)
    if poses.shape[-1] == 12:
        return torch.cat([turns, shifts[:, :, None]], 2).view(-1, 12)
    # The adjoint of the derivative of the exponential is the derivative at the transpose.
    matrices = _exponential_of_blocks(_cross_matrices(poses[:, :3]).transpose(1, 2), turns)
    skew = matrices - matrices.transpose(1, 2)
    return torch.cat([torch.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], 1), shifts], 1)


def _exponential_of_blocks(matrices: Tensor, moves: Tensor) -> Tensor:
    """The derivative of the exponentials of matrices (count, 3, 3) along moves: a block of a larger exponential."""
    blocks = torch.cat([torch.cat([matrices, moves], 2), torch.cat([torch.zeros_like(matrices), matrices], 2)], 1)
    return torch.linalg.matrix_exp(blocks)[:, :3, 3:]


def _constants(poses: Tensor, numbers: Sequence[float]) -> tuple[Tensor, Tensor, Tensor]:
    """The detector's four rows, the matrix, and 1 for rows that are places: steps are not moved."""
    places = poses.new_tensor([[1.0], [1.0], [0.0], [0.0]])
    return poses.new_tensor(numbers[:12]).view(4, 3), poses.new_tensor(numbers[12:]).view(3, 4), places


def _cross_matrices(vectors: Tensor) -> Tensor:
    """Matrices (count, 3, 3) of cross products with vectors (count, 3)."""
    x, y, z = vectors.unbind(-1)
    zero = torch.zeros_like(x)
    return torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(-1, 3, 3)
