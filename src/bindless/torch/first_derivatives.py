"""``FirstDerivative``: what the derivatives of ray marches have in common: they have none of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model.errors import FeatureNotSupportedError

__all__ = ["FirstDerivative", "refuse_second"]


def refuse_second(*_: Any) -> None:
    """Raises the error of a second derivative.

    Raises
    ------
    FeatureNotSupportedError
        Always.
    """
    raise FeatureNotSupportedError(
        "line_integrals and projections have first derivatives: for second ones, take a mean of bindless.torch.sample"
    )


class FirstDerivative(torch.autograd.Function):  # type: ignore[misc]
    """A derivative that keeps nothing and refuses to be differentiated."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """Keeps nothing."""

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        refuse_second()

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        refuse_second()
