"""Threads that ask a driver, or copy its results, while another thread closes the queue or the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import bindless as bl
from tests.support.blocked_questions import WAYS, block, submitted


@pytest.mark.parametrize("way", WAYS)
def test_a_queue_closed_during_a_question_is_released_after_it(device, monkeypatch, way):
    queue = bl.Queue(device, in_order=True)
    stream, event = queue._stream, submitted(queue)
    inside, gate = threading.Event(), threading.Event()
    asking = threading.Thread(target=event.wait)
    kept = block(way, event, asking, lambda: (inside.set(), gate.wait()), monkeypatch.setattr)
    asking.start()
    assert inside.wait(60)
    while not stream.backend.queue_is_idle(stream.native):  # a close waits for nothing
        time.sleep(0.001)
    queue.close()
    assert stream.native is None and stream.waiters == 1 and not stream.resource.closed
    gate.set()
    asking.join(60)
    assert stream.waiters == 0 and stream.resource.closed
    del kept


def run(code: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


ASKED = """
import sys, threading, time
import bindless as bl
from bindless.submission.command_stream import CommandStream
from tests.support.blocked_questions import block, submitted

selector, way = sys.argv[1:]
queue = bl.Queue(selector, in_order=True)
backend = type(queue._backend)
event = submitted(queue)
inside, gate = threading.Event(), threading.Event()
asking = threading.Thread(target=event.wait, daemon=True)

def question():
    inside.set()
    gate.wait()
    time.sleep(0.2)  # in which an exit that does not wait releases the queue
    print("answered")

kept = block(way, event, asking, question, setattr)
asking.start()
inside.wait()
finish, release = CommandStream.finish, backend.release_queue

def finished(stream, reason):
    errors = finish(stream, reason)
    gate.set()
    return errors

def released(self, native):
    print("released")
    release(self, native)

CommandStream.finish, backend.release_queue = finished, released
"""


@pytest.mark.parametrize("way", WAYS)
def test_the_exit_releases_a_queue_after_the_last_question(device, way):
    said = run(ASKED, f"{device.backend}:{device.type}:*", way)
    assert said[0] == "answered" and said.count("answered") == 1 and "released" in said


FETCHED = """
import atexit, sys, threading
left, over = threading.Event(), threading.Event()

@atexit.register  # before the package registers its own end: it runs after that
def last():
    over.set()
    for thread in fetching:
        thread.join()

fetching = []

import numpy as np
import bindless as bl
from bindless.submission.event import Event

queue = bl.Queue(sys.argv[1])
desc = bl.ImageDescriptor(8, 8)
pixels = np.arange(256, dtype=np.float32).reshape(desc.shape)
memory = bl.ImageMem(desc, queue)
queue.ext_oneapi_copy(pixels, memory).wait()
handle = bl.create_image(memory, desc, queue)
coords = np.array([[1, 2], [3, 4]], np.int32)
bl.fetch_image(queue, handle, coords)
wait = Event._wait_any

def waited(event, *arguments):
    wait(event, *arguments)
    left.set()
    over.wait()  # what is native is released

def fetch():
    # All waits of the thread go through Python.
    for lane in queue._stream._lanes or ():
        if hasattr(lane, "wait_for"):
            lane.wait_for = lane.query = 0
    Event._wait_any = waited
    try:
        found = bl.fetch_image(queue, handle, coords)
        print("right" if (found == pixels[coords[:, 1], coords[:, 0]]).all() else "wrong")
    except bl.InvalidError as error:
        print(error.code.name)
    left.set()

fetching.append(threading.Thread(target=fetch, daemon=True))
fetching[0].start()
left.wait()
"""


def test_the_exit_frees_no_memory_that_a_call_copies_its_result_from(device):
    """A result comes complete, or the call is refused: its staging memory is gone."""
    said = run(FETCHED, f"{device.backend}:{device.type}:*")
    staged = not device.has(bl.Aspect.usm_system_allocations) and device.backend == "level_zero"
    if staged:
        assert said == ["invalid"]
    else:
        assert said in (["right"], ["invalid"])


UPLOADED = """
import sys, threading, time
import numpy as np
import bindless as bl
from bindless.core import ownership
from bindless.image import uploading
from bindless.submission.command_stream import CommandStream

inside, gate = threading.Event(), threading.Event()

class Pinned:
    def __setitem__(self, key, pixels):
        inside.set()
        gate.wait()
        time.sleep(0.2)  # in which an exit that does not wait frees the memory
        print("copied")

def upload():
    try:
        bl.Image(np.zeros((4, 4, 4), np.float32), queue=queue)
    except (bl.SyclRuntimeError, bl.InvalidError):  # the queue has ended, and takes no such array
        pass

queue = bl.Queue(sys.argv[1], in_order=True)
uploading.free_array = lambda queue, desc: Pinned()
threading.Thread(target=upload, daemon=True).start()
inside.wait()
finish, release = CommandStream.finish, ownership._release_all

def finished(stream, reason):
    errors = finish(stream, reason)
    gate.set()
    return errors

def released(rows):
    if rows:
        print("released")
    release(rows)

CommandStream.finish, ownership._release_all = finished, released
"""


def test_the_exit_frees_pinned_memory_after_an_upload_has_filled_it(device):
    assert run(UPLOADED, f"{device.backend}:{device.type}:*") == ["copied", "released"]
