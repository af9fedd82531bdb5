"""Samples of textures in memory and their derivatives: the operation under the functions for PyTorch and JAX.

Arrays are given by address, shape and strides; nothing is copied. On the processor the C code of the reference driver
computes at once, with all threads; on CUDA built-in kernels are enqueued on a stream. Functions write into the
caller's arrays.
"""

from .arrays import MemoryArray, memory_array
from .calls import backward, backward_backward, forward
from .lookup import Lookup

__all__ = ["Lookup", "MemoryArray", "backward", "backward_backward", "forward", "memory_array"]


def __dir__() -> list[str]:
    return sorted(__all__)
