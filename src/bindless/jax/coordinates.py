"""``map_coordinates``: the function of ``jax.scipy.ndimage``, with cubic splines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..model.enums import Interpolation, Precision
from ..model.errors import ArgumentError, FeatureNotSupportedError
from ..model.filter import Filter
from ..model.message_values import shown
from ..sampling.memory.arguments import require_precision
from .options import as_array, by_options, require_real, require_static
from .splines import compose, spline_samples

__all__ = ["map_coordinates"]

_SCIPY_MODES = {"constant": "grid-constant", "wrap": "grid-wrap"}  # scipy's names of what JAX computes
_MOST_AXES = 3
_COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))


def map_coordinates(
    input: Any,
    coordinates: Sequence[Any],
    order: int,
    mode: str = "constant",
    cval: float = 0.0,
    *,
    precision: str | Precision = "exact",
    deterministic: bool | None = None,
) -> jax.Array:
    """Values of an array at coordinates: ``jax.scipy.ndimage.map_coordinates``, also of order 3.

    It is differentiable twice in the array and in the coordinates.

    Parameters
    ----------
    input : jax.Array
        Real numbers, of up to three axes. Arrays of more axes, and of complex numbers, go to JAX's function.
    coordinates : Sequence[jax.Array]
        One array for each axis of ``input``, in its order; their shapes are broadcast. The centre of the first
        element is at 0. An array (axes, ...) has all of them, and is read where it lies.
    order : int
        0, the nearest element; 1, linear; 3, the interpolating cubic B-spline.
    mode : str
        What lies outside: ``constant``, ``nearest``, ``wrap``, ``mirror`` or ``reflect``. As in JAX, ``constant`` and
        ``wrap`` are what scipy calls ``grid-constant`` and ``grid-wrap``; these two names are taken too.
    cval : float
        The value outside with ``constant``.
    precision : str | Precision
        "exact", the default: weights of float32, or of float64 where ``input`` or a coordinate is float64.
        "hardware": those of the texture unit, which have 8 bits, where it has the mode and the order.
    deterministic : bool, optional
        As of ``sample``.

    Returns
    -------
    jax.Array
        Of the shape of the coordinates and of the type of ``input``; integers are rounded, halves away from zero.

    Raises
    ------
    ArgumentError
        An option is none of those above or traced, or the number of coordinates is not that of axes.
    FeatureNotSupportedError
        Orders 2, 4 and 5, and order 3 of arrays that go to JAX's function.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import bindless.jax
    >>> row = jnp.array([0.0, 1.0, 4.0, 9.0, 16.0])
    >>> bindless.jax.map_coordinates(row, [jnp.array([1.5, 2.5])], 1).tolist()
    [2.5, 6.5]
    >>> bindless.jax.map_coordinates(row, [jnp.array([2.0, 3.0])], 3, "mirror").round(4).tolist()
    [4.0, 9.0]
    """
    require_static(cval=cval, deterministic=deterministic)
    is_stack = isinstance(coordinates, (jax.Array, np.ndarray))
    array, places = as_array(input), tuple(map(as_array, (coordinates,) if is_stack else coordinates))
    filter_ = by_options(_filter, order, mode, cval, precision)
    count = len(coordinates)
    if count != array.ndim:
        raise ArgumentError(f"{count} coordinates of an array with the shape {array.shape}: each axis has one")
    if 0 < array.ndim <= _MOST_AXES and array.dtype not in _COMPLEX:
        return _values(array, places, is_stack, filter_, bool(deterministic))
    require_real("coordinates", places)
    if filter_.is_spline:
        raise FeatureNotSupportedError(
            f"order={shown(order)} of {array.dtype} with the shape {array.shape}: it is computed for real numbers "
            f"of one to three axes; orders 0 and 1 for all"
        )
    return jax.scipy.ndimage.map_coordinates(array, list(coordinates), order, mode, cval)


@lru_cache(maxsize=1024, typed=True)
def _filter(order: int, mode: str, cval: float, precision: str | Precision) -> Filter:
    filter_ = Filter.from_scipy(order, _SCIPY_MODES.get(mode, mode), cval, precision)
    if filter_.spline_order in (2, 4, 5):
        raise FeatureNotSupportedError(f"order={shown(order)} (0, 1 and 3 are)")
    require_precision(filter_)
    return filter_


@partial(jax.jit, static_argnums=(2, 3, 4))
def _values(array: Any, places: Sequence[Any], is_stack: bool, filter_: Filter, deterministic: bool) -> Any:
    """What ``map_coordinates`` computes of arrays that have textures; ``places`` has the stack alone, or each axis."""
    require_real("coordinates", places)
    real = jnp.result_type(jnp.float32, *(each.dtype for each in places if each.dtype == jnp.float64))
    if filter_.interpolation is Interpolation.nearest:  # of halves, JAX takes the one away from zero
        places = [each if jnp.issubdtype(each.dtype, jnp.integer) else jax.lax.round(each) for each in places]
    stack = (places[0] if is_stack else jnp.stack(jnp.broadcast_arrays(*places))).astype(real)
    texels = array.astype(jnp.promote_types(array.dtype, real))
    by_kernels = filter_.is_spline and filter_.precision is Precision.exact and texels.dtype == real == jnp.float32
    compute = spline_samples if by_kernels else compose
    samples = compute(texels, stack, filter_=filter_, deterministic=deterministic)
    return (samples if jnp.issubdtype(array.dtype, jnp.floating) else jax.lax.round(samples)).astype(array.dtype)
