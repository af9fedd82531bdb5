"""Texture sampling as differentiable operations of PyTorch. Needs torch: ``pip install 'bindless[torch]'``."""

from ..model.errors import FeatureNotSupportedError

try:
    import torch as _torch  # noqa: F401  bindless.torch._torch
except ImportError as error:
    raise FeatureNotSupportedError(
        "bindless.torch needs PyTorch: pip install 'bindless[torch]', or torch from https://pytorch.org"
    ) from error

from ..model.errors import ArgumentError as ArgumentError  # of bindless, which documents it
from .colours import lut3d
from .detectors import Detector
from .grids import grid_sample
from .lines import line_integrals
from .projecting import projections
from .reprojection import reproject
from .resampling import resample
from .sampling import sample
from .textures import texture, texture_construct_mip
from .warping import warp

__all__ = [
    "Detector",
    "grid_sample",
    "line_integrals",
    "lut3d",
    "projections",
    "reproject",
    "resample",
    "sample",
    "texture",
    "texture_construct_mip",
    "warp",
]


def __dir__() -> list[str]:
    return sorted(__all__)
