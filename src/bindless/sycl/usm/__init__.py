"""Unified shared memory (SYCL 2020 section 4.8): pointers, arrays, allocation, queries."""

from .array import UsmArray
from .functions import free, malloc_device, malloc_host, malloc_shared, usm_empty
from .pointer import UsmPointer
from .pointer_queries import get_pointer_device, get_pointer_type

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
