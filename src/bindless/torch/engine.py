"""The operators on tensors in memory: allocation of results, and calls of ``bindless.gradients`` in stream order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch

from .. import gradients
from ..gradients import view
from ..gradients.calls import execute, plan_of
from ..gradients.plan import Operation, Plan
from . import hardware
from .options import Options, texture_of

__all__ = ["sample", "sample_backward", "sample_backward_backward"]

Tensor = Any

_UNUSED = [0] * 6  # addresses of arrays that ``forward`` does not have
_MOST_PREPARED = 1024
_prepared: dict[Any, tuple[Plan, tuple[int, ...]]] = {}


class _Call:
    """Operands of one operator, in the forms that ``bindless.gradients`` takes.

    Attributes
    ----------
    count : int
        Images, or coordinate sets, whichever are more: the other may be one for all.
    samples : int
        Coordinates of a set.
    """

    def __init__(self, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Options) -> None:
        self.options, self.levels, self.coords, self.level = options, levels, coords, level
        image = levels[0]
        self.real = torch.float64 if image.dtype is torch.float64 else torch.float32
        axes = image.shape[2:] if not options.channels_last else image.shape[1:-1]
        sizes = tuple(reversed(axes[1:] if options.coordinate == "direction" else axes))
        self.texture = texture_of(options, sizes)
        self.count = len(coords) if len(image) == 1 else len(image)
        self.channels = image.shape[-1 if options.channels_last else 1]
        self.leading = coords.shape[1:-1]
        self.texels = [self.last(part) for part in levels]
        self.samples = math.prod(self.leading)
        self.places = coords.to(self.real).reshape(len(coords), self.samples, coords.shape[-1])
        self.depths = None if level is None else level.to(self.real).reshape(len(level), self.samples)
        self.stream = stream_of(image)

    def last(self, tensor: Tensor) -> Tensor:
        """A view of an image, or of values, whose channels are the last axis."""
        return tensor if self.options.channels_last else tensor.movedim(1, -1)

    def values(self, tensor: Tensor) -> Tensor:
        """(N, S, C) of values or their gradients: a view where the strides allow."""
        return self.last(tensor).reshape(self.count, self.samples, self.channels)

    def new_values(self) -> tuple[Tensor, Tensor]:
        """Memory for values: the result of the operator, and the same as (N, S, C)."""
        if self.options.channels_last:
            out = self.levels[0].new_empty((self.count, *self.leading, self.channels))
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

    def level_gradients(self, found: Sequence[Tensor]) -> list[Tensor]:
        return [part.to(level.dtype) for part, level in zip(found, self.levels)]

    def like(self, found: Tensor, operand: Tensor) -> Tensor:
        """A gradient of coordinates or levels of detail in the shape and dtype of those."""
        if len(operand) != self.count:
            found = found.sum(0, keepdim=True)
        return found.view(operand.shape).to(operand.dtype)

    @property
    def deterministic(self) -> bool:
        return self.options.deterministic or torch.are_deterministic_algorithms_enabled()


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Options) -> Tensor:
    """``bindless::sample``: the values at coordinates.

    What follows from shapes, strides and dtypes is found once for a layout: a later call gives addresses alone.
    """
    image = levels[0]
    if options.precision == "hardware" and hardware.serves(levels, options):
        return _by_hardware(levels, coords, options)
    operands = (*levels, coords) if level is None else (*levels, coords, level)
    key = options, len(levels), *[(part.shape, part.stride(), part.dtype) for part in operands]
    prepared = _prepared.get(key)
    if prepared is None:
        return _sample_first(key, levels, coords, level, options)
    plan, shape = prepared
    out = torch.empty(shape, dtype=image.dtype, device=image.device)
    pointers = [coords.data_ptr(), 0 if level is None else level.data_ptr(), out.data_ptr(), *_UNUSED]
    pointers += [part.data_ptr() for part in levels]
    _execute(plan, pointers, image)
    return out


def _sample_first(key: Any, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, options: Options) -> Tensor:
    """Samples tensors of a layout that has no plan; keeps the plan if no operand had to be copied."""
    call = _Call(levels, coords, level, options)
    out, values = call.new_values()
    if not out.numel():
        return out
    operands = [call.places, call.depths, values, *[None] * len(_UNUSED), *call.texels]
    views = [None if part is None else view(part) for part in operands]
    plan = plan_of(Operation.forward, call.texture, (len(levels), 0, 0), views)
    _execute(plan, [0 if part is None else part.pointer for part in views], levels[0])
    given, used = [coords, level], [call.places, call.depths]
    if all(a is None or a.data_ptr() == b.data_ptr() for a, b in zip(given, used)):
        if len(_prepared) >= _MOST_PREPARED:
            _prepared.clear()
        _prepared[key] = plan, out.shape
    return out


def _by_hardware(levels: Sequence[Tensor], coords: Tensor, options: Options) -> Tensor:
    call = _Call(levels, coords, None, options)
    out, values = call.new_values()
    if out.numel():
        hardware.sample(call.texels[0], call.places, options, values)
    return out


def _execute(plan: Plan, pointers: list[int], image: Tensor) -> None:
    if not image.is_cuda:
        execute(plan, pointers, None)
        return
    index = image.device.index
    if torch._C._cuda_getDevice() == index:
        execute(plan, pointers, torch._C._cuda_getCurrentRawStream(index))
        return
    with torch.cuda.device(index):
        execute(plan, pointers, torch._C._cuda_getCurrentRawStream(index))


def _device_of(tensor: Tensor) -> Any:
    """A context in which the device of a tensor is the current one."""
    return torch.cuda.device(tensor.device) if tensor.is_cuda else nullcontext()


def stream_of(tensor: Tensor) -> int | None:
    """The current stream of the device of a tensor; None on the processor."""
    return torch._C._cuda_getCurrentRawStream(tensor.device.index) if tensor.is_cuda else None


def sample_backward(
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    options: Options,
    needs: Sequence[bool],
) -> tuple[list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward``: gradients of the levels, the coordinates and the level of detail.

    ``needs`` has three flags: which of them are wanted. The others are without elements.
    """
    call = _Call(levels, coords, level, options)
    texels = call.new_levels() if needs[0] else None
    places = call.new_coords() if needs[1] else None
    depths = call.new_level() if needs[2] else None
    if grad.numel():
        with _device_of(grad):
            gradients.backward(
                call.texture,
                call.texels,
                call.places,
                call.depths,
                call.values(grad),
                None if texels is None else [call.last(part) for part in texels],
                places,
                depths,
                deterministic=call.deterministic,
                stream=call.stream,
            )
    return (
        [] if texels is None else call.level_gradients(texels),
        coords.new_empty(0) if places is None else call.like(places, coords),
        coords.new_empty(0) if depths is None else call.like(depths, level),
    )


def sample_backward_backward(
    cot_levels: Sequence[Tensor],
    cot_coords: Tensor | None,
    cot_level: Tensor | None,
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    options: Options,
    needs: Sequence[bool],
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward_backward``: the vector-Jacobian product of ``sample_backward``.

    ``needs`` has four flags: whether the gradients of the values' gradient, the levels, the coordinates and the level
    of detail are wanted. The others are without elements.
    """
    call = _Call(levels, coords, level, options)
    out, values = call.new_values() if needs[0] else (None, None)
    texels = call.new_levels() if needs[1] else None
    places = call.new_coords() if needs[2] else None
    depths = call.new_level() if needs[3] else None
    if grad.numel():
        with _device_of(grad):
            gradients.backward_backward(
                call.texture,
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
                deterministic=call.deterministic,
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
