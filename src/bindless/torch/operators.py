"""The operators ``bindless::sample``, ``sample_backward`` and ``sample_backward_backward`` of ``torch.library``.

Levels are (N, *axes, C), or (N, C, *axes) where ``channels_last`` is false; a cubemap has a first axis of six faces.
Coordinates are (N, ..., d), levels of detail (N, ...), values (N, ..., C) or (N, C, ...). Images or coordinates may be
one for all N.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from . import batching, differentiation, engine
from .batched_gradients import rule_of
from .options import SCHEMA, Arguments, values_shape

__all__ = ["LIBRARY"]

Tensor = Any
_OPERANDS = "Tensor[] levels, Tensor coords, Tensor? level"

LIBRARY = torch.library.Library("bindless", "DEF")
"""The registrations, which last as long as this object."""


def _sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any) -> Tensor:
    return engine.sample(levels, coords, level, Arguments.of(static))


def _with_needs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of operands, options and flags as one of the operator's arguments."""

    def operator(*arguments: Any) -> Any:
        *operands, needs = arguments
        count = len(operands) - len(Arguments._fields)
        return function(*operands[:count], Arguments.of(operands[count:]), needs)

    return operator


def _fake_sample(levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any) -> Tensor:
    return levels[0].new_empty(values_shape(levels, coords, Arguments.of(static)))


def _fake_backward(
    grad: Tensor, levels: Sequence[Tensor], coords: Tensor, level: Tensor | None, *static: Any
) -> tuple[list[Tensor], Tensor, Tensor]:
    needs = static[-1]
    return (
        [torch.empty_like(part) for part in levels] if needs[0] else [],
        _empty(coords, needs[1], coords),
        _empty(level, needs[2], coords),
    )


def _fake_backward_backward(
    cot_levels: Sequence[Tensor],
    cot_coords: Tensor | None,
    cot_level: Tensor | None,
    grad: Tensor,
    levels: Sequence[Tensor],
    coords: Tensor,
    level: Tensor | None,
    *static: Any,
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:
    *options, needs = static
    return (
        _fake_sample(levels, coords, level, *options) if needs[0] else coords.new_empty(0),
        [torch.empty_like(part) for part in levels] if needs[1] else [],
        _empty(coords, needs[2], coords),
        _empty(level, needs[3], coords),
    )


def _empty(tensor: Tensor | None, need: bool, other: Tensor) -> Tensor:
    """A gradient of coordinates or levels of detail, whose memory has no gaps."""
    return other.new_empty(0) if tensor is None or not need else tensor.new_empty(tensor.shape)


def _register() -> None:
    LIBRARY.define(f"sample({_OPERANDS}, {SCHEMA}) -> Tensor")
    LIBRARY.define(f"sample_backward(Tensor grad, {_OPERANDS}, {SCHEMA}, bool[] needs) -> (Tensor[], Tensor, Tensor)")
    LIBRARY.define(
        "sample_backward_backward(Tensor[] cot_levels, Tensor? cot_coords, Tensor? cot_level, Tensor grad, "
        f"{_OPERANDS}, {SCHEMA}, bool[] needs) -> (Tensor, Tensor[], Tensor, Tensor)"
    )
    for name, real, fake, rule in (
        ("sample", _sample, _fake_sample, batching.sample),
        ("sample_backward", _with_needs(engine.sample_backward), _fake_backward, batching.sample_backward),
        (
            "sample_backward_backward",
            _with_needs(engine.sample_backward_backward),
            _fake_backward_backward,
            batching.sample_backward_backward,
        ),
    ):
        qualified = f"bindless::{name}"
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(name, real, key)
        torch.library.register_fake(qualified, fake, lib=LIBRARY)
        operator = getattr(torch.ops.bindless, name).default
        torch.library.register_vmap(qualified, partial(rule, operator), lib=LIBRARY)
        LIBRARY.impl(name, rule_of(operator, rule), "Batched")
    torch.library.register_autograd(
        "bindless::sample", differentiation.backward, setup_context=differentiation.keep, lib=LIBRARY
    )
    torch.library.register_autograd(
        "bindless::sample_backward",
        differentiation.backward_backward,
        setup_context=differentiation.keep_backward,
        lib=LIBRARY,
    )
    torch.library.register_autograd("bindless::sample_backward_backward", differentiation.refuse_third, lib=LIBRARY)


_register()
