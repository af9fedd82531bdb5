"""The SYCL 2020 runtime model over any backend: devices, contexts, queues, events, memory and kernels.

Imports go downward: queue, kernel and copy, buffer, usm, device. Importing this loads ``selector`` and ``queue``, which
register with lower modules the functions that those call upward.
"""

from .device import selector as _selector  # noqa: F401
from .queue import queue as _queue  # noqa: F401
