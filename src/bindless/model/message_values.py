"""``shown``: a caller's value as text for a message."""

from __future__ import annotations

import numpy as np

__all__ = ["shown"]

_MOST_ELEMENTS = 8
_MOST_LETTERS = 200


def shown(value: object) -> str:
    """Return the value's ``repr`` in one line: shape and dtype of a larger array, the beginning of another long text.

    It never raises: Python prints no integers of more than 4,300 digits, and other objects' ``repr`` may fail too.
    """
    if isinstance(value, np.ndarray) and value.size > _MOST_ELEMENTS:
        return f"<array of shape {value.shape} and dtype {value.dtype}>"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"<{type(value).__name__}{bits}, too large to print or without a working repr>"
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]} [...]"
