"""``mipmapped``: mipmap, levels of footprints and samples of a texture as one operation of autograd.

Each node of autograd in Python takes as long as several kernels, and gradients of three nodes are added up by further
ones. Values of tensors whose layouts were seen before are one call of C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ..sampling.memory.levels import footprint_gradients, footprint_levels, pyramid_gradients, pyramid_means
from ..sampling.memory.plan import MemoryPlan
from ..sampling.memory.programs import Program, cuda_program, join_programs
from . import engine, footprints, functions, level_kernels, mipmaps
from .options import Arguments
from .plain import is_plain, is_special, plain_apply
from .repeats import Repeats, slots_of

__all__ = ["Call", "mipmapped", "repeated"]

Tensor = Any


_of_values, _of_gradients = Repeats(), Repeats()


class Call(NamedTuple):
    """Arguments of ``texture`` that are no tensors.

    Attributes
    ----------
    most : int | None
        Largest level.
    options : Arguments
        Those of the samples, linear between levels.
    """

    most: int | None
    options: Arguments


def repeated(call: Call, tex: Tensor, uv: Tensor, uv_da: Tensor, bias: Tensor | None) -> Tensor | None:
    """``mipmapped`` of tensors with the layouts of an earlier call; None if there was none, or where transforms of
    torch have a part in it.
    """
    if is_special():
        return None
    values = _of_values.repeat(call, tex, uv, uv_da, bias)
    return None if values is None else _with_gradients(call, values, tex, uv, uv_da, bias)


def mipmapped(call: Call, tex: Tensor, uv: Tensor, uv_da: Tensor, bias: Tensor | None) -> Tensor | None:
    """Values of a texture (N, *axes, C) whose levels and levels of detail nobody else reads; None where they would be
    computed without kernels. The tensors are those of ``texture``, checked.
    """
    if not _count(tex, call) or not _have_kernels([part for part in (tex, uv, uv_da, bias) if part is not None]):
        return None
    with torch.no_grad():
        values = _values(call, tex, uv, uv_da, bias)
    return _with_gradients(call, values, tex, uv, uv_da, bias)


def _with_gradients(call: Call, results: tuple[Tensor, ...], *tensors: Tensor | None) -> Tensor:
    """The values among the results of ``_values``."""
    if torch.is_grad_enabled() and any(part is not None and part.requires_grad for part in tensors):
        return plain_apply(_Mipmapped)(*tensors, (call, results))
    return results[0]


def _count(tex: Tensor, call: Call) -> int:
    return mipmaps.count_of(tex, range(1, tex.dim() - 1), call.most)


def _values(call: Call, tex: Tensor, uv: Tensor, uv_da: Tensor, bias: Tensor | None) -> tuple[Tensor, ...]:
    """Values, levels of detail, and levels 1, 2, ..."""
    results = _of_values.repeat(call, tex, uv, uv_da, bias)
    if results is None:
        count = _count(tex, call)
        levels = level_kernels.pyramid_means(tex, 1, count)
        level = level_kernels.footprint_levels(uv_da, bias, _sizes(tex))
        values, plan = engine.planned((tex, *levels), uv, level, call.options)
        results = values, level, *levels
        if plan is not None and all(part is None or part.is_contiguous() for part in (tex, uv_da, bias)):
            program = _program(plan, tex, level, count, biased=bias is not None)
            with torch.cuda.device(tex.device):
                _of_values.add_program(call, program, (tex, uv, uv_da, bias), results)
    return results


def _program(plan: MemoryPlan, tex: Tensor, level: Tensor, count: int, *, biased: bool) -> Program:
    """The program of ``_values``: operands are buffers 0 to 3, results those from 4 on."""
    levels = range(6, 6 + count)
    slots = slots_of(plan, {"coords": 0, "level": 1, "levels": 2, "out": 3 + count})
    samples = cuda_program(plan, slots.__getitem__, (), -1, deterministic=False)
    means = pyramid_means(level_kernels.pyramid_of(tex.shape, tex.dtype, 1, count))
    footprint = footprint_levels(level.numel(), _sizes(tex), biased=biased)
    return join_programs((means, [0, *levels]), (footprint, [2, 3, 5]), (samples, [1, 5, 0, *levels, 4]))


def _have_kernels(tensors: Sequence[Tensor]) -> bool:
    return (
        is_plain(tensors)
        and all(part.is_cuda and part.dtype is torch.float32 and part.numel() > 0 for part in tensors)
        and mipmaps.has_kernels(tensors[0])
    )


def _sizes(tex: Tensor) -> tuple[int, ...]:
    return tuple(reversed(tex.shape[1:-1]))


def _gradients(
    call: Call, flags: tuple[bool, ...], grad: Tensor, uv: Tensor, uv_da: Tensor, level: Tensor, *levels: Tensor
) -> tuple[Tensor | None, ...]:
    """Gradients of the texture, the coordinates, the steps and the levels of detail, None where they are not needed for
    those that are asked for, and of the levels.
    """
    deterministic = call.options.is_deterministic
    key, operands = (call, flags, deterministic), (grad, uv, uv_da, level, *levels)
    gradients = _of_gradients.repeat(key, *operands)
    if gradients is None:
        needs = flags[0], flags[1], flags[2] or flags[3]
        results, plan = engine.planned_backward(grad, levels, uv, level, call.options, needs)
        texels, places, depths = results
        of_tex = of_steps = None
        if needs[0]:
            of_tex = level_kernels.pyramid_gradients(levels[0].shape, levels[0].dtype, 1, texels[1:], texels[0])
        if flags[2]:
            of_steps = level_kernels.footprint_gradients(uv_da, depths, _sizes(levels[0]))
        gradients = (of_tex, places if needs[1] else None, of_steps, depths if needs[2] else None, *texels)
        if plan is not None and not deterministic and uv_da.is_contiguous():
            with torch.cuda.device(grad.device):
                _of_gradients.add_program(key, _program_of_gradients(plan, operands, gradients), operands, gradients)
    return gradients


def _program_of_gradients(plan: MemoryPlan, operands: Sequence[Tensor], grads: Sequence[Tensor | None]) -> Program:
    """The program of ``_gradients``: buffers are the operands, the results that are tensors, and scratch memory."""
    numbers = iter(range(len(operands), 2 * len(operands) + 4))
    of_tex, places, of_steps, depths, *texels = (-1 if part is None else next(numbers) for part in grads)
    scratch, tex = next(numbers), operands[4]
    buffers = {"grad_out": 0, "coords": 1, "level": 3, "levels": 4, "grad_coords": places, "grad_level": depths}
    buffers |= {"grad_levels": texels[0]} if texels else {}
    zeros = [
        (number, part.numel() * part.element_size()) for number, part in zip(texels, grads[4:]) if part is not None
    ]
    samples = cuda_program(plan, slots_of(plan, buffers).__getitem__, zeros, scratch, deterministic=False)
    parts: list[tuple[Program, Sequence[int]]] = [(samples, range(scratch + 1))]
    if texels:
        pyramid = level_kernels.pyramid_of(tex.shape, tex.dtype, 1, len(texels) - 1)
        program = pyramid_gradients(pyramid, [True] * pyramid.count, added=True)
        parts.append((program, [*texels[1:], texels[0], of_tex, scratch]))
    if of_steps >= 0:
        parts.append((footprint_gradients(operands[3].numel(), _sizes(tex)), [2, depths, of_steps]))
    return join_programs(*parts)


class _Mipmapped(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any,
        tex: Tensor,
        uv: Tensor,
        uv_da: Tensor,
        bias: Tensor | None,
        computed: tuple[Call, tuple[Tensor, ...]],
    ) -> Tensor:
        ctx.call, (values, level, *levels) = computed
        ctx.save_for_backward(uv, uv_da, bias, level, tex, *levels)
        return values

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        uv, uv_da, bias, level, *levels = ctx.saved_tensors
        flags = ctx.needs_input_grad
        if torch.is_grad_enabled() or not is_plain((grad,)):
            return *_composed(ctx, (levels[0], uv, uv_da, bias), grad), None
        gradients = _gradients(ctx.call, flags[:4], grad, uv, uv_da, level, *levels)
        return *gradients[:3], gradients[3] if flags[3] else None, None


def _composed(ctx: Any, operands: Sequence[Tensor], grad: Tensor) -> list[Tensor | None]:
    """Gradients by those of the parts, which may be differentiated again."""
    tex, uv, uv_da, bias = operands
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        levels = mipmaps.pyramid(tex, range(1, tex.dim() - 1), ctx.call.most)
        level = footprints.level_of_detail(uv, uv_da, bias, _sizes(tex), False)
        values = functions.sample(levels, uv, level, ctx.call.options)
    numbers = [number for number in range(4) if ctx.needs_input_grad[number]]
    gradients = torch.autograd.grad(values, [operands[number] for number in numbers], grad, create_graph=again)
    by_number = dict(zip(numbers, gradients))
    return [by_number.get(number) for number in range(4)]
