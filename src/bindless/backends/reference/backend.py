"""The back end of the reference driver (``include/bindless/reference.h``): the processor as an image device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from ...core._submission import Lane
from ...model.aspects import Aspect
from ...model.channels import CHANNELS
from ...model.dlpack import DLDeviceType
from ...model.enums import (
    Backend,
    DeviceType,
    EventStatus,
    ImageChannelType,
    UsmKind,
)
from ...model.errors import (
    MemoryAllocationError,
    ProfilingError,
)
from ...model.image_descriptor import ImageDescriptor
from ...model.module import spirv
from ...model.module.description import ModuleDescription
from ...model.native_handle import NativeHandle
from ...model.sampler import BindlessImageSampler
from ..common.absent_streams import AbsentStreams
from ..common.native_handle import native_handle
from ..contract import (
    DeviceRecord,
    ImageRecord,
    KernelRecord,
    OptionalGroups,
    OwnMethods,
    PlatformRecord,
    PointerRecord,
    Traits,
)
from . import area_means as _area_means
from . import colour_tables as _colour_tables
from . import copy as _copy
from . import external_memory, graph, low_level
from . import image_functions as _functions
from . import launch as _launches
from . import resampling as _resampling
from . import spline_filters as _spline_filters
from .device_info import ASPECTS, device_info, text
from .driver_access import DriverAccess
from .filtering import require_same_filtering
from .image_structs import image_struct, sampler_struct
from .module import Kernel, Kernels, Module, Object
from .native_handles import HANDLES, TYPES, Natives
from .objects import Context, Device, Event, Queue, require_one_device

__all__ = ["ReferenceBackend"]

# Interval of a wait's returns to the interpreter, which then handles signals such as Ctrl-C.
_WAIT_SLICE = 50_000_000  # nanoseconds
_SIZE_MAX = 2**64 - 1

# Results that are not failures.
_SUCCESS = 0
_NOT_READY = 1
_TIMEOUT = 11

# The driver's numbers of the model's names, in the order of the header.
_CHANNEL_TYPES = {channel.index: channel_type for channel_type, channel in CHANNELS.items()}
_KINDS = {UsmKind.unknown: 0, UsmKind.device: 1, UsmKind.host: 2, UsmKind.shared: 3}
_KIND_NAMES = {number: kind for kind, number in _KINDS.items()}
_STATUS = (EventStatus.submitted, EventStatus.running, EventStatus.complete, EventStatus.complete)


class ReferenceBackend(DriverAccess, AbsentStreams, OptionalGroups):
    """``BackendProtocol`` on top of the reference driver. Supports every aspect of BI; waits can be interrupted."""

    backend = Backend.reference
    traits = Traits(
        events_release_themselves=True,
        copies_boxes=True,
        events_cross_contexts=True,
        has_texture_units=True,
        computes_precisions=True,
        checks_indices=True,
        is_for_processors=True,
        device_memory=DLDeviceType.cpu,
    )
    streams_absent = "the reference device has no streams"

    def __init__(self) -> None:
        super().__init__()
        self._kernels = Kernels(self._lib, self._ffi, self._check)
        natives = Natives(self._lib, self._ffi, self._check, self._kernels, self)
        self.platform_handle = natives.platform_handle
        self.find_device = natives.find_device
        self.devices_of = natives.devices_of
        self.adopt_context = natives.adopt_context
        self.adopt_queue = natives.adopt_queue
        self.adopt_event = natives.adopt_event
        self.adopt_module = natives.adopt_module
        self.adopt_kernel = natives.adopt_kernel
        self.adopt_memory = natives.adopt_memory
        self._devices: tuple[DeviceRecord, ...] | None = None

    # ------------------------------------------------------------------ discovery

    def platforms(self) -> Sequence[PlatformRecord]:
        return tuple(dict.fromkeys(record.platform for record in self.devices()))

    def devices(self) -> Sequence[DeviceRecord]:
        if self._devices is None:
            count = self._ffi.new("uint32_t *")
            self._check(self._lib.blrDeviceGetCount(count), "blrDeviceGetCount")
            self._devices = tuple(self._record(index) for index in range(count[0]))
        return self._devices

    def _record(self, index: int) -> DeviceRecord:
        ffi, lib = self._ffi, self._lib
        handle, properties = ffi.new("blr_device_t *"), ffi.new("blr_device_properties_t *")
        self._check(lib.blrDeviceGet(index, handle), "blrDeviceGet")
        self._check(lib.blrDeviceGetProperties(handle[0], properties), "blrDeviceGetProperties")
        version, vendor = text(properties.driver_version, ffi), text(properties.vendor, ffi)
        return DeviceRecord(
            native=Device(handle[0], index, properties),
            platform=PlatformRecord(0, "bindless reference", vendor, version),
            index=index,
            type=DeviceType.cpu,
            name=text(properties.name, ffi),
            vendor=vendor,
            driver_version=version,
            version=version,
            uuid=bytes(ffi.buffer(properties.uuid)),
        )

    def aspects(self, device: Device) -> frozenset[Aspect]:
        return ASPECTS

    def device_info(self, device: Device, name: str) -> object:
        return device_info(device.properties, self._ffi, name)

    def supports_format(self, device: Device, channel_type: ImageChannelType, num_channels: int) -> bool:
        answer = self._ffi.new("uint32_t *")
        self._check(
            self._lib.blrDeviceSupportsFormat(device.handle, CHANNELS[channel_type].index, num_channels, answer),
            "blrDeviceSupportsFormat",
        )
        return bool(answer[0])

    # ------------------------------------------------------------------ contexts, queues

    def create_context(self, devices: Sequence[Device]) -> Context:
        require_one_device(devices)
        context = self._ffi.new("blr_context_t *")
        self._check(self._lib.blrContextCreate(devices[0].handle, context), "blrContextCreate")
        return Context(context[0], devices[0])

    def release_context(self, context: Context) -> None:
        if context.owned:
            self._lib.blrContextDestroy(context.handle)

    def release_queue(self, queue: Queue) -> None:
        queue.pending = None  # It refers to the queue.
        if queue.owned:
            self._lib.blrQueueDestroy(queue.handle)

    def wait_queue(self, queue: Queue) -> None:
        wait, handle = self._lib.blrQueueWait, queue.handle
        while (result := wait(handle, _WAIT_SLICE)) == _TIMEOUT:
            pass
        self._check(result, "blrQueueWait")

    def queue_lanes(self, queue: Queue) -> tuple[Lane, ...]:
        return queue.streams

    def queue_is_idle(self, queue: Queue) -> bool:
        result = self._lib.blrQueueQuery(queue.handle)
        if result not in (_SUCCESS, _NOT_READY):
            self._check(result, "blrQueueQuery")
        return bool(result == _SUCCESS)

    # ------------------------------------------------------------------ events

    def wait_event(self, event: Event) -> None:
        wait, handle = self._lib.blrEventWait, event.handle
        while (result := wait(handle, _WAIT_SLICE)) == _TIMEOUT:
            pass
        self._check(result, "blrEventWait")

    def event_status(self, event: Event) -> EventStatus:
        status = self._ffi.new("blr_event_status_t *")
        self._check(self._lib.blrEventGetStatus(event.handle, status), "blrEventGetStatus")
        return _STATUS[int(status[0])]

    def event_times(self, event: Event) -> tuple[int, int, int]:
        if not event.profiling:
            raise ProfilingError(
                "the event has no times: its queue was made without profiling; Queue(enable_profiling=True) keeps them",
                backend="reference",
            )
        times = self._ffi.new("uint64_t[3]")
        wait, handle = self._lib.blrEventWait, event.handle
        while wait(handle, _WAIT_SLICE) == _TIMEOUT:  # A failed command has timestamps too.
            pass
        self._check(
            self._lib.blrEventGetTimestamps(handle, times, times + 1, times + 2),
            "blrEventGetTimestamps",
        )
        return int(times[0]), int(times[1]), int(times[2])

    def release_event(self, event: Event) -> None:
        event.release()

    # ------------------------------------------------------------------ memory

    def allocate(self, context: Context, device: Device | None, kind: UsmKind, nbytes: int, alignment: int = 0) -> int:
        self._fits(nbytes, "an allocation")
        pointer = self._ffi.new("void **")
        self._check(
            self._lib.blrMemoryAllocate(context.handle, _KINDS[kind], nbytes, alignment, pointer), "blrMemoryAllocate"
        )
        return int(self._ffi.cast("uintptr_t", pointer[0]))

    def allocate_pitched(
        self, context: Context, device: Device, width_in_bytes: int, height: int, element_size: int
    ) -> tuple[int, int]:
        self._fits(width_in_bytes * height, "a pitched allocation")
        pointer, pitch = self._ffi.new("void **"), self._ffi.new("uint64_t *")
        self._check(
            self._lib.blrMemoryAllocatePitched(context.handle, width_in_bytes, height, element_size, pointer, pitch),
            "blrMemoryAllocatePitched",
        )
        return int(self._ffi.cast("uintptr_t", pointer[0])), int(pitch[0])

    @staticmethod
    def _fits(nbytes: int, what: str) -> None:
        if nbytes > _SIZE_MAX:
            raise MemoryAllocationError(
                f"{what}: {nbytes} bytes do not fit 64 bits; make it smaller", backend="reference"
            )

    def lend_memory(self, context: Context, address: int, nbytes: int, writable: bool) -> None:
        result = self._lib.blrMemoryRegister(context.handle, self._pointer(address), nbytes, writable)
        self._check(result, "blrMemoryRegister")

    def return_memory(self, context: Context, address: int, nbytes: int, writable: bool) -> None:
        result = self._lib.blrMemoryUnregister(context.handle, self._pointer(address), nbytes, writable)
        self._check(result, "blrMemoryUnregister")

    def pointer_info(self, context: Context, address: int) -> PointerRecord:
        properties = self._ffi.new("blr_memory_properties_t *")
        self._check(
            self._lib.blrMemoryGetProperties(context.handle, self._pointer(address), properties),
            "blrMemoryGetProperties",
        )
        kind = _KIND_NAMES[int(properties.kind)]
        if kind is UsmKind.unknown:
            return PointerRecord(kind)
        return PointerRecord(kind, int(properties.base), int(properties.size), context.device)

    def copy(self, queue: Queue, dst: int, src: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
        event = self._ffi.new("blr_event_t *")
        count, events = self._waits(waits)
        result = self._lib.blrEnqueueCopy(
            queue.handle, self._pointer(dst), self._pointer(src), nbytes, count, events, event
        )
        self._check(result, "blrEnqueueCopy")
        return Event(event[0], queue.profiling)

    def fill(self, queue: Queue, dst: int, pattern: bytes, count: int, waits: Sequence[Event] = ()) -> Event:
        event = self._ffi.new("blr_event_t *")
        number, events = self._waits(waits)
        result = self._lib.blrEnqueueFill(
            queue.handle, self._pointer(dst), pattern, len(pattern), count, number, events, event
        )
        self._check(result, "blrEnqueueFill")
        return Event(event[0], queue.profiling)

    def prefetch(self, queue: Queue, address: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
        """Do nothing in queue order: all memory is in one place."""
        return self.barrier(queue, waits)

    def advise(self, queue: Queue, address: int, nbytes: int, advice: int, waits: Sequence[Event] = ()) -> Event:
        """Do nothing in queue order: advice has no effect here."""
        return self.barrier(queue, waits)

    # ------------------------------------------------------------------ image memory and handles

    def allocate_image(self, context: Context, device: Device, desc: ImageDescriptor) -> int:
        if desc.nbytes > _SIZE_MAX:
            sizes = " x ".join(str(n) for n in (desc.width, desc.height, desc.depth) if n)
            self._fits(desc.nbytes, f"an image of {sizes} pixels")
        image = self._ffi.new("blr_image_t *")
        self._check(self._lib.blrImageCreate(context.handle, image_struct(self._ffi, desc), image), "blrImageCreate")
        return int(self._ffi.cast("uintptr_t", image[0]))

    def image_info(self, context: Context, handle: int) -> ImageRecord:
        desc = self._ffi.new("blr_image_desc_t *")
        self._check(self._lib.blrImageGetDesc(self._image(handle), desc), "blrImageGetDesc")
        return ImageRecord(
            int(desc.width),
            int(desc.height),
            int(desc.depth),
            _CHANNEL_TYPES[int(desc.channel_type)],
            int(desc.num_channels),
        )

    def image_level(self, context: Context, handle: int, level: int) -> int:
        image = self._ffi.new("blr_image_t *")
        self._check(self._lib.blrImageGetLevel(self._image(handle), level, image), "blrImageGetLevel")
        return int(self._ffi.cast("uintptr_t", image[0]))

    def create_unsampled_image(self, context: Context, device: Device, handle: int, desc: ImageDescriptor) -> int:
        number: int = self._lib.bindless_unsampled_image(context.handle, handle, image_struct(self._ffi, desc))
        return number or self._refused("blrUnsampledImageCreate")

    def create_sampled_image(
        self, context: Context, device: Device, handle: int, desc: ImageDescriptor, sampler: BindlessImageSampler
    ) -> int:
        number: int = self._lib.bindless_sampled_image(
            context.handle, handle, image_struct(self._ffi, desc), sampler_struct(self._ffi, sampler)
        )
        return number or self._refused("blrSampledImageCreate")

    def require_same_settings(self, device: Device) -> None:
        require_same_filtering(device)

    def _refused(self, call: str) -> NoReturn:
        """Raise the driver's last failure of this thread."""
        code, message = self._ffi.new("blr_result_t *"), self._ffi.new("char const **")
        self._lib.blrGetLastError(code, message)
        self._check(code[0], call)
        raise AssertionError(call)

    def create_sampled_image_usm(
        self,
        context: Context,
        device: Device,
        address: int,
        pitch: int,
        desc: ImageDescriptor,
        sampler: BindlessImageSampler,
    ) -> int:
        created = self._ffi.new("blr_image_handle_t *")
        result = self._lib.blrSampledImageCreateFromMemory(
            context.handle,
            self._pointer(address),
            pitch if desc.height else 0,
            image_struct(self._ffi, desc),
            sampler_struct(self._ffi, sampler),
            created,
        )
        self._check(result, "blrSampledImageCreateFromMemory")
        return int(created[0])

    def create_unsampled_image_usm(
        self, context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor
    ) -> int:
        created = self._ffi.new("blr_image_handle_t *")
        view = self._ffi.new("blr_image_view_desc_t *")
        view.image, view.pointer = image_struct(self._ffi, desc)[0], self._pointer(address)
        view.row_pitch = pitch if desc.height else 0
        # Channels of the image are numbered from 0 (BLR_SWIZZLE_RED); missing channels read 0.
        view.swizzle = [c if c < desc.num_channels else self._lib.BLR_SWIZZLE_ZERO for c in range(4)]
        self._check(self._lib.blrImageViewCreate(context.handle, view, created), "blrImageViewCreate")
        return int(created[0])

    def destroy_image(self, context: Context, handle: int, sampled: bool) -> None:
        result = self._lib.blrImageHandleDestroy(context.handle, handle)
        if result:  # Checked here, because a call of ``_check`` takes as long as the driver's call.
            self._check(result, "blrImageHandleDestroy")

    area_mean = _area_means.area_mean
    prepare_area_mean = _area_means.prepare_area_mean
    fill_levels = _area_means.fill_levels
    prepare_levels = _area_means.prepare_levels
    resample = _resampling.resample
    prepare_resampling = _resampling.prepare_resampling
    spline_filter = _spline_filters.spline_filter
    map_colours = _colour_tables.map_colours
    copy_image = _copy.copy_image
    prepare_copy = _copy.prepare_copy
    prepare_bytes = _copy.prepare_bytes

    image_call = _functions.image_call
    prepare_image_call = _functions.prepare_image_call

    # ------------------------------------------------------------------ modules and kernels

    def load_module(
        self,
        context: Context,
        device: Device,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> Module:
        return self._kernels.load(context.handle, source, specialization, options)

    def compile_module(
        self,
        context: Context,
        device: Device,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> tuple[Object, str]:
        return self._kernels.compile(context.handle, source, specialization, options), ""

    def link_modules(self, context: Context, device: Device, objects: Sequence[Object], *, options: str = "") -> Module:
        return self._kernels.link(context.handle, objects, options)

    def describe_module(self, source: bytes) -> ModuleDescription:
        return spirv.describe(source)

    def module_log(self, module: Module) -> str:
        return ""

    def release_module(self, module: Module) -> None:
        self._kernels.release(module)

    def kernel_names(self, module: Module) -> tuple[str, ...]:
        return module.names

    def get_kernel(self, module: Module, name: str) -> Kernel:
        return self._kernels.get(module, name)

    def kernel_info(self, kernel: Kernel) -> KernelRecord:
        return kernel.record

    launch = _launches.launch
    launch_with_offset = _launches.launch_with_offset
    prepare_launch = staticmethod(_launches.prepare_launch)

    # ------------------------------------------------------------------ optional groups: contract/low_level.py

    queue_groups = low_level.queue_groups
    create_queue_in_group = low_level.create_queue_in_group
    can_access_peer = low_level.can_access_peer
    peer_properties = low_level.peer_properties
    barrier_of_ranges = low_level.barrier_of_ranges
    make_memory_resident = low_level.make_memory_resident
    evict_memory = low_level.evict_memory
    make_image_resident = low_level.make_image_resident
    evict_image = low_level.evict_image
    launch_cooperative = low_level.launch_cooperative
    most_cooperative_groups = low_level.most_cooperative_groups
    prefer_cache = low_level.prefer_cache
    records_graphs = graph.records_graphs
    record_graph = graph.record_graph
    launch_graph = graph.launch_graph
    release_graph = graph.release_graph

    # ------------------------------------------------------------------ external memory and semaphores

    importable_memory = external_memory.importable_memory
    import_memory = external_memory.import_memory
    release_memory = external_memory.release_memory
    map_image = external_memory.map_image
    unmap_image = external_memory.unmap_image
    map_linear = external_memory.map_linear
    unmap_linear = external_memory.unmap_linear
    import_semaphore = external_memory.import_semaphore
    release_semaphore = external_memory.release_semaphore
    wait_semaphore = external_memory.wait_semaphore
    signal_semaphore = external_memory.signal_semaphore
    prepare_semaphore = external_memory.prepare_semaphore

    # ------------------------------------------------------------------ native handles

    native_types = TYPES
    native_lists = frozenset({"kernel_bundle"})
    native_counted: frozenset[str] = frozenset()

    def describe_memory(self, context: Context, handle: NativeHandle) -> PointerRecord:
        return self.pointer_info(context, handle)

    def native_handle(self, native: object) -> int:
        """The address of an object's handle; numbers of images are handles themselves."""
        if isinstance(native, int):
            return native
        return native_handle(HANDLES, native, self._ffi, "reference", "reference")

    # ------------------------------------------------------------------ optional groups, all of methods above

    host_memory = OwnMethods()
    area_means = byte_copies = OwnMethods()
    resampling = OwnMethods()
    spline_filters = OwnMethods()
    colour_tables = OwnMethods()
    sampler_settings = OwnMethods()
    linking = OwnMethods()
    external_memory = OwnMethods()
    external_semaphores = OwnMethods()
    interop = OwnMethods()
    module_interop = OwnMethods()
    unsampled_memory = OwnMethods()
    offset_launch = OwnMethods()
    cooperative_launch = OwnMethods()
    cache_preference = OwnMethods()
    queue_group = OwnMethods()
    graph = OwnMethods()
    range_barrier = OwnMethods()
    residency = OwnMethods()
    peer_access = OwnMethods()
