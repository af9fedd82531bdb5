"""Rules for ``torch.autograd.grad(..., is_grads_batched=True)``, and what stands on it: ``jacobian(vectorize=True)``.

That is torch's first ``vmap``, with tensors of its own: they have no storage, and autograd sees what they consist of.
Each is taken apart here, given to the rule of ``batching``, and the results are put together again.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import _pytree as tree

__all__ = ["rule_of"]

Tensor = Any


def rule_of(operator: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    """The implementation of an operator for such tensors.

    Parameters
    ----------
    operator : Callable
        The operator.
    rule : Callable
        Its rule of ``vmap`` in ``batching``.
    """

    def batched(*arguments: Any) -> Any:
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        leaves, form = tree.tree_flatten(list(arguments))
        mapped = [isinstance(leaf, torch.Tensor) and not torch._C._has_storage(leaf) for leaf in leaves]
        whole = [
            torch._remove_batch_dim(leaf, level, 1, 0) if is_mapped else leaf for leaf, is_mapped in zip(leaves, mapped)
        ]
        size = next(leaf.shape[0] for leaf, is_mapped in zip(whole, mapped) if is_mapped)
        dims = tree.tree_unflatten([0 if is_mapped else None for is_mapped in mapped], form)
        gradients, axes = rule(operator, SimpleNamespace(batch_size=size), dims, *tree.tree_unflatten(whole, form))
        results, shape = tree.tree_flatten(gradients)
        places = tree.tree_flatten(axes, is_leaf=lambda leaf: leaf is None)[0]
        return tree.tree_unflatten(
            [
                part if place is None else torch._add_batch_dim(part, place, level)
                for part, place in zip(results, places)
            ],
            shape,
        )

    return batched
