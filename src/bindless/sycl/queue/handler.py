"""``Handler``: records the command and the dependencies of a command group (SYCL 2020 section 4.9.4).

A command group names what it waits for and exactly one command. The handler collects both as a value; the queue submits
it when the function has returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from ...model.errors import AccessorError, InvalidError
from ...model.image_descriptor import integer
from ...model.message_values import shown
from ...model.ranges import NdRange, RangeLike
from ...model.single_owner import SingleOwner
from ...submission.event import Event
from ..buffer.accessor import Accessor
from ..buffer.dependency_graph import submit_group
from ..copy.image_copy import ORIGIN

if TYPE_CHECKING:
    from ...model.image_descriptor import ImageDescriptor
    from ..device.queue_base import QueueBase
    from ..kernel.kernel import Kernel
    from ..kernel.kernel_template import KernelTemplate
    from .external_semaphore import ExternalSemaphore
    from .interop_handle import InteropHandle

__all__ = ["Handler"]

_MOST_ARGUMENTS = 2**16


class Handler(SingleOwner):
    """Given to the function of ``queue.submit``; of no use afterwards."""

    __slots__ = (
        "_accessors", "_arguments", "_command", "_depends_on", "_kernel_arguments", "_options", "_queue", "_to_host",
    )  # fmt: skip

    def __init__(self, _queue: QueueBase) -> None:
        self._queue: QueueBase | None = _queue
        self._depends_on: tuple[Event, ...] = ()
        self._command = ""
        self._arguments: tuple[Any, ...] = ()
        self._options: dict[str, Any] = {}
        self._accessors: list[Accessor] = []
        self._kernel_arguments: dict[int, object] = {}
        self._to_host = False

    def _open(self, command: str) -> QueueBase:
        if self._queue is None:
            raise InvalidError(f"{command.strip('_')}: this handler's command group has been submitted")
        if self._command:
            raise InvalidError(
                f"{command.strip('_')}: a command group has one command, "
                f"and this one has {self._command.strip('_')} already"
            )
        return self._queue

    def _set(self, command: str, *arguments: Any, **options: Any) -> None:
        """Takes the one command: a method of the queue and its arguments, called when the group is submitted."""
        self._open(command)
        self._command, self._arguments, self._options = command, arguments, options

    def depends_on(self, events: Event | Iterable[Event]) -> None:
        """The command starts after these events.

        Raises
        ------
        InvalidError
            Something is not an event.
        """
        if self._queue is None:
            raise InvalidError("depends_on: this handler's command group has been submitted")
        if isinstance(events, Event):
            events = (events,)
        try:
            more = tuple(events)
        except TypeError:
            raise InvalidError(f"depends_on({shown(events)}): it takes an Event or several") from None
        for event in more:
            if not isinstance(event, Event):
                raise InvalidError(f"depends_on contains {shown(event)}: it takes an Event or several")
        self._depends_on += more

    def require(self, accessor: Accessor) -> None:
        """Makes a placeholder accessor a requirement of this group.

        Raises
        ------
        AccessorError
            It was made for another group, and is a requirement of that one.
        InvalidError
            It is no accessor.
        """
        if not isinstance(accessor, Accessor):
            raise InvalidError(f"require({shown(accessor)}): it takes what buffer.get_access(None, ...) returns")
        if not accessor.is_placeholder and accessor not in self._accessors:
            raise AccessorError(f"{accessor!r} was made for another command group: make a placeholder, without handler")
        self._require(accessor)

    def _require_own(self, *arguments: object) -> None:
        """Refuses an accessor that is no requirement of this group."""
        for item in arguments:
            if isinstance(item, Accessor) and item not in self._accessors:
                raise item._foreign()

    def _require(self, accessor: Accessor) -> None:
        if self._queue is None:
            raise InvalidError("this handler's command group has been submitted: it takes no more accessors")
        self._accessors.append(accessor)

    # ------------------------------------------------------------------ commands

    def parallel_for(
        self, index_space: RangeLike | NdRange, kernel: Kernel | KernelTemplate, *arguments: object
    ) -> None:
        """Runs a kernel; see ``Queue.parallel_for``. Without arguments it takes those of ``set_arg``."""
        self._set("parallel_for", index_space, kernel, *self._arguments_of_kernel(arguments))

    def single_task(self, kernel: Kernel | KernelTemplate, *arguments: object) -> None:
        """Runs one work-item of a kernel. Without arguments it takes those of ``set_arg``."""
        self._set("single_task", kernel, *self._arguments_of_kernel(arguments))

    def set_arg(self, index: SupportsIndex, value: object) -> None:
        """Sets an argument of the kernel that the group launches next (SYCL 2020, ``handler::set_arg``).

        Parameters
        ----------
        index : SupportsIndex
            Number of the kernel's parameter, from 0. A second value replaces the first.
        value : object
            As among the arguments of ``parallel_for``.

        Raises
        ------
        InvalidError
            No number of a parameter, or the group has its command already.

        Examples
        --------
        >>> def group(handler):
        ...     handler.set_arg(1, 2.5)
        ...     handler.set_arg(0, values)
        ...     handler.parallel_for(4, scale)
        >>> from bindless import device
        >>> @bindless.kernel
        ... def scale(values, factor):
        ...     values[device.item_id(0)] *= factor
        >>> if bindless.kernels_available("python"):
        ...     queue = bindless.Queue("reference")
        ...     values = bindless.usm_empty(4, np.float32, queue).copy_from([1, 2, 3, 4])
        ...     queue.submit(group).wait()
        ...     assert values.numpy()[3] == 10
        """
        self._open("set_arg")
        self._kernel_arguments[integer("index", index, _MOST_ARGUMENTS)] = value

    def set_args(self, *values: object) -> None:
        """Sets all arguments of the kernel that the group launches next (SYCL 2020, ``handler::set_args``).

        Parameters
        ----------
        values : object
            As the arguments of ``parallel_for``; they replace those set before.

        Raises
        ------
        InvalidError
            The group has its command already.

        Examples
        --------
        >>> from bindless import device
        >>> @bindless.kernel
        ... def clear(values):
        ...     values[device.item_id(0)] = 0
        >>> if bindless.kernels_available("python"):
        ...     queue = bindless.Queue("reference")
        ...     values = bindless.usm_empty(4, np.float32, queue)
        ...     queue.submit(lambda handler: (handler.set_args(values), handler.parallel_for(4, clear))).wait()
        ...     assert not values.numpy().any()
        """
        self._open("set_args")
        self._kernel_arguments = dict(enumerate(values))

    def _arguments_of_kernel(self, arguments: tuple[object, ...]) -> tuple[object, ...]:
        """The arguments of a launch: those that it is given, or those set before."""
        before, count = self._kernel_arguments, len(self._kernel_arguments)
        if not before:
            return arguments
        if arguments:
            raise InvalidError(
                f"the launch is given {len(arguments)} arguments, and set_arg has set {count}: use one way"
            )
        missing = next((index for index in range(count) if index not in before), None)
        if missing is not None:
            raise InvalidError(f"set_arg has set argument {max(before)}, and not argument {missing}: set all of them")
        return tuple(before[index] for index in range(count))

    def memcpy(self, dst: object, src: object, nbytes: int | None = None) -> None:
        """Copies bytes; see ``Queue.memcpy``. Either side may be an accessor."""
        self._require_own(dst, src)
        self._set("memcpy", dst, src, nbytes)

    def copy(self, src: object, dst: object, count: int | None = None) -> None:
        """Copies elements; see ``Queue.copy``.

        Either side may be an accessor: then all of its elements are copied, those of ``src`` if both are, one after the
        other; the other side has room for at least as many bytes.
        """
        self._require_own(src, dst)
        self._set("copy", src, dst, count)

    def update_host(self, accessor: Accessor) -> None:
        """Copies the elements of an accessor to the buffer's memory on the host, if newer ones are elsewhere.

        For a buffer of an array that is written back this is the array, which still belongs to the buffer.

        Raises
        ------
        AccessorError
            The accessor is not one of this group.
        """
        if accessor not in self._accessors:
            raise AccessorError(f"update_host({shown(accessor)}): it takes an accessor of this command group")
        self._set("_nothing")
        self._to_host = True

    def memset(self, pointer: object, value: int, nbytes: int | None = None) -> None:
        """Sets bytes; see ``Queue.memset``. The memory may be an accessor's."""
        self._require_own(pointer)
        self._set("memset", pointer, value, nbytes)

    def fill(self, pointer: object, pattern: object, count: int | None = None) -> None:
        """Writes a pattern; see ``Queue.fill``. The memory may be an accessor's; a number becomes its dtype."""
        self._require_own(pointer)
        self._set("fill", pointer, pattern, count)

    def prefetch(self, pointer: object, nbytes: int | None = None) -> None:
        """Moves shared memory to the device; see ``Queue.prefetch``."""
        self._set("prefetch", pointer, nbytes)

    def mem_advise(self, pointer: object, nbytes: int | None, advice: int) -> None:
        """Tells how memory will be used; see ``Queue.mem_advise``."""
        self._set("mem_advise", pointer, nbytes, advice)

    def ext_oneapi_copy(
        self,
        src: object,
        dst: object,
        *,
        src_desc: ImageDescriptor | None = None,
        dst_desc: ImageDescriptor | None = None,
        src_offset: Sequence[int] | int = ORIGIN,
        dst_offset: Sequence[int] | int = ORIGIN,
        src_extent: Sequence[int] | int | None = None,
        dst_extent: Sequence[int] | int | None = None,
        copy_extent: Sequence[int] | int | None = None,
        src_pitch: int | None = None,
        dst_pitch: int | None = None,
    ) -> None:
        """Copies image pixels; see ``Queue.ext_oneapi_copy``. What it waits for is said with ``depends_on`` here."""
        self._set(
            "ext_oneapi_copy",
            src,
            dst,
            src_desc=src_desc,
            dst_desc=dst_desc,
            src_offset=src_offset,
            dst_offset=dst_offset,
            src_extent=src_extent,
            dst_extent=dst_extent,
            copy_extent=copy_extent,
            src_pitch=src_pitch,
            dst_pitch=dst_pitch,
        )

    def ext_oneapi_wait_external_semaphore(
        self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None
    ) -> None:
        """Waits for an external semaphore; see ``Queue.ext_oneapi_wait_external_semaphore``."""
        self._set("ext_oneapi_wait_external_semaphore", semaphore, value)

    def ext_oneapi_signal_external_semaphore(
        self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None
    ) -> None:
        """Signals an external semaphore; see ``Queue.ext_oneapi_signal_external_semaphore``."""
        self._set("ext_oneapi_signal_external_semaphore", semaphore, value)

    def ext_oneapi_barrier(self, events: Iterable[Event] | Event = ()) -> None:
        """Completes after everything submitted to the queue so far; see ``Queue.ext_oneapi_submit_barrier``."""
        self.depends_on(events)
        self._set("_barrier")

    def host_task(self, function: Callable[[], object] | Callable[[InteropHandle], object]) -> None:
        """Calls a function of the host, on another thread, in the order of the queue.

        It is called without arguments, or, if it has a parameter without default, with an ``InteropHandle``. Accessors
        of the group with ``target="host_task"`` are numpy arrays in it. Later commands of an in-order queue, and those
        that depend on the task's event, start once it has ended.

        Raises
        ------
        InvalidError
            It cannot be called.
        """
        if not callable(function):
            raise InvalidError(f"host_task({shown(function)}): it takes a function")
        self._set("_host_task", function, self._accessors)

    # ------------------------------------------------------------------ submission

    def _submit(self) -> Event:
        queue, command = self._queue, self._command
        self._queue = None
        if queue is None or not command:
            raise InvalidError("the command group has no command: call one of the handler's methods, exactly one")
        if self._kernel_arguments and command not in ("parallel_for", "single_task"):
            raise InvalidError(f"set_arg is for the arguments of a kernel, and the group's command is {command!r}")
        arguments, options = self._arguments, self._options
        if not self._accessors:
            event: Event = getattr(queue, command)(*arguments, depends_on=self._depends_on, **options)
            return event
        return submit_group(
            queue, self._accessors, getattr(queue, command), arguments, options, self._depends_on, self._to_host
        )
