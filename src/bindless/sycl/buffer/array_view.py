"""``HostView``: array view of a buffer for the host, through an accessor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array
from ...model.single_owner import SingleOwner

__all__ = ["HostView"]


class HostView(SingleOwner):
    """The array protocol and indexing over ``array``, which a subclass gives, or refuses with the reason."""

    __slots__ = ()

    @property
    def array(self) -> Array:
        """The elements in place."""
        raise NotImplementedError

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype, copy=True) if copy else np.asarray(self.array, dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value
