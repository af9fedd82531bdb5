"""``OrderError``: derivatives that do not exist here."""

from __future__ import annotations

from ..model.errors import FeatureNotSupportedError

__all__ = ["OrderError"]


class OrderError(FeatureNotSupportedError):
    """A third derivative."""

    def __init__(self) -> None:
        super().__init__("samples have first and second derivatives: a third derivative was asked for")
