"""The operators on tensors in memory: allocation of results, and calls of ``sampling.memory`` in stream order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch.utils import _pytree as tree

from ..sampling import memory
from ..sampling.memory.calls import run
from ..sampling.memory.plan import MemoryPlan, Operation
from . import hardware
from .options import Arguments, lookup_of
from .repeats import Repeats

__all__ = [
    "derived",
    "is_single",
    "planned",
    "planned_backward",
    "repeated",
    "sample",
    "sample_backward",
    "sample_backward_backward",
]

Tensor = Any

_samples, _derivatives = Repeats(), Repeats()

repeated = _samples.repeat
"""Values with precision ``exact``, of options, coordinates, level of detail and levels: a tuple of one tensor, or None
where no call with such tensors has been made."""


class _Call:
    """Operands of one operator, in the forms that ``bindless.sampling.memory`` takes.

    Attributes
    ----------
    single : bool
        Whether there is one image, without the first axis.
    count : int
        Images, or coordinate sets, whichever are more: the other may be one for all.
    samples : int
        Coordinates of a set.
    """

    def __init__(self, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Arguments) -> None:
        self.options, self.levels, self.coords, self.level = options, levels, coords, level
        self.single = is_single(levels[0], coords, options)
        if self.single:
            levels, coords = [part[None] for part in levels], coords[None]
            level = None if level is None else level[None]
        image = levels[0]
        self.real = torch.float64 if image.dtype is torch.float64 else torch.float32
        axes = image.shape[2:] if not options.channels_last else image.shape[1:-1]
        sizes = tuple(reversed(axes[1:] if options.coordinate == "direction" else axes))
        self.lookup = lookup_of(options, sizes)
        self.count = len(coords) if len(image) == 1 else len(image)
        self.channels = image.shape[-1 if options.channels_last else 1]
        self.leading = coords.shape[1:-1]
        self.texels = [self.last(part) for part in self.levels]
        self.samples = math.prod(self.leading)
        self.places = coords.to(self.real).reshape(len(coords), self.samples, coords.shape[-1])
        self.depths = None if level is None else level.to(self.real).reshape(len(level), self.samples)
        self.stream = stream_of(image)

    def last(self, tensor: Tensor) -> Tensor:
        """A view of an image, or of values, whose channels are the last axis, with an axis of images."""
        if self.single:
            return tensor[None]
        return tensor if self.options.channels_last else tensor.movedim(1, -1)

    def values(self, tensor: Tensor) -> Tensor:
        """(N, S, C) of values or their gradients: a view where the strides allow."""
        return self.last(tensor).reshape(self.count, self.samples, self.channels)

    def new_values(self) -> tuple[Tensor, Tensor]:
        """Memory for values: the result of the operator, and the same as (N, S, C)."""
        if self.options.channels_last:
            count = () if self.single else (self.count,)
            out = self.levels[0].new_empty((*count, *self.leading, self.channels))
            return out, out.view(self.count, self.samples, self.channels)
        out = self.levels[0].new_empty((self.count, self.channels, *self.leading))
        return out, out.view(self.count, self.channels, self.samples).transpose(1, 2)

    def new_levels(self) -> list[Tensor]:
        """Gradients of the levels, zero."""
        return [torch.zeros_like(part, dtype=self.real) for part in self.levels]

    def new_coords(self) -> Tensor:
        """Memory for gradients of coordinates; zero where there are no values."""
        shape = (self.count, *self.places.shape[1:])
        return self.places.new_empty(shape) if self.channels else self.places.new_zeros(shape)

    def new_level(self) -> Tensor:
        """As ``new_coords``, for gradients of levels of detail."""
        shape = (self.count, self.samples)
        return self.places.new_empty(shape) if self.channels else self.places.new_zeros(shape)

    def level_gradients(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        return [part.to(level.dtype) for part, level in zip(gradients, self.levels)]

    def like(self, gradient: Tensor, operand: Tensor) -> Tensor:
        """A gradient of coordinates or levels of detail in the shape and dtype of those."""
        if not self.single and len(operand) != self.count:
            gradient = gradient.sum(0, keepdim=True)
        return gradient.view(operand.shape).to(operand.dtype)

    @property
    def picture(self) -> tuple[int, int]:
        """Coordinates of a row, and rows, of the picture or of a slice; zeros if there is one axis."""
        return (self.leading[-1], self.leading[-2]) if len(self.leading) > 1 else (0, 0)

    @property
    def is_direct(self) -> bool:
        """Whether no operand had to be copied."""
        return _are_same(((self.coords, self.places), (self.level, self.depths)))


def is_single(image: Tensor, coords: Tensor, options: Arguments) -> bool:
    """Whether an image, its coordinates and values lack the first axis: functions of this module take those too."""
    return options.channels_last and image.dim() == coords.shape[-1] + 1


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Arguments) -> Tensor:
    """``bindless::sample``: the values at coordinates."""
    if _lacks_kernels(levels):
        return _on_processor(sample, levels, coords, level, options)
    if options.precision == "hardware":
        values = hardware.repeated(options, levels[0], coords)
        if values is not None:
            return values
        if hardware.serves(levels, options):
            return _by_hardware(levels, coords, options)
        options = options._replace(precision="exact")
    values = repeated(options, coords, level, *levels)
    if values is not None:
        return values[0]
    out, plan = planned(levels, coords, level, options)
    if plan is not None:
        with _device_of(out):
            buffers = {"coords": 0, "level": 1, "levels": 2, "out": 2 + len(levels)}
            _samples.add(options, plan, (coords, level, *levels), (out,), buffers)
    return out


def planned(
    levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Arguments
) -> tuple[Tensor, MemoryPlan | None]:
    """Values with precision ``exact``, and the plan of the call if it reads the operands as they are."""
    call = _Call(levels, coords, level, options)
    out, values = call.new_values()
    if not out.numel():
        return out, None
    with _device_of(out):
        plan = run(
            Operation.forward,
            call.lookup,
            call.texels,
            None,
            None,
            (call.places, call.depths, values, *[None] * 6),
            call.stream,
        )
    return out, plan if call.is_direct else None


def _lacks_kernels(levels: Sequence[Tensor]) -> bool:
    """Whether kernels for the device lack the type: GPUs serve float64, which ``gradcheck`` needs, by the processor."""
    return levels[0].is_cuda and levels[0].dtype is torch.float64


def _on_processor(function: Callable[..., Any], *arguments: Any) -> Any:
    """The results of a function of tensors on CUDA, computed on the processor: waits for the device."""
    device = next(leaf.device for leaf in tree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor))
    results = function(*tree.tree_map_only(torch.Tensor, torch.Tensor.cpu, arguments))
    return tree.tree_map_only(torch.Tensor, lambda part: part.to(device), results)


def _by_hardware(levels: Sequence[Tensor], coords: Tensor, options: Arguments) -> Tensor:
    call = _Call(levels, coords, None, options)
    out, values = call.new_values()
    if out.numel():
        hardware.sample(call.texels[0], call.places, options, values)
        hardware.remember(options, levels[0], coords)
    return out


def _device_of(tensor: Tensor) -> Any:
    """A context in which the device of a tensor is the current one."""
    return torch.cuda.device(tensor.device) if tensor.is_cuda else nullcontext()


def _are_same(pairs: Sequence[tuple[Tensor | None, Tensor | None]]) -> bool:
    """Whether each first tensor is None, or at the address of the second."""
    return all(one is None or (two is not None and one.data_ptr() == two.data_ptr()) for one, two in pairs)


def stream_of(tensor: Tensor) -> int | None:
    """The current stream of the device of a tensor; None on the processor."""
    return torch._C._cuda_getCurrentRawStream(tensor.device.index) if tensor.is_cuda else None


def sample_backward(
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    options: Arguments,
    needs: Sequence[bool],
) -> tuple[list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward``: gradients of the levels, the coordinates and the level of detail.

    ``needs`` has three flags: which of them are wanted. The others are without elements.
    """
    if _lacks_kernels(levels):
        on_processor: tuple[list[Tensor], Tensor, Tensor] = _on_processor(
            sample_backward, grad, levels, coords, level, options, needs
        )
        return on_processor
    key = _key(options, needs)
    gradients = _derivatives.repeat(key, grad, coords, level, *levels)
    if gradients is not None:
        empty = coords.new_empty(0)
        places, depths = (empty if part is None else part for part in gradients[:2])
        return list(gradients[3:]) if needs[0] else [], places, depths
    results, plan = planned_backward(grad, levels, coords, level, options, needs)
    if plan is not None:
        _add_derivatives(key, plan, (grad, coords, level, *levels), results, needs)
    return results


