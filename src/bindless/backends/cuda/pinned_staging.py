"""Large copies between pageable host memory and images, by several threads through pinned buffers.

The driver's own copy fills its buffers with one thread, at a fraction of the bus bandwidth. The buffers and threads of
a device are created with the first copy that uses them, and kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ...core.lock import Lock
from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .device import PrimaryContext
from .errors import SUCCESS
from .polling import wait_until_ready
from .queue import Queue

__all__ = [
    "AGAIN",
    "SMALLEST",
    "VARIABLE",
    "is_ordinary",
    "is_possible",
    "smallest",
    "staged",
    "staged_bytes",
    "staged_job",
    "staging_bytes",
    "staging_of",
]

lib, ffi = driver.lib, driver.ffi

VARIABLE = "BINDLESS_STAGING"
# Smallest staged copies in bytes, from a device and to it (True): for a single copy, and for a repeated copy, which
# justifies buffers. With buffers present smaller copies gain too: from a device one thread is faster than the driver.
SMALLEST = {False: 2 << 20, True: 4 << 20}
AGAIN = {False: 128 << 10, True: 2 << 20}

_DEFAULT_MEBIBYTES = 64
_MOST_THREADS = 9  # one calls the driver; more than eight others compete for the memory
_FEWEST_THREADS = 4
_BUFFERS_OF_A_THREAD = int(lib.BINDLESS_STAGING_BUFFERS)
_GRANULARITY = 64 << 10
# Copies without a shape are split into rows, the longest ones of these sizes without a rest. The driver copies a rest.
_LINES = tuple(1 << power for power in range(16, 11, -1))

_making = Lock()


def staging_bytes() -> int:
    """Bytes of pinned memory that staging may allocate per device.

    Raises
    ------
    InvalidError
        the environment variable is not a number of mebibytes.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _DEFAULT_MEBIBYTES << 20
    if not text.isdecimal():
        raise InvalidError(
            f"{VARIABLE}={text!r}: it is the MiB of pinned memory that copies of host memory may take, such as "
            f"{_DEFAULT_MEBIBYTES}, or 0 to leave such copies to the driver",
            backend="cuda",
        )
    return int(text) << 20


def _threads() -> int:
    """The number of threads that can copy at once."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, _MOST_THREADS)


def smallest(to_device: bool, again: bool) -> int:
    """Bytes of the smallest staged copy."""
    return min(SMALLEST[to_device], AGAIN[to_device]) if again else SMALLEST[to_device]


class Staging:
    """The buffers of a primary context.

    Attributes
    ----------
    native
        bindless_staging_t; None where there are too few threads, or no memory.
    piece
        bytes of one buffer.
    """

    def __init__(self, primary: PrimaryContext) -> None:
        threads = _threads()
        self.piece = staging_bytes() // (threads * _BUFFERS_OF_A_THREAD) // _GRANULARITY * _GRANULARITY
        self.native: CData = None
        if threads >= _FEWEST_THREADS and self.piece:
            with primary:
                self.native = lib.bindless_staging_create(primary.handle, threads, self.piece) or None


def staging_of(primary: PrimaryContext) -> Staging:
    """The staging buffers of a primary context, created on first use; the context is current."""
    staging: Staging | None = primary.staging
    if staging is None:
        with _making:
            staging = primary.staging
            if staging is None:
                fresh = Staging(primary)
                staging = primary.staging = primary.staging or fresh  # a finalizer may have made one meanwhile
    return staging


def is_ordinary(address: int) -> bool:
    """Whether it is pageable host memory, unknown to the driver; a context is current."""
    slot = ffi.new("unsigned int *")
    return bool(lib.cuPointerGetAttribute(slot, lib.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != SUCCESS)


def _is_of_device(address: int) -> bool:
    """Whether it is device memory, and not shared with the host."""
    kind, managed = ffi.new("unsigned int *"), ffi.new("unsigned int *")
    success = lib.cuPointerGetAttribute(kind, lib.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == SUCCESS
    shared = lib.cuPointerGetAttribute(managed, lib.CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == SUCCESS and managed[0]
    return bool(success and kind[0] == lib.CU_MEMORYTYPE_DEVICE and not shared)


def staged_job(
    queue: Queue,
    to_device: bool,
    host: tuple[int, int, int],
    device: tuple[int, ...],
    extent: tuple[int, int, int],
    again: bool = False,
) -> tuple[CData, tuple[CData, ...]] | None:
    """The buffers of a copy, bindless_staging_t, and the fields of its bindless_stage_t.

    None if the driver's own copy is as fast.

    Parameters
    ----------
    host
        address of the first byte, row pitch and slice pitch in bytes.
    device
        type, address, x in bytes, y, z, row pitch in bytes, rows per slice: one side of
        ``bindless_copy_box``.
    extent
        bytes of a row, rows, slices.
    again
        whether the copy is prepared for repetition.
    """
    width, height, depth = extent
    if width * height * depth < smallest(to_device, again) or queue.capturing:
        return None
    primary = queue.primary
    primary.activate()
    staging = staging_of(primary)
    if staging.native is None or width > staging.piece or not is_ordinary(host[0]):
        return None
    return staging.native, (to_device, *host, *device, *extent)


def staged(staging: CData, fields: tuple[CData, ...]) -> Callable[[CData], int]:
    """The command of a staged copy."""
    job = ffi.new("bindless_stage_t *", fields)

    def command(stream: CData) -> int:
        # An earlier command may use the array and has to finish first; the driver's own copy waits likewise.
        result = wait_until_ready(lib.cuStreamQuery, stream)
        return lib.bindless_stage(staging, stream, job) if result == SUCCESS else result

    return command


def is_possible() -> bool:
    """Whether devices of this process may have buffers."""
    return _threads() >= _FEWEST_THREADS and staging_bytes() > 0


def staged_bytes(queue: Queue, dst: int, src: int, nbytes: int) -> Callable[[CData], int] | None:
    """The command of a linear copy between pageable host memory and device memory; None for other memory, and for
    small copies unless they are repeated.
    """
    if nbytes < max(min(*SMALLEST.values(), *AGAIN.values()), _LINES[-1]):
        return None
    queue.primary.activate()
    to_device = is_ordinary(src)
    host, device = (src, dst) if to_device else (dst, src)
    if not is_ordinary(host) or not _is_of_device(device):
        return None
    again = nbytes < smallest(to_device, again=False)
    if again and (nbytes < smallest(to_device, again) or not queue.justifies_buffers((nbytes, to_device))):
        return None
    line = next((size for size in _LINES if nbytes % size == 0), _LINES[-1])
    lines = nbytes // line
    place = (int(lib.CU_MEMORYTYPE_UNIFIED), device, 0, 0, 0, line, lines)
    job = staged_job(queue, to_device, (host, line, line * lines), place, (line, lines, 1), again)
    if job is None:
        return None
    done, command = lines * line, staged(*job)
    if done == nbytes:
        return command

    def whole(stream: CData) -> int:
        result = command(stream)
        return lib.cuMemcpyAsync(dst + done, src + done, nbytes - done, stream) if result == SUCCESS else result

    return whole
