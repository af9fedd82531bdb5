"""Threads of host tasks while the interpreter ends, when Python 3.12 and newer start no thread."""

from __future__ import annotations

import threading

import pytest

from bindless.model.errors import SyclRuntimeError
from bindless.submission.worker_threads import Pool
from tests.support.error_checks import raises


def _refuse(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError(f"can't {reason}")

    monkeypatch.setattr(threading.Thread, "start", start)


def test_a_free_thread_takes_the_jobs_of_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, ran, ended = Pool(), [], threading.Event()
    begun, go_on = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        assert go_on.wait(60)
        pool.run(lambda: third(1))  # from the thread itself
        ran.append(0)

    def third(number: int) -> None:
        ran.append(number)
        if number < 4:
            pool.run(lambda: third(number + 1))
        else:
            ended.set()

    pool.run(first)
    assert begun.wait(60)
    _refuse(monkeypatch, "create new thread at interpreter shutdown")
    pool.run(lambda: ran.append("other"))  # from another thread
    go_on.set()
    assert ended.wait(60)
    assert ran == [0, "other", 1, 2, 3, 4]


@pytest.mark.parametrize("reason", ["create new thread at interpreter shutdown", "start new thread"])
def test_without_a_thread_the_job_is_refused(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second reason is a system without more threads: a job does not wait for the threads that there are."""
    pool, begun, go_on = Pool(), threading.Event(), threading.Event()

    def busy() -> None:
        begun.set()
        go_on.wait(60)

    if reason == "start new thread":
        pool.run(busy)
        assert begun.wait(60)
    _refuse(monkeypatch, reason)
    with raises(SyclRuntimeError):
        pool.run(lambda: None)
    go_on.set()
