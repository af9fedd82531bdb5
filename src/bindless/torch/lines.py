"""``line_integrals``: integrals of volumes along line segments, such as the projections of computed tomography."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model.errors import ArgumentError
from ..model.filter import CoordinateMap, Filter
from ..sampling import memory
from . import batching, line_kernel
from .first_derivatives import FirstDerivative, refuse_second
from .operators import LIBRARY
from .plain import is_transformed
from .tensors import require_tensors

__all__ = ["gradient_of_texels", "line_integrals", "line_means"]

Tensor = Any
_CHUNK = 1 << 22
"""Samples of which coordinates are in memory at a time."""


def line_integrals(volume: Tensor, starts: Tensor, ends: Tensor, samples: int) -> Tensor:
    """Integrals of a volume along line segments, by one kernel on CUDA, with gradients to both ends.

    The value is the mean of samples, in the middles of equal parts of the segment, times its length. The volume is
    linear between the centres of its texels, and zero outside. Nothing is kept for each sample: the kernel computes the
    derivatives with respect to the two ends along with the value, if these need gradients.

    Parameters
    ----------
    volume : Tensor
        Shape (depth, height, width), floating point; computed in float32, or float64 on processors.
    starts, ends : Tensor
        Shape (..., 3), in pixels in the order x, y, z, with the centre of the first texel at 0.5; one shape, or one of
        them (3,) for all lines.
    samples : int
        Samples of each line, 1 or more.

    Returns
    -------
    Tensor
        The integrals, of the shape of the ends without the last axis, in units of the volume times pixels. They may be
        differentiated once; a mean of ``bindless.torch.sample`` has second derivatives.

    Raises
    ------
    ArgumentError
        Shapes, types or devices do not fit, or there are no samples.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import line_integrals
    >>> volume = torch.ones(8, 8, 8)
    >>> start = torch.tensor([4.0, 4.0, -2.0])
    >>> ends = torch.tensor([[4.0, 4.0, 10.0], [4.0, 4.0, 4.0]])
    >>> line_integrals(volume, start, ends, 120).tolist()
    [8.0, 4.0]
    """
    _check(volume, starts, ends, samples)
    length = (ends - starts).square().sum(-1).sqrt()
    operands = volume, starts.reshape(-1, 3), ends.reshape(-1, 3), samples
    if is_transformed():
        means, _ = _Means.apply(*operands)
    else:
        derive = torch.is_grad_enabled() and (starts.requires_grad or ends.requires_grad)
        means, _ = torch.ops.bindless.line_means(*operands, derive)
    return means.reshape(length.shape) * length


def _check(volume: Tensor, starts: Tensor, ends: Tensor, samples: int) -> None:
    require_tensors(volume=volume, starts=starts, ends=ends)
    shapes = f"volume {tuple(volume.shape)}, starts {tuple(starts.shape)} and ends {tuple(ends.shape)}"
    if volume.dim() != 3 or 0 in volume.shape or starts.shape[-1:] != (3,) or ends.shape[-1:] != (3,):
        raise ArgumentError(f"{shapes}: the volume has three axes, and the others end with three coordinates")
    if starts.shape != ends.shape and 1 not in (starts.dim(), ends.dim()):
        raise ArgumentError(f"{shapes}: the others have one shape, or one of them is (3,)")
    if samples < 1:
        raise ArgumentError(f"samples={samples}: a line has at least one")
    tensors = (volume, starts, ends)
    if not all(tensor.is_floating_point() for tensor in tensors) or len({tensor.device for tensor in tensors}) > 1:
        types = ", ".join(f"{tensor.dtype} on {tensor.device}" for tensor in tensors)
        raise ArgumentError(f"{types}: convert them to one type of real numbers on one device")


_LOOKUP = memory.Lookup(3, Filter.of(boundary="border"), CoordinateMap.scaled(offset=(-0.5,) * 3))


def _prepared(*tensors: Tensor) -> list[Tensor]:
    """Contiguous tensors in the type of the computation."""
    on_processor = tensors[0].device.type == "cpu"
    real = torch.float64 if on_processor and tensors[0].dtype is torch.float64 else torch.float32
    return [tensor.detach().to(real).contiguous() for tensor in tensors]


def _chunks(starts: Tensor, ends: Tensor, samples: int) -> Any:
    """Slices of lines, the coordinates (lines, samples, 3) of each, and the places (samples, 1) along the lines."""
    along = ((torch.arange(samples, device=ends.device, dtype=ends.dtype) + 0.5) / samples)[:, None]
    starts, ends = torch.broadcast_tensors(starts, ends)
    most = max(1, _CHUNK // samples)
    for first in range(0, len(ends), most):
        part = slice(first, first + most)
        yield part, torch.lerp(starts[part, None], ends[part, None], along), along


def line_means(volume: Tensor, starts: Tensor, ends: Tensor, samples: int, derive: bool) -> tuple[Tensor, Tensor]:
    volume, starts, ends = _prepared(volume, starts, ends)
    count = max(len(starts), len(ends)) if len(starts) and len(ends) else 0
    means = volume.new_empty(count)
    derivatives = volume.new_empty((count, 6) if derive else 0)
    if count == 0:
        return means, derivatives
    if volume.device.type == "cuda":
        line_kernel.launch(volume, starts, ends, means, derivatives if derive else None, samples)
        return means, derivatives
    texels = volume[None, ..., None]
    for part, coords, along in _chunks(starts, ends, samples):
        places = coords.reshape(1, -1, 3)
        values = volume.new_empty((1, places.shape[1], 1))
        memory.forward(_LOOKUP, [texels], places, None, values)
        means[part] = values.view(-1, samples).mean(-1)
        if derive:
            weight = torch.full_like(values, 1 / samples)
            slopes = torch.empty_like(places)
            memory.backward(_LOOKUP, [texels], places, None, weight, None, slopes, None)
            slopes = slopes.view(-1, samples, 3)
            derivatives[part] = torch.cat([((1 - along) * slopes).sum(1), (along * slopes).sum(1)], -1)
    return means, derivatives


def _line_means_backward(
    grad: Tensor, volume: Tensor, starts: Tensor, ends: Tensor, derivatives: Tensor, samples: int, needs: Sequence[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of the volume, the starts and the ends; those that are not needed are without elements."""
    texels = gradient_of_texels(grad, volume, starts, ends, samples) if needs[0] else volume.new_empty(0)
    gradients = []
    for need, places, part in ((needs[1], starts, slice(0, 3)), (needs[2], ends, slice(3, 6))):
        if not need:
            gradients.append(places.new_empty(0))
            continue
        each = grad[:, None] * derivatives[:, part]
        gradients.append((each.sum(0, keepdim=True) if len(places) == 1 else each).to(places.dtype))
    return texels, *gradients


