"""What a backend offers: one Protocol and the records it speaks in.

A backend turns these calls into its driver's. It knows native devices, contexts, queues and events, and
nothing of command groups, accessors or the facade's ``Queue``. Arguments arrive validated
(``bindless.model``); a backend checks only what its own driver adds.

Rules
  - Native objects are the backend's own; callers keep them opaque, and keep a context alive as long as
    anything made in it. Releasing is explicit, happens once, and never raises for an object that the
    driver has already lost.
  - Every command takes the native events it waits for, and returns a native event at once. Memory named
    in a command stays valid until it has completed: the caller sees to that.
  - A failure at submission raises; a failure afterwards is raised by ``wait_event`` of the command's
    event, and by ``wait_queue`` if nobody asked the event.
  - An operation that the driver cannot do raises ``FeatureNotSupportedError`` naming the aspect to ask first.
  - All methods may be called from several threads; those that wait release the interpreter lock.
  - ``wait_queue``, ``release_*``, ``free*`` and ``destroy_image`` may be called by the garbage collector, in the midst
    of any other method on the same thread: a lock that they take is not held while Python objects are made, or is
    reentrant.
  - A backend whose native events end with their last reference has ``events_release_themselves = True``; then
    ``release_event`` need not be called.
  - ``copies_pinned_quicker = True``: a copy from host memory that the driver allocated takes the caller less time than
    one from other memory.
  - ``launches_directly = True``: ``prepare_launch`` gives functions of the driver, which the facade calls from C. If
    there is ``queue_ends``, it gives events after everything submitted so far to a queue out of order.
  - A native queue with ``streams``, which are lanes, is idle once each has ``done`` all that was ``submitted``, or,
    where the driver makes an event of each command, once it says so through ``wait_for``.
  - A backend has ``events_cross_contexts = True`` if commands can wait for events of its other contexts, and
    ``memory_crosses_contexts = True`` if ``copy`` takes addresses of any of them. Without, the host stands between.
  - A failure after which the native context is of no use any more is a ``DeviceLostError``, then for every call.
  - ``wait_queue`` raises one failure that nobody has asked for, or several in an ``ExceptionList``; called again, it
    raises the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...model.aspects import Aspect
from ...model.copy_region import CopyRegion
from ...model.enums import Backend, DeviceType, EventStatus, ImageChannelType, UsmKind
from ...model.external import ExternalMemDescriptor, ExternalSemaphoreDescriptor
from ...model.image_call import ImageCall
from ...model.image_descriptor import ImageDescriptor
from ...model.info import partition_affinity_domain, partition_property
from ...model.module.description import ModuleDescription
from ...model.native_handle import NativeHandle
from ...model.sampler import BindlessImageSampler
from .direct_launch import DirectLaunch

__all__ = [
    "AdoptedQueue",
    "BackendProtocol",
    "DeviceRecord",
    "ExternalMemoryProtocol",
    "ExternalSemaphoreProtocol",
    "HostCallProtocol",
    "HostMemoryProtocol",
    "ImageRecord",
    "InteropProtocol",
    "KernelArgument",
    "KernelRecord",
    "LinkingProtocol",
    "NativeContext",
    "NativeDevice",
    "NativeEvent",
    "NativeExternalMemory",
    "NativeKernel",
    "NativeModule",
    "NativeObject",
    "NativeQueue",
    "NativeSemaphore",
    "PartitioningProtocol",
    "PlatformRecord",
    "PointerRecord",
]

# A backend's own objects: only that backend looks inside.
NativeDevice = Any
NativeContext = Any
NativeQueue = Any
NativeEvent = Any
NativeModule = Any
NativeObject = Any
NativeKernel = Any
NativeExternalMemory = Any
NativeSemaphore = Any


@dataclass(frozen=True)
class PlatformRecord:
    """A driver: ``index`` counts the platforms of one backend."""

    index: int
    name: str
    vendor: str
    version: str


@dataclass(frozen=True)
class DeviceRecord:
    """A device as discovery finds it, without making anything on it.

    Attributes:
        native: what the backend's other methods take.
        platform: the driver it belongs to.
        index: counts the devices of one backend; a sub-device has that of its device.
        uuid: 16 bytes; the same physical device has the same in every API that reports one.
        parent: the device that this sub-device is part of.
    """

    native: NativeDevice
    platform: PlatformRecord
    index: int
    type: DeviceType
    name: str
    vendor: str
    driver_version: str
    version: str
    uuid: bytes
    parent: DeviceRecord | None = None


@dataclass(frozen=True)
class PointerRecord:
    """What an address belongs to; ``kind`` unknown means memory that is not the driver's."""

    kind: UsmKind
    base: int = 0
    size: int = 0
    device: NativeDevice | None = None


