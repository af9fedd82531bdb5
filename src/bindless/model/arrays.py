"""numpy's arrays and dtypes, of whatever element type: most functions take the element type from a descriptor."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "DType"]

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]
