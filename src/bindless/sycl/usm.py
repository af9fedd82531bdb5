"""Unified shared memory (SYCL 2020 section 4.8): pointers, arrays, allocation, queries."""

from ._usm_array import UsmArray
from ._usm_functions import free, malloc_device, malloc_host, malloc_shared, usm_empty
from ._usm_pointer import UsmPointer
from ._usm_queries import get_pointer_device, get_pointer_type

__all__ = [
    "UsmArray",
    "UsmPointer",
    "free",
    "get_pointer_device",
    "get_pointer_type",
    "malloc_device",
    "malloc_host",
    "malloc_shared",
    "usm_empty",
]
