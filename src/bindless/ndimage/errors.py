"""``ArgumentError``, and the errors of what only scipy computes."""

from __future__ import annotations

from ..model.errors import ArgumentError, FeatureNotSupportedError

__all__ = ["ArgumentError", "left_to_scipy"]


def left_to_scipy(function: str, what: str) -> FeatureNotSupportedError:
    """The error of a case that this package does not compute.

    Parameters
    ----------
    function : str
        Name of the function in both packages.
    what : str
        The case.
    """
    return FeatureNotSupportedError(
        f"bindless.ndimage.{function}: {what} is not supported; scipy.ndimage.{function} computes it"
    )
