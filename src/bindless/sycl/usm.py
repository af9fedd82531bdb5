"""Unified shared memory (SYCL 2020 section 4.8): pointers, arrays, allocation."""

from ._usm_array import UsmArray, usm_empty
from ._usm_pointer import UsmPointer, free, malloc_device, malloc_host, malloc_shared

__all__ = ["UsmArray", "UsmPointer", "free", "malloc_device", "malloc_host", "malloc_shared", "usm_empty"]
