"""``texture`` and ``texture_construct_mip``: nvdiffrast's functions of these names, also of volumes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from ..model.errors import ArgumentError
from ..model.filter import Filter
from . import functions
from .footprints import level_of_detail
from .mipmapped import Call, mipmapped, repeated
from .mipmaps import pyramid
from .options import Arguments
from .tensors import require_tensors

__all__ = ["texture", "texture_construct_mip"]

Tensor = Any


def texture(
    tex: Tensor,
    uv: Tensor,
    uv_da: Tensor | None = None,
    mip_level_bias: Tensor | None = None,
    mip: Sequence[Tensor] | None = None,
    filter_mode: str = "auto",
    boundary_mode: str = "wrap",
    max_mip_level: int | None = None,
    *,
    deterministic: bool = False,
) -> Tensor:
    """Values of a texture at coordinates from 0 to 1, of the levels that the size of a pixel in it asks for.

    Parameters
    ----------
    tex : Tensor
        Shape (N, height, width, C), a volume (N, depth, height, width, C), or a cubemap (N, 6, height, width, C) with
        the faces +x, -x, +y, -y, +z, -z: float64, float32 or float16. N is 1, or that of ``uv``.
    uv : Tensor
        (N, ..., 2), of volumes (N, ..., 3), in the order x, y, z: the centre of the first texel is at 0.5 / width.
        Directions (N, ..., 3) into a cubemap.
    uv_da : Tensor, optional
        (N, ..., 4): du/dX, du/dY, dv/dX, dv/dY, the change of ``uv`` from one pixel of the picture to the next. Of
        volumes and cubemaps (N, ..., 6), with dw/dX, dw/dY.
    mip_level_bias : Tensor, optional
        (N, ...): added to the level that follows from ``uv_da``; the level itself without ``uv_da``.
    mip : Sequence[Tensor], optional
        Levels 1, 2, ... of the mipmap, with gradients of their own: from ``texture_construct_mip``, or any others that
        have half the size of the one before. Default: means of ``tex``, made in each call.
    filter_mode : str
        "nearest", "linear", "linear-mipmap-nearest" (one level: the number rounded down), "linear-mipmap-linear", or
        "auto": the last with ``uv_da`` or ``mip_level_bias``, else "linear".
    boundary_mode : str
        "wrap", "clamp", "zero", or "cube": a cubemap, without seams between its faces.
    max_mip_level : int, optional
        Largest level that is made and read.
    deterministic : bool
        Whether gradients of texels have the same bits each time, also without ``torch.use_deterministic_algorithms``.

    Returns
    -------
    Tensor
        (N, ..., C), differentiable twice in ``tex``, ``uv``, ``uv_da``, ``mip_level_bias`` and ``mip``. Directions that
        are zero or not finite have values of 0 and no gradients.

    Raises
    ------
    ArgumentError
        Shapes, dtypes or options that do not fit; also a ``ValueError`` and a ``RuntimeError``.

    Notes
    -----
    The level is log2 of the longest axis of the ellipse that a pixel covers, in texels, as nvdiffrast computes it.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import texture
    >>> checks = torch.tensor([[0.0, 1.0], [1.0, 0.0]])[None, :, :, None]
    >>> texture(checks, torch.tensor([[[0.25, 0.25]]]), mip_level_bias=torch.tensor([[0.5]])).item()
    0.25
    """
    tensors = (tex, uv, uv_da, mip_level_bias, *(() if mip is None else mip))
    if has_torch_function(tensors):
        return handle_torch_function(
            texture,
            tensors,
            tex,
            uv,
            uv_da,
            mip_level_bias,
            mip,
            filter_mode,
            boundary_mode,
            max_mip_level,
            deterministic=deterministic,
        )
    if mip is None and not torch.compiler.is_compiling() and isinstance(tex, torch.Tensor):
        mode = ("linear" if uv_da is None else "linear-mipmap-linear") if filter_mode == "auto" else filter_mode
        options, values = _options(mode, boundary_mode, bool(deterministic)), None
        if boundary_mode == "cube":  # its directions are checked first
            pass
        elif uv_da is not None:
            values = repeated(Call(max_mip_level, options), tex, uv, uv_da, mip_level_bias)
        elif mip_level_bias is None and 3 < tex.dim() == uv.shape[-1] + 2:
            values = functions.repeated(options, tex, uv)
        if values is not None:
            return values
    cube = boundary_mode == "cube"
    if filter_mode == "auto":
        filter_mode = "linear" if uv_da is None and mip_level_bias is None else "linear-mipmap-linear"
    chosen = _options(filter_mode, boundary_mode, bool(deterministic))
    filtering, between = chosen.filtering, chosen.between
    # Made here: torch.compile does not unpack the tuple that a function returns as a constant.
    options = Arguments(
        filtering, between, chosen.boundary, chosen.coordinate, 0.0, True, chosen.precision, bool(deterministic)
    )
    _check(tex, uv, uv_da, mip_level_bias, cube)
    levels = [tex]
    level: Tensor = None
    valid: Tensor = None
    if cube:
        uv, valid = _directions(uv)
    if between != "none":
        if uv_da is None and mip_level_bias is None:
            raise ArgumentError(
                f"filter_mode {filter_mode!r} needs uv_da or mip_level_bias, from which the level follows"
            )
        most = None if max_mip_level is None else int(max_mip_level)
        if mip is None:
            if uv_da is not None and between == "linear" and not cube and (most is None or most >= 0):
                values = mipmapped(Call(most, options), tex, uv, uv_da, mip_level_bias)
                if values is not None:
                    return values
            mip = texture_construct_mip(tex, most, cube)
        else:
            _check_levels(tex, mip, cube)
        levels = [tex, *mip][: None if most is None else most + 1]
        level = mip_level_bias
        if uv_da is not None:
            sizes = tuple(reversed(tex.shape[2 if cube else 1 : -1]))
            level = level_of_detail(uv, uv_da, mip_level_bias, sizes, cube)
        if between == "nearest":
            level = level.floor()
    values = functions.sample(levels, uv, level, options)
    return values if valid is None else torch.where(valid, values, 0.0)


def _options_of(filter_mode: str, boundary_mode: str, deterministic: bool) -> Arguments:
    filter_ = Filter.from_nvdiffrast(filter_mode, boundary_mode)
    coordinate = "direction" if boundary_mode == "cube" else "normalized"
    return Arguments.of_filter(filter_, 1, coordinate, deterministic=deterministic)


_remembered = lru_cache(maxsize=64)(_options_of)


def _cached_options(*modes: Any) -> Arguments:
    return _remembered(*modes)


_options = torch.compiler.assume_constant_result(_cached_options)


def _directions(uv: Tensor) -> tuple[Tensor, Tensor]:
    """Directions of about the same length, with others for those that are zero or not finite, and which are valid."""
    length = uv.detach().abs().amax(-1, keepdim=True)
    valid = (length >= torch.finfo(uv.dtype).tiny) & (length < torch.inf)
    return torch.where(valid, uv, 1.0), valid


def texture_construct_mip(tex: Tensor, max_mip_level: int | None = None, cube_mode: bool = False) -> list[Tensor]:
    """Levels 1, 2, ... of the mipmap of a texture: each texel is the mean of the area that it covers.

    Parameters
    ----------
    tex : Tensor
        (N, height, width, C), (N, depth, height, width, C), or with ``cube_mode`` (N, 6, height, width, C).
    max_mip_level : int, optional
        Largest level; default: that of one texel.
    cube_mode : bool
        Whether the second axis counts the faces of a cubemap.

    Returns
    -------
    list[Tensor]
        The levels, for the argument ``mip`` of ``texture``. Their gradients go on to ``tex``.

    Raises
    ------
    ArgumentError
        The shape is not that of a texture, or the level is negative.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import texture_construct_mip
    >>> [tuple(level.shape) for level in texture_construct_mip(torch.zeros(1, 8, 4, 3))]
    [(1, 4, 2, 3), (1, 2, 1, 3), (1, 1, 1, 3)]
    """
    if tex.dim() not in ((5,) if cube_mode else (4, 5)) or (cube_mode and tex.shape[1] != 6) or 0 in tex.shape:
        raise ArgumentError(f"tex {tuple(tex.shape)}: a texture is (N, [depth,] height, width, C), or (N, 6, ...)")
    if max_mip_level is not None and max_mip_level < 0:
        raise ArgumentError(f"max_mip_level={max_mip_level}: the first level is 0")
    return pyramid(tex, range(2 if cube_mode else 1, tex.dim() - 1), max_mip_level)[1:]


def _check(tex: Tensor, uv: Tensor, uv_da: Tensor | None, bias: Tensor | None, cube: bool) -> None:
    require_tensors(tex=tex, uv=uv, uv_da=uv_da, mip_level_bias=bias)
    shapes = f"tex {tuple(tex.shape)} and uv {tuple(uv.shape)}"
    if tex.dim() not in (4, 5) or (cube and (tex.dim() != 5 or tex.shape[1] != 6 or tex.shape[2] != tex.shape[3])):
        raise ArgumentError(
            f"{shapes}: tex is (N, height, width, C), (N, depth, height, width, C), or with boundary_mode='cube' "
            "(N, 6, size, size, C)"
        )
    dims = 3 if cube else tex.dim() - 2
    if uv.dim() < 2 or uv.shape[-1] != dims:
        raise ArgumentError(f"{shapes}: uv is (N, ..., {dims})")
    if tex.shape[0] != uv.shape[0] and tex.shape[0] != 1 and uv.shape[0] != 1:
        raise ArgumentError(f"{shapes}: their first axes are equal, or one of them is 1")
    if 0 in tex.shape[1:]:
        raise ArgumentError(f"{shapes}: a texture has at least one texel along each axis, and a channel")
    if uv_da is not None and tuple(uv_da.shape) != (*uv.shape[:-1], 2 * dims):
        raise ArgumentError(f"uv_da {tuple(uv_da.shape)} for uv {tuple(uv.shape)}: it is (N, ..., {2 * dims})")
    if bias is not None and tuple(bias.shape) != tuple(uv.shape[:-1]):
        raise ArgumentError(f"mip_level_bias {tuple(bias.shape)} for uv {tuple(uv.shape)}: it is (N, ...)")
    if not tex.is_floating_point() or not uv.is_floating_point() or tex.dtype is torch.bfloat16:
        raise ArgumentError(f"tex has dtype {tex.dtype} and uv {uv.dtype}: convert them to float32")
    if tex.device != uv.device:
        raise ArgumentError(f"tex is on {tex.device} and uv on {uv.device}: move one of them")


def _check_levels(tex: Tensor, mip: Sequence[Tensor], cube: bool) -> None:
    first = 2 if cube else 1
    for number, part in enumerate(mip, 1):
        sizes = (max(1, size >> number) for size in tex.shape[first:-1])
        shape = (*tex.shape[:first], *sizes, tex.shape[-1])
        if tuple(part.shape) != shape or part.dtype != tex.dtype or part.device != tex.device:
            raise ArgumentError(
                f"level {number} of mip is {tuple(part.shape)}, {part.dtype} on {part.device}: of tex "
                f"{tuple(tex.shape)} it is {shape}, {tex.dtype} on {tex.device}"
            )
