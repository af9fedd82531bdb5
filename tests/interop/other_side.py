"""The second process of test_two_processes: receives a thousand frames in shared memory and answers each in place.

    python other_side.py SELECTOR KIND MEMORY THEIRS OURS COUNT SIZE

MEMORY, THEIRS and OURS are file descriptors: the memory, the semaphore that the first process signals, and ours.
"""

from __future__ import annotations

import signal
import sys

import numpy as np

import bindless as bl


def main(selector: str, kind: str, *numbers: str) -> int:
    """Return 0 if every frame has the expected contents. The process ends soon after the first process does."""
    signal.alarm(200)
    memory_fd, theirs_fd, ours_fd, count, size = map(int, numbers)
    queue = bl.Queue(selector, in_order=True)
    memory = bl.import_external_memory(bl.ExternalMemDescriptor(bl.ResourceFd(memory_fd), "opaque_fd", 4 * size), queue)
    frame = bl.map_external_linear_memory(memory, queue, size=4 * size).array(size, np.int32)
    theirs, ours = (
        bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(fd), kind), queue)
        for fd in (theirs_fd, ours_fd)
    )
    found = bl.usm_empty((count, size), np.int32, queue)
    for turn in range(1, count + 1):
        value = turn if kind == "timeline_fd" else None
        queue.ext_oneapi_wait_external_semaphore(theirs, value)
        queue.memcpy(found[turn - 1], frame, 4 * size)
        queue.fill(frame, np.int32(-turn), size)
        queue.ext_oneapi_signal_external_semaphore(ours, value)
    queue.wait()
    return int(not np.array_equal(found.numpy(queue), np.repeat(np.arange(1, count + 1), size).reshape(count, size)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
