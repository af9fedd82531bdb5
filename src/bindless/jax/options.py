"""Arguments of the functions: arrays, and options that are read once.

A call outside of ``jax.jit`` reads its options in a cache and dispatches one jitted function, of which they are static.
What depends on shapes and types is checked where JAX traces that function, once for equal ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ..model.errors import ArgumentError

__all__ = ["as_array", "by_options", "require_real", "require_static"]

T = TypeVar("T")


def as_array(value: Any) -> Any:
    """An array of JAX, or what ``jnp.asarray`` makes of a value."""
    return value if isinstance(value, jax.Array) else jnp.asarray(value)


def by_options(function: Callable[..., T], *options: Any) -> T:
    """The result of a function with ``functools.lru_cache``, also of options without a hash.

    All NaNs are one: JAX would compile anew for each.
    """
    options = tuple([math.nan if type(option) is float and option != option else option for option in options])
    try:
        hash(options)
    except TypeError:
        return function.__wrapped__(*options)  # type: ignore[attr-defined, no-any-return]
    return function(*options)


def require_static(**options: Any) -> None:
    """Refuse options that a transformation of JAX traces.

    Raises
    ------
    ArgumentError
        One is traced.
    """
    for name, option in options.items():
        if isinstance(option, jax.core.Tracer):
            raise ArgumentError(
                f"{name} is traced by a transformation of JAX: an option needs a value of Python; add "
                f"{name!r} to static_argnames of jax.jit"
            )


def require_real(name: str, arrays: Sequence[Any]) -> None:
    """Refuse arrays of other than real numbers.

    Raises
    ------
    ArgumentError
        One has them.
    """
    for array in arrays:
        if not jnp.issubdtype(array.dtype, jnp.number) or jnp.issubdtype(array.dtype, jnp.complexfloating):
            raise ArgumentError(f"{name} of {array.dtype}: an array of real numbers is needed")
