"""Values of kernels, by the names of the signatures of device functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, Union

import numpy as np

from ..model.image_handles import SampledImageHandle, UnsampledImageHandle

if TYPE_CHECKING:
    from ..sycl.device.handle_owner import HandleOwner

__all__ = ["Elements", "Index", "KernelImage", "Number", "Operand"]

Number: TypeAlias = Union[float, np.generic]
"""A number of Python or numpy."""

Operand: TypeAlias = Union[Number, SupportsIndex, tuple[Number, ...]]
"""A number, a vector or a tuple of numbers."""

Index: TypeAlias = Union[SupportsIndex, tuple[SupportsIndex, ...]]

KernelImage: TypeAlias = Union["HandleOwner", SampledImageHandle, UnsampledImageHandle, SupportsIndex]
"""An ``Image``, a handle, or the number of one."""


class Elements(Protocol):
    """An array among the arguments of a kernel."""

    def __getitem__(self, index: Any, /) -> Any: ...
