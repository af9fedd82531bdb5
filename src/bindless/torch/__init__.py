"""Texture sampling as differentiable operations of PyTorch. Needs torch: ``pip install 'bindless[torch]'``."""

from ..model.errors import FeatureNotSupportedError

try:
    import torch as _torch
except ImportError as error:
    raise FeatureNotSupportedError(
        "bindless.torch needs PyTorch: pip install 'bindless[torch]', or torch from https://pytorch.org"
    ) from error

from .errors import ArgumentError
from .grids import grid_sample

__all__ = ["ArgumentError", "grid_sample"]


def __dir__() -> list[str]:
    return sorted(__all__)
