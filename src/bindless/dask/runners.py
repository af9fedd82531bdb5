"""Runners of a job's blocks: threads, processes of this machine, or a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Protocol

from ..model.errors import InvalidError
from .errors import BlockError

__all__ = ["Runner", "run_all", "runner"]

_AHEAD = 3  # blocks that are submitted for each thread
_DEATHS = 20  # workers that may end while they compute one block
_THREADS_OF_WORKER = 2
_LOOK_AGAIN, _PATIENCE = 1.0, 60.0  # seconds: between two looks at a cluster; without any worker
# A worker that dies twice within a few seconds must not end its place in the cluster.
_CONFIGURED = {"distributed.scheduler.allowed-failures": _DEATHS, "distributed.deploy.lost-worker-timeout": "24 h"}


class Runner(Protocol):
    """Computes blocks.

    Attributes
    ----------
    threads : int
        Blocks that are computed at a time.
    """

    threads: int

    def submit(self, function: Callable[..., None], *arguments: Any) -> Any:
        """A call, which ``wait`` and ``error`` take."""

    def wait(self, calls: Collection[Any]) -> Collection[Any]:
        """Some of these calls, which have ended; at least one."""

    def error(self, call: Any) -> BaseException | None:
        """Why a call that has ended was not completed, or None."""

    def cancel(self, call: Any) -> None:
        """Ends a call that has not begun, if that is possible."""


class ThreadRunner:
    """Threads of this process."""

    def __init__(self, executor: ThreadPoolExecutor, threads: int) -> None:
        self._executor, self.threads = executor, threads

    def submit(self, function: Callable[..., None], *arguments: Any) -> Future[None]:
        return self._executor.submit(function, *arguments)

    def wait(self, calls: Collection[Future[None]]) -> Collection[Future[None]]:
        return wait(calls, return_when=FIRST_COMPLETED).done

    def error(self, call: Future[None]) -> BaseException | None:
        return CancelledError() if call.cancelled() else call.exception()

    def cancel(self, call: Future[None]) -> None:
        call.cancel()


class ClusterRunner:
    """Workers of a cluster of distributed.

    Results are never fetched: a worker that dies after a block was written does not take the block with it.
    """

    def __init__(self, client: Any, threads: int) -> None:
        self._client, self.threads = client, threads
        self._alone_since: float | None = None

    def submit(self, function: Callable[..., None], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False)

    def wait(self, calls: Collection[Any]) -> Collection[Any]:
        import distributed

        while True:
            ended = [call for call in calls if call.status in ("finished", "error", "cancelled")]
            if ended:
                return ended
            try:
                distributed.wait(list(calls), timeout=_LOOK_AGAIN, return_when="FIRST_COMPLETED")
            except distributed.CancelledError:
                continue
            except distributed.TimeoutError:
                self._require_workers()

    def _require_workers(self) -> None:
        if self._client.nthreads():
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = now if self._alone_since is None else self._alone_since
        if now - self._alone_since > _PATIENCE:
            raise BlockError(f"the cluster has had no workers for {_PATIENCE:.0f} s")

    def error(self, call: Any) -> BaseException | None:
        if call.status == "error":
            error: BaseException = call.exception()
            return error
        return CancelledError(f"the scheduler ended {call.key}") if call.status == "cancelled" else None

    def cancel(self, call: Any) -> None:
        call.cancel()


@contextmanager
def runner(workers: int | None, scheduler: str | None) -> Iterator[Runner]:
    """Threads of this process; or this many processes of this machine; or the workers of a scheduler.

    Raises
    ------
    InvalidError
        distributed is not installed, or the scheduler is not reached.
    """
    if scheduler is None and workers is None:
        threads = max(os.cpu_count() or 1, 2)
        with ThreadPoolExecutor(threads, "bindless") as executor:
            yield ThreadRunner(executor, threads)
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InvalidError(
            f"--workers and --scheduler need distributed: pip install 'bindless[dask]' ({error})"
        ) from error
    with dask.config.set(_CONFIGURED):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=10)
            except (OSError, ValueError) as error:
                raise InvalidError(f"--scheduler {scheduler} is not reached: {error}") from error
            with client:
                threads = sum(client.nthreads().values())
                if not threads:
                    raise InvalidError(f"--scheduler {scheduler} has no workers")
                yield ClusterRunner(client, threads)
            return
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=_THREADS_OF_WORKER,
                processes=True,
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield ClusterRunner(client, (workers or 1) * _THREADS_OF_WORKER)


def run_all(
    runner: Runner, function: Callable[..., Any], shared: Any, numbers: Iterator[int], done: Callable[[int], None]
) -> None:
    """Calls a function for each number, a few at a time; the first failure ends it, after those that have begun.

    Parameters
    ----------
    runner : Runner
        Computes them.
    function : Callable
        Called with the shared argument and a number.
    shared : Any
        Travels with each call.
    numbers : Iterator[int]
        Of the blocks.
    done : Callable
        Called here with each number that is finished.
    """
    left: dict[Any, int] = {}
    failure: BaseException | None = None
    try:
        while True:
            while failure is None and len(left) < _AHEAD * runner.threads:
                number = next(numbers, None)
                if number is None:
                    break
                left[runner.submit(function, shared, number)] = number
            if not left:
                break
            for call in runner.wait(left):
                number = left.pop(call)
                error = runner.error(call)
                if error is None:
                    done(number)
                elif failure is None:
                    failure = error
                    for other in left:
                        runner.cancel(other)
    except BaseException:
        for call in left:
            runner.cancel(call)
        raise
    if failure is not None:
        raise failure
