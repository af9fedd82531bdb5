"""``require_tensors``: the check of arguments that are tensors."""

from __future__ import annotations

import numpy as np
import torch

from ..model.errors import ArgumentError
from ..model.message_values import shown

__all__ = ["require_tensors"]


def require_tensors(**values: object) -> None:
    """Refuse arguments that are no tensors; None is one that was left out.

    Raises
    ------
    ArgumentError
        The message names the argument.
    """
    for name, value in values.items():
        if value is not None and not isinstance(value, torch.Tensor):
            way = "torch.from_numpy(array) makes one" if isinstance(value, np.ndarray) else "torch.as_tensor makes one"
            raise ArgumentError(f"{name}={shown(value)} is no tensor: {way}")
