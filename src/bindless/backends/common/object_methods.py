"""``ObjectMethods``: the methods of a back end that its contexts, queues, events, modules and kernels implement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from ...model.enums import EventStatus
from ..contract import KernelRecord

__all__ = ["ObjectMethods"]


class _ContextObject(Protocol):
    def close(self) -> None: ...


class _QueueObject(Protocol):
    def barrier(self, waits: Sequence[Any] = ()) -> Any: ...
    def wait(self) -> None: ...
    def is_idle(self) -> bool: ...
    def close(self) -> None: ...


class _EventObject(Protocol):
    def wait(self) -> None: ...
    def status(self) -> EventStatus: ...
    def times(self) -> tuple[int, int, int]: ...
    def release(self) -> None: ...


class _ModuleObject(Protocol):
    @property
    def log(self) -> str: ...
    def names(self) -> tuple[str, ...]: ...
    def close(self) -> None: ...


class _KernelObject(Protocol):
    def record(self) -> KernelRecord: ...


_Context = TypeVar("_Context", bound=_ContextObject)
_Queue = TypeVar("_Queue", bound=_QueueObject)
_Event = TypeVar("_Event", bound=_EventObject)
_Module = TypeVar("_Module", bound=_ModuleObject)
_Kernel = TypeVar("_Kernel", bound=_KernelObject)


class ObjectMethods(Generic[_Context, _Queue, _Event, _Module, _Kernel]):
    """Methods of ``BackendProtocol``, each a call of the object's own method."""

    def release_context(self, context: _Context) -> None:
        context.close()

    def release_queue(self, queue: _Queue) -> None:
        queue.close()

    def wait_queue(self, queue: _Queue) -> None:
        queue.wait()

    def queue_is_idle(self, queue: _Queue) -> bool:
        return queue.is_idle()

    def barrier(self, queue: _Queue, waits: Sequence[_Event] = ()) -> _Event:
        event: _Event = queue.barrier(waits)
        return event

    def wait_event(self, event: _Event) -> None:
        event.wait()

    def event_status(self, event: _Event) -> EventStatus:
        return event.status()

    def event_times(self, event: _Event) -> tuple[int, int, int]:
        return event.times()

    def release_event(self, event: _Event) -> None:
        event.release()

    def module_log(self, module: _Module) -> str:
        return module.log

    def release_module(self, module: _Module) -> None:
        module.close()

    def kernel_names(self, module: _Module) -> tuple[str, ...]:
        return module.names()

    def kernel_info(self, kernel: _Kernel) -> KernelRecord:
        return kernel.record()
