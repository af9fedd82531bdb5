"""``sample``: the function of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp

from ..model.enums import AddressingMode, Boundary, CoordinateNormalizationMode, Interpolation, Precision, coerce
from ..model.filter import CoordinateMap, Filter
from ..sampling.memory import Lookup
from ..sampling.memory.arguments import filter_of, require_filtering, require_image
from ..sampling.memory.mipmaps import level_count, reductions
from ..sampling.memory.splines import coefficients
from .differentiation import bind
from .hardware import serves
from .lines import outer_weights, read_line
from .operation import Operation
from .options import as_array, by_options, require_real, require_static

__all__ = ["sample", "sample_levels"]


def sample(
    image: Any,
    coords: Any,
    *,
    addressing: str | AddressingMode | Sequence[str | AddressingMode] = "clamp_to_edge",
    filtering: str | Interpolation = "linear",
    coordinate: str | CoordinateNormalizationMode = "unnormalized",
    level: Any = None,
    fill: float = 0.0,
    precision: str | Precision = "hardware",
    deterministic: bool | None = None,
    cubemap: bool = False,
) -> jax.Array:
    """Values of an image at coordinates, differentiable twice in the image, the coordinates and the level.

    Parameters
    ----------
    image : jax.Array | Sequence[jax.Array]
        Pixels, ([depth,] height, width, channels) of one image or (N, [depth,] height, width, channels) of a batch:
        float16, bfloat16, float32, or float64, which GPUs compute in float32. Other types are converted to float32. One
        dimension is (width, channels). The last axis of ``coords`` tells the dimensions. A cubemap is
        ([N,] 6, height, width, channels), with the faces +x, -x, +y, -y, +z, -z. A list or tuple has the levels of a
        mipmap, the largest first.
    coords : jax.Array
        Coordinates in the order x, y, z: (..., dimensions), for a batch (N, ..., dimensions). Directions (..., 3) of
        any length into a cubemap.
    addressing : str | AddressingMode | Sequence[str | AddressingMode]
        Values outside of the image: a mode of ``bindless.Image``, which describes them; one mode, or one for each axis,
        x first.
    filtering : str | Interpolation
        "linear", "nearest", "cubic", the interpolating B-spline, "catmull_rom" or "bicubic", a cubic convolution with
        a = -0.5 or a = -0.75. Cubemaps have the first two, mipmaps all but "cubic".
    coordinate : str | CoordinateNormalizationMode
        "unnormalized": in pixels, the centre of the first one at 0.5; "normalized": 0 to 1 across the image.
    level : jax.Array, optional
        Level of detail of each sample, of the shape of ``coords`` without its last axis, or one number: samples blend
        two levels of a mipmap, each of half the size of the one before, which the function makes of one image. Default
        the image alone.
    fill : float
        Value outside of the image with the addressing "border" (SYCL's "clamp") and "extent".
    precision : str | Precision
        "hardware", the default: values of the texture unit, whose weights have 8 bits. What the unit does not have is
        computed as "exact": cubic filters, float64, more than four channels, levels, cubemaps, addressing modes that it
        lacks, a ``fill`` other than 0. "exact": weights of float32. On a GPU each call with "hardware" copies the image
        to the unit's memory, since XLA does not say when an array changes: with fewer than twice as many samples as
        pixels "exact" is faster. Gradients are those of "exact" in both cases.
    deterministic : bool, optional
        Whether gradients of images on a GPU have the same bits each time, at the cost of time and of 8 bytes for each
        value. Default False. Processors always do.
    cubemap : bool
        Whether the image is a cubemap.

    Returns
    -------
    jax.Array
        The values, of the shape of ``coords`` with channels as its last axis, and of the image's type.

    Raises
    ------
    ArgumentError
        The arrays have shapes or types that do not fit, or an option is none of those above or traced.
    FeatureNotSupportedError
        The installed jaxlib has another version of XLA's interface.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> import bindless.jax
    >>> image = jnp.array([[[0.0], [10.0]], [[20.0], [30.0]]])
    >>> float(bindless.jax.sample(image, jnp.array([1.0, 1.0]))[0])
    15.0
    >>> place = jnp.array([1.0, 1.25])
    >>> jax.grad(lambda place: bindless.jax.sample(image, place)[0])(place).tolist()
    [10.0, 20.0]
    """
    require_static(fill=fill, deterministic=deterministic, cubemap=cubemap)
    modes = tuple(addressing) if type(addressing) is list else addressing
    between = "none" if level is None else "linear"
    filter_, count, normalized = by_options(_settings, modes, filtering, fill, precision, between, coordinate)
    several = isinstance(image, (list, tuple))
    return _values(
        tuple(map(as_array, image if several else (image,))),
        as_array(coords),
        level if level is None or type(level) is float else as_array(level),
        filter_, count, normalized, bool(deterministic), bool(cubemap), several,
    )  # fmt: skip


@lru_cache(maxsize=1024, typed=True)
def _settings(
    addressing: Any, filtering: Any, fill: Any, precision: Any, between: str, coordinate: Any
) -> tuple[Filter, int, bool]:
    """The filter, the number of modes, and whether coordinates are normalized."""
    filter_, modes = filter_of(addressing, filtering, precision, fill=fill, levels=between)
    units = coerce(CoordinateNormalizationMode, coordinate, "coordinate")
    return filter_, modes, units is CoordinateNormalizationMode.normalized


@partial(jax.jit, static_argnums=range(3, 9))
def _values(
    levels: Sequence[Any],
    coords: Any,
    level: Any,
    filter_: Filter,
    modes: int,
    normalized: bool,
    deterministic: bool,
    cubemap: bool,
    several: bool,
) -> Any:
    """What ``sample`` computes, of arrays that it checks; ``several``: whether the caller made the levels."""
    require_image(levels, coords, modes, cubemap=cubemap, repeats=False)
    require_real("an image", levels)
    require_real("coords", (coords,))
    require_filtering(
        str(filter_.interpolation), len(levels) if several else 0, has_level=level is not None, cubemap=cubemap
    )
    return sample_levels(
        levels,
        coords,
        level,
        filter_=filter_.with_boundary(Boundary.edge) if cubemap else filter_,
        normalized=normalized,
        deterministic=deterministic,
        cubemap=cubemap,
        makes_levels=level is not None and not several,
    )


_STATIC = ("filter_", "normalized", "deterministic", "cubemap", "makes_levels", "first")


@partial(jax.jit, static_argnames=_STATIC)
def sample_levels(
    levels: Sequence[Any],
    coords: Any,
    level: Any = None,
    *,
    filter_: Filter,
    normalized: bool = False,
    deterministic: bool = False,
    cubemap: bool = False,
    makes_levels: bool = False,
    first: float = 0.5,
) -> Any:
    """What ``sample`` computes, of arrays and options that fit each other.

    Parameters
    ----------
    levels : Sequence[jax.Array]
        One, or those of a mipmap.
    coords : jax.Array
        (..., dimensions).
    level : jax.Array, optional
        Level of detail of each sample.
    filter_ : Filter
        The filter.
    normalized, deterministic, cubemap : bool
        As of ``sample``.
    makes_levels : bool
        Whether the levels of a mipmap are to be made of one.
    first : float
        Coordinate of the centre of the first texel.
    """
    dims = coords.shape[-1]
    leading = coords.shape[1:-1] if levels[0].ndim == dims + 2 else coords.shape[:-1]
    dtype = levels[0].dtype
    if dtype not in (jnp.float16, jnp.float32, jnp.float64):
        levels = [each.astype(jnp.float32) for each in levels]
    real = jnp.float64 if dtype == jnp.float64 else jnp.float32
    levels = [each if each.ndim == dims + 2 else each[None] for each in levels]
    count, channels = levels[0].shape[0], levels[0].shape[-1]
    values = (count, prod(coords.shape[:-1]) // max(count, 1))
    sizes = tuple(map(float, levels[0].shape[-2:0:-1]))
    offset, added = [-first] * dims, 0.0
    if filter_.is_spline:
        added, filter_ = filter_.fill, replace(filter_, fill=0.0)
        image, margins = coefficients(levels[0].astype(real) - added, filter_.boundary[:dims], read_line)
        levels, offset = [image], [margin - first for margin in margins]
    if makes_levels:
        axes = range(2 if cubemap else 1, levels[0].ndim - 1)
        count_of_levels = level_count(levels[0].shape[axis] for axis in axes)
        levels = [levels[0], *reductions(levels[0], axes, count_of_levels, outer_weights)]
    scale = sizes if normalized else ()
    map_ = CoordinateMap() if cubemap else CoordinateMap.scaled(scale, offset)
    lookup = Lookup(2 if cubemap else dims, filter_, map_, cubemap)
    operands = [*levels, coords.astype(real).reshape(*values, dims)]
    if level is not None:
        operands.append(jnp.broadcast_to(level.astype(real), coords.shape[:-1]).reshape(values))
    operation = Operation(
        "sample",
        lookup,
        len(levels),
        level is not None,
        deterministic=deterministic,
        hardware=filter_.precision is Precision.hardware and serves(lookup, levels[0]),
        picture=(leading[-1], leading[-2]) if len(leading) > 1 else (0, 0),
    )
    (samples,) = bind(operation, operands)
    samples = (
        samples.reshape(*coords.shape[:-1], channels) + added
        if added
        else samples.reshape(*coords.shape[:-1], channels)
    )
    return samples.astype(dtype) if jnp.issubdtype(dtype, jnp.floating) else samples
