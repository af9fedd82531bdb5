"""``shown``: how a value that somebody gave appears in a message."""

from __future__ import annotations

import numpy as np

__all__ = ["shown"]

_MOST_ELEMENTS = 8
_MOST_LETTERS = 200


def shown(value: object) -> str:
    """The value's ``repr`` in one line: of larger arrays shape and dtype alone, of other long texts the beginning."""
    if isinstance(value, np.ndarray) and value.size > _MOST_ELEMENTS:
        return f"<array of shape {value.shape} and dtype {value.dtype}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]} [...]"
