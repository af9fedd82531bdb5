"""``NestedArray``: a dask array of which a task computes the parts that it needs."""

from __future__ import annotations

import itertools
from typing import Any

import dask.array as da
from dask.local import get_sync
from dask.task_spec import DataNode, Task

from .chunks import chunks_between, empty_like, read_chunks, starts_of

__all__ = ["NestedArray"]


class NestedArray:
    """A dask array whose parts are computed where they are read, in the thread of the caller.

    Which parts a task needs is known only when it runs, from displacements that it reads: it cannot depend on them. A
    chunk that several blocks need is computed for each of them.

    Parameters
    ----------
    array : dask.array.Array
        Its graph travels with the tasks.
    """

    def __init__(self, array: da.Array) -> None:
        self.shape, self.dtype, self.name = array.shape, array.dtype, array.name
        self._starts = starts_of(array.chunks)
        self._graph: Any = array.__dask_graph__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graph": dict(self._graph)}

    def __getitem__(self, part: tuple[slice, ...]) -> Any:
        ranges = [chunks_between(starts, along.start, along.stop) for starts, along in zip(self._starts, part)]
        numbers = list(itertools.product(*ranges))
        keys = [(self.name, *number) for number in numbers]
        values = get_sync(_needed(self._graph, keys), keys)
        return read_chunks(self._starts, dict(zip(numbers, values)), empty_like, part)


def _needed(graph: Any, keys: list[Any]) -> dict[Any, Any]:
    """The tasks that some keys depend on, and the chunks that a cluster keeps."""
    tasks: dict[Any, Any] = {}
    futures: dict[Any, Any] = {}
    left = list(keys)
    while left:
        key = left.pop()
        if key not in tasks and key not in futures:
            task = graph[key]
            if type(task).__module__.partition(".")[0] == "distributed":  # a Future
                futures[key] = task
                continue
            tasks[key] = task
            left.extend(task.dependencies if isinstance(task, Task) else getattr(task, "dependencies", ()))
    if futures:
        tasks.update({key: DataNode(key, value) for key, value in zip(futures, _fetched(list(futures.values())))})
    return tasks


def _fetched(futures: list[Any]) -> list[Any]:
    """Chunks that a cluster keeps, or is still to compute: meanwhile the worker has a thread for them."""
    from distributed import Future, get_worker, worker_client

    try:
        get_worker()
    except ValueError:  # not in a worker
        return [future.result() for future in futures]
    with worker_client() as client:
        values: list[Any] = client.gather([Future(future.key, client) for future in futures])
        return values
