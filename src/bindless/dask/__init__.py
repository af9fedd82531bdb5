"""Arrays larger than memory, on one machine or many: affine maps, displacements and pyramids as dask arrays.

Each block of a result is one task, which reads the part of the input that it needs. Needs dask:
``pip install 'bindless[dask]'``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..model.lazy_names import homes_of, load

if TYPE_CHECKING:
    from .arrays import affine_transform, pyramid, resize
    from .errors import BlockError

if find_spec("dask") is None:
    raise ImportError("bindless.dask needs dask: pip install 'bindless[dask]'")

__all__ = ["BlockError", "affine_transform", "pyramid", "resize"]

# The files of the package that read zarr need no dask.
_HOMES = homes_of({"arrays": "affine_transform pyramid resize", "errors": "BlockError"})


def __getattr__(name: str) -> object:
    return load(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
