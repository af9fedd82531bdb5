"""Workers: each request gets its own answer, whatever happens to the process, the program and its threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest

import bindless as bl
from bindless.compiler.process.time_limit import VARIABLE, Deadline
from bindless.compiler.process.worker import Worker

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and forks of POSIX")

# Answers a request with its own text after as many seconds as its first word says.
ECHO = """
import time
from bindless.compiler.process.worker_loop import serve
def answer(data):
    time.sleep(float(data.split()[0]))
    return data + b"!"
serve(answer)
"""
GROWING = """
from bindless.compiler.process.worker_loop import serve
kept = []
def answer(data):
    kept.append(b"x" * int(data))
    return data
serve(answer, most_growth=64 << 20)
"""
# Answers the second request with the answer to the first.
CONFUSED = """
import hashlib, os, sys
from bindless.compiler.process.worker_loop import HEAD
first = None
while True:
    length, number, limit, digest = HEAD.unpack(sys.stdin.buffer.read(HEAD.size))
    data = sys.stdin.buffer.read(length)
    first = first or (number, digest, data)
    for text in (b"", first[2]):
        sys.stdout.buffer.write(HEAD.pack(len(text), first[0], 0.0, first[1]) + text)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(ECHO, "the test's worker")
    yield made
    made.close()


def ask(worker: Worker, text: bytes) -> bytes:
    return worker.ask(text, Deadline(), "a step")


class Interrupted(Exception):
    """Raised by the handler of a signal."""


def interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted


@pytest.fixture
def alarm() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("wait", [0.05, 0.7, 1.5])
def test_an_interrupted_request_leaves_no_answer(worker: Worker, wait: float) -> None:
    """The signal comes while the process starts, or while it works."""
    for warm in (False, True):
        if warm:
            assert ask(worker, b"0 warm") == b"0 warm!"
        signal.setitimer(signal.ITIMER_REAL, wait)
        with pytest.raises(Interrupted):
            ask(worker, b"60 first")
        assert worker.process_id() is None
        assert ask(worker, b"0 second") == b"0 second!"


@pytest.mark.usefixtures("alarm")
def test_other_threads_get_their_answers(worker: Worker) -> None:
    ask(worker, b"0")
    with ThreadPoolExecutor(4) as pool:
        texts = [f"0.05 {number}".encode() for number in range(12)]
        answers = pool.map(lambda text: ask(worker, text), texts)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            while True:
                assert ask(worker, b"0.1 main") == b"0.1 main!"
        assert list(answers) == [text + b"!" for text in texts]


def test_an_idle_process_that_is_killed_is_started_again(worker: Worker) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        assert ask(worker, b"0 one") == b"0 one!"
        process = worker.process_id()
        assert process is not None
        os.kill(process, number)
        assert ask(worker, b"0 two") == b"0 two!"
        assert worker.process_id() != process


def test_a_process_that_is_killed_at_work_is_an_error(worker: Worker) -> None:
    ask(worker, b"0")
    process = worker.process_id()
    assert process is not None
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, worker, b"60 slow")
        while worker.process_id() is not None:
            time.sleep(0.01)
        time.sleep(0.3)  # the request is on its way
        os.kill(process, signal.SIGKILL)
        with pytest.raises(bl.BuildError):
            answer.result(60)
    assert ask(worker, b"0 next") == b"0 next!"


def test_interrupts_of_the_terminal_do_not_reach_it(worker: Worker) -> None:
    ask(worker, b"0")
    process = worker.process_id()
    assert process is not None
    assert os.getsid(process) == process != os.getsid(0)
    os.kill(process, signal.SIGINT)
    assert ask(worker, b"0 two") == b"0 two!" and worker.process_id() == process


def test_the_time_limit(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(worker, b"0")
    process = worker.process_id()
    assert process is not None
    monkeypatch.setenv(VARIABLE, "0.5")
    with pytest.raises(bl.BuildError, match=VARIABLE):
        ask(worker, b"60 slow")
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    monkeypatch.delenv(VARIABLE)
    assert ask(worker, b"0 next") == b"0 next!"


@pytest.mark.parametrize("text", ["0", "-1", "five", "nan", "inf", "1e30"])
def test_time_limits_that_are_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(bl.InvalidError):
        bl.build("kernel void k(global int *out) { out[0] = 1; }")


def test_a_process_that_has_grown_is_replaced() -> None:
    worker = Worker(GROWING, "the test's worker")
    seen = []
    for size in (b"1000", b"1000", b"100000000", b"1000"):
        assert ask(worker, size) == size
        seen.append(worker.process_id())
    assert seen[0] == seen[1] == seen[2] != seen[3]
    worker.close()


def test_the_answer_to_another_request_is_refused() -> None:
    worker = Worker(CONFUSED, "the test's worker")
    assert ask(worker, b"one") == b"one"
    with pytest.raises(bl.BuildError):
        ask(worker, b"two")
    assert ask(worker, b"three") == b"three"  # of a new process
    worker.close()


def test_a_program_that_cannot_start_is_an_error() -> None:
    worker = Worker("raise SystemExit(7)", "the test's worker")
    with pytest.raises(bl.BuildError) as caught:
        ask(worker, b"one")
    assert "7" in str(caught.value)


FORKS = f"""
import os, sys, threading, time
from bindless.compiler.process.time_limit import Deadline
from bindless.compiler.process.worker import Worker
worker = Worker({ECHO!r}, "the test's worker")
def ask(text):
    return worker.ask(text, Deadline(), "a step")
ask(b"0")
answers = []
thread = threading.Thread(target=lambda: answers.append(ask(b"1 parent")))
thread.start()
while worker.process_id() is not None:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    right = ask(b"0 child") == b"0 child!"
    worker.close()
    os._exit(0 if right else 1)
thread.join()
assert os.waitpid(child, 0)[1] == 0
assert answers == [b"1 parent!"] and ask(b"0 again") == b"0 again!"
child = os.fork()
if child == 0:  # lives on, after the program has ended
    os.read(int(sys.argv[1]), 1)
    os._exit(0)
print(worker.process_id(), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_forks(tmp_path: Path) -> None:
    """A fork has a worker of its own, and does not keep the other one alive."""
    program = tmp_path / "program.py"
    program.write_text(FORKS)
    waits, release = os.pipe()
    try:
        with open(tmp_path / "output", "w+") as output:
            command = [sys.executable, "-W", "ignore", str(program), str(waits)]
            started = subprocess.Popen(command, stdout=output, pass_fds=[waits])
            assert started.wait(60) == 0
            output.seek(0)
            process = int(output.read())
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    finally:
        os.close(release)
        os.close(waits)
