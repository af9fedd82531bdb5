"""``CommandGraph``: commands recorded once and submitted many times, as one where the driver can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from ...backends.contract import NativeEvent
from ...core import ownership
from ...core.lock import Lock
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...model.ranges import NdRange, RangeLike
from ...model.single_owner import SingleOwner
from ...submission.event import Event
from ..copy import memory_commands
from ..copy.image_copy import Operation, image_copy
from ..kernel.bundle import KernelBundle
from ..kernel.kernel import Kernel
from ..kernel.kernel_template import KernelTemplate
from ..kernel.offset_launch import has_offset, launch_operation
from ..usm.array import UsmArray
from ..usm.pointer import UsmPointer
from .queue import Queue

__all__ = ["CommandGraph"]


class _Step(Protocol):
    """Submits a command anew; launches bound to their arguments do."""

    def __call__(self, *, depends_on: Iterable[Event] | Event = ()) -> Event: ...


class CommandGraph(SingleOwner):
    """Commands in the order in which they were added; calling it submits all of them to its queue.

    Arguments are checked and packed when a command is added, and keep their values; memory is kept alive, and what it
    holds is read by each run. On CUDA the graph is one of the driver's (a CUgraph), on Level Zero a command list that
    is closed once, where the driver executes such, and on the reference a batch: a run is one command, costs a fraction
    of what the commands cost one by one, ends with the first that fails, and comes after the run before. Elsewhere the
    commands are submitted one after the other.

    Parameters
    ----------
    queue : Queue
        Where it runs.

    Attributes
    ----------
    queue : Queue
        The same.

    Examples
    --------
    >>> queue = bindless.Queue("reference", in_order=True)
    >>> memory = bindless.usm_empty(4, np.int32, queue)
    >>> with bindless.CommandGraph(queue) as graph:
    ...     graph.fill(memory, 5)
    ...     event = graph.finalize()()
    >>> memory.numpy()
    array([5, 5, 5, 5], dtype=int32)
    """

    def __init__(self, queue: Queue) -> None:
        if not isinstance(queue, Queue):
            raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
        queue._native  # noqa: B018  raises if it has ended
        self.queue = queue
        self._backend = queue._backend
        graphs = self._backend.graph
        self._graphs = graphs if graphs is not None and graphs.records_graphs(queue._native) else None
        # Commands are planned for the queue that takes them: with a driver's graph one that only records.
        self._recorder = queue if self._graphs is None else Queue(queue.device, queue.context, in_order=True)
        self._commands: list[Operation] = []
        self._steps: list[_Step] = []  # submit the commands one by one
        self._keep: dict[int, object] = {}  # by identity, each once, without the numbers
        self._references: tuple[object, ...] = ()  # the same, and the driver's graph; settled when that is made
        self._owned: tuple[UsmArray | UsmPointer | KernelBundle, ...] = ()  # of these, what may be freed meanwhile
        self._resource: ownership.Resource | None = None
        self._native: Any = None
        self._closed = False
        self._lock = Lock()

    # ------------------------------------------------------------------ commands

    def parallel_for(
        self, index_space: RangeLike | NdRange, kernel: Kernel | KernelTemplate, *arguments: object
    ) -> None:
        """Adds a kernel; see ``Queue.parallel_for``."""
        run = self._recorder
        here, sizes, packed, values = run._plan_launch(index_space, kernel, arguments)
        if 0 in sizes[0]:
            return
        if has_offset(index_space):
            assert isinstance(index_space, NdRange)
            self._add(launch_operation(run, index_space, here, sizes, packed), (here._bundle, *values))
            return
        backend, native, fixed = self._backend, run._native, tuple(packed)
        step = here.bind(run, index_space, *values) if self._graphs is None else None
        self._add(
            lambda waits: backend.launch(native, here._native, *sizes, fixed, waits), (here._bundle, *values), step
        )

    def memcpy(self, dst: object, src: object, nbytes: int | None = None) -> None:
        """Adds a copy of bytes; see ``Queue.memcpy``. Host memory is read or written by each run."""
        self._plan(memory_commands.plan_memcpy(self._recorder, dst, src, nbytes))

    def fill(self, pointer: object, pattern: object, count: int | None = None) -> None:
        """Adds ``count`` copies of a pattern; see ``Queue.fill``."""
        self._plan(memory_commands.plan_fill(self._recorder, pointer, pattern, count))

    def ext_oneapi_copy(self, src: object, dst: object, **places: Any) -> None:
        """Adds a copy of pixels; see ``Queue.ext_oneapi_copy``, whose keywords it takes but for ``depends_on``."""
        self._plan(image_copy(self._recorder, src, dst, **places))

    def _plan(self, planned: tuple[Operation, tuple[object, ...]] | None) -> None:
        if planned is not None:
            self._add(*planned)

    def _add(self, command: Operation, keep: tuple[object, ...], step: _Step | None = None) -> None:
        with self._lock:
            self._require_open()
            if self._native is not None:
                raise InvalidError("this graph has run, or was finalized: its commands are settled; make another one")
            stream = self.queue._stream
            self._commands.append(command)
            if step is None:
                step = lambda *, depends_on=(): stream.submit(command, depends_on, keep)  # noqa: E731
            self._steps.append(step)
            self._keep.update((id(item), item) for item in keep if not isinstance(item, (int, float, np.generic)))

    def __len__(self) -> int:
        return len(self._commands)

    # ------------------------------------------------------------------ running

    def finalize(self) -> CommandGraph:
        """Makes it ready, which the first call does otherwise; nothing can be added afterwards.

        Raises
        ------
        Error
            The driver takes no such graph.
        """
        with self._lock:
            self._require_open()
            if self._native is None:
                self._references = tuple(self._keep.values())
                self._owned = tuple(
                    item for item in self._references if isinstance(item, (UsmArray, UsmPointer, KernelBundle))
                )
                if self._graphs is None:
                    self._native = tuple(self._commands)
                else:
                    graph = self._graphs.record_graph(self._recorder._native, self._commands)
                    context = self.queue.context._resource
                    release = self._graphs.release_graph
                    self._resource = ownership.Resource(ownership.Rank.EVENT, context, release, graph)
                    self._references = (self._resource, *self._references)
                    self._native = graph
        return self

    def __call__(self, *, depends_on: Iterable[Event] | Event = ()) -> Event:
        """Submits all commands, each after the one before; the event is of the last.

        Raises
        ------
        InvalidError
            It was closed, or memory or a bundle that it uses; or it has no commands.
        """
        if self._native is None:
            self.finalize()
        self._require_open()
        if not self._commands:
            raise InvalidError("this graph has no commands")
        self._require_memory()
        stream = self.queue._stream
        graphs, graph = self._graphs, self._native
        if graphs is not None:
            target = self.queue._native

            def run(waits: Sequence[NativeEvent]) -> NativeEvent:
                return graphs.launch_graph(target, graph, waits)

            return stream.submit(run, depends_on, self._references)
        first, *others = self._steps
        event = first(depends_on=depends_on)
        for step in others:  # a queue in order needs not be told
            event = step() if stream.in_order else step(depends_on=event)
        return event

    def _require_memory(self) -> None:
        for item in self._owned:
            if isinstance(item, KernelBundle):
                item._require_open()
            elif not item._owner.open:
                raise item._owner.freed()

    def _require_open(self) -> None:
        if self._closed:
            raise InvalidError("this graph was closed")

    def close(self) -> None:
        """Lets go of everything; runs that are under way go on."""
        with self._lock:
            self._closed = True
            self._commands, self._steps, self._native, self._resource = [], [], None, None
            self._keep, self._references, self._owned = {}, (), ()
            if self._recorder is not self.queue:
                self._recorder.close()

    def __enter__(self) -> CommandGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<CommandGraph of {len(self._commands)} commands on {self.queue!r}>"
