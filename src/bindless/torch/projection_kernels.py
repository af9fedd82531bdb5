"""The kernels ``bindless_projections...`` on tensors in CUDA memory: calls that are repeated without Python.

Volumes are float32 (or float16 where values are computed), all others float32. All are contiguous, except gradients of
projections. ``static`` has the 12 numbers of the detector and the 12 of the matrix, the width and the height of a
projection, and samples.
"""

from __future__ import annotations

import struct
from typing import Any

import torch

from ..kernels.load import variant_of
from ..sampling.memory.programs import Program, command
from .repeats import Repeats

__all__ = ["gradient_of_poses", "gradient_of_texels", "repeated_gradient_of_poses", "values"]

Tensor = Any
Static = tuple[tuple[float, ...], tuple[int, int], int]

_COLUMNS, _ROWS, _ITEMS = 8, 4, 256  # of a work-group: pixels, and work-items
_PER_GROUP, _MOST_GROUPS, _POSE_ITEMS = 1024, 64, 192  # sums over pixels
_HALVES = 2  # a bit of the mode: volumes are float16

_VALUES = struct.Struct("@P3IP24f3IPPI")
_TEXELS = struct.Struct("@P3IP24f3IP3QI")
_SUMS = struct.Struct("@P3QP2IP")
_POSES = struct.Struct("@PIP24fPI")
_POSES_AT, _VALUES_AT, _DERIVATIVES_AT = (struct.calcsize(f"@P3I{more}0P") for more in ("", "P24f3I", "P24f3IP"))
_DERIVATIVES_OF_SUMS, _SUMS_AT = struct.calcsize("@P3Q0P"), struct.calcsize("@P3QP2I0P")
_POSES_OF_SUMS, _GRADIENTS_AT = struct.calcsize("@PI0P"), struct.calcsize("@PIP24f0P")

_of_values, _of_texels, _of_poses = Repeats(), Repeats(), Repeats()

repeated_gradient_of_poses = _of_poses.repeat
"""``gradient_of_poses`` of ``static, grad, derivatives, poses``: a tuple of one tensor, or None where no call with such
tensors has been made."""


def values(volume: Tensor, poses: Tensor, static: Static, derive: bool) -> tuple[Tensor, Tensor | None]:
    """Projections (..., height, width), and their derivatives (..., 6, height, width) by both ends of rays, or None."""
    outputs = _of_values.repeat((static, derive), volume, poses)
    if outputs is None:
        pixels = volume.detach() if volume.dtype is torch.float16 else volume.detach().float()
        pixels, places = pixels.contiguous(), poses.detach().float().contiguous()
        numbers, (width, height), samples = static
        leading, is_matrix = _leading(poses)
        buffer = pixels.new_empty((*leading, height, width), dtype=torch.float32)
        derivatives = buffer.new_empty((*leading, 6, height, width)) if derive else None
        mode = is_matrix | (_HALVES if pixels.dtype is torch.float16 else 0)
        contents = _VALUES.pack(0, *reversed(pixels.shape), 0, *numbers, width, height, samples, 0, 0, mode)
        patches = [(0, 0, 0), (_POSES_AT, 1, 0), (_VALUES_AT, 2, 0)]
        patches += [(_DERIVATIVES_AT, 3, 0)] if derive else []
        words = command(0, (*_tiles(static), places.numel() // _numbers(is_matrix), _ITEMS, 1, 1), contents, patches)
        program = Program(words, (variant_of("bindless_projections", mode=mode),), 0)
        results = [buffer, derivatives]
        outputs = _of_values.run((static, derive), program, (pixels, places), results)
    return outputs[0], outputs[1]


def gradient_of_texels(volume: Tensor, poses: Tensor, static: Static, grad: Tensor) -> Tensor:
    """The gradient of the volume, float32, added up in any order."""
    results = _of_texels.repeat(static, volume, poses, grad)
    if results is None:
        numbers, (width, height), samples = static
        places, (grad, strides) = poses.detach().float().contiguous(), _strided(grad)
        is_matrix = _leading(poses)[1]
        contents = _TEXELS.pack(0, *reversed(volume.shape), 0, *numbers, width, height, samples, 0, *strides, is_matrix)
        patches = [(0, 3, 0), (_POSES_AT, 1, 0), (_VALUES_AT, 2, 0)]
        groups = (*_tiles(static), places.numel() // _numbers(is_matrix), _ITEMS, 1, 1)
        buffer = torch.empty(volume.shape, dtype=torch.float32, device=volume.device)
        clear = [0, 3, buffer.numel() * 4]
        words = [*clear, *command(0, groups, contents, patches)]
        program = Program(words, (variant_of("bindless_projections_texels", mode=is_matrix),), 0)
        results = _of_texels.run(static, program, (volume.detach(), places, grad), [buffer])
    return results[0]


def gradient_of_poses(grad: Tensor, derivatives: Tensor, poses: Tensor, static: Static) -> Tensor:
    """The gradient of the poses, float32, from that of the projections and the derivatives of these."""
    results = _of_poses.repeat(static, grad, derivatives, poses)
    if results is None:
        numbers, (width, height), _ = static
        places, (grad, strides) = poses.detach().float().contiguous(), _strided(grad)
        is_matrix = _leading(poses)[1]
        count, groups = places.numel() // _numbers(is_matrix), min(-(-width * height // _PER_GROUP), _MOST_GROUPS)
        sums = command(
            0,
            (groups, 1, count, _ITEMS, 1, 1),
            _SUMS.pack(0, *strides, 0, width, height, 0),
            [(0, 0, 0), (_DERIVATIVES_OF_SUMS, 1, 0), (_SUMS_AT, 4, 0)],
        )
        ends = command(
            1,
            (1, 1, count, _POSE_ITEMS, 1, 1),
            _POSES.pack(0, groups, 0, *numbers, 0, is_matrix),
            [(0, 4, 0), (_POSES_OF_SUMS, 2, 0), (_GRADIENTS_AT, 3, 0)],
        )
        names = ("bindless_projections_sums", variant_of("bindless_projections_poses", mode=is_matrix))
        program = Program([*sums, *ends], names, 8 * 12 * count * groups)
        results = _of_poses.run(static, program, (grad, derivatives, places), [torch.empty_like(places)])
    return results[0]


def _leading(poses: Tensor) -> tuple[tuple[int, ...], int]:
    """The axes of poses, and whether they are matrices."""
    is_matrix = poses.shape[-1] != 6
    return tuple(poses.shape[: -2 if is_matrix else -1]), int(is_matrix)


def _numbers(is_matrix: int) -> int:
    return 12 if is_matrix else 6


def _tiles(static: Static) -> tuple[int, int]:
    width, height = static[1]
    return -(-width // _COLUMNS), -(-height // _ROWS)


def _strided(grad: Tensor) -> tuple[Tensor, tuple[int, int, int]]:
    """A gradient of projections, with its strides of poses, rows and columns; gradients of sums repeat one number."""
    grad = grad.detach().float()
    if grad.dim() > 3:
        grad = grad.reshape(-1, *grad.shape[-2:])
    return grad, (grad.stride(0) if grad.dim() == 3 else 0, grad.stride(-2), grad.stride(-1))
