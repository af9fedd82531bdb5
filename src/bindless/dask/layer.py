"""``BlockLayer``: a layer of a graph with one task for each block, made when it is asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dask.highlevelgraph import Layer
from dask.task_spec import DataNode, Task, TaskRef

__all__ = ["BlockLayer"]

Key = Any
Dependencies = Callable[[Sequence[tuple[int, ...]]], Iterable[Iterable[Key]]]


class BlockLayer(Layer):  # type: ignore[misc]
    """One task for each block, and one value that all of them share.

    Parameters
    ----------
    name : str
        Of the array.
    counts : tuple[int, ...]
        Blocks along each axis.
    function : Callable
        Called with the shared value, the number of the block along each axis, and what the block depends on.
    shared : Any
        The shared value.
    dependencies : Callable, optional
        The keys that each of some blocks depends on.
    blocks : Sequence[tuple[int, ...]], optional
        The blocks that are wanted; default all.
    """

    def __init__(
        self,
        name: str,
        counts: tuple[int, ...],
        function: Callable[..., Any],
        shared: Any,
        dependencies: Dependencies | None = None,
        blocks: Sequence[tuple[int, ...]] | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(annotations=annotations)
        self.name, self.counts, self._function, self._shared = name, counts, function, shared
        self._dependencies, self._blocks = dependencies, blocks
        self._graph_tasks: dict[Key, Any] | None = None

    @property
    def shared_key(self) -> str:
        return f"{self.name}-shared"

    def _numbers(self) -> Sequence[tuple[int, ...]]:
        if self._blocks is not None:
            return self._blocks
        return list(itertools.product(*map(range, self.counts)))

    @property
    def _tasks(self) -> dict[Key, Any]:
        if self._graph_tasks is None:
            shared = TaskRef(self.shared_key)
            tasks: dict[Key, Any] = {self.shared_key: DataNode(self.shared_key, self._shared)}
            name, function, numbers = self.name, self._function, self._numbers()
            needed: Iterable[Iterable[Key]] = itertools.repeat(())
            if self._dependencies is not None:
                needed = self._dependencies(numbers)
            for block, keys in zip(numbers, needed):
                key = (name, *block)
                tasks[key] = Task(key, function, shared, block, *map(TaskRef, keys))
            self._graph_tasks = tasks
        return self._graph_tasks

    def is_materialized(self) -> bool:
        return self._graph_tasks is not None

    def get_output_keys(self) -> set[Key]:
        return {(self.name, *block) for block in self._numbers()}

    def __getitem__(self, key: Key) -> Any:
        return self._tasks[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._numbers()) + 1

    def cull(self, keys: set[Key], all_hlg_keys: Collection[Key]) -> tuple[Layer, Mapping[Key, set[Key]]]:
        """The layer of the wanted blocks, and what each depends on in other layers."""
        blocks = [tuple(key[1:]) for key in keys if isinstance(key, tuple) and key[0] == self.name]
        layer = BlockLayer(
            self.name, self.counts, self._function, self._shared, self._dependencies, blocks, self.annotations
        )
        return layer, {key: set(task.dependencies) for key, task in layer._tasks.items()}