def gradient_of_texels(grad: Tensor, volume: Tensor, starts: Tensor, ends: Tensor, samples: int) -> Tensor:
    dtype = volume.dtype
    volume, starts, ends, grad = _prepared(volume, starts, ends, grad)
    gradient = torch.zeros_like(volume)
    stream = None if volume.device.type == "cpu" else torch.cuda.current_stream(volume.device).cuda_stream
    for part, coords, _ in _chunks(starts, ends, samples):
        places = coords.reshape(1, -1, 3)
        weights = (grad[part, None] / samples).expand(-1, samples).reshape(1, -1, 1)
        memory.backward(
            _LOOKUP, [volume[None, ..., None]], places, None, weights, [gradient[None, ..., None]], None, None,
            deterministic=torch.are_deterministic_algorithms_enabled(), stream=stream,
        )  # fmt: skip
    return gradient.to(dtype)


def _fake(volume: Tensor, starts: Tensor, ends: Tensor, samples: int, derive: bool) -> tuple[Tensor, Tensor]:
    real = torch.float64 if volume.device.type == "cpu" and volume.dtype is torch.float64 else torch.float32
    count = ends.shape[0] if starts.shape[0] == 1 else starts.shape[0]
    return volume.new_empty(count, dtype=real), volume.new_empty((count, 6) if derive else 0, dtype=real)


def _fake_backward(
    grad: Tensor, volume: Tensor, starts: Tensor, ends: Tensor, derivatives: Tensor, samples: int, needs: Sequence[bool]
) -> tuple[Tensor, ...]:
    operands = zip(needs, (volume, starts, ends))
    return tuple(operand.new_empty(operand.shape if need else 0) for need, operand in operands)


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    volume, starts, ends, ctx.samples, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(volume, starts, ends, output[1])


def _backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    needs = list(ctx.needs_input_grad[:3])
    gradients = torch.ops.bindless.line_means_backward(grad, *ctx.saved_tensors, ctx.samples, needs)
    return *(each if need else None for need, each in zip(needs, gradients)), None, None


