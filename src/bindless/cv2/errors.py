"""The error of what only OpenCV computes."""

from __future__ import annotations

from ..model.errors import FeatureNotSupportedError

__all__ = ["left_to_cv2"]


def left_to_cv2(function: str, what: str) -> FeatureNotSupportedError:
    """The error of a case that this package does not compute.

    Parameters
    ----------
    function : str
        Name of the function in both packages.
    what : str
        The case.
    """
    return FeatureNotSupportedError(f"bindless.cv2.{function}: {what} is not supported; cv2.{function} computes it")