@dataclass(frozen=True)
class ImageRecord:
    """What the driver itself says of image memory: unused sizes are 0 (R19).

    ``channel_type`` is the native one: a driver without normalized formats reports the integer type.
    """

    width: int
    height: int
    depth: int
    channel_type: ImageChannelType
    num_channels: int


@dataclass(frozen=True)
class KernelArgument:
    """One parameter of a kernel as reflected.

    Attributes:
        kind: ``value``, ``pointer``, ``local``, ``image`` or ``sampler``.
        size: bytes.
        type: as in the source, such as ``float4``; empty where that is not told.
        may_be_local: whether a value may be the offset of local memory, for all that the driver tells.
        may_be_handle: whether a value of 8 bytes may be an image handle; not where handles are no numbers.
    """

    index: int
    name: str
    kind: str
    size: int
    type: str = ""
    may_be_local: bool = False
    may_be_handle: bool = True


@dataclass(frozen=True)
class KernelRecord:
    """A kernel's signature and limits; ``arguments`` is None where the driver cannot tell.

    ``may_be_set``: it was made elsewhere, and may be launched without arguments, with those that were set there.
    """

    name: str
    arguments: tuple[KernelArgument, ...] | None
    max_work_group_size: int
    local_memory_size: int = 0
    private_memory_size: int = 0
    required_work_group_size: tuple[int, ...] | None = None
    properties: Mapping[str, int] = field(default_factory=dict)
    may_be_set: bool = False


class PartitioningProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if its driver divides devices.

    Its ``device_info`` answers ``partition_max_sub_devices``, ``partition_properties`` and
    ``partition_affinity_domains``. A backend without ``partition`` has devices that cannot be divided.
    """

    def partition(
        self, device: NativeDevice, how: partition_property, argument: int | tuple[int, ...] | partition_affinity_domain
    ) -> Sequence[DeviceRecord]:
        """The parts of a device, the same native objects each time. The arguments were checked against its answers."""


class HostMemoryProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if kernels reach only that ordinary host memory it is told of.

    Both take the same arguments; memory may be lent several times, and overlap, and is returned as often.
    ``pointer_info`` does not know it. It stays valid until it is returned and the commands that use it are complete.
    """

    def lend_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Lets kernels of the context use memory of the process; ``nbytes`` is at least 1."""

    def return_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Ends that; it may be called like ``free``."""


class HostCallProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if it overlaps device functions with the transfer of arrays."""

    def host_call(self, queue: NativeQueue, call: ImageCall) -> Callable[[Sequence[NativeEvent]], NativeEvent] | None:
        """What submits a call whose arrays lie in the host's memory; the call is done when that returns. None where the
        arrays had better be copied as a whole, before and after."""


class ExternalMemoryProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` with ``Aspect.ext_oneapi_external_memory_import``.

    File descriptors and handles stay the caller's: a driver that takes descriptors over gets a duplicate. The memory
    outlives what is mapped of it. What does not fit it raises ``InvalidError`` with both numbers where the driver can
    tell.
    """

    def import_memory(
        self, context: NativeContext, device: NativeDevice, desc: ExternalMemDescriptor
    ) -> NativeExternalMemory:
        """``FeatureNotSupportedError`` for a kind of handle that the driver does not take."""

    def release_memory(self, context: NativeContext, memory: NativeExternalMemory) -> None:
        """Called like ``free``, after everything mapped of it was unmapped."""

    def map_image(
        self, context: NativeContext, device: NativeDevice, memory: NativeExternalMemory, desc: ImageDescriptor
    ) -> int:
        """Raw handle of image memory, standard or a mipmap, that other methods take like that of ``allocate_image``."""

    def unmap_image(self, context: NativeContext, handle: int, desc: ImageDescriptor) -> None:
        """Called like ``free_image``."""

    def map_linear(
        self, context: NativeContext, device: NativeDevice, memory: NativeExternalMemory, offset: int, nbytes: int
    ) -> int:
        """Address of device memory; the range lies in the memory."""

    def unmap_linear(self, context: NativeContext, address: int) -> None:
        """Called like ``free``."""


class ExternalSemaphoreProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` with ``Aspect.ext_oneapi_external_semaphore_import``.

    File descriptors stay the caller's as those of memory do. Queues are in order. ``value`` is None for binary
    semaphores.
    """

    def import_semaphore(
        self, context: NativeContext, device: NativeDevice, desc: ExternalSemaphoreDescriptor
    ) -> NativeSemaphore:
        """``FeatureNotSupportedError`` for a kind of handle that the driver does not take."""

    def release_semaphore(self, context: NativeContext, semaphore: NativeSemaphore) -> None:
        """Called like ``free``; no command that is not complete uses it."""

    def wait_semaphore(
        self, queue: NativeQueue, semaphore: NativeSemaphore, value: int | None, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Completes once it is signalled, or has come to the value; a driver may give up after a long time."""

    def signal_semaphore(
        self, queue: NativeQueue, semaphore: NativeSemaphore, value: int | None, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def prepare_semaphore(
        self, queue: NativeQueue, semaphore: NativeSemaphore, wait: bool
    ) -> Callable[[int | None], NativeEvent] | DirectLaunch:
        """The wait or the signal to be repeated with other values, called as ``prepare_launch`` says.

        A ``DirectLaunch`` has one argument, the value: an integer of 64 bits without a sign.
        """


class LinkingProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if its devices have ``Aspect.online_linker``."""

    def compile_module(
        self,
        context: NativeContext,
        device: NativeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> tuple[NativeObject, str]:
        """Compiles a module that may use functions of others; gives also what the compiler said.

        The object needs no release. ``BuildError`` with the log if it does not compile.
        """

    def link_modules(
        self, context: NativeContext, device: NativeDevice, objects: Sequence[NativeObject], *, options: str = ""
    ) -> NativeModule:
        """One module of several compiled ones; ``BuildError`` with the log if they do not fit together."""


@dataclass(frozen=True)
class AdoptedQueue:
    """A native queue around one that was made elsewhere.

    Attributes:
        native: what the backend's other methods take.
        in_order: whether each of its commands starts after the one before it.
        profiling: whether its events have times.
    """

    native: NativeQueue
    in_order: bool
    profiling: bool = False


class InteropProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if its objects can be made of native ones.

    Kinds of objects are ``platform``, ``device``, ``context``, ``queue``, ``event``, ``kernel_bundle``, ``kernel`` and
    ``buffer``. A handle is never null and of one of the kind's types. ``owned``: the driver's object ends with the
    backend's; else it stays, and the caller keeps it as long. A driver that counts references takes one either way.
    Every ``adopt`` raises ``InvalidError`` for a handle of another context where the driver can tell, and leaves the
    driver's object to the caller whenever it raises.
    """

    # C types of the handles of each kind that can be made, the usual one first. What is missing cannot be made.
    native_types: Mapping[str, tuple[str, ...]]
    # Kinds whose objects may consist of several native ones: their handles are told as a tuple.
    native_lists: frozenset[str]
    # Kinds whose handles count references: each transfer is of one, however many objects have the handle.
    native_counted: frozenset[str]

    def platform_handle(self, platform: PlatformRecord) -> int:
        """The driver's own handle of a platform; ``FeatureNotSupportedError`` if it has none."""

    def find_device(self, handle: NativeHandle) -> NativeDevice | None:
        """The device, or part of one, that a handle is of."""

    def devices_of(self, kind: str, handle: NativeHandle) -> Sequence[NativeDevice]:
        """The devices of a context, queue or kernel bundle; none where the driver does not tell."""

    def adopt_context(self, handle: NativeHandle, devices: Sequence[NativeDevice], owned: bool) -> NativeContext: ...

    def adopt_queue(
        self, context: NativeContext, device: NativeDevice, handle: NativeHandle, owned: bool
    ) -> AdoptedQueue: ...

    def adopt_event(self, context: NativeContext, handle: NativeHandle, owned: bool) -> NativeEvent: ...

    def adopt_module(
        self, context: NativeContext, device: NativeDevice, handle: NativeHandle, owned: bool
    ) -> NativeModule:
        """``BuildError`` for one whose kernels cannot run yet."""

    def adopt_kernel(self, module: NativeModule, handle: NativeHandle, owned: bool) -> NativeKernel:
        """One that is owned ends with its module."""

    def describe_memory(self, context: NativeContext, handle: NativeHandle) -> PointerRecord:
        """What is known of an allocation; the kind is unknown where nothing is."""

    def adopt_memory(self, context: NativeContext, handle: NativeHandle, owned: bool) -> PointerRecord:
        """What is known of an allocation, and its address; one that is owned can be given to ``free`` from now on."""


class BackendProtocol(Protocol):
    """One vendor's driver. See the module's text for the rules that hold for every method."""

    @property
    def backend(self) -> Backend:
        """Which one it is."""

    # ------------------------------------------------------------------ discovery

    def platforms(self) -> Sequence[PlatformRecord]:
        """The drivers, those without a device too."""

    def devices(self) -> Sequence[DeviceRecord]:
        """All devices; empty where the driver has none. Raises what the driver's loader raises if it is missing."""

    def aspects(self, device: NativeDevice) -> frozenset[Aspect]:
        """What the device says yes to."""

    def device_info(self, device: NativeDevice, name: str) -> Any:
        """The answer to a member of ``model.info.device`` outside ``DERIVED``; ``FeatureNotSupportedError`` if none."""

    def supports_format(self, device: NativeDevice, channel_type: ImageChannelType, num_channels: int) -> bool:
        """Whether images of this format can be made."""

    # ------------------------------------------------------------------ contexts, queues

    def create_context(self, devices: Sequence[NativeDevice]) -> NativeContext: ...

    def release_context(self, context: NativeContext) -> None: ...

    def create_queue(
        self,
        context: NativeContext,
        device: NativeDevice,
        *,
        in_order: bool,
        profiling: bool,
        immediate: bool | None = None,
    ) -> NativeQueue:
        """``immediate``: whether each command goes to the device by itself, where the driver has a choice; None is its
        own."""

    def release_queue(self, queue: NativeQueue) -> None:
        """Waits for its work first."""

    def wait_queue(self, queue: NativeQueue) -> None:
        """Returns when all work submitted so far is complete. Interruptible."""

    def queue_is_idle(self, queue: NativeQueue) -> bool: ...

    # ------------------------------------------------------------------ events

    def barrier(self, queue: NativeQueue, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Completes after everything submitted to the queue before it, and after ``waits``."""

    def wait_event(self, event: NativeEvent) -> None:
        """Returns when it is complete; raises the error of its command. Interruptible."""

    def event_status(self, event: NativeEvent) -> EventStatus: ...

    def event_times(self, event: NativeEvent) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end; waits for completion. ``ProfilingError`` without profiling."""

    def release_event(self, event: NativeEvent) -> None: ...

    # ------------------------------------------------------------------ memory

    def allocate(
        self, context: NativeContext, device: NativeDevice | None, kind: UsmKind, nbytes: int, alignment: int = 0
    ) -> int:
        """Address of new memory; ``MemoryAllocationError`` if there is not enough. ``nbytes`` is at least 1."""

    def allocate_pitched(
        self, context: NativeContext, device: NativeDevice, width_in_bytes: int, height: int, element_size: int
    ) -> tuple[int, int]:
        """Address and row pitch in bytes of device memory for a two-dimensional image."""

    def free(self, context: NativeContext, address: int) -> None: ...

    def pointer_info(self, context: NativeContext, address: int) -> PointerRecord: ...

    def copy(
        self, queue: NativeQueue, dst: int, src: int, nbytes: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Copies between any two of device, host, shared and ordinary host memory."""

    def fill(
        self, queue: NativeQueue, dst: int, pattern: bytes, count: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Writes ``count`` copies of a pattern of 1, 2, 4, 8 or 16 bytes."""

    def prefetch(
        self, queue: NativeQueue, address: int, nbytes: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def advise(
        self, queue: NativeQueue, address: int, nbytes: int, advice: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    # ------------------------------------------------------------------ image memory and handles

    def allocate_image(self, context: NativeContext, device: NativeDevice, desc: ImageDescriptor) -> int:
        """Raw handle of new image memory of any type."""

    def free_image(self, context: NativeContext, handle: int, desc: ImageDescriptor) -> None: ...

    def image_info(self, context: NativeContext, handle: int) -> ImageRecord: ...

    def image_level(self, context: NativeContext, handle: int, level: int) -> int:
        """Raw handle of one level of a mipmap, borrowed from it."""

    def create_unsampled_image(
        self, context: NativeContext, device: NativeDevice, handle: int, desc: ImageDescriptor
    ) -> int: ...

    def create_sampled_image(
        self,
        context: NativeContext,
        device: NativeDevice,
        handle: int,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
    ) -> int: ...

    def create_sampled_image_usm(
        self,
        context: NativeContext,
        device: NativeDevice,
        address: int,
        pitch: int,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
    ) -> int:
        """Over linear memory; ``pitch`` is ignored in one dimension."""

    def destroy_image(self, context: NativeContext, handle: int, sampled: bool) -> None:
        """Destroys an image, not its memory."""

    def copy_image(self, queue: NativeQueue, region: CopyRegion, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Any of BI's copies. A backend may offer beside it

            prepare_copy(queue, region) -> DirectCopy | None

        the same copy to be repeated, with other arrays of the same shape; None where it takes Python each time.
        """

    def image_call(self, queue: NativeQueue, call: ImageCall, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Runs a device function over arrays that the device can reach."""

    # ------------------------------------------------------------------ modules and kernels

    def load_module(
        self,
        context: NativeContext,
        device: NativeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> NativeModule:
        """Builds a module of the driver's own languages; ``BuildError`` with the log if it does not."""

    def describe_module(self, source: bytes) -> ModuleDescription:
        """What the source tells without being built; ``BuildError`` if it cannot be one of the driver's languages."""

    def module_log(self, module: NativeModule) -> str:
        """What the driver's compiler said of a module that it built; often nothing."""

    def release_module(self, module: NativeModule) -> None: ...

    def kernel_names(self, module: NativeModule) -> tuple[str, ...]: ...

    def get_kernel(self, module: NativeModule, name: str) -> NativeKernel: ...

    def kernel_info(self, kernel: NativeKernel) -> KernelRecord: ...

    def launch(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
        waits: Sequence[NativeEvent] = (),
    ) -> NativeEvent:
        """Runs a kernel; sizes are in the native order, dimension 0 varying fastest.

        Args:
            global_size: work-items by dimension, every one at least 1.
            local_size: work-group, or None for the backend's choice.
            arguments: the bytes of a value, or the size of a local-memory argument as an int.
        """

    def prepare_launch(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
    ) -> Callable[[], NativeEvent] | DirectLaunch | None:
        """A launch to be repeated as it is on an in-order queue; None where there is no shorter way.

        A backend with ``launches_directly = True`` gives a ``DirectLaunch``, or None, also for other queues.

        The one exception to the rule on threads: the caller does not call it, nor submit to the queue, from two threads
        at once, and no more once the module or the queue was released.
        """

    # ------------------------------------------------------------------ streams of other libraries

    def make_stream_wait(
        self, context: NativeContext, device: NativeDevice, stream: int, waits: Sequence[NativeEvent]
    ) -> None:
        """Orders what is submitted from now on to a stream of the driver that another library made after events.

        Returns at once. ``FeatureNotSupportedError`` where the driver has no streams.
        """

    def wait_for_stream(self, queue: NativeQueue, stream: int) -> NativeEvent:
        """Orders everything submitted from now on to a queue after what such a stream holds now; returns at once."""

    # ------------------------------------------------------------------ native handles

    def native_handle(self, native: Any) -> int:
        """The driver's own handle of an object of this backend."""