class _Means(torch.autograd.Function):  # type: ignore[misc]
    """The operator ``bindless::line_means``, with derivatives, for the transforms of ``torch.func``."""

    @staticmethod
    def forward(volume: Tensor, starts: Tensor, ends: Tensor, samples: int) -> tuple[Tensor, Tensor]:
        means, derivatives = torch.ops.bindless.line_means.default(volume, starts, ends, samples, True)
        return means, derivatives

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
        volume, starts, ends, ctx.samples = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(volume, starts, ends, output[1])
        ctx.save_for_forward(volume, starts, ends, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return (None,) * 4
        needs = ctx.needs_input_grad[:3]
        gradients = _MeansBackward.apply(grad, *ctx.saved_tensors, ctx.samples, needs)
        return *(each if need else None for need, each in zip(needs, gradients)), None

    @staticmethod
    def jvp(ctx: Any, *moves: Any) -> tuple[Tensor, None]:
        return _MeansAlong.apply(*ctx.saved_tensors, *moves[:3], ctx.samples), None

    @staticmethod
    def vmap(
        info: Any, dims: Any, volume: Tensor, starts: Tensor, ends: Tensor, samples: int
    ) -> tuple[Any, tuple[int, int]]:
        if dims[0] is not None:
            each = batching.each(info.batch_size, dims, volume, starts, ends)
            return batching.stacked(_Means.apply(*operands, samples) for operands in each), (0, 0)
        pairs = [(part, dim) for part, dim in ((starts, dims[1]), (ends, dims[2]))]
        lines = max(part.shape[0 if dim is None else int(dim == 0)] for part, dim in pairs)
        operands = [
            part if dim is None and len(part) == 1
            else (part[None] if dim is None else part.movedim(dim, 0)).expand(info.batch_size, lines, 3).flatten(0, 1)
            for part, dim in pairs
        ]  # fmt: skip
        results = _Means.apply(volume, *operands, samples)
        return tuple(part.unflatten(0, (info.batch_size, lines)) for part in results), (0, 0)


class _MeansBackward(FirstDerivative):
    @staticmethod
    def forward(
        grad: Tensor, volume: Tensor, starts: Tensor, ends: Tensor, derivatives: Tensor, samples: int,
        needs: Sequence[bool],
    ) -> tuple[Tensor, ...]:  # fmt: skip
        operands = grad, volume, starts, ends, derivatives, samples
        gradients: tuple[Tensor, ...] = torch.ops.bindless.line_means_backward.default(*operands, list(needs))
        return gradients

    @staticmethod
    def vmap(info: Any, dims: Any, *operands: Any) -> tuple[Any, Any]:
        each = batching.each(info.batch_size, dims, *operands[:-2])
        return batching.stacked(_MeansBackward.apply(*parts, *operands[-2:]) for parts in each), (0, 0, 0)


class _MeansAlong(FirstDerivative):
    """The derivative of means along tangents of the volume, the starts and the ends; None is zero."""

    @staticmethod
    def forward(
        volume: Tensor, starts: Tensor, ends: Tensor, derivatives: Tensor, volume_moved: Any, starts_moved: Any,
        ends_moved: Any, samples: int,
    ) -> Tensor:  # fmt: skip
        total = derivatives.new_zeros(len(derivatives))
        if volume_moved is not None:
            total = _Means.apply(volume_moved, starts, ends, samples)[0]
        for tangent, part in ((starts_moved, slice(0, 3)), (ends_moved, slice(3, 6))):
            if tangent is not None:
                total = total + (derivatives[:, part] * tangent.to(derivatives.dtype)).sum(1)
        return total

    @staticmethod
    def vmap(info: Any, dims: Any, *operands: Any) -> tuple[Any, int]:
        each = batching.each(info.batch_size, dims, *operands[:-1])
        return torch.stack([_MeansAlong.apply(*parts, operands[-1]) for parts in each]), 0


def _register() -> None:
    operands = "Tensor volume, Tensor starts, Tensor ends"
    LIBRARY.define(f"line_means({operands}, int samples, bool derive) -> (Tensor, Tensor)")
    LIBRARY.define(
        f"line_means_backward(Tensor grad, {operands}, Tensor derivatives, int samples, bool[] needs) "
        "-> (Tensor, Tensor, Tensor)"
    )
    for device in ("CPU", "CUDA"):
        LIBRARY.impl("line_means", line_means, device)
        LIBRARY.impl("line_means_backward", _line_means_backward, device)
    torch.library.register_fake("bindless::line_means", _fake, lib=LIBRARY)
    torch.library.register_fake("bindless::line_means_backward", _fake_backward, lib=LIBRARY)
    torch.library.register_autograd("bindless::line_means_backward", refuse_second, lib=LIBRARY)
    torch.library.register_autograd("bindless::line_means", _backward, setup_context=_remember, lib=LIBRARY)


_register()
