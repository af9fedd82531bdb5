"""A KeyboardInterrupt at the entry of every function of the package, during one operation each.

CPython runs signal handlers at function entries, so Ctrl-C arrives there. After an interrupt at any entry the queue
drains, the next operation works, and the buffer holds the data of the last command.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support import buffer_kernels

PACKAGE = str(Path(bl.__file__).parent)
MOST = 70  # interrupts per operation, spread evenly over its entries if it has more
PATIENCE = 30.0


# CPython prints and drops exceptions of destructors, of callbacks of the collector and of generators that are closed.
UNRAISABLE = ("__del__", "_on_collection", "<genexpr>", "_instructions")


class Interrupt(KeyboardInterrupt):
    pass


class Tracer:
    """Raises at this thread's ``at``-th entry into a function of the package; 0 only counts entries."""

    def __init__(self, at: int) -> None:
        self.at, self.count, self.where = at, 0, ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name in UNRAISABLE:
            return
        self.count += 1
        if self.count == self.at:
            self.where = f"{code.co_filename[len(PACKAGE) :]}:{frame.f_lineno} {code.co_name}"
            sys.settrace(None)
            raise Interrupt


class Place:
    """The objects that an operation uses."""

    def __init__(self, device: bl.Device, in_order: bool) -> None:
        self.device = device
        self.queue = bl.Queue(device, bl.Context(device), in_order=in_order)
        self.other = bl.Queue(device)
        self.kernel = buffer_kernels.load(self.queue).get_kernel("put")
        self.array = bl.usm_empty(64, np.int32, self.queue)
        self.buffer = bl.Buffer(np.zeros(8, np.int32))
        for _ in range(3):  # later launches take a shorter path
            self.queue.parallel_for(64, self.kernel, self.array, 1, 64)
        self.queue.wait()

    def slow(self) -> bl.Event:
        return self.other.submit(lambda h: h.host_task(lambda: time.sleep(0.002)))

    def check(self) -> None:
        """Check that the next operations work and that all work ends."""
        self.queue.wait()
        self.queue.parallel_for(64, self.kernel, self.array, 9, 64)
        values = self.array.numpy(self.queue)
        assert (values == 9).all()
        self.queue.submit(lambda h: h.fill(self.buffer.get_access(h, "write"), np.int32(6)))
        with self.buffer.get_host_access("read") as values:
            assert (values == 6).all()
        assert not self.queue._stream.tasks
        self.buffer.close()
        self.queue.close()
        self.other.close()


def host_task(place: Place) -> None:
    place.queue.submit(lambda h: h.host_task(lambda: None))


def deferred(place: Place) -> None:
    event = place.slow()
    place.queue.fill(place.array, np.int32(1), depends_on=event)
    place.queue.parallel_for(64, place.kernel, place.array, 3, 64)


def barrier(place: Place) -> None:
    place.queue.ext_oneapi_submit_barrier([place.slow()])


def host_accessor(place: Place) -> None:
    with place.buffer.get_host_access("read_write") as values:
        values[0] = 1
        event = place.queue.submit(lambda h: h.fill(place.buffer.get_access(h, "write"), np.int32(1)))
    event.wait()


def buffer(place: Place) -> None:
    with bl.Buffer(np.zeros(8, np.int32)) as made:
        place.queue.submit(lambda h: h.fill(made.get_access(h, "write"), np.int32(1)))

        def group(h: bl.Handler) -> None:
            access = made.get_access(h, "read_write", target="host_task")
            h.host_task(lambda: access.array.__iadd__(1))

        place.queue.submit(group)


def launch(place: Place) -> None:
    place.queue.parallel_for(32, place.kernel, place.array, 3, 32)


def copy(place: Place) -> None:
    place.queue.memcpy(np.zeros(64, np.int32), place.array, 256)


def memory(place: Place) -> None:
    made = bl.usm_empty(100, np.int32, place.queue)
    place.queue.fill(made, np.int32(3))
    made.numpy(place.queue)
    made.close()