def planned_backward(
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    options: Arguments,
    needs: Sequence[bool],
) -> tuple[tuple[list[Tensor], Tensor, Tensor], MemoryPlan | None]:
    """``sample_backward``, and the plan of the call if it reads the operands, and writes the results, as they are."""
    call = _Call(levels, coords, level, options)
    texels = call.new_levels() if needs[0] else None
    places = call.new_coords() if needs[1] else None
    depths = call.new_level() if needs[2] else None
    values = call.values(grad)
    plan = None
    if grad.numel():
        with _device_of(grad):
            plan = run(
                Operation.backward,
                call.lookup,
                call.texels,
                None,
                None if texels is None else [call.last(part) for part in texels],
                (call.places, call.depths, None, values, None, None, None, places, depths),
                call.stream,
                call.options.is_deterministic,
                call.picture,
            )
    results = (
        [] if texels is None else call.level_gradients(texels),
        coords.new_empty(0) if places is None else call.like(places, coords),
        coords.new_empty(0) if depths is None else call.like(depths, level),
    )
    pairs = [(values, grad), *zip(texels or (), results[0]), (places, results[1]), (depths, results[2])]
    return results, plan if call.is_direct and _are_same(pairs) else None


def derived(
    options: Arguments, needs: Sequence[bool], grad: Tensor, coords: Tensor, level: Tensor | None, *levels: Tensor
) -> tuple[Tensor | None, ...] | None:
    """Gradients of coordinates, level of detail, None and those of the levels, None for those that are not wanted; None
    where no call with such tensors has been made.
    """
    return _derivatives.repeat(_key(options, needs), grad, coords, level, *levels)


