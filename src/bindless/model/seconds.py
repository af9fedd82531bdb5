"""``seconds``: a time limit that somebody gave, as a float."""

from __future__ import annotations

import math
from numbers import Real

from .errors import InvalidError
from .message_values import shown

__all__ = ["seconds"]


def seconds(timeout: object) -> float:
    """A time limit in seconds; a number beyond every float is no limit, ``inf``.

    Raises
    ------
    InvalidError
        No real number, NaN, or below 0.
    """
    try:
        limit = float(timeout) if isinstance(timeout, Real) else -1.0
    except OverflowError:  # an integer or a fraction
        limit = math.inf if timeout > 0 else -math.inf  # type: ignore[operator]
    if not limit >= 0:
        raise InvalidError(f"timeout={shown(timeout)}: it is seconds, at least 0")
    return limit
