"""The second process of the tests of shared memory and events: ``python other_process.py FILE DESCRIPTOR``.

It opens the objects that the file describes, waits for event 0, triples the array, and signals event 1.
"""

from __future__ import annotations

import pickle
import sys

import bindless as bl
from bindless.level_zero import EventPool, open_memory

with open(sys.argv[1], "rb") as file:
    memory, events = pickle.load(file)
with bl.Queue("level_zero:*:*", in_order=True) as queue, EventPool.open(events, queue) as pool:
    opened = open_memory(memory, queue)
    if not pool[0].wait(60):
        sys.exit("event 0 was not signalled")
    opened.copy_from(opened.numpy(queue) * 3, queue)
    pool[1].signal_on(queue)
    queue.wait()
    opened.close()
    # The other direction: the owner's queue signals event 2, and the host of this process answers with event 3.
    if not pool[2].wait(60):
        sys.exit("event 2 was not signalled")
    pool[3].signal()
