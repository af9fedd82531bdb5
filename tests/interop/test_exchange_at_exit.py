"""Arrays that are still shared at interpreter exit: no crash and no message, in any order of destruction."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGINNING = """
import atexit, ctypes, gc, sys, threading
import numpy as np
import bindless as bl
from tests.support.dlpack_peer import Producer, delete, managed_of, take
queue = bl.Queue("reference:*:*")
array = bl.usm_empty(1 << 20, "f4", queue, kind="host").copy_from(3)
"""

ENDINGS = {
    "a consumer in a global": "seen = np.from_dlpack(array)",
    "numpy in a global": "seen = np.asarray(array); del array, queue",
    "a capsule that nobody took": "capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]; del array",
    "a capsule in a cycle": "cycle = [array.__dlpack__()]; cycle.append(cycle); del array",
    "a deleter called at the very end": """
taken = take(array.__dlpack__(max_version=(1, 0)))
class Last:
    def __del__(self, delete=delete, taken=taken):
        delete(taken)
sys.last = Last()
""",
    "a consumer that reads after everything is released": """
seen = np.from_dlpack(array)
del array, queue
atexit._run_exitfuncs()
assert (seen == 3).all()
""",
    "a library's own thread that reads and deletes until the end": """
taken = take(array.__dlpack__())
def read():
    while True:
        np.from_dlpack(array)
threading.Thread(target=read, daemon=True).start()
""",
    "a library's own thread in a deleter": """
import time
from bindless.sycl.usm import _dlpack
begun, ended = threading.Event(), []
class Owner:
    def __del__(self):
        begun.set()
        time.sleep(0.1)  # the interpreter lock is free meanwhile
        ended.append(True)
taken = take(_dlpack.make_capsule(Owner(), array.address, (1, 0), (2, 32), (1,), (1,), 0, False))
threading.Thread(target=delete, args=(taken,), daemon=True).start()
begun.wait()
_dlpack.finish()  # as at the end: it leaves no thread that is to take the lock again
assert ended
""",
    "memory of another library": """
values = np.arange(100.0)
imported = bl.from_dlpack(values, queue)
again = np.from_dlpack(imported)
del values
""",
    "memory of another library with work on its way": """
producer = Producer(np.zeros(1 << 20, "f4"))
imported = bl.from_dlpack(producer, queue)
for value in range(9):
    queue.fill(imported, float(value))
atexit.register(lambda: None)
""",
    "an exporter is told at exit": """
producer = Producer(np.zeros(10))
imported = bl.from_dlpack(producer, queue)
atexit._run_exitfuncs()
assert producer.deleted == 1
del imported
assert producer.deleted == 1
""",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_the_interpreter_ends_quietly(ending):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", BEGINNING + ending],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
