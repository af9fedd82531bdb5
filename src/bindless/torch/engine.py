"""The operators on tensors in memory: allocation of results, and calls of ``bindless.gradients`` in stream order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .. import gradients
from . import hardware
from .options import Options, texture_of

__all__ = ["sample", "sample_backward", "sample_backward_backward"]

Tensor = Any


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
        self.stream = None if image.device.type == "cpu" else torch.cuda.current_stream(image.device).cuda_stream

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
        return self.places.new_empty((self.count, *self.places.shape[1:]))

    def new_level(self) -> Tensor:
        return self.places.new_empty((self.count, self.samples))

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


def sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any) -> Tensor:
    """``bindless::sample``: the values at coordinates."""
    call = _Call(levels, coords, level, Options.of(static))
    out, values = call.new_values()
    if not out.numel():
        return out
    if hardware.serves(levels, coords, call.options):
        hardware.sample(call.texels[0], call.places, call.options, values)
    else:
        gradients.forward(call.texture, call.texels, call.places, call.depths, values, stream=call.stream)
    return out


def sample_backward(
    grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any
) -> tuple[list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward``: gradients of the levels, the coordinates and the level of detail.

    The last argument has three flags: which of them are wanted. The others are without elements.
    """
    *options, needs = static
    call = _Call(levels, coords, level, Options.of(options))
    texels = call.new_levels() if needs[0] else None
    places = call.new_coords() if needs[1] else None
    depths = call.new_level() if needs[2] else None
    if grad.numel():
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
    *static: Any,
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:
    """``bindless::sample_backward_backward``: the vector-Jacobian product of ``sample_backward``.

    The last argument has four flags: whether the gradients of the values' gradient, the levels, the coordinates and the
    level of detail are wanted. The others are without elements.
    """
    *options, needs = static
    call = _Call(levels, coords, level, Options.of(options))
    out, values = call.new_values() if needs[0] else (None, None)
    texels = call.new_levels() if needs[1] else None
    places = call.new_coords() if needs[2] else None
    depths = call.new_level() if needs[3] else None
    if grad.numel():
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
