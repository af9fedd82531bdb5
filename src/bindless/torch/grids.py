"""``grid_sample``: torch's function of this name, from its arguments to one call of ``bindless::sample``."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function_variadic

from ..model.errors import ArgumentError
from ..model.filter import Filter
from .functions import repeated, sample
from .options import Arguments
from .tensors import require_tensors

__all__ = ["grid_sample"]

Tensor = Any

_WITH_AUTOCAST = ("cuda", "cpu")
_MODES = ("bilinear", "nearest", "bicubic")
_PADDING = ("zeros", "border", "reflection")
_PRECISIONS = ("exact", "hardware")


def _options_of(mode: str, padding_mode: str, align_corners: bool, precision: str) -> Arguments:
    filter_ = Filter.from_torch(mode, padding_mode, align_corners, precision)
    return Arguments.of_filter(filter_, 1, "aligned_grid" if align_corners else "grid", channels_last=False)


_OPTIONS = {key: _options_of(*key) for key in itertools.product(_MODES, _PADDING, (False, True), _PRECISIONS)}


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
    *,
    precision: str = "exact",
) -> Tensor:
    """Values of images at the places of a grid: ``torch.nn.functional.grid_sample``, argument for argument.

    Parameters
    ----------
    input : Tensor
        (N, C, H, W), or (N, C, D, H, W) of volumes: float64, float32, float16 or bfloat16.
    grid : Tensor
        Places (N, ..., 2), or (N, ..., 3) of volumes, in the order x, y, z, -1 to 1 across the image; the dtype of
        ``input``. The axes between are as many as those of an image.
    mode : str
        "bilinear", "nearest" or "bicubic", which older versions of torch have for images alone.
    padding_mode : str
        What is outside: "zeros", "border" (the outer pixels) or "reflection".
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outer pixels, else (default) their outer edges.
    precision : str
        "exact", the default: weights in the precision of the input, as torch computes. "hardware": the texture unit's
        weights of 8 bits, from an image that is kept until ``input`` changes; gradients are those of "exact".

    Returns
    -------
    Tensor
        (N, C, ...), differentiable twice in ``input`` and ``grid``.

    Raises
    ------
    ArgumentError
        Shapes, dtypes, devices or options that do not fit; also a ``ValueError`` and a ``RuntimeError``.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import grid_sample
    >>> image = torch.arange(4.0).reshape(1, 1, 2, 2)
    >>> grid_sample(image, torch.zeros(1, 1, 1, 2), align_corners=False).item()
    1.5
    """
    if has_torch_function_variadic(input, grid):
        return handle_torch_function(
            grid_sample, (input, grid), input, grid, mode, padding_mode, align_corners, precision=precision
        )
    if align_corners is None:
        warnings.warn(
            "align_corners is not given: it is False, as in torch since version 1.3", UserWarning, stacklevel=2
        )
    options = _OPTIONS.get((mode, padding_mode, bool(align_corners), precision))
    if options is None:
        raise _unknown(mode, padding_mode, precision)
    if precision == "exact" and not torch.compiler.is_compiling() and not torch._C._is_any_autocast_enabled():
        values = repeated(options, input, grid)
        if values is not None:
            return values
    require_tensors(input=input, grid=grid)
    kind = input.device.type
    if kind in _WITH_AUTOCAST and torch.is_autocast_enabled(kind):
        widest = torch.promote_types(input.dtype, grid.dtype)
        if kind == "cpu":
            widest = torch.promote_types(widest, torch.float32)
        input, grid = input.to(widest), grid.to(widest)
    _check(input, grid)
    if input.dtype is torch.bfloat16:
        return sample([input.float()], grid.float(), None, options).to(input.dtype)
    return sample([input], grid, None, options)


def _unknown(mode: str, padding_mode: str, precision: str) -> ArgumentError:
    if mode not in _MODES:
        return ArgumentError(f"mode {mode!r} is none of {', '.join(_MODES)}")
    if padding_mode not in _PADDING:
        return ArgumentError(f"padding_mode {padding_mode!r} is none of {', '.join(_PADDING)}")
    return ArgumentError(f"precision {precision!r} is none of {', '.join(_PRECISIONS)}")


def _check(input: Tensor, grid: Tensor) -> None:
    shape, places = input.shape, grid.shape
    dims = len(shape) - 2
    if not (
        dims in (2, 3)
        and len(places) == dims + 2
        and places[-1] == dims
        and shape[0] == places[0]
        and 0 not in shape[2:]
        and input.dtype is grid.dtype
        and input.dtype.is_floating_point
        and input.device == grid.device
    ):
        raise _misfit(input, grid, dims)


def _misfit(input: Tensor, grid: Tensor, dims: int) -> ArgumentError:
    shapes = f"input {tuple(input.shape)} and grid {tuple(grid.shape)}"
    if dims not in (2, 3) or grid.dim() != dims + 2:
        return ArgumentError(f"{shapes}: both have four axes for images, or five for volumes")
    if grid.shape[-1] != dims:
        return ArgumentError(f"{shapes}: the last axis of the grid has the {dims} coordinates of a place")
    if input.shape[0] != grid.shape[0]:
        return ArgumentError(f"{shapes}: there is one grid for each image; use grid.expand for one grid for all")
    if 0 in input.shape[2:]:
        return ArgumentError(f"{shapes}: an image has at least one pixel along each axis")
    if input.dtype != grid.dtype:
        return ArgumentError(f"input has dtype {input.dtype} and grid {grid.dtype}: convert one of them")
    if input.device != grid.device:
        return ArgumentError(f"input is on {input.device} and grid on {grid.device}: move one of them")
    return ArgumentError(f"input has dtype {input.dtype}: convert it to a type of real numbers")
