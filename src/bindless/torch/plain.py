"""``is_plain``: whether operators may be computed from memory; ``plain_apply``: ``autograd.Function`` for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from .repeats import PLAIN

__all__ = ["is_plain", "is_special", "is_transformed", "plain_apply"]

Tensor = Any


def is_transformed() -> bool:
    """Whether a transform of ``torch.func``, or forward mode, is active."""
    return bool(torch._C._are_functorch_transforms_active()) or forward_ad._current_level >= 0


def is_special() -> bool:
    """Whether a mode or a transform of torch has a part in all operators."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack()
        or torch._C._get_tracing_state() is not None
        or is_transformed()
    )


def is_plain(tensors: Sequence[Tensor | None]) -> bool:
    """Whether no mode, subclass or other backend of torch has a part in an operator on tensors."""
    if is_special():
        return False
    for part in tensors:
        if part is not None and not (
            type(part) in PLAIN
            and (part.is_cpu or part.is_cuda)
            and torch._C._has_storage(part)  # not those of ``is_grads_batched``
            and not part.is_neg()
        ):
            return False
    return True


@functools.cache
def plain_apply(function: type) -> Any:
    """``apply`` of C, which needs no ``setup_context``; looked up at the first call, because the reference pages are
    made without PyTorch.
    """
    return super(torch.autograd.Function, function).apply
