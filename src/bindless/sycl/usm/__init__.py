"""Unified shared memory (SYCL 2020 section 4.8): pointers, arrays, allocation, queries.

Exchange of arrays with other libraries:

- Export: ``UsmArray`` has the protocols. ``dlpack_export`` chooses the device, flags and order, and ``_dlpack``
  (``csrc/dlpack``) makes the capsule. The consumer's stream waits for the unfinished commands that use the memory. The
  consumer holds a ``Lease``, which keeps the native memory; memory on lease at interpreter exit is left to the end of
  the process.
- Import: ``array_import`` reads the capsule or interface, asks the driver about the address, and makes an
  ``Allocation`` that keeps its lender instead of owning memory. The exporter makes the queue's stream wait; an
  out-of-order queue then gets a barrier. Ordinary host memory is registered with drivers whose kernels reach only
  registered memory, until the allocation ends. The deleter runs after the last array, view or unfinished command that
  uses the memory.
"""

from . import assignment as assignment
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
