"""``Queue``: submission of commands to a device (SYCL 2020 section 4.6.5)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex

from ...backends.contract import AdoptedQueue, BackendProtocol
from ...model import info
from ...model.aspects import Aspect
from ...model.enums import coerce
from ...model.errors import AccessorError, Error, InvalidError
from ...model.message_values import shown
from ...model.ranges import NdRange, RangeLike
from ...model.single_owner import SingleOwner
from ...submission.active_streams import active
from ...submission.async_errors import owing
from ...submission.command_stream import AsyncHandler, CommandStream, Operation, sweep
from ...submission.event import Event
from ...submission.wait_list import waits_of
from ..buffer.accessor import Accessor
from ..copy import memory_commands
from ..copy.submit_copy import submit_copy
from ..copy.submit_memory import submit_memory
from ..device.context import Context, default_context
from ..device.device import Device, Selector
from ..device.native_stream import adopt_stream, cuda_stream_of
from ..device.queue_base import QueueBase
from ..kernel.bound_launch import LaunchQueue
from ..kernel.kernel import Kernel
from ..kernel.kernel_template import KernelTemplate
from ..kernel.plan_launch import plan_launch, submit_launch
from ..usm.dpctl_queue import sycl_queue_capsule
from .external_semaphore import submit_semaphore
from .handler import Handler
from .host_task import submit_host_task

if TYPE_CHECKING:
    from ...model.image_descriptor import ImageDescriptor
    from .external_semaphore import ExternalSemaphore

__all__ = ["Queue"]

Events = Iterable[Event]


class Queue(LaunchQueue, SingleOwner):
    """A queue of commands for one device. Without ``in_order`` they run in any order that their dependencies allow.

    Neither dropping nor closing a queue ends its work, or waits for it: ``wait`` does.

    Parameters
    ----------
    device : Selector, optional
        A ``Device`` or what selects one; None is the default device, or the context's best.
    context : Context, optional
        None is the context that all queues on this device share by default.
    in_order : bool, default False
        Whether each command starts after the one before it.
    enable_profiling : bool, default False
        Whether events record times.
    async_handler : AsyncHandler, optional
        Called with an ``ExceptionList`` by ``wait_and_throw``, ``throw_asynchronous`` and ``close``. Without one,
        here or in the context, asynchronous errors are raised by the next wait.
    immediate_command_list, no_immediate_command_list : bool, default False
        Whether each command goes to the device by itself, or through command lists that are executed in a command
        queue; the driver's own choice without either. A hint for Level Zero, nothing elsewhere (oneAPI's properties
        of these names).

    Raises
    ------
    InvalidError
        No such device, a device outside the context, a context that was closed, or both hints.
    FeatureNotSupportedError
        The device records no times (``Aspect.queue_profiling``).

    Notes
    -----
    SYCL 2020, 4.6.5, "Queue class".

    Examples
    --------
    >>> queue = bindless.Queue("reference", in_order=True)
    >>> memory = bindless.usm_empty(4, np.int32, queue)
    >>> event = queue.fill(memory, 7)
    >>> memory.numpy()
    array([7, 7, 7, 7], dtype=int32)
    """

    _instead = "share the queue; another process makes its own with Queue(selector)"

    __slots__ = ("__weakref__", "_backend", "_home", "_storage", "context", "device")

    _stream: CommandStream

    def __init__(
        self,
        device: Selector = None,
        context: Context | None = None,
        *,
        in_order: bool = False,
        enable_profiling: bool = False,
        async_handler: AsyncHandler | None = None,
        immediate_command_list: bool = False,
        no_immediate_command_list: bool = False,
        _adopted: AdoptedQueue | None = None,
    ) -> None:
        if immediate_command_list and no_immediate_command_list:
            raise InvalidError("immediate_command_list and no_immediate_command_list exclude each other: give one")
        if isinstance(device, Context):
            raise InvalidError("device: a Context was given; write Queue(context=context), or Queue(device, context)")
        if context is not None and not isinstance(context, Context):
            raise InvalidError(f"context={shown(context)} is no Context")
        if async_handler is not None and not callable(async_handler):
            raise InvalidError(f"async_handler={shown(async_handler)} cannot be called")
        if context is None:
            chosen = device if isinstance(device, Device) else Device(device)
            context = default_context(chosen)
        elif device is None:
            chosen = context.devices[0]
        else:
            chosen = device if isinstance(device, Device) else Device(device)
            if chosen not in context.devices:
                raise InvalidError(f"{chosen!r} is not a device of {context!r}")
        if enable_profiling:
            chosen._require(Aspect.queue_profiling, "enable_profiling=True")
        sweep()
        self.device = chosen = context.devices[context.devices.index(chosen)]
        self.context = context
        self._backend: BackendProtocol = context._backend
        self._home: object = None  # known once a buffer is used here
        self._storage: dict[object, Any] = {}  # by layers above, until the queue is closed; may refer to the queue
        self._stream = CommandStream(
            context,
            chosen,
            in_order=bool(in_order),
            profiling=bool(enable_profiling),
            handler=async_handler,
            immediate=True if immediate_command_list else False if no_immediate_command_list else None,
            adopted=None if _adopted is None else _adopted.native,
        )

    @classmethod
    def from_stream(
        cls, stream: object, device: Selector = None, *, async_handler: AsyncHandler | None = None
    ) -> Queue:
        """An in-order queue on a CUDA stream of another library.

        Commands of the queue and the library's own work on the stream run in the order of their submission. Arrays of
        the library need no events then. The stream remains the library's, and must outlive the queue.

        Parameters
        ----------
        stream : object
            An object with ``__cuda_stream__``, ``cuda_stream`` (PyTorch) or ``ptr`` (CuPy), or the address of a
            CUstream; 1 is the legacy default stream.
        device : Selector, optional
            Device of the stream. None is the device that the object names, otherwise the first one of CUDA.
        async_handler : AsyncHandler, optional
            As of the constructor.

        Returns
        -------
        Queue
            The queue.

        Raises
        ------
        InvalidError
            No stream, or one of another device.
        FeatureNotSupportedError
            The device has no CUDA streams.

        See Also
        --------
        make_queue : Queues around native queues of every backend.
        """
        chosen, context, adopted = adopt_stream(stream, device)
        return cls(chosen, context, in_order=True, async_handler=async_handler, _adopted=adopted)

    @property
    def closed(self) -> bool:
        """Whether the queue was closed."""
        return self._stream.closed or self._stream.native is None

    def get_info(self, descriptor: info.queue | str) -> Any:
        """The answer to a member of ``info.queue``.

        Raises
        ------
        InvalidError
            There is no such descriptor.
        """
        return getattr(self, str(coerce(info.queue, descriptor, "descriptor")))

    # ------------------------------------------------------------------ submission

    def _enqueue(
        self, operation: Operation, depends_on: Iterable[Event] | Event = (), keep: tuple[object, ...] = ()
    ) -> Event:
        """Submits a command: the one way of every asynchronous command to the backend.

        Parameters
        ----------
        operation : Operation
            Given the native events to wait for, submits and returns the native event. It runs under the queue's lock.
        depends_on : Iterable[Event] | Event, default ()
            Events to wait for; those of other backends are waited for here.
        keep : tuple[object, ...], default ()
            What must live until the command is complete, also when the event is dropped. Memory that is closed
            earlier is found here, as an item or as the ``_owner`` of one.

        Raises
        ------
        InvalidError
            The queue was closed, or ``depends_on`` holds something else.
        Error
            The backend refuses the command.
        """
        return self._stream.submit(operation, depends_on, keep)

    def submit(self, command_group: Callable[[Handler], object], secondary_queue: Queue | None = None) -> Event:
        """Calls ``command_group(handler)`` and submits the one command that it gives the handler.

        Parameters
        ----------
        command_group : Callable[[Handler], object]
            A function; it runs here and now.
        secondary_queue : Queue, optional
            Where the command group is tried if this queue refuses it (ARCH, Fallback mechanism).

        Raises
        ------
        InvalidError
            No command or more than one, or not a function.
        Error
            Both queues refuse the command.
        """
        if not callable(command_group):
            raise InvalidError(f"command_group={shown(command_group)}: submit takes a function of a handler")
        if secondary_queue is not None and not isinstance(secondary_queue, Queue):
            raise InvalidError(
                f"secondary_queue={shown(secondary_queue)} is no Queue: bindless.Queue(selector) makes one"
            )
        try:
            return self._submit(command_group)
        except Error:
            if secondary_queue is None:
                raise
            return secondary_queue._submit(command_group)

    def _submit(self, command_group: Callable[[Handler], object]) -> Event:
        self._native  # noqa: B018  raises if it has ended
        handler = Handler(self)
        command_group(handler)
        return handler._submit()

    def _nothing(self, depends_on: Iterable[Event] | Event = ()) -> Event:
        """A command without effect, ordered like any other."""
        if self._stream.in_order:
            return self.ext_oneapi_submit_barrier(depends_on)
        self._native  # noqa: B018
        events, _, _ = waits_of(self._stream, depends_on)
        return Event._of_all(self._stream, events)

    def _barrier(self, depends_on: Iterable[Event] | Event = ()) -> Event:
        return self.ext_oneapi_submit_barrier(depends_on)

    _host_task = submit_host_task

    # ------------------------------------------------------------------ kernels

    if TYPE_CHECKING:  # at run time it is the base's, which repeats what it knows without Python

        def parallel_for(
            self,
            index_space: RangeLike | NdRange,
            kernel: Kernel | KernelTemplate,
            *arguments: object,
            depends_on: Events | Event = (),
        ) -> Event: ...

    def _parallel_for_any(
        self,
        index_space: RangeLike | NdRange,
        kernel: Kernel | KernelTemplate,
        *arguments: object,
        depends_on: Events | Event = (),
    ) -> Event:
        """``parallel_for``, which repeats by itself what was prepared for that, and calls this for all else."""
        return self._submit_launch(index_space, kernel, arguments, depends_on)

    _parallel_for_any.__qualname__ = "Queue.parallel_for"  # as errors of wrong arguments name it

    _plan_launch = plan_launch
    _submit_launch = submit_launch

    def single_task(
        self, kernel: Kernel | KernelTemplate, *arguments: object, depends_on: Events | Event = ()
    ) -> Event:
        """Runs one work-item of a kernel; see ``parallel_for``."""
        return self.parallel_for(1, kernel, *arguments, depends_on=depends_on)

    # ------------------------------------------------------------------ memory

    def memcpy(self, dst: object, src: object, nbytes: int | None = None, *, depends_on: Events | Event = ()) -> Event:
        """Copies bytes.

        Parameters
        ----------
        dst, src : object
            ``UsmPointer``, ``UsmArray``, a placeholder accessor, or host memory: a numpy array or another contiguous
            buffer, which is kept alive until the copy ends and must not be changed before.
        nbytes : int, optional
            None copies everything where both sides are equally large.

        Raises
        ------
        InvalidError
            More bytes than a side has, memory of another context, a read-only or strided side.
        """
        event: Event | None = self._stream.copy_bytes(src, dst, nbytes, depends_on)
        if event is not None:
            return event
        try:
            planned = memory_commands.plan_memcpy(self, dst, src, nbytes)
        except AccessorError:
            return self._group_of("memcpy", (dst, src, nbytes), depends_on)
        return self._memory(planned, depends_on, src, dst)

    def copy(self, src: object, dst: object, count: int | None = None, *, depends_on: Events | Event = ()) -> Event:
        """Copies ``count`` elements of the typed side (of bytes if neither is), or all; see ``memcpy``."""
        try:
            planned = memory_commands.plan_copy(self, src, dst, count)
        except AccessorError:
            return self._group_of("copy", (src, dst, count), depends_on)
        return self._memory(planned, depends_on, src, dst)

    def memset(
        self,
        pointer: object,
        value: int,
        nbytes: int | None = None,
        *,
        depends_on: Events | Event = (),
    ) -> Event:
        """Sets bytes of a ``UsmPointer`` or ``UsmArray`` to ``value``, 0 to 255; None sets all.

        Raises
        ------
        InvalidError
            No such value, more bytes than there are, or memory of another context.
        """
        try:
            planned = memory_commands.plan_memset(self, pointer, value, nbytes)
        except AccessorError:
            return self._group_of("memset", (pointer, value, nbytes), depends_on)
        return self._memory(planned, depends_on)

    def fill(
        self,
        pointer: object,
        pattern: object,
        count: int | None = None,
        *,
        depends_on: Events | Event = (),
    ) -> Event:
        """Writes ``count`` copies of a pattern; None fills the memory.

        Parameters
        ----------
        pointer : object
            ``UsmPointer`` or ``UsmArray``.
        pattern : object
            A numpy scalar (structured too) or bytes; a plain number where the array has a dtype.
        count : int, optional
            How many.

        Raises
        ------
        InvalidError
            A pattern without a size or of another dtype, or more than there is room for.
        """
        try:
            planned = memory_commands.plan_fill(self, pointer, pattern, count)
        except AccessorError:
            return self._group_of("fill", (pointer, pattern, count), depends_on)
        return self._memory(planned, depends_on)

    def prefetch(self, pointer: object, nbytes: int | None = None, *, depends_on: Events | Event = ()) -> Event:
        """Moves shared memory to the queue's device ahead of its use; for memory that does not move it does nothing.

        Parameters
        ----------
        pointer : object
            ``UsmPointer`` or ``UsmArray``.
        nbytes : int, optional
            None means all of it.
        """
        return self._memory(memory_commands.plan_prefetch(self, pointer, nbytes), depends_on)

    def mem_advise(self, pointer: object, nbytes: int | None, advice: int, *, depends_on: Events | Event = ()) -> Event:
        """Tells the driver how memory will be used.

        Parameters
        ----------
        pointer : object
            ``UsmPointer`` or ``UsmArray``.
        nbytes : int | None
            None means all of it.
        advice : int
            A value of the device's own driver, on CUDA of ``CUmem_advise``; 0 is the default behaviour.

        Raises
        ------
        InvalidError
            The driver knows no such advice, more bytes than there are, or memory of another context.
        """
        return self._memory(memory_commands.plan_advise(self, pointer, nbytes, advice), depends_on)

    def update_host(self, accessor: Accessor, *, depends_on: Events | Event = ()) -> Event:
        """Copies what a placeholder accessor covers to the buffer's memory on the host; see ``Handler.update_host``."""
        return self._group_of("update_host", (accessor,), depends_on)

    def _group_of(self, command: str, arguments: tuple[Any, ...], depends_on: Events | Event) -> Event:
        """A command on placeholder accessors, as the group that it is (SYCL 2020, queue shortcuts).

        Raises
        ------
        AccessorError
            There is none, or they are in their group already; the error in progress, if there is one.
        """
        placeholders = [item for item in arguments if isinstance(item, Accessor) and item._place is None]
        if not placeholders or not all(item.is_placeholder for item in placeholders):
            if sys.exc_info()[0] is not None:
                raise
            raise AccessorError(f"{command}: it takes a placeholder, which buffer.get_access(None, ...) makes")

        def group(handler: Handler) -> None:
            handler.depends_on(depends_on)
            for item in placeholders:
                handler.require(item)
            getattr(handler, command)(*arguments)

        return self.submit(group)

    def _memory(self, planned: memory_commands.Command | None, depends_on: Events | Event, *copied: object) -> Event:
        return self._nothing(depends_on) if planned is None else submit_memory(self, planned, depends_on, copied)

    if TYPE_CHECKING:  # at run time it is the base's, which repeats what it knows without Python

        def ext_oneapi_copy(
            self,
            src: object,
            dst: object,
            *,
            src_desc: ImageDescriptor | None = None,
            dst_desc: ImageDescriptor | None = None,
            src_offset: Sequence[int] | int = (0, 0, 0),
            dst_offset: Sequence[int] | int = (0, 0, 0),
            src_extent: Sequence[int] | int | None = None,
            dst_extent: Sequence[int] | int | None = None,
            copy_extent: Sequence[int] | int | None = None,
            src_pitch: int | None = None,
            dst_pitch: int | None = None,
            depends_on: Events | Event = (),
        ) -> Event: ...

    _copy_any = submit_copy

    # ------------------------------------------------------------------ semaphores

    def ext_oneapi_wait_external_semaphore(
        self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None, *, depends_on: Events | Event = ()
    ) -> Event:
        """Later commands start once the semaphore is signalled; the host does not wait.

        A binary semaphore is then signalled no more; a timeline or fence is waited for until it has come to ``value``,
        and stays as it is.

        Raises
        ------
        InvalidError
            The queue is not in order, the semaphore was released or imported elsewhere, or there is a value for a
            binary semaphore, or none for another.
        """
        return submit_semaphore(self, True, semaphore, value, depends_on)

    def ext_oneapi_signal_external_semaphore(
        self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None, *, depends_on: Events | Event = ()
    ) -> Event:
        """Signals the semaphore, or sets it to ``value``, once everything submitted before is complete.

        Raises
        ------
        InvalidError
            As of ``ext_oneapi_wait_external_semaphore``.
        """
        return submit_semaphore(self, False, semaphore, value, depends_on)

    # ------------------------------------------------------------------ other libraries

    @property
    def __cuda_stream__(self) -> Callable[[], tuple[int, int]]:
        """The protocol of CUDA streams: ``queue.__cuda_stream__()`` is (0, address of the CUstream).

        What another library submits to that stream is in order with the queue's own commands. Only in-order queues of
        the cuda backend are one stream: others raise ``InvalidError`` when called, and queues of other backends do not
        have the attribute. The stream ends with the queue.
        """
        return cuda_stream_of(self)

    def _get_capsule(self) -> Any:
        """The protocol of ``syclobj`` in ``__sycl_usm_array_interface__``: dpctl calls it."""
        return sycl_queue_capsule(self.device)

    # ------------------------------------------------------------------ coordination

    def ext_oneapi_submit_barrier(self, events: Events | Event = ()) -> Event:
        """An event that completes after everything submitted to the queue so far, and after ``events``."""
        backend, native = self._backend, self._native
        stream = self._stream
        waits, _, _ = waits_of(stream, events)
        if not stream.in_order and stream.tasks:
            with stream.lock:
                waits = (*waits, *stream.tasks)
        return stream.submit(lambda natives: backend.barrier(native, natives), waits, (), barrier=True)

    def ext_oneapi_empty(self) -> bool:
        """Whether everything submitted so far is complete."""
        self._native  # noqa: B018
        self._stream.reap()
        return self._stream.idle

    def wait(self) -> None:
        """Returns when everything submitted so far is complete; burns no processor time, and Ctrl-C interrupts it.

        Raises
        ------
        Error
            A command failed and neither queue nor context has an ``async_handler``; an ``ExceptionList`` if several
            did.
        """
        stream = self._stream
        if not stream.wait_shortly():
            self._native  # noqa: B018  raises if it has ended
            stream.settle()
        if active:
            sweep()
        if (stream.log.errors or owing) and not stream.log.handled:
            stream.log.report()

    def wait_and_throw(self) -> None:
        """Waits, then gives the asynchronous errors to the ``async_handler``, or raises them."""
        self._native  # noqa: B018
        self._stream.settle()
        self._stream.log.report()

    def throw_asynchronous(self) -> None:
        """Gives the asynchronous errors found so far to the ``async_handler``, or raises them; does not wait."""
        self._native  # noqa: B018
        self._stream.find_errors()
        self._stream.log.report()

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Ends the use of the queue; a second call does nothing. As the destructor of ``sycl::queue`` it does not wait.

        Commands submitted before go on, and can be waited for by their events. The native queue is released when they
        are complete. Leaving a ``with`` block is the same.

        Raises
        ------
        Error
            The asynchronous errors found so far, where there is no ``async_handler`` to take them. Those of commands
            that are not complete yet go to the context; the end of the interpreter writes what is left.
        """
        self._storage.clear()
        self._stream.close()

    def __enter__(self) -> Queue:
        self._native  # noqa: B018
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        order = "in order" if self.is_in_order else "out of order"
        return f"<Queue on {self.device._label}, {order}{', closed' if self.closed else ''}>"


QueueBase._queue_class = Queue
