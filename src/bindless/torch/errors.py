"""``ArgumentError``: arguments that have no meaning for a function of this package."""

from __future__ import annotations

from ..model.errors import InvalidError

__all__ = ["ArgumentError"]


class ArgumentError(InvalidError, RuntimeError):
    """An argument that has no meaning: an ``InvalidError``, and a ``RuntimeError`` as torch raises it."""
