"""Motions of a volume before its views: matrices, views of the volume that moves, and derivatives by the matrices."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ..model.errors import ArgumentError
from ..model.message_values import shown
from ..model.transforms import Affine
from ..sampling.rays import Rays
from ..sycl.queue.queue import Queue
from .arrays import LinearFunction
from .geometry import Floats, Geometry

__all__ = ["apply_to_moving", "is_differentiable", "is_tensor", "matrices_of", "move"]

_FARTHEST = 1e9  # places of rays that count, in texels


def matrices_of(pose: Any, dims: int, count: int) -> Any:
    """The motions of all views, or of each: (1, 4, 4) or (count, 4, 4), a tensor of one, else numpy's; float64.

    Raises
    ------
    ArgumentError
        Neither a motion of so many axes nor one for each view.
    """
    pose = pose.matrix if isinstance(pose, Affine) else pose
    xp: Any = np
    if is_tensor(pose):
        xp = sys.modules["torch"]
        values = pose.to(xp.float64)
    else:
        values = np.asarray(pose, np.float64)
    shape, matrices = tuple(values.shape), [(dims, dims + 1), (dims + 1, dims + 1)]
    if dims == 3 and shape in ((6,), (count, 6)):
        values = _rigid(xp, values.reshape(-1, 6))
    elif shape[-2:] in matrices and shape[:-2] in ((), (1,), (count,)):
        values = values.reshape(-1, *shape[-2:])
    else:
        vectors = ", six numbers" if dims == 3 else ""
        raise ArgumentError(
            f"pose of shape {shape}: an Affine, a matrix {matrices[0]} or {matrices[1]}{vectors}, or an array of "
            f"{count} of them, is needed"
        )
    if not bool(xp.isfinite(values).all()):
        raise ArgumentError(f"pose={shown(pose)}: finite numbers are needed")
    if len(values[0]) > dims and not bool((values[:, dims] == _identity(xp, dims + 1, values)[dims]).all()):
        raise ArgumentError(f"pose={shown(pose)}: the last row of its matrix is (0, ..., 0, 1)")
    whole = _identity(xp, 4, values)
    last = whole[3:] + xp.zeros_like(values[:, :1, :1])
    turn, shift = values[:, :dims, :dims], values[:, :dims, dims:]
    if dims == 2:
        turn = xp.concatenate([turn, xp.zeros_like(turn[:, :1])], 1)
        up = whole[:3, 2:3] + xp.zeros_like(values[:, :1, :1])
        turn, shift = xp.concatenate([turn, up], 2), xp.concatenate([shift, xp.zeros_like(shift[:, :1])], 1)
    return xp.concatenate([xp.concatenate([turn, shift], 2), last], 1)


def _rigid(xp: Any, poses: Any) -> Any:
    """Matrices (n, 3, 4) of rotation vectors and translations."""
    vectors = poses[:, :3]
    angle = xp.linalg.norm(vectors, None, -1)[:, None, None]
    x, y, z = vectors[:, 0], vectors[:, 1], vectors[:, 2]
    zero = xp.zeros_like(x)
    cross = xp.stack([xp.stack([zero, -z, y], -1), xp.stack([z, zero, -x], -1), xp.stack([-y, x, zero], -1)], -2)
    turn = xp.sinc(angle / np.pi) * cross + 0.5 * xp.sinc(angle / (2 * np.pi)) ** 2 * (cross @ cross)
    return xp.concatenate([_identity(xp, 3, turn) + turn, poses[:, 3:, None]], 2)


def _identity(xp: Any, size: int, like: Any) -> Any:
    return np.eye(size) if xp is np else xp.eye(size, dtype=like.dtype, device=like.device)


def is_tensor(value: Any) -> bool:
    """Whether it is torch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_differentiable(value: Any) -> bool:
    """Whether torch records what is computed of it."""
    return is_tensor(value) and value.requires_grad and sys.modules["torch"].is_grad_enabled()


def move(geometry: Geometry, matrices: Any) -> Geometry:
    """The views of a volume that matrices (1 or views, 4, 4) move, in the world of the volume before.

    Raises
    ------
    ArgumentError
        A matrix has no inverse.
    """
    numbers: Floats = np.asarray(matrices.detach().cpu() if is_tensor(matrices) else matrices)
    if not (np.abs(np.linalg.det(numbers)) > np.finfo(float).tiny).all():
        raise ArgumentError(f"pose={shown(numbers)}: its matrix has no inverse")
    back = np.linalg.inv(numbers)
    points = [False, True, False, False] if geometry.is_parallel else [True, True, False, False]
    frames = _transform(np, geometry.frames, back, np.array(points, float)[:, None])
    return replace(geometry, frames=np.ascontiguousarray(frames), angles=None)


def _transform(xp: Any, frames: Any, matrices: Any, is_point: Any) -> Any:
    """Frames (views, 4, 3) by matrices (1 or views, 4, 4); translations are of points alone."""
    turn, shift = xp.swapaxes(matrices[:, :3, :3], 1, 2), matrices[:, None, :3, 3]
    return frames @ turn + is_point * shift


