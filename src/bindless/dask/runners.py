"""Where the blocks of a job are computed: threads, processes of this machine, or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from ..model.errors import InvalidError

__all__ = ["Runner", "run_all", "runner"]

_AHEAD = 3  # blocks that are submitted for each thread
_DEATHS = 20  # workers that may end while they compute one block
_THREADS_OF_WORKER = 2


class Runner:
    """Computes blocks.

    Attributes
    ----------
    executor : Executor
        Takes functions.
    threads : int
        Blocks that are computed at a time.
    """

    def __init__(self, executor: Executor, threads: int) -> None:
        self.executor, self.threads = executor, threads


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
            yield Runner(executor, threads)
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InvalidError(
            f"--workers and --scheduler need distributed: pip install 'bindless[dask]' ({error})"
        ) from error
    with dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS}):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=10)
            except (OSError, ValueError) as error:
                raise InvalidError(f"--scheduler {scheduler} is not reached: {error}") from error
            with client:
                threads = sum(client.nthreads().values())
                if not threads:
                    raise InvalidError(f"--scheduler {scheduler} has no workers")
                yield Runner(client.get_executor(), threads)
            return
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=_THREADS_OF_WORKER, processes=True, dashboard_address=None,
                memory_limit=0,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            yield Runner(client.get_executor(), (workers or 1) * _THREADS_OF_WORKER)


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
    left: dict[Future[Any], int] = {}
    failure: BaseException | None = None
    try:
        while True:
            while failure is None and len(left) < _AHEAD * runner.threads:
                number = next(numbers, None)
                if number is None:
                    break
                left[runner.executor.submit(function, shared, number)] = number
            if not left:
                break
            finished, _ = wait(left, return_when=FIRST_COMPLETED)
            for future in finished:
                number = left.pop(future)
                if future.cancelled():
                    continue
                error = future.exception()
                if error is None:
                    done(number)
                elif failure is None:
                    failure = error
                    for other in left:
                        other.cancel()
    except BaseException:
        for future in left:
            future.cancel()
        raise
    if failure is not None:
        raise failure
