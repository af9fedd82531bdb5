"""Arrays larger than memory, on one machine or many: affine maps, displacements and pyramids as dask arrays.

Each block of a result is one task, which reads the part of the input that it needs. Needs dask:
``pip install 'bindless[dask]'``.
"""

try:
    import dask as _dask
    import dask.array as _array
except ImportError as error:
    raise ImportError(f"bindless.dask needs dask: pip install 'bindless[dask]' ({error})") from error

from .arrays import affine_transform, pyramid, resize
from .errors import BlockError

__all__ = ["BlockError", "affine_transform", "pyramid", "resize"]

del _array, _dask


def __dir__() -> list[str]:
    return sorted(__all__)
