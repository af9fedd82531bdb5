"""Two processes exchange frames, each with its own queue, ordered by semaphores alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from tests.support.shared_files import SharedFile, import_file, import_semaphore

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of memory are Linux's"),
    pytest.mark.usefixtures("files"),
]

SIZE = 256


@pytest.mark.parametrize("kind", ["opaque_fd", "timeline_fd"])
def test_frames_to_and_fro(device: bl.Device, ordered: bl.Queue, kind: str) -> None:
    """All is submitted ahead, and no side waits on the host; each finds what the other wrote last."""  # R77, R78
    shared = SharedFile.make(4 * SIZE)
    if kind == "opaque_fd":
        files = [os.eventfd(0, os.EFD_CLOEXEC) for _ in range(2)]
    elif device.backend == "opencl":  # OpenCL has binary semaphores only
        pytest.skip("semaphores of OpenCL are binary")
    else:
        files = [SharedFile.make(8).fd for _ in range(2)]
    given = (shared.fd, *files)
    count = 32 if device.backend == "opencl" else 1000  # each wait has a thread there, in which Intel's runtime spins
    selector = f"{device.backend}:*:*"
    command = [sys.executable, str(Path(__file__).with_name("other_side.py")), selector, kind]
    other = subprocess.Popen([*command, *map(str, (*given, count, SIZE))], pass_fds=given)
    frame = bl.map_external_linear_memory(import_file(shared, ordered), ordered, size=4 * SIZE).array(SIZE, np.int32)
    ours, theirs = (import_semaphore(file, kind, ordered) for file in files)
    found = bl.usm_empty((count, SIZE), np.int32, ordered)
    for turn in range(1, count + 1):
        value = turn if kind == "timeline_fd" else None
        ordered.fill(frame, np.int32(turn), SIZE)
        ordered.ext_oneapi_signal_external_semaphore(ours, value)
        ordered.ext_oneapi_wait_external_semaphore(theirs, value)
        last = ordered.memcpy(found[turn - 1], frame, 4 * SIZE)
    try:
        last.wait(timeout=100)
    finally:
        other.kill() if last.status != "complete" else other.wait(100)
    assert other.returncode == 0
    wanted = np.repeat(-np.arange(1, count + 1), SIZE).reshape(count, SIZE)
    assert np.array_equal(found.numpy(ordered), wanted)
    for file in given:
        os.close(file)
