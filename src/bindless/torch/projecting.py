"""``projections``: pictures of volumes by rays from a source, from poses of the source and the detector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model.errors import ArgumentError
from . import batching, lines, projection_kernels
from .detectors import Detector, frames_of, gradient_of_poses, tangent_of_frames
from .first_derivatives import FirstDerivative, refuse_second
from .operators import LIBRARY
from .plain import is_plain, is_special, is_transformed, plain_apply
from .tensors import require_tensors

__all__ = ["projections"]

Tensor = Any
Static = tuple[tuple[float, ...], tuple[int, int], int]
"""Numbers of the detector and the matrix, width and height, samples."""

_MOST_POSES = 65535


def projections(volume: Tensor, poses: Tensor, detector: Detector, samples: int, *, matrix: Any = None) -> Tensor:
    """Integrals of a volume along the rays from a source to the pixels of a detector, which poses move.

    A point of the detector is moved by the pose, then brought to pixels of the volume by ``matrix``. The value is the
    mean of samples, in the middles of equal parts of the ray, times its length in the detector's units. The volume is
    linear between the centres of its texels, and zero outside; samples outside cost nothing. On CUDA one kernel makes
    the rays, the values and the derivatives for a gradient of the poses, which two small kernels add up.

    Parameters
    ----------
    volume : Tensor
        Shape (depth, height, width): float32 or float16, computed in float32; on processors float64 too.
    poses : Tensor
        Shape (..., 6): rotation vectors in radians, and translations after the rotation. Or (..., 3, 4): matrices. In
        the detector's units; at most 65,535.
    detector : Detector
        The source and the detector at the pose of zeros.
    samples : int
        Samples of each ray, 1 or more.
    matrix : array_like, optional
        Shape (3, 4) or (4, 4), not in CUDA memory: from the detector's units to pixels of the volume, in the order
        x, y, z, with the centre of the first texel at 0.5. Default: units are pixels, and the origin is the middle of
        the volume.

    Returns
    -------
    Tensor
        Projections (..., detector.height, detector.width), differentiable once in ``volume`` and ``poses``. The
        gradient of the volume is deterministic with ``torch.use_deterministic_algorithms(True)``; that of the poses
        always is.

    Raises
    ------
    ArgumentError
        Shapes, dtypes or devices do not fit, or there are no samples.
    FeatureNotSupportedError
        A second derivative: a mean of ``bindless.torch.sample`` has it.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import Detector, projections
    >>> detector = Detector((0, 0, -100), (0, 0, 20), (1, 0, 0), (0, 1, 0), width=2, height=1)
    >>> pose = torch.zeros(6, requires_grad=True)
    >>> picture = projections(torch.ones(8, 8, 8), pose, detector, 1200)
    >>> picture.shape, round(picture[0, 0].item(), 3)
    (torch.Size([1, 2]), 8.0)
    """
    static = _checked(volume, poses, detector, samples, matrix)
    derive = torch.is_grad_enabled() and poses.requires_grad
    if is_transformed():
        return _Projections.apply(volume, poses, static, True)[0]
    if not is_plain((volume, poses)):
        return torch.ops.bindless.projections.default(volume, poses, *_listed(static), derive)[0]
    if derive or (torch.is_grad_enabled() and volume.requires_grad):
        return plain_apply(_PlainProjections)(volume, poses, static, derive)
    return _project(volume, poses, static, False)[0]


def _checked(volume: Tensor, poses: Tensor, detector: Detector, samples: int, matrix: Any) -> Static:
    """The arguments that are no tensors."""
    require_tensors(volume=volume, poses=poses)
    shapes = f"volume {tuple(volume.shape)} and poses {tuple(poses.shape)}"
    if volume.dim() != 3 or 0 in volume.shape or (poses.shape[-1:] != (6,) and poses.shape[-2:] != (3, 4)):
        raise ArgumentError(f"{shapes}: the volume has three axes, and poses are (..., 6) or (..., 3, 4)")
    if not (volume.is_floating_point() and poses.is_floating_point() and volume.device == poses.device):
        types = f"volume {volume.dtype} on {volume.device}, poses {poses.dtype} on {poses.device}"
        raise ArgumentError(f"{types}: convert them to real numbers on one device")
    if samples < 1 or poses.numel() > _MOST_POSES * (6 if poses.shape[-1] == 6 else 12):
        raise ArgumentError(f"samples={samples}, {shapes}: a ray has at least one sample, a call 65,535 poses at most")
    if matrix is None:
        depth, height, width = volume.shape
        middle = (1.0, 0.0, 0.0, width / 2, 0.0, 1.0, 0.0, height / 2, 0.0, 0.0, 1.0, depth / 2)
        return (*detector.numbers, *middle), (detector.width, detector.height), samples
    if torch.is_tensor(matrix) and (matrix.requires_grad or matrix.device.type != "cpu"):
        raise ArgumentError(f"matrix on {matrix.device}: it is a constant in memory of the processor; detach it")
    rows = torch.as_tensor(matrix, dtype=torch.float64)
    if tuple(rows.shape) not in ((3, 4), (4, 4)):
        raise ArgumentError(f"matrix {tuple(rows.shape)}: (3, 4) or (4, 4) is needed")
    placed = (*detector.numbers, *rows[:3].flatten().tolist())
    return placed, (detector.width, detector.height), samples


def _listed(static: Static) -> tuple[list[float], int, int, int]:
    numbers, (width, height), samples = static
    return list(numbers), width, height, samples


def _flat(poses: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """Poses as (count, 6) or (count, 12), and the axes before."""
    if poses.shape[-1] == 6:
        return poses.detach().reshape(-1, 6), tuple(poses.shape[:-1])
    return poses.detach().reshape(-1, 12), tuple(poses.shape[:-2])


def _project(volume: Tensor, poses: Tensor, static: Static, derive: bool) -> tuple[Tensor, Tensor]:
    """Projections (..., height, width), and derivatives (..., 6, height, width) or nothing."""
    if volume.is_cuda and poses.numel():
        values, slopes = projection_kernels.values(volume, poses, static, derive)
        return values, values.new_empty(0) if slopes is None else slopes
    _, (width, height), samples = static
    flat, leading = _flat(poses)
    real = _real(volume)
    values = volume.new_empty((*leading, height, width), dtype=real)
    derivatives = volume.new_empty((*leading, 6, height, width) if derive else 0, dtype=real)
    if not len(flat):
        return values, derivatives
    starts, ends, lengths = _rays(volume, flat, static)
    means, by_ray = lines.line_means(volume, starts, ends, samples, derive)
    torch.mul(means.view(len(flat), height, width), lengths, out=values.view(len(flat), height, width))
    if derive:
        by_ends = by_ray.view(len(flat), height, width, 6).movedim(-1, 1)
        torch.mul(by_ends, lengths, out=derivatives.view(len(flat), 6, height, width))
    return values, derivatives


def _real(volume: Tensor) -> torch.dtype:
    return torch.float64 if volume.device.type == "cpu" and volume.dtype is torch.float64 else torch.float32


def _rays(volume: Tensor, flat: Tensor, static: Static) -> tuple[Tensor, Tensor, Tensor]:
    """Starts and ends (rays, 3) of the rays of all poses in texels, and lengths (height, width) in units."""
    numbers, (width, height), _ = static
    frames = frames_of(flat.double(), numbers)

    ends = _pixels(frames, width, height)
    starts = frames[:, 0, None, None].expand_as(ends)
    detector = frames.new_tensor(numbers[:12]).view(4, 3)
    lengths = torch.linalg.vector_norm(_pixels(detector, width, height) - detector[0], dim=-1)
    real = _real(volume)
    return starts.reshape(-1, 3).to(real), ends.reshape(-1, 3).to(real), lengths.to(real)


def _pixels(frames: Tensor, width: int, height: int) -> Tensor:
    """Places (..., height, width, 3) of the pixels of detectors, of frames (..., 4, 3)."""
    columns = torch.arange(width, device=frames.device, dtype=frames.dtype)[:, None]
    rows = torch.arange(height, device=frames.device, dtype=frames.dtype)[:, None, None]
    first, column, row = (frames[..., None, None, number, :] for number in (1, 2, 3))
    return first + columns * column + rows * row


def _project_backward(
    grad: Tensor, volume: Tensor, poses: Tensor, derivatives: Tensor, static: Static, needs: Sequence[bool]
) -> tuple[Tensor, Tensor]:
    """Gradients of the volume and the poses; those that are not needed are without elements."""
    texels = _gradient_of_volume(grad, volume, poses, static) if needs[0] else derivatives.new_empty(0)
    return texels, _gradient_of_poses(grad, poses, derivatives, static) if needs[1] else derivatives.new_empty(0)


def _gradient_of_volume(grad: Tensor, volume: Tensor, poses: Tensor, static: Static) -> Tensor:
    flat, _ = _flat(poses)
    if not len(flat):
        return torch.zeros_like(volume)
    if volume.is_cuda and not torch.are_deterministic_algorithms_enabled():
        return projection_kernels.gradient_of_texels(volume, poses, static, grad).to(volume.dtype)
    starts, ends, lengths = _rays(volume, flat, static)
    weights = (grad.detach().view(-1, *lengths.shape) * lengths).reshape(-1)
    return lines.gradient_of_texels(weights, volume, starts, ends, static[2])


def _gradient_of_poses(grad: Tensor, poses: Tensor, derivatives: Tensor, static: Static) -> Tensor:
    if poses.is_cuda and poses.numel():
        return projection_kernels.gradient_of_poses(grad, derivatives, poses, static).to(poses.dtype)
    numbers, (width, height), _ = static
    flat, _ = _flat(poses)
    if not len(flat):
        return torch.zeros_like(poses)
    grad = grad.detach().to(derivatives.dtype)
    each = (grad.reshape(-1, 1, height, width) * derivatives.view(-1, 6, height, width)).double()
    columns = torch.arange(width, dtype=torch.float64)
    rows = torch.arange(height, dtype=torch.float64)[:, None]
    ends = each[:, 3:]
    sums = torch.stack([part.sum((-2, -1)) for part in (each[:, :3], ends, ends * columns, ends * rows)], 1)
    gradient = gradient_of_poses(sums, flat.double(), numbers)
    return gradient.view(poses.shape).to(poses.dtype)


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    volume, poses, derivatives = ctx.saved_tensors
    needs = ctx.needs_input_grad[:2]
    if not torch.is_grad_enabled() and is_plain((grad, volume, poses)):
        texels, moves = _project_backward(grad, volume, poses, derivatives, ctx.static, needs)
    else:
        texels, moves = _ProjectionsBackward.apply(grad, volume, poses, derivatives, ctx.static, needs)
    return texels if needs[0] else None, moves if needs[1] else None, None, None


class _Projections(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(volume: Tensor, poses: Tensor, static: Static, derive: bool) -> tuple[Tensor, Tensor]:
        if is_plain((volume, poses)):
            return _project(volume, poses, static, derive)
        values, derivatives = torch.ops.bindless.projections.default(volume, poses, *_listed(static), derive)
        return values, derivatives

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
        volume, poses, ctx.static, _ = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(volume, poses, output[1])
        ctx.save_for_forward(volume, poses, output[1])

    @staticmethod
    def jvp(ctx: Any, volume_moved: Any, poses_moved: Any, _: Any, __: Any) -> tuple[Tensor, None]:
        return _ProjectionsAlong.apply(*ctx.saved_tensors, volume_moved, poses_moved, ctx.static), None

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, ...]:
        return (None,) * 4 if grad is None else _gradients(ctx, grad)

    @staticmethod
    def vmap(info: Any, dims: Any, volume: Tensor, poses: Tensor, static: Static, derive: bool) -> tuple[Any, Any]:
        if dims[0] is None:
            return _Projections.apply(volume, poses.movedim(dims[1], 0), static, derive), (0, 0)
        each = batching.each(info.batch_size, dims, volume, poses)
        return batching.stacked(_Projections.apply(*pair, static, derive) for pair in each), (0, 0)


class _PlainProjections(torch.autograd.Function):  # type: ignore[misc]
    """``_Projections`` without ``torch.func``: a separate ``setup_context`` costs more than the launch."""

    @staticmethod
    def forward(ctx: Any, volume: Tensor, poses: Tensor, static: Static, derive: bool) -> Tensor:
        values, derivatives = _project(volume, poses, static, derive)
        ctx.static = static
        ctx.save_for_backward(volume, poses, derivatives)
        return values

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if not (ctx.needs_input_grad[0] or torch.is_grad_enabled() or is_special()):
            _, poses, derivatives = ctx.saved_tensors
            results = projection_kernels.repeated_gradient_of_poses(ctx.static, grad, derivatives, poses)
            if results is not None:
                return None, results[0].to(poses.dtype), None, None
        return _gradients(ctx, grad)


class _ProjectionsBackward(FirstDerivative):
    @staticmethod
    def forward(
        grad: Tensor, volume: Tensor, poses: Tensor, derivatives: Tensor, static: Static, needs: Sequence[bool]
    ) -> tuple[Tensor, Tensor]:
        if is_plain((grad, volume, poses)):
            return _project_backward(grad, volume, poses, derivatives, static, needs)
        texels, moves = torch.ops.bindless.projections_backward.default(
            grad, volume, poses, derivatives, *_listed(static), list(needs)
        )
        return texels, moves

    @staticmethod
    def vmap(
        info: Any, dims: Any, grad: Tensor, volume: Tensor, poses: Tensor, derivatives: Tensor, *static: Any
    ) -> tuple[Any, Any]:
        each = batching.each(info.batch_size, dims, grad, volume, poses, derivatives)
        return batching.stacked(_ProjectionsBackward.apply(*operands, *static) for operands in each), (0, 0)


class _ProjectionsAlong(FirstDerivative):
    """The derivative of projections along tangents of the volume and the poses; None is zero."""

    @staticmethod
    def forward(
        volume: Tensor, poses: Tensor, derivatives: Tensor, volume_moved: Any, poses_moved: Any, static: Static
    ) -> Tensor:
        numbers, (width, height), _ = static
        total = derivatives.new_zeros((*_flat(poses)[1], height, width))
        if volume_moved is not None:
            total = _Projections.apply(volume_moved, poses, static, False)[0]
        if poses_moved is not None and poses.numel():
            flat, tangents = (_flat(part)[0].double() for part in (poses, poses_moved))
            frames = tangent_of_frames(tangents, flat, numbers)
            ends = _pixels(frames, width, height)
            moves = torch.cat([frames[:, 0, None, None].expand_as(ends), ends], -1).movedim(-1, 1)
            products = derivatives.view(-1, 6, height, width) * moves.to(derivatives.dtype)
            total = total + products.sum(1).view(*derivatives.shape[:-3], height, width)
        return total

    @staticmethod
    def vmap(info: Any, dims: Any, *operands: Any) -> tuple[Any, Any]:
        each = batching.each(info.batch_size, dims, *operands[:-1])
        return torch.stack([_ProjectionsAlong.apply(*parts, operands[-1]) for parts in each]), 0


# ---------------------------------------------------------------- the operators of torch.compile


def _operator(
    volume: Tensor, poses: Tensor, numbers: Sequence[float], width: int, height: int, samples: int, derive: bool
) -> tuple[Tensor, Tensor]:
    return _project(volume, poses, (tuple(numbers), (width, height), samples), derive)


def _operator_backward(
    grad: Tensor, volume: Tensor, poses: Tensor, derivatives: Tensor, numbers: Sequence[float], width: int,
    height: int, samples: int, needs: Sequence[bool],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return _project_backward(grad, volume, poses, derivatives, (tuple(numbers), (width, height), samples), needs)


def _fake(
    volume: Tensor, poses: Tensor, numbers: Sequence[float], width: int, height: int, samples: int, derive: bool
) -> tuple[Tensor, Tensor]:
    leading, real = poses.shape[: -1 if poses.shape[-1] == 6 else -2], _real(volume)
    values = volume.new_empty((*leading, height, width), dtype=real)
    return values, volume.new_empty((*leading, 6, height, width) if derive else 0, dtype=real)


def _fake_backward(
    grad: Tensor, volume: Tensor, poses: Tensor, derivatives: Tensor, *static: Any
) -> tuple[Tensor, Tensor]:
    gradients = tuple(
        part.new_empty(part.shape) if need else derivatives.new_empty(0)
        for part, need in zip((volume, poses), static[-1])
    )
    return gradients[0], gradients[1]


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    volume, poses, *ctx.static, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(volume, poses, output[1])


def _backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    needs = list(ctx.needs_input_grad[:2])
    gradients = torch.ops.bindless.projections_backward.default(grad, *ctx.saved_tensors, *ctx.static, needs)
    return *(part if need else None for part, need in zip(gradients, needs)), *[None] * (len(ctx.static) + 1)


def _register() -> None:
    static = "float[] numbers, int width, int height, int samples"
    LIBRARY.define(f"projections(Tensor volume, Tensor poses, {static}, bool derive) -> (Tensor, Tensor)")
    LIBRARY.define(
        "projections_backward(Tensor grad, Tensor volume, Tensor poses, Tensor derivatives, "
        f"{static}, bool[] needs) -> (Tensor, Tensor)"
    )
    for device in ("CPU", "CUDA"):
        LIBRARY.impl("projections", _operator, device)
        LIBRARY.impl("projections_backward", _operator_backward, device)
    torch.library.register_fake("bindless::projections", _fake, lib=LIBRARY)
    torch.library.register_fake("bindless::projections_backward", _fake_backward, lib=LIBRARY)
    torch.library.register_autograd("bindless::projections_backward", refuse_second, lib=LIBRARY)
    torch.library.register_autograd("bindless::projections", _backward, setup_context=_remember, lib=LIBRARY)


_register()