def image(place: Place) -> None:
    with bl.Image(np.ones((4, 4), np.float32), queue=place.queue) as made:
        made.sample([[1, 1]])


def queue(place: Place) -> None:
    made = bl.Queue(place.device, place.queue.context)
    made.submit(lambda h: h.host_task(lambda: None))
    made.close()


def graph(place: Place) -> None:
    with bl.CommandGraph(place.queue) as made:
        made.fill(place.array, np.int32(4))
        made.parallel_for(64, place.kernel, place.array, 3, 64)
        made()


OPERATIONS: list[Callable[[Place], None]] = [
    host_task, deferred, barrier, host_accessor, buffer, launch, copy, memory, image, queue, graph,
]  # fmt: skip


@pytest.fixture
def untraced() -> Iterator[None]:
    before = sys.gettrace()
    yield
    sys.settrace(before)


def interrupted(operation: Callable[[Place], None], place: Place, at: int) -> Tracer:
    tracer = Tracer(at)
    gc.disable()  # a garbage collection would add entries
    sys.settrace(tracer)
    try:
        operation(place)
        for _ in range(1000):  # an interrupt inside a destructor arrives after it
            pass
    except Interrupt:
        pass
    finally:
        sys.settrace(None)
        gc.enable()
    return tracer


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("in_order", [False, True], ids=["out of order", "in order"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_an_interrupt_at_any_entry_leaves_the_queue_able_to_end(
    device: bl.Device, operation: Callable[[Place], None], in_order: bool
) -> None:
    if operation is graph and not in_order:
        pytest.skip("a graph is recorded from a queue that is in order")
    for _ in range(2):  # the first run makes what later ones find
        place = Place(device, in_order)
        total = interrupted(operation, place, 0).count
        place.check()
    step = -(-total // MOST)
    done = 0
    for at in range(1, total + 1, step):
        place = Place(device, in_order)
        tracer = interrupted(operation, place, at)
        failures: list[BaseException] = []

        def check(place: Place = place, failures: list[BaseException] = failures) -> None:
            try:
                place.check()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=check, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert not thread.is_alive(), f"the queue does not end after an interrupt at {tracer.where}"
        assert not failures, f"after an interrupt at {tracer.where}: {failures[0]!r}"
        done += bool(tracer.where)
    assert done > total // step // 2


PROGRAM = """
import os, signal, threading, time
import numpy as np, bindless as bl
signal.signal(signal.SIGINT, signal.default_int_handler)  # the process may be started with it ignored
queue, go, over = bl.Queue({device!r}), threading.Event(), threading.Event()
def interrupt():
    pause = 0.0005
    for _ in range({count}):
        go.wait()
        pause = pause * 1.37 % 0.007
        time.sleep(pause)
        go.clear()
        os.kill(os.getpid(), signal.SIGINT)
    over.set()
interrupter = threading.Thread(target=interrupt, daemon=True)
interrupter.start()
seen = 0
while not over.is_set():
    try:
        go.set()
        for _ in range(100):  # and on, where the interrupt fell into a destructor of another package
            values = np.zeros(64, np.int32)
            with bl.Buffer(values) as buffer:
                def group(h):
                    access = buffer.get_access(h, "read_write", target="host_task")
                    h.host_task(lambda: access.array.__iadd__(1))
                queue.submit(group)
                queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), np.int32(1)))
    except KeyboardInterrupt:
        seen += 1
        if seen == {count}:
            break
signal.signal(signal.SIGINT, signal.SIG_IGN)
queue.wait()
last = np.zeros(4, np.int32)
with bl.Buffer(last) as buffer:
    queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), np.int32(9)))
print(seen, last.tolist())
"""


@pytest.mark.skipif(os.name != "posix", reason="sends itself signals")
def test_a_program_that_is_interrupted_again_and_again_ends(device: bl.Device) -> None:
    count = 60
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(device=f"{device.backend}", count=count)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    seen, _, last = done.stdout.partition(" ")
    assert count // 2 < int(seen) <= count and last == "[9, 9, 9, 9]\n", done.stderr


RELEASE = """
import os, signal, bindless as bl
from bindless.core.ownership import Rank, Resource
signal.signal(signal.SIGINT, signal.default_int_handler)  # the process may be started with it ignored
released = []
def release(number):
    os.kill(os.getpid(), signal.SIGINT)  # in the midst of the destructor
    for _ in range(1000):
        pass
    released.append(number)
seen = 0
for number in range(100):
    resource = Resource(Rank.MEMORY, None, release, number)
    try:
        del resource
        for _ in range(1000):
            pass
    except KeyboardInterrupt:
        seen += 1
print(seen, released == list(range(100)))
"""


@pytest.mark.skipif(os.name != "posix", reason="sends itself signals")
def test_an_interrupt_in_a_destructor_neither_leaks_nor_is_lost() -> None:
    done = subprocess.run([sys.executable, "-c", RELEASE], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "100 True\n", "")


SIGNALS = """
import gc, os, signal, subprocess, sys, time
import bindless.core.ownership  # listens to the collector
from bindless.core.lock import Lock
signal.signal(signal.SIGINT, signal.default_int_handler)  # the process may be started with it ignored
# Another process sends the signals: a thread would hold the interpreter lock, and they would arrive at its exchange.
interrupt = '''
import os, sys, time
pause = 0.0001
while sys.stdin.buffer.raw.read(1):
    pause = pause * 1.37 % 0.001
    time.sleep(pause)
    os.kill(os.getppid(), 2)
'''
command = [sys.executable, "-I", "-c", interrupt]
sender = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True)
lock = Lock()
def use_lock():
    with lock:
        pass
def collect():
    gc.collect(0)
held = 0
for number in range(1000):
    end = time.monotonic() + 5
    try:
        sender.stdin.write(b"x")
        while time.monotonic() < end:
            {call}()
        raise SystemExit(f"interrupt {{number}} is lost")
    except KeyboardInterrupt:
        held += lock.depth
        while lock.depth:
            lock.release()
print(held)
sender.kill()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends itself signals")
@pytest.mark.parametrize("call", ["use_lock", "collect"])
def test_an_interrupt_neither_keeps_a_lock_nor_is_lost_in_a_collection(call: str) -> None:
    command = [sys.executable, "-c", SIGNALS.format(call=call)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


FORKED = """
import os, signal, sys, threading, time
from bindless.core._submission import Owner
signal.signal(signal.SIGINT, signal.default_int_handler)
begins, over = threading.Event(), threading.Event()

def is_interrupted():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            time.sleep(0.001)
    except KeyboardInterrupt:
        return True
    return False

class Ending(Owner):
    def _finalize(self):
        if sys.argv[1] == "main":
            fork()
        else:
            begins.set()
            over.wait(20)

children = []
def fork():
    child = os.fork()
    if child == 0 and sys.argv[1] == "main":
        return  # the destructor goes on, and Ctrl-C arrives after it
    if child == 0:
        first = is_interrupted()
        ending = Owner.__new__(Second)
        try:
            del ending
            os.kill(os.getpid(), 0)  # looks for signals: from Python 3.13 on, a loop does not in the child of a thread
            second = False
        except KeyboardInterrupt:
            second = True
        os._exit(0 if first and second else 1)
    children.append(child)

class Second(Owner):
    def _finalize(self):
        os.kill(os.getpid(), signal.SIGINT)  # raised after the destructor
        for _ in range(1000):
            pass
        finished.append(True)
finished = []

def other():
    begins.wait(20)
    fork()
    over.set()

thread = threading.Thread(target=other)
if sys.argv[1] == "thread":
    thread.start()
ending = Ending()
del ending
if not children:
    os._exit(0 if is_interrupted() else 1)
if sys.argv[1] == "thread":
    thread.join()
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], is_interrupted())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("forks", ["main", "thread"])
def test_a_fork_in_a_destructor_leaves_interrupts_to_the_child(forks: str) -> None:
    """The destructor does not end in a child of another thread, which has Python's handler nevertheless."""
    done = subprocess.run([sys.executable, "-c", FORKED, forks], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[0] True\n"), done.stderr
