"""Errors of the threads that run host tasks and start commands: every event still ends, and later work runs.

``threading.settrace`` raises a ``MemoryError`` at each function entry of those threads in turn, as lack of memory may.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

import bindless as bl
from bindless.submission.worker_threads import Pool

PROGRAM = """
import faulthandler, os, sys, threading
import numpy as np
import bindless as bl
from bindless import submission
from bindless.submission.worker_threads import pool

FOLDER = os.path.dirname(submission.__file__)
POOL = os.path.join(FOLDER, "worker_threads.py")  # tested by another test
at = count = 0
places = set()

def trace(frame, event, _):
    global count
    name = frame.f_code.co_filename
    if event == "call" and at and name.startswith(FOLDER) and name != POOL:
        count += 1
        if count == at:
            places.add(frame.f_code.co_name)
            raise MemoryError("of the test")

threading.settrace(trace)
queue, other = bl.Queue("reference", in_order=True), bl.Queue("reference")
array, host = bl.usm_empty(4, np.int32, queue), np.zeros(4, np.int32)
ran = []

def work():
    begin = threading.Event()
    task = queue.submit(lambda h: h.host_task(begin.wait))
    filled = queue.fill(array, np.int32(len(ran) + 1))
    copied = other.memcpy(host, array, depends_on=filled)

    def group(handler):
        handler.depends_on(copied)
        handler.host_task(lambda: ran.append(int(host[0])))

    last = other.submit(group)
    begin.set()
    failed = []
    for event in (task, filled, copied, last):
        try:
            event.wait()
        except bl.Error as error:
            failed.append(error)
    return failed

errors = complete = 0
while complete < 8:  # runs without an error: threads share the entries differently from run to run
    faulthandler.dump_traceback_later(60, exit=True)
    pool.__init__()  # new threads: an error ends the tracing of a thread
    at, count = at + 1, 0
    try:
        errors += bool(work())
        queue.wait()
        other.wait()
    except bl.Error:
        pass
    more, place = count >= at, at
    at, count = 0, 0
    before = len(ran)
    assert work() == [] and len(ran) == before + 1 and ran[-1] == before + 1, (place, ran[-3:])
    complete = 0 if more else complete + 1
    at = place
assert errors and len(places) > 5, (errors, places)
print("ended")
"""


def test_every_event_ends() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "ended\n", done.stderr


def test_a_job_without_memory_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that raises does not end its thread, which runs the next."""
    pool, ended = Pool(), threading.Event()
    tries: list[int] = []
    printed: list[type] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: printed.append(kind))

    def begins_late() -> None:
        tries.append(threading.get_ident())
        if len(tries) < 3:
            raise MemoryError

    def raises() -> None:
        raise ValueError("a job")

    pool.prepare()
    for number, start in enumerate((pool.run, pool.wait, pool.later), 1):
        for job in (begins_late, raises, ended.set):
            ended.clear()
            start(lambda job=job: (job(), ended.set()))
            if job is not raises:
                assert ended.wait(60)
        assert len(tries) == 2 + number
        while len(printed) < number:
            time.sleep(0.001)
    assert printed == [ValueError] * 3


def test_a_thread_that_is_not_started_fails_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own event ends with the error, and so do those of the commands after it."""

    def start(_: threading.Thread) -> None:
        raise MemoryError

    with bl.Queue("reference", in_order=True) as queue:
        queue.submit(lambda handler: handler.host_task(lambda: None)).wait()
        monkeypatch.setattr(threading.Thread, "start", start)
        begin = threading.Event()
        tasks = [queue.submit(lambda handler: handler.host_task(begin.wait)) for _ in range(2)]
        begin.set()
        for task in tasks:
            try:
                task.wait()
            except bl.SyclRuntimeError as error:
                assert "thread" in str(error)
