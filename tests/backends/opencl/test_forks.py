"""The child of a fork releases none of its parent's driver objects: another thread may have held the driver's locks."""

from __future__ import annotations

import sys

import pytest

import bindless as bl
from tests.backends.opencl.failing_library import run_on

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(sys.platform == "win32", reason="this system has no fork"),
]

PROGRAM = """
import gc
import os
import sys
import numpy as np
import bindless as bl
from bindless.drivers import opencl as driver

# As modules of the package do, and of others: what a hook drops here is dropped in the child.
dropped = []
os.register_at_fork(after_in_child=dropped.clear)
device = bl.get_devices("opencl:*:*")[int(sys.argv[1])]
parent, calls = os.getpid(), []


class Watched:
    def __getattr__(self, name):
        found = getattr(driver.lib, name)
        if not name.startswith("cl") or not callable(found):
            return found

        def call(*arguments):
            if os.getpid() != parent:
                calls.append(name)
            return found(*arguments)

        return call


watched = Watched()
queue = bl.Queue(device)
array = bl.usm_empty(1 << 16, "u1", queue)
for name, module in tuple(sys.modules.items()):
    if name.startswith("bindless.backends.opencl.") and getattr(module, "lib", None) is driver.lib:
        module.lib = watched
for _ in range(3):
    data = np.zeros(64, np.int32)
    buffer = bl.Buffer(data)
    queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), np.int32(1)))
    event = bl.Event()
    for value in range(50):
        event = queue.memset(array, value, depends_on=event)
        dropped.append(event)
    queue.wait()
    image = bl.Image(np.zeros((4, 4), np.float32), queue=queue)
    child = os.fork()
    if child == 0:
        seen = list(calls)
        del event, image, buffer, array
        gc.collect()
        queue.close()
        os.write(1, repr((seen, calls)).encode() + b"\\n")
        os._exit(0)
    os.waitpid(child, 0)
    queue.wait()
    buffer.close()
"""


def test_nothing_is_released_in_the_child(cl: bl.Device) -> None:
    done = run_on(cl, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["([], [])"] * 3