def _key(options: Arguments, needs: Sequence[bool]) -> tuple[Arguments, tuple[bool, ...], bool]:
    return options, tuple(needs), options.is_deterministic


def _add_derivatives(
    key: Any, plan: MemoryPlan, operands: Sequence[Tensor | None], results: Any, needs: Sequence[bool]
) -> None:
    texels, places, depths = results
    levels = len(operands) - 3
    gradients = [places if needs[1] else None, depths if needs[2] else None, None, *(texels or [None] * levels)]
    first = len(operands) + needs[1] + needs[2]
    buffers = {"grad_out": 0, "coords": 1, "level": 2, "levels": 3}
    buffers |= {"grad_levels": first} if texels else {}
    buffers |= {"grad_coords": len(operands), "grad_level": first - 1}
    with _device_of(places):
        cleared = range(first - len(operands), first - len(operands) + len(texels))
        _derivatives.add(key, plan, operands, gradients, buffers, cleared, deterministic=key[2])


def sample_backward_backward(
    cot_levels: Sequence[Tensor],
    cot_coords: Tensor | None,
    cot_level: Tensor | None,
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    options: Arguments,
    needs: Sequence[bool],
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward_backward``: the vector-Jacobian product of ``sample_backward``.

    ``needs`` has four flags: whether the gradients of the values' gradient, the levels, the coordinates and the level
    of detail are wanted. The others are without elements.
    """
    if _lacks_kernels(levels):
        operands = (cot_levels, cot_coords, cot_level, grad, levels, coords, level)
        products: tuple[Tensor, list[Tensor], Tensor, Tensor]
        products = _on_processor(sample_backward_backward, *operands, options, needs)
        return products
    call = _Call(levels, coords, level, options)
    out, values = call.new_values() if needs[0] else (None, None)
    texels = call.new_levels() if needs[1] else None
    places = call.new_coords() if needs[2] else None
    depths = call.new_level() if needs[3] else None
    if grad.numel():
        with _device_of(grad):
            memory.backward_backward(
                call.lookup,
                call.texels,
                call.places,
                call.depths,
                call.values(grad),
                [call.last(part.to(levels[0].dtype)) for part in cot_levels] or None,
                None if cot_coords is None else _every(call, cot_coords.to(call.real), call.places.shape[1:]),
                None if cot_level is None else _every(call, cot_level.to(call.real), call.places.shape[1:2]),
                values,
                None if texels is None else [call.last(part) for part in texels],
                places,
                depths,
                deterministic=call.options.is_deterministic,
                stream=call.stream,
            )
    return (
        coords.new_empty(0) if out is None else out,
        [] if texels is None else call.level_gradients(texels),
        coords.new_empty(0) if places is None else call.like(places, coords),
        coords.new_empty(0) if depths is None else call.like(depths, level),
    )


def _every(call: _Call, tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """A cotangent of coordinates or levels of detail for each image."""
    return tensor.reshape(len(tensor), *shape).expand(call.count, *shape)
