"""An in-memory backend, for behaviour that no real driver shows on demand.

Its commands run on threads, and gates can delay them or make them fail. It counts every native object, and asserts that
none is used after its release, released twice, or freed while a command that names it runs.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bindless.backends.contract import (
    DeviceRecord,
    KernelArgument,
    KernelRecord,
    OptionalGroups,
    OwnMethods,
    PlatformRecord,
    PointerRecord,
    Traits,
)
from bindless.backends.contract.prepared_command import PreparedCommand
from bindless.model.aspects import Aspect
from bindless.model.dlpack import DLDeviceType
from bindless.model.enums import Backend, DeviceType, EventStatus, UsmKind
from bindless.model.errors import BuildError, Error, FeatureNotSupportedError, MemoryAllocationError, SyclRuntimeError
from bindless.model.info import partition_affinity_domain, partition_property
from bindless.model.module.description import Constant, ModuleDescription
from tests.support.fake_commands import FakeEvent, FakeLane, FakeMark, event_of, prepared_launch

MEMORY = 1 << 20  # bytes of every device

DEFAULT_ASPECTS = frozenset(
    {
        Aspect.queue_profiling,
        Aspect.usm_device_allocations,
        Aspect.usm_host_allocations,
        Aspect.usm_shared_allocations,
    }
)


class FakeDevice:
    def __init__(self, name: str) -> None:
        self.name = name


class FakeContext:
    def __init__(self, devices: Sequence[FakeDevice]) -> None:
        self.devices = tuple(devices)
        self.alive = True


class FakeQueue:
    def __init__(self, context: FakeContext, in_order: bool, profiling: bool) -> None:
        self.lane = FakeLane()
        self.context, self.in_order, self.profiling = context, in_order, profiling
        self.alive = True
        self.events: list[FakeEvent] = []
        self.lock = threading.Lock()


class FakeModule:
    def __init__(self, source: bytes, specialization: Mapping[int, bytes] | None, options: str) -> None:
        self.source, self.specialization, self.options = source, specialization, options
        self.alive = True
        self.ran = 0


KERNELS = {
    "empty": KernelRecord("empty", (), 1024),
    "scale": KernelRecord(
        "scale",
        (
            KernelArgument(0, "data", "pointer", 8),
            KernelArgument(1, "factor", "value", 4),
            KernelArgument(2, "count", "value", 8),
        ),
        256,
        local_memory_size=34,
        private_memory_size=12,
        properties={"registers": 20},
    ),
    "mixed": KernelRecord(
        "mixed",
        (
            KernelArgument(0, "image", "value", 8),
            KernelArgument(1, "scratch", "local", 0),
            KernelArgument(2, "small", "value", 1),
            KernelArgument(3, "pair", "value", 12),
        ),
        64,
    ),
    "shaped": KernelRecord("shaped", (), 64, required_work_group_size=(4, 2, 1)),
    "opaque": KernelRecord("opaque", None, 64),
    "add": KernelRecord(
        "add",
        (
            KernelArgument(0, "sum", "pointer", 8),
            KernelArgument(1, "term", "pointer", 8),
            KernelArgument(2, "count", "value", 4),
        ),
        64,
    ),
}


def _wait(event: FakeEvent) -> None:
    """Wait in slices, like the real backends: libraries such as PyTorch install signal handlers that restart calls."""
    while not event.finished.wait(0.05):
        pass


_MEMORY = {Backend.cuda: DLDeviceType.cuda, Backend.reference: DLDeviceType.cpu}


class FakeBackend(OptionalGroups):
    """``BackendProtocol``, to the extent that the runtime facade uses it.

    Attributes
    ----------
    alive
        Native objects by kind.
    calls
        (method, details) of every launch and load.
    copies
        (destination, source, bytes) of every copy.
    info
        Answers of every device.
    instant
        Whether commands run inside the call that submits them.
    refuse
        The exception that the next submission raises.
    traits
        By default the traits of a driver whose contexts share events and memory.
    """

    def __init__(
        self,
        backend: Backend = Backend.cuda,
        types: Sequence[DeviceType] = (DeviceType.gpu,),
        aspects: frozenset[Aspect] = DEFAULT_ASPECTS,
    ) -> None:
        self.backend = backend
        self._aspects = aspects
        self._platform = PlatformRecord(0, f"fake {backend}", "nobody", "1.0")
        self._records = tuple(
            DeviceRecord(
                FakeDevice(f"{backend} {kind} {index}"),
                self._platform,
                index,
                kind,
                f"{backend} {kind} {index}",
                "nobody",
                "1.2.3",
                "7.5",
                bytes([index] * 16),
            )
            for index, kind in enumerate(types)
        )
        self.alive = {"context": 0, "queue": 0, "event": 0, "memory": 0, "module": 0}
        self.created = dict.fromkeys(self.alive, 0)
        self.calls: list[tuple[str, Any]] = []
        self.copies: list[tuple[int, int, int]] = []
        self.neighbours: Sequence[FakeBackend] = ()
        self.owners: dict[int, FakeContext] = {}
        self.info: dict[str, Any] = {"global_mem_size": MEMORY}
        self.instant = False
        self.traits = Traits(
            events_cross_contexts=True,
            memory_crosses_contexts=True,
            orders_streams=backend is Backend.cuda,
            is_for_processors=backend is Backend.reference,
            device_memory=_MEMORY.get(backend, DLDeviceType.one_api),
        )
        self.refuse: Error | None = None
        self.memory: dict[int, tuple[Any, int, UsmKind]] = {}
        self.in_use: dict[int, int] = {}
        self.violations: list[str] = []
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ bookkeeping

    def _count(self, kind: str, change: int) -> None:
        with self._lock:
            self.alive[kind] += change
            if change > 0:
                self.created[kind] += 1

    def _require(self, condition: bool, what: str) -> None:
        if not condition:
            self.violations.append(what)
            raise AssertionError(what)

    # ------------------------------------------------------------------ discovery

    def platforms(self) -> Sequence[PlatformRecord]:
        return (self._platform,)

    def devices(self) -> Sequence[DeviceRecord]:
        return self._records

    def aspects(self, device: FakeDevice) -> frozenset[Aspect]:
        return self._aspects

    def device_info(self, device: FakeDevice, name: str) -> Any:
        if name in self.info:
            return self.info[name]
        raise FeatureNotSupportedError(f"{name} is not known")

    # ------------------------------------------------------------------ contexts, queues

    def create_context(self, devices: Sequence[FakeDevice]) -> FakeContext:
        self._count("context", 1)
        return FakeContext(devices)

    def release_context(self, context: FakeContext) -> None:
        self._require(context.alive, "a context was released twice")
        context.alive = False
        self._count("context", -1)

    def create_queue(self, context: FakeContext, device: FakeDevice, *, in_order: bool, profiling: bool) -> FakeQueue:
        self._require(context.alive, "a queue was made in a released context")
        self._count("queue", 1)
        return FakeQueue(context, in_order, profiling)

    def release_queue(self, queue: FakeQueue) -> None:
        self._require(queue.alive, "a queue was released twice")
        self._require(queue.context.alive, "a queue was released after its context")
        self._require(self.queue_is_idle(queue), "a queue was released before its work was done")
        queue.alive = False
        self._count("queue", -1)

    def wait_queue(self, queue: FakeQueue) -> None:
        self._require(queue.alive, "a released queue was waited for")
        while True:
            with queue.lock:
                events = list(queue.events)
            for event in events:
                _wait(event)
            with queue.lock:
                queue.events = [event for event in queue.events if event not in events or self._untold(event)]
                failed = next((event for event in queue.events if event.finished.is_set()), None)
                if failed is not None:
                    queue.events.remove(failed)
                    failed.asked = True
                    assert failed.error is not None
                    raise failed.error
                if not queue.events:
                    return

    @staticmethod
    def _untold(event: FakeEvent) -> bool:
        return event.error is not None and not event.asked

    def queue_is_idle(self, queue: FakeQueue) -> bool:
        self._require(queue.alive, "a released queue was asked")
        with queue.lock:
            return all(event.finished.is_set() for event in queue.events)

    def queue_lanes(self, queue: FakeQueue) -> None:
        return None

    # ------------------------------------------------------------------ commands

    def _submit(
        self, queue: FakeQueue, work: Callable[[], object], waits: Sequence[FakeEvent], uses: Sequence[int] = ()
    ) -> FakeEvent:
        self._require(queue.alive, "a command was submitted to a released queue")
        if self.refuse is not None:
            error, self.refuse = self.refuse, None
            raise error
        waits = [event_of(event) for event in waits]
        event = FakeEvent()
        self._count("event", 1)
        with self._lock:
            for address in uses:
                self.in_use[address] = self.in_use.get(address, 0) + 1
        with queue.lock:
            before = list(waits) + (list(queue.events) if queue.in_order else [])
            queue.events = [old for old in queue.events if not old.finished.is_set() or self._untold(old)]
            queue.events.append(event)

        def run() -> None:
            for earlier in before:
                earlier.finished.wait()
            event.running = True
            event.times[1] = time.monotonic_ns()
            try:
                if any(earlier.error is not None for earlier in waits):
                    raise SyclRuntimeError("a command that this one waits for has failed")
                work()
            except Error as error:
                event.error = error
            event.times[2] = time.monotonic_ns()
            with self._lock:
                for address in uses:
                    self.in_use[address] -= 1
            event.finished.set()

        if self.instant:
            run()
        else:
            threading.Thread(target=run, daemon=True).start()
        return event

    def gate(self, queue: FakeQueue, gate: threading.Event, error: Error | None = None) -> Callable[[Any], FakeEvent]:
        """Create an operation for ``Queue._enqueue`` that ends, or fails, when the gate opens."""

        def work() -> None:
            gate.wait()
            if error is not None:
                raise error

        return lambda waits: self._submit(queue, work, waits)

    def barrier(self, queue: FakeQueue, waits: Sequence[FakeEvent] = ()) -> FakeEvent:
        with queue.lock:
            earlier = list(queue.events)

        def work() -> None:
            for event in earlier:
                event.finished.wait()

        return self._submit(queue, work, waits)

    def wait_event(self, event: FakeEvent | FakeMark) -> None:
        event = event_of(event)
        _wait(event)
        event.asked = True
        if event.error is not None:
            raise event.error

    def event_status(self, event: FakeEvent | FakeMark) -> EventStatus:
        event = event_of(event)
        if event.finished.is_set():
            return EventStatus.complete
        return EventStatus.running if event.running else EventStatus.submitted

    def event_times(self, event: FakeEvent | FakeMark) -> tuple[int, int, int]:
        event = event_of(event)
        event.finished.wait()
        return event.times[0], event.times[1], event.times[2]

    def release_event(self, event: FakeEvent) -> None:
        self._count("event", -1)

    # ------------------------------------------------------------------ memory

    def allocate(
        self, context: FakeContext, device: FakeDevice | None, kind: UsmKind, nbytes: int, alignment: int = 0
    ) -> int:
        self._require(context.alive, "memory was allocated in a released context")
        with self._lock:
            if sum(size for _, size, _ in self.memory.values()) + nbytes > MEMORY:
                raise MemoryAllocationError(f"{nbytes} bytes: there is not enough memory")
            block = ctypes.create_string_buffer(nbytes)
            address = ctypes.addressof(block)
            self.memory[address] = block, nbytes, kind
            self.owners[address] = context
        self._count("memory", 1)
        return address

    def free(self, context: FakeContext, address: int) -> None:
        self._require(context.alive, "memory was freed after its context")
        with self._lock:
            self._require(address in self.memory, "memory was freed twice")
            self._require(not self.in_use.get(address), "memory was freed while a command used it")
            del self.memory[address]
        self._count("memory", -1)

    def pointer_info(self, context: FakeContext, address: int) -> PointerRecord:
        for base, (_, size, kind) in self.memory.items():
            if base <= address < base + size:
                return PointerRecord(kind, base, size)
        return PointerRecord(UsmKind.unknown)

    def copy(self, queue: FakeQueue, dst: int, src: int, nbytes: int, waits: Sequence[FakeEvent] = ()) -> FakeEvent:
        self._require(queue.alive, "a copy in a released queue")
        uses = self._reached(queue, (dst, src), nbytes)
        self.copies.append((dst, src, nbytes))
        return self._submit(queue, lambda: ctypes.memmove(dst, src, nbytes), waits, uses)

    def _reached(self, queue: FakeQueue, addresses: Sequence[int], nbytes: int) -> list[int]:
        """The allocations at these addresses; fails for memory that a driver could not access."""
        uses = []
        for address in addresses:
            for base, (_, size, _) in list(self.memory.items()):
                if base <= address < base + size:
                    self._require(address + nbytes <= base + size, "a copy leaves its allocation")
                    same = self.owners[base] is queue.context or self.traits.memory_crosses_contexts
                    self._require(same, "a copy reaches into another context")
                    uses.append(base)
            for other in self.neighbours:
                for base, (_, size, kind) in list(other.memory.items()):
                    inside = other is not self and base <= address < base + size
                    self._require(not inside or kind is UsmKind.host, "a copy reaches into another driver's device")
        return uses

    def fill(
        self, queue: FakeQueue, dst: int, pattern: bytes, count: int, waits: Sequence[FakeEvent] = ()
    ) -> FakeEvent:
        self._require(len(pattern) in (1, 2, 4, 8, 16), "a pattern of a size outside the contract")
        uses = self._reached(queue, (dst,), len(pattern) * count)
        return self._submit(queue, lambda: ctypes.memmove(dst, pattern * count, len(pattern) * count), waits, uses)

    # ------------------------------------------------------------------ streams of other libraries

    def make_stream_wait(
        self, context: FakeContext, device: FakeDevice, stream: int, waits: Sequence[FakeEvent]
    ) -> None:
        self._require(context.alive, "a stream was made to wait in a released context")
        self.calls.append(("make_stream_wait", (stream, list(waits))))

    def wait_for_stream(self, queue: FakeQueue, stream: int) -> FakeEvent:
        self.calls.append(("wait_for_stream", stream))
        return self.barrier(queue)

    def native_handle(self, native: Any) -> int:
        return id(native)

    def prefetch(self, queue: FakeQueue, address: int, nbytes: int, waits: Sequence[FakeEvent] = ()) -> FakeEvent:
        self.calls.append(("prefetch", (address, nbytes)))
        return self._submit(queue, lambda: None, waits, [address])

    def advise(
        self, queue: FakeQueue, address: int, nbytes: int, advice: int, waits: Sequence[FakeEvent] = ()
    ) -> FakeEvent:
        self.calls.append(("advise", (address, nbytes, advice)))
        return self._submit(queue, lambda: None, waits, [address])

    # ------------------------------------------------------------------ kernels

    def load_module(
        self,
        context: FakeContext,
        device: FakeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> FakeModule:
        if b"error" in source:
            raise BuildError("the module does not build", log="line 1: error")
        self._count("module", 1)
        self.calls.append(("load_module", (source, specialization, options)))
        return FakeModule(source, specialization, options)

    def describe_module(self, source: bytes) -> ModuleDescription:
        if source == b"binary":
            return ModuleDescription()
        constants = {
            7: Constant(7, "int", 8, (-3).to_bytes(8, "little", signed=True)),
            8: Constant(8, "float", 2, b"\0\x3c"),
            9: Constant(9, "bool", 1, b"\1"),
        }
        return ModuleDescription(tuple(KERNELS), constants if source.startswith(b"constants") else None)

    def module_log(self, module: FakeModule) -> str:
        return f"built {module.source.decode()}"

    def release_module(self, module: FakeModule) -> None:
        self._require(module.alive, "a module was released twice")
        module.alive = False
        self._count("module", -1)

    def kernel_names(self, module: FakeModule) -> tuple[str, ...]:
        return tuple(KERNELS)

    def get_kernel(self, module: FakeModule, name: str) -> tuple[FakeModule, str]:
        return module, name

    def kernel_info(self, kernel: tuple[FakeModule, str]) -> KernelRecord:
        return KERNELS[kernel[1]]

    def launch(
        self,
        queue: FakeQueue,
        kernel: tuple[FakeModule, str],
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
        waits: Sequence[FakeEvent] = (),
    ) -> FakeEvent:
        self.calls.append(("launch", (kernel[1], global_size, local_size, list(arguments))))

        def work() -> None:
            self._require(kernel[0].alive, "a kernel ran after its module was released")
            kernel[0].ran += 1
            if kernel[1] == "add":
                to, term, count = (int.from_bytes(argument, "little") for argument in arguments)
                numbers = (ctypes.c_int32 * count).from_address(to)
                for index, value in enumerate((ctypes.c_int32 * count).from_address(term)):
                    numbers[index] += value

        uses = [
            address
            for argument in arguments
            if isinstance(argument, bytes) and (address := self._base(int.from_bytes(argument, "little")))
        ]
        return self._submit(queue, work, waits, uses)

    def _base(self, address: int) -> int:
        """The allocation that contains an address, or 0."""
        for base, (_, size, _) in list(self.memory.items()):
            if base <= address < base + size:
                return base
        return 0

    def prepare_launch(
        self,
        queue: FakeQueue,
        kernel: tuple[FakeModule, str],
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
    ) -> PreparedCommand | None:
        return (
            None if queue.profiling else prepared_launch(self.launch, queue, kernel, global_size, local_size, arguments)
        )

    def prepare_copy(self, queue: FakeQueue, region: Any) -> None:
        return None

    def prepare_image_call(self, queue: FakeQueue, call: Any) -> None:
        return None


class LinkingBackend(FakeBackend):
    """Devices with a linker; an object file is its source."""

    linking = OwnMethods()

    def __init__(self, backend: Backend, types: Sequence[DeviceType]) -> None:
        super().__init__(backend, types, DEFAULT_ASPECTS | {Aspect.online_compiler, Aspect.online_linker})

    def compile_module(
        self, context: FakeContext, device: FakeDevice, source: bytes, *, specialization: Any = None, options: str = ""
    ) -> tuple[bytes, str]:
        self.calls.append(("compile_module", (source, specialization, options)))
        return source, f"compiled {source.decode()}"

    def link_modules(
        self, context: FakeContext, device: FakeDevice, objects: Sequence[bytes], *, options: str = ""
    ) -> FakeModule:
        self.calls.append(("link_modules", (list(objects), options)))
        self._count("module", 1)
        return FakeModule(b" ".join(objects), None, options)


class DividedBackend(FakeBackend):
    """Devices of eight compute units with every kind of partition; affinity gives two halves, then two quarters each,
    which are indivisible."""

    partitioning = OwnMethods()

    def __init__(self, backend: Backend, types: Sequence[DeviceType]) -> None:
        super().__init__(backend, types)
        self.parts: dict[Any, tuple[DeviceRecord, ...]] = {}
        self.units = {record.native: 8 for record in self._records}

    def device_info(self, device: FakeDevice, name: str) -> Any:
        units = self.units[device]
        ways = ("partition_equally", "partition_by_counts", "partition_by_affinity_domain")
        answers = {
            "max_compute_units": units,
            "partition_max_sub_devices": units,
            "partition_properties": tuple(map(partition_property, ways)) if units > 2 else (),
            "partition_affinity_domains": (
                partition_affinity_domain.numa,
                partition_affinity_domain.next_partitionable,
            ),
        }
        return answers[name] if name in answers else super().device_info(device, name)

    def partition(self, device: FakeDevice, how: Any, argument: Any) -> Sequence[DeviceRecord]:
        key = device, how, argument
        if key not in self.parts:
            units = self.units[device]
            if how == "partition_equally":
                counts = (argument,) * (units // argument)
            elif how == "partition_by_counts":
                counts = argument
            else:
                counts = (units // 2,) * 2
            record = next(record for record in self._known() if record.native is device)
            made = []
            for index, count in enumerate(counts):
                part = FakeDevice(f"{device.name}.{index}")
                self.units[part] = count
                made.append(replace(record, native=part, name=part.name, parent=record))
            self.parts[key] = tuple(made)
        return self.parts[key]

    def _known(self) -> list[DeviceRecord]:
        return [*self._records, *(record for records in self.parts.values() for record in records)]
