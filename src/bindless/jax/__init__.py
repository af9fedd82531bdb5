"""Differentiable texture sampling for JAX: a custom call of XLA on processors and on CUDA.

Functions compile with ``jit`` and work with ``grad``, ``jvp``, ``hessian``, ``vmap`` and arrays that are sharded over
devices. Needs ``pip install 'bindless[jax]'``.
"""

from ..model.errors import FeatureNotSupportedError

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise FeatureNotSupportedError("bindless.jax needs JAX: pip install 'bindless[jax]', or jax[cuda12]") from error

from .coordinates import map_coordinates
from .sampling import sample

__all__ = ["map_coordinates", "sample"]


def __dir__() -> list[str]:
    return sorted(__all__)
