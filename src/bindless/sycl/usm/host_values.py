"""``converted``: elements that a caller gives, as the dtype and shape of the array that takes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, DType
from ...model.errors import InvalidError
from ...model.host_array import as_array
from ...model.masked_arrays import warn_of_mask

__all__ = ["converted", "require_castable"]


def converted(name: str, elements: npt.ArrayLike, shape: tuple[int, ...], dtype: DType) -> Array:
    """Host elements as an array of ``shape`` and ``dtype``: broadcast, and cast as numpy's ``same_kind`` allows.

    The result may be the given array itself, or a broadcast view.

    Parameters
    ----------
    name : str
        Name of the argument, for errors.

    Raises
    ------
    InvalidError
        The shapes do not fit, or the conversion would lose a kind of number.
    """
    warn_of_mask(elements, name)
    source = as_array(name, elements)
    if not _plain_integers_fit(elements, source, dtype):
        require_castable(source.dtype, dtype)
    while source.ndim > len(shape) and source.shape[0] == 1:  # numpy drops leading axes of size 1 in assignments
        source = source[0]
    try:
        return np.broadcast_to(source.astype(dtype, copy=False), shape)
    except ValueError:
        raise InvalidError(f"an array of shape {source.shape} does not fit one of shape {shape}") from None


def require_castable(source: DType, target: DType) -> None:
    """Raises ``InvalidError`` where numpy's ``same_kind`` rule forbids the conversion."""
    if not np.can_cast(source, target, "same_kind"):
        raise InvalidError(f"{source} elements do not go into {target}: convert with array.astype({str(target)!r})")


def _plain_integers_fit(elements: object, values: Array, dtype: DType) -> bool:
    """Whether Python integers, which have no dtype of their own, lie in the range of an integer dtype."""
    if hasattr(elements, "dtype") or values.dtype.kind not in "iu" or dtype.kind not in "iu" or not values.size:
        return False
    limits = np.iinfo(dtype)
    return bool(values.min() >= limits.min and values.max() <= limits.max)
