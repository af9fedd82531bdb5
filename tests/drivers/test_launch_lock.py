"""The lock of a queue's commands: exclusive between threads, recursive in one thread, and interruptible by Ctrl-C."""

from __future__ import annotations

import signal
import threading

import pytest

from bindless.core.lock import Lock


def test_one_thread_at_a_time() -> None:
    lock, inside, most, rounds = Lock(), [], [], 2000

    def work() -> None:
        for _ in range(rounds):
            with lock:
                inside.append(1)
                with lock:
                    most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 4 * rounds and set(most) == {1} and not inside


def test_only_the_holder_releases() -> None:
    lock, refused = Lock(), []

    def other() -> None:
        try:
            lock.release()
        except RuntimeError as error:
            refused.append(str(error))

    with pytest.raises(RuntimeError, match="does not hold"):
        lock.release()
    with lock:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert refused == ["this thread does not hold the lock"]
    with pytest.raises(TypeError):
        Lock(1)  # type: ignore[call-arg]


def test_an_exception_leaves_it_free() -> None:
    lock = Lock()
    with pytest.raises(ZeroDivisionError), lock:
        1 / 0  # noqa: B018
    taken = threading.Thread(target=lambda: lock.acquire() and lock.release())
    taken.start()
    taken.join()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads: not on Windows")
def test_an_interrupt_ends_the_wait() -> None:
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    interrupt = threading.Timer(0.05, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent process may ignore SIGINT
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupt.start()
            lock.acquire()
    finally:
        done.set()
        interrupt.join()
        holder.join()
        signal.signal(signal.SIGINT, before)
    with lock:  # the lock is consistent
        pass
