"""``sample``: values of images at coordinates, with the options of ``Image.sample``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from ..image import Image
from ..model.enums import AddressingMode, Interpolation, Precision
from ..model.errors import ArgumentError
from ..sampling.memory.arguments import filter_of, require_filtering, require_image
from . import functions
from .axes import scaled, shifted
from .images import sample_image
from .mipmaps import pyramid
from .options import Arguments
from .splines import coefficients
from .tensors import require_tensors

__all__ = ["arguments", "sample"]

Tensor = Any


_DEFAULTS = ("clamp_to_edge", "linear", "unnormalized", 0.0, "hardware", False)


def sample(
    image: Tensor | Sequence[Tensor] | Image,
    coords: Tensor,
    *,
    addressing: str | AddressingMode | Sequence[str | AddressingMode] = "clamp_to_edge",
    filtering: str | Interpolation = "linear",
    coordinate: str = "unnormalized",
    level: Tensor | float | None = None,
    fill: float = 0.0,
    precision: str | Precision = "hardware",
    deterministic: bool | None = None,
    cubemap: bool = False,
) -> Tensor:
    """Values of an image, or of a batch of images, at coordinates.

    Parameters
    ----------
    image : Tensor | Sequence[Tensor] | Image
        Shape ([N,] [[D,] H,] W, C), a cubemap ([N,] 6, H, W, C) with the faces +x, -x, +y, -y, +z, -z: float64,
        float32, float16 or bfloat16. A sequence has the levels of a mipmap, the largest first. An ``Image``, which has
        no gradients, is sampled with its own options: no other memory holds its pixels.
    coords : Tensor
        Shape (..., d) in (x, y, z) order, (N, ..., d) of a batch: pixels, with the centre of the first at +0.5. A first
        axis of 1 serves all images. A cubemap takes directions (..., 3) of any length.
    addressing : str | AddressingMode | Sequence[str | AddressingMode]
        What lies outside: a mode of ``bindless.Image``, which describes them; one for all axes, or one for each, x
        first.
    filtering : str | Interpolation
        ``linear``, ``nearest``, ``cubic`` (the interpolating B-spline), ``catmull_rom`` or ``bicubic``.
    coordinate : str
        ``unnormalized``, pixels, or ``normalized``, 0 to 1 over each axis.
    level : Tensor | float, optional
        Level of a mipmap, a number or (...), broadcast to the coordinates: 1 is half the size. One tensor as ``image``
        gets levels of area means. Filtering between levels is that within them: nearest, or else linear.
    fill : float
        Value outside with ``border`` and ``extent``.
    precision : str | Precision
        ``hardware``, the default: values of the texture unit, with weights of 8 bits, from an image on the device that
        is kept until the tensor changes. What the unit does not have is computed as ``exact``: cubic filters, float64,
        more than four channels, levels, cubemaps, addressing modes that it lacks, a ``fill`` other than 0, and all
        captures of CUDA graphs.
        ``exact``: weights in the image's precision. Gradients are those of ``exact`` in both cases.
    deterministic : bool, optional
        Whether gradients of pixels have the same bits each time; default: where
        ``torch.use_deterministic_algorithms`` says so.
    cubemap : bool
        Whether the image is a cubemap.

    Returns
    -------
    Tensor
        (..., C) in the dtype of the image: differentiable twice in the image, the coordinates and the level. Of an
        ``Image`` the values of its method ``sample``, with gradients of coordinates and level if its filter is linear
        or nearest and it is no cubemap.

    Raises
    ------
    ArgumentError
        Shapes, dtypes or options that do not fit; also a ``ValueError`` and a ``RuntimeError``.
    FeatureNotSupportedError
        Gradients of coordinates of an ``Image`` that is a cubemap or has a cubic filter.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import sample
    >>> ramp = torch.arange(3.0, requires_grad=True)
    >>> values = sample(ramp[:, None], torch.tensor([[1.25]]), precision="exact")
    >>> values.item(), torch.autograd.grad(values.sum(), ramp)[0].tolist()
    (0.75, [0.25, 0.75, 0.0])
    """
    if isinstance(image, Image):
        if (addressing, filtering, coordinate, fill, precision, cubemap) != _DEFAULTS:
            raise ArgumentError("an Image has options of its own: give them when it is made, and level here alone")
        return sample_image(image, coords, level)
    several = isinstance(image, (list, tuple))
    levels: list[Tensor] = list(image) if several else [image]
    if has_torch_function((*levels, coords)):
        options = {
            "addressing": addressing,
            "filtering": filtering,
            "coordinate": coordinate,
            "level": level,
            "fill": fill,
            "precision": precision,
            "deterministic": deterministic,
            "cubemap": cubemap,
        }
        return handle_torch_function(sample, (*levels, coords), image, coords, **options)
    modes = (addressing,) if isinstance(addressing, (str, AddressingMode)) else tuple(addressing)
    if level is None and not several and not torch.compiler.is_compiling():
        choice = _repeatable(modes, filtering, coordinate, float(fill), precision, bool(deterministic), cubemap)
        values = None if choice is None else functions.repeated(choice, image, coords)
        if values is not None:
            return values
    chosen = arguments(modes, filtering, coordinate, precision, bool(deterministic))
    _check(levels, coords, chosen, cubemap)
    dims = coords.shape[-1]
    require_filtering(chosen.filtering, len(levels) if several else 0, has_level=level is not None, cubemap=cubemap)
    depths = None
    if level is not None:
        if isinstance(level, torch.Tensor):
            depths = level.to(coords.device)
        else:  # filled there: a copy to the device could not be part of a CUDA graph
            depths = torch.full((), level, device=coords.device)
        depths = depths.to(coords.dtype).expand(coords.shape[:-1])
        if not several:
            first = levels[0].dim() - 1 - (2 if cubemap else dims)
            levels = pyramid(levels[0], range(first, levels[0].dim() - 1))
    return filtered(levels, coords, depths, chosen, float(fill), cubemap)


def filtered(
    levels: list[Tensor], coords: Tensor, level: Tensor | None, chosen: Arguments, fill: float, cubemap: bool = False
) -> Tensor:
    """``sample`` of ([N,] *axes, C) at ([N,] ..., d)."""
    dtype = levels[0].dtype
    if dtype is torch.bfloat16:
        levels = [part.float() for part in levels]
    options = _with_level(chosen, fill, level, cubemap)
    if options.filtering != "cubic":
        return functions.sample(levels, coords, level, options).to(dtype)
    (image,) = levels
    image = image if dtype is torch.float64 else image.float()
    single = image.dim() == coords.shape[-1] + 1
    image, coords = (image[None], coords[None]) if single else (image, coords)
    coords = coords.to(image.dtype)
    if options.coordinate == "normalized":
        coords = scaled(coords, image.shape[-2:0:-1])
    boundary = options.boundary * (image.dim() - 2) if len(options.boundary) == 1 else options.boundary
    image, margins = coefficients(image - fill if fill else image, boundary)
    options = options._replace(coordinate="unnormalized", fill=0.0, precision="exact")
    values = functions.sample([image], shifted(coords, margins), None, options)
    values = values + fill if fill else values
    return (values[0] if single else values).to(dtype)


def _with_level(chosen: Arguments, fill: float, level: Tensor | None, cubemap: bool) -> Arguments:
    """The arguments of a call; ``fill`` is apart, since a number is a symbol in ``torch.compile(dynamic=True)``."""
    between = "none" if level is None else "nearest" if chosen.filtering == "nearest" else "linear"
    meaning = "direction" if cubemap else chosen.coordinate
    return Arguments(
        chosen.filtering, between, chosen.boundary, meaning, fill, True, chosen.precision, chosen.deterministic
    )


@lru_cache(maxsize=256)
def _repeatable(modes: tuple[str | AddressingMode, ...], *rest: Any) -> Arguments | None:
    """The arguments of a call without levels; None if the operator takes other tensors than ``sample``."""
    filtering, coordinate, fill, precision, deterministic, cubemap = rest
    chosen = _arguments(modes, filtering, coordinate, precision, deterministic)
    return None if chosen.filtering == "cubic" else _with_level(chosen, fill, None, cubemap)


def _arguments(
    addressing: tuple[str | AddressingMode, ...],
    filtering: str | Interpolation,
    coordinate: str,
    precision: str | Precision,
    deterministic: bool,
) -> Arguments:
    """The arguments of ``sample``, but ``fill`` and those of levels.

    Raises
    ------
    ArgumentError
        One of them has no meaning.
    """
    filter_, modes = filter_of(addressing, filtering, precision)
    if str(coordinate) not in ("unnormalized", "normalized"):
        raise ArgumentError(f"coordinate {coordinate!r} is neither unnormalized nor normalized")
    return Arguments.of_filter(filter_, modes, str(coordinate), deterministic=deterministic)


_remembered = lru_cache(maxsize=256)(_arguments)


def _arguments_of(*options: Any) -> Arguments:
    return _remembered(*options)


arguments = torch.compiler.assume_constant_result(_arguments_of)


def _check(levels: list[Tensor], coords: Tensor, chosen: Arguments, cubemap: bool) -> None:
    require_tensors(**{"image": levels[0]} if levels else {}, coords=coords)
    require_image(levels, coords, len(chosen.boundary), cubemap=cubemap, repeats=True)
    image = levels[0]
    if not image.is_floating_point() or not coords.is_floating_point():
        raise ArgumentError(f"image has dtype {image.dtype} and coords {coords.dtype}: convert them to real numbers")
    for part in (*levels, coords):
        if part.device != image.device:
            raise ArgumentError(f"image is on {image.device}, and a level or coords on {part.device}: move one of them")