def apply_to_moving(
    value: Any, matrices: Any, function: LinearFunction, transpose: LinearFunction, still: Rays, is_forward: bool,
    queue: Queue | None,
) -> Any:  # fmt: skip
    """The function of a tensor, differentiable once by it and by the matrices.

    Parameters
    ----------
    value : Tensor
        The argument; axes before those of the function are of several.
    matrices : Tensor
        Of the motion, in texels.
    function, transpose : LinearFunction
        The projection of the volume that moves and its transpose, or the reverse.
    still : Rays
        Of the volume that does not move.
    is_forward : bool
        Whether the function is the projection.
    queue : Queue | None
        Computes it.
    """
    more = function, transpose, still, is_forward, queue
    if value.dim() > len(function.source_shape):
        torch = sys.modules["torch"]
        return torch.stack([apply_to_moving(part, matrices, *more) for part in value])
    return _moving().apply(value, matrices, *more)


@cache
def _moving() -> Any:
    """The function of torch of a tensor and of matrices."""
    import torch
    from torch.autograd.function import once_differentiable

    class Moving(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(
            ctx: Any, tensor: Any, matrices: Any, function: LinearFunction, transpose: LinearFunction, still: Rays,
            is_forward: bool, queue: Queue | None,
        ) -> Any:  # fmt: skip
            ctx.save_for_backward(tensor, matrices)
            ctx.call = transpose, still, is_forward, queue
            return function(tensor.detach(), None, queue)

        @staticmethod
        @once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
            tensor, matrices = ctx.saved_tensors
            transpose, still, is_forward, queue = ctx.call
            of_tensor = of_matrices = None
            if ctx.needs_input_grad[0]:
                of_tensor = transpose(gradient.detach(), None, queue).to(tensor.dtype)
            if ctx.needs_input_grad[1]:
                volume, values = (tensor, gradient) if is_forward else (gradient, tensor)
                of_matrices = _gradient(still, matrices, volume, values)
            return of_tensor, of_matrices, None, None, None, None, None

    return Moving


def _gradient(still: Rays, matrices: Any, volume: Any, values: Any) -> Any:
    """The derivative by the matrices of the product of values and projections of the volume that moves.

    The planes of a ray are the middles of equal parts of its way through the volume, whose integral is a sum over the
    same samples.
    """
    import torch

    from ..torch.lines import line_integrals

    volume, values = (
        volume.detach().reshape(still.shape).float(),
        values.detach().reshape(len(still.frames), -1).float(),
    )
    with torch.enable_grad():
        leaf = matrices.detach().to(volume.device).requires_grad_()
        frames, spacing = leaf.new_tensor(still.frames), leaf.new_tensor(still.spacing)
        is_point = leaf.new_tensor([[0.0 if still.is_parallel else 1.0], [1.0], [0.0], [0.0]])
        frames = _transform(torch, frames, torch.linalg.inv(leaf), is_point)
        rows, columns = still.detector_shape
        middle, _ = _lines(still, frames, leaf.new_tensor([(columns - 1) / 2]), leaf.new_tensor([(rows - 1) / 2]))
        axes = (middle[:, 0] * spacing).abs().argmax(-1)
        numbers = torch.arange(columns).to(leaf), torch.arange(rows).to(leaf)
        total = leaf.new_zeros(())
        for axis in axes.unique().tolist():
            views, samples = axes == axis, still.shape[2 - axis]
            direction, point = _lines(still, frames[views], *numbers)
            start, end = _ends(direction, point, axis, samples)
            sums = line_integrals(volume, start.float(), end.float(), samples)
            length = ((end - start) * spacing).square().sum(-1).sqrt() / (end - start).square().sum(-1).sqrt()
            total = total + (sums * length * values[views]).sum()
        (gradient,) = torch.autograd.grad(total, leaf)
    return gradient.to(matrices.device)


def _lines(rays: Rays, frames: Any, columns: Any, rows: Any) -> tuple[Any, Any]:
    """Directions of the rays to pixels, and a point of each: (views, rows * columns, 3)."""
    source, first, column, row = frames.unbind(1)
    foot = rays.foot if rays.column_angle else (0.0, 0.0)
    x, y = columns - foot[0], (rows - foot[1]).repeat_interleave(len(columns))[:, None]
    x = x.repeat(len(rows))[:, None]
    cosine = 1.0
    if rays.column_angle:
        cosine, x = (x * rays.column_angle).cos(), (x * rays.column_angle).sin() / rays.column_angle
    origin = first + foot[0] * column + foot[1] * row
    aside = x * column[:, None] + y * row[:, None]
    if rays.is_parallel:
        return source[:, None].expand_as(aside), origin[:, None] + aside
    direction = cosine * (origin - source)[:, None] + aside
    return direction, source[:, None] + direction


def _ends(direction: Any, point: Any, axis: int, planes: int) -> tuple[Any, Any]:
    """Where lines enter and leave a volume along an axis; apart from it of lines that count for nothing."""
    import torch

    along = direction[..., axis : axis + 1]
    slope = direction / torch.where(along == 0, torch.ones_like(along), along)
    start = point - point[..., axis : axis + 1] * slope
    end = start + planes * slope
    counts = (along != 0) & (start.abs().amax(-1, True) < _FARTHEST) & (end.abs().amax(-1, True) < _FARTHEST)
    apart = torch.full_like(start, -9.0)
    return torch.where(counts, start, apart), torch.where(counts, end, apart - 1)
