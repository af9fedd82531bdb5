"""The Level Zero back end: the contract on top of oneAPI Level Zero, for Intel's GPUs and all other devices of the
loader.

Each group of methods is a module of this package: ``driver``, ``device`` and ``device_info`` (discovery), ``context``,
``queue`` over ``stream``, ``command_list`` and ``event``, ``memory``, ``image_memory``, ``image_handle``, ``copy``,
``module``, ``link``, ``kernel``, ``launch``, ``image_functions``; for the optional parts of the contract ``graph``,
``low_level``, ``fence``, ``ipc_memory``, ``user_event_pool`` and ``virtual_memory``. The class here only combines them;
docs/internals/level_zero.md lists the driver calls behind each method.
"""

from __future__ import annotations

from ...core._submission import Lane
from ...drivers import level_zero as driver
from ...model.enums import Backend
from ...model.native_handle import NativeHandle
from ..common.absent_streams import AbsentStreams
from ..common.native_handle import HandleTable, native_handle
from ..common.object_methods import ObjectMethods
from ..contract import OptionalGroups, OwnMethods, PointerRecord, Traits
from . import copy as _copy
from . import device as _device
from . import device_info as _device_info
from . import (
    external_memory,
    fence,
    graph,
    image_functions,
    image_handle,
    image_memory,
    image_view,
    ipc_memory,
    link,
    low_level,
    native_handles,
    user_event_pool,
    virtual_memory,
)
from . import image_format as _image_format
from . import kernel as _kernel
from . import launch as _launch
from . import memory as _memory
from . import module as _module
from .context import Context
from .device import Device
from .event import Event
from .kernel import Kernel
from .module import Module
from .queue import Queue

__all__ = ["LevelZeroBackend"]

ffi = driver.ffi

# The queue's list names the C type: ze_command_list_handle_t or ze_command_queue_handle_t.
_NATIVE: HandleTable = {
    Device: ("ze_device_handle_t", lambda device: device.handle),
    Context: ("ze_context_handle_t", lambda context: context.handle),
    Queue: (None, lambda queue: None if queue.closed else queue.streams[0].lists.handle),
    Event: ("ze_event_handle_t", lambda event: event.native_handle()),
    Module: ("ze_module_handle_t", lambda module: module.native),
    Kernel: ("ze_kernel_handle_t", lambda kernel: None if kernel.module.native is None else kernel.native),
    external_memory.ExternalMemory: ("void", lambda memory: memory.pointer),
    external_memory.Semaphore: ("ze_external_semaphore_ext_handle_t", lambda semaphore: semaphore.array[0]),
}


class LevelZeroBackend(ObjectMethods[Context, Queue, Event, Module, Kernel], AbsentStreams, OptionalGroups):
    """The back end of Level Zero devices. ``devices`` loads the loader and the drivers, not the constructor."""

    backend = Backend.level_zero
    traits = Traits(
        events_release_themselves=True,  # to their pool; see ``NativeEvent``
        copies_boxes=True,
        function_language="spirv",
        driver_binaries=("a cubin",),
    )
    streams_absent = "Level Zero has no streams that libraries share"

    # ------------------------------------------------------------------ discovery

    platforms = staticmethod(_device.platforms)
    devices = staticmethod(_device.devices)
    aspects = staticmethod(_device_info.aspects)
    device_info = staticmethod(_device_info.device_info)
    supports_format = staticmethod(_image_format.supports_format)
    partition = staticmethod(_device_info.partition)

    # ------------------------------------------------------------------ contexts, queues

    create_context = staticmethod(Context)

    def create_queue(
        self, context: Context, device: Device, *, in_order: bool, profiling: bool, immediate: bool | None = None
    ) -> Queue:
        return Queue(context, device, in_order, profiling, immediate)

    def queue_ends(self, queue: Queue) -> list[Event]:
        return queue.ends()

    def queue_lanes(self, queue: Queue) -> tuple[Lane, ...]:
        return queue.streams

    # ------------------------------------------------------------------ memory

    allocate = staticmethod(_memory.allocate)
    allocate_pitched = staticmethod(_memory.allocate_pitched)
    free = staticmethod(_memory.free)
    pointer_info = staticmethod(_memory.pointer_info)
    copy = staticmethod(_memory.copy)
    fill = staticmethod(_memory.fill)
    prefetch = staticmethod(_memory.prefetch)
    advise = staticmethod(_memory.advise)

    # ------------------------------------------------------------------ image memory and handles

    allocate_image = staticmethod(image_memory.allocate_image)
    free_image = staticmethod(image_memory.free_image)
    image_info = staticmethod(image_memory.image_info)
    image_level = staticmethod(image_memory.image_level)
    create_unsampled_image = staticmethod(image_handle.create_unsampled_image)
    create_sampled_image = staticmethod(image_handle.create_sampled_image)
    create_sampled_image_usm = staticmethod(image_handle.create_sampled_image_usm)
    create_format_view = staticmethod(image_view.create_format_view)
    create_unsampled_image_usm = staticmethod(image_handle.create_unsampled_image_usm)
    destroy_image = staticmethod(image_handle.destroy_image)
    copy_image = staticmethod(_copy.copy_image)
    prepare_copy = staticmethod(_copy.prepare_copy)
    image_call = staticmethod(image_functions.image_call)
    prepare_image_call = staticmethod(image_functions.prepare_image_call)

    # ------------------------------------------------------------------ modules and kernels

    load_module = staticmethod(_module.load_module)
    compile_module = staticmethod(link.compile_module)
    link_modules = staticmethod(link.link_modules)
    describe_module = staticmethod(_module.describe_module)
    get_kernel = staticmethod(_kernel.get_kernel)
    launch = staticmethod(_launch.launch)
    launch_with_offset = staticmethod(_launch.launch_with_offset)
    prepare_launch = staticmethod(_launch.prepare_launch)

    # ------------------------------------------------------------------ optional groups: contract/low_level.py

    importable_memory = staticmethod(external_memory.importable_memory)
    import_memory = staticmethod(external_memory.import_memory)
    release_memory = staticmethod(external_memory.release_memory)
    map_image = staticmethod(external_memory.map_image)
    unmap_image = staticmethod(external_memory.unmap_image)
    map_linear = staticmethod(external_memory.map_linear)
    unmap_linear = staticmethod(external_memory.unmap_linear)
    import_semaphore = staticmethod(external_memory.import_semaphore)
    release_semaphore = staticmethod(external_memory.release_semaphore)
    wait_semaphore = staticmethod(external_memory.wait_semaphore)
    signal_semaphore = staticmethod(external_memory.signal_semaphore)
    prepare_semaphore = staticmethod(external_memory.prepare_semaphore)
    queue_groups = staticmethod(low_level.queue_groups)
    create_queue_in_group = staticmethod(low_level.create_queue_in_group)
    can_access_peer = staticmethod(low_level.can_access_peer)
    peer_properties = staticmethod(low_level.peer_properties)
    reaches_memory = staticmethod(low_level.reaches_memory)
    make_memory_resident = staticmethod(low_level.make_memory_resident)
    evict_memory = staticmethod(low_level.evict_memory)
    make_image_resident = staticmethod(low_level.make_image_resident)
    evict_image = staticmethod(low_level.evict_image)
    barrier_of_ranges = staticmethod(low_level.barrier_of_ranges)
    launch_cooperative = staticmethod(low_level.launch_cooperative)
    most_cooperative_groups = staticmethod(low_level.most_cooperative_groups)
    launch_indirect = staticmethod(low_level.launch_indirect)
    prefer_cache = staticmethod(low_level.prefer_cache)
    link_loaded = staticmethod(low_level.link_loaded)
    records_graphs = staticmethod(graph.records_graphs)
    record_graph = staticmethod(graph.record_graph)
    launch_graph = staticmethod(graph.launch_graph)
    release_graph = staticmethod(graph.release_graph)
    create_fence = staticmethod(fence.create_fence)
    signal_fence = staticmethod(fence.signal_fence)
    wait_fence = staticmethod(fence.wait_fence)
    reset_fence = staticmethod(fence.reset_fence)
    destroy_fence = staticmethod(fence.destroy_fence)
    export_memory = staticmethod(ipc_memory.export_memory)
    end_export = staticmethod(ipc_memory.end_export)
    open_memory = staticmethod(ipc_memory.open_memory)
    close_memory = staticmethod(ipc_memory.close_memory)
    create_event_pool = staticmethod(user_event_pool.create_event_pool)
    export_event_pool = staticmethod(user_event_pool.export_event_pool)
    open_event_pool = staticmethod(user_event_pool.open_event_pool)
    close_event_pool = staticmethod(user_event_pool.close_event_pool)
    pool_event = staticmethod(user_event_pool.pool_event)
    signal_event = staticmethod(user_event_pool.signal_event)
    reset_event = staticmethod(user_event_pool.reset_event)
    wait_pool_event = staticmethod(user_event_pool.wait_pool_event)
    enqueue_signal = staticmethod(user_event_pool.enqueue_signal)
    enqueue_reset = staticmethod(user_event_pool.enqueue_reset)
    enqueue_wait = staticmethod(user_event_pool.enqueue_wait)
    virtual_page_size = staticmethod(virtual_memory.virtual_page_size)
    reserve_addresses = staticmethod(virtual_memory.reserve_addresses)
    release_addresses = staticmethod(virtual_memory.release_addresses)
    create_physical = staticmethod(virtual_memory.create_physical)
    destroy_physical = staticmethod(virtual_memory.destroy_physical)
    map_physical = staticmethod(virtual_memory.map_physical)
    unmap = staticmethod(virtual_memory.unmap)
    set_access = staticmethod(virtual_memory.set_access)

    # ------------------------------------------------------------------ native handles

    native_types = native_handles.TYPES
    native_lists = frozenset({"kernel_bundle"})
    native_counted: frozenset[str] = frozenset()
    platform_handle = staticmethod(native_handles.platform_handle)
    find_device = staticmethod(native_handles.find_device)
    devices_of = staticmethod(native_handles.devices_of)
    adopt_context = staticmethod(native_handles.adopt_context)
    adopt_queue = staticmethod(native_handles.adopt_queue)
    adopt_event = staticmethod(native_handles.adopt_event)
    adopt_module = staticmethod(native_handles.adopt_module)
    adopt_kernel = staticmethod(native_handles.adopt_kernel)
    adopt_memory = staticmethod(native_handles.adopt_memory)

    def describe_memory(self, context: Context, handle: NativeHandle) -> PointerRecord:
        return _memory.pointer_info(context, handle)

    def native_handle(self, native: object) -> NativeHandle:
        """The address of an object's ze_..._handle_t.

        The handle of a queue is its immediate command list, or its command queue if it has none; the ``type`` names
        which. For an out-of-order queue it is the first of several, which the queue's waits and barriers include.
        """
        return native_handle(_NATIVE, native, ffi, "Level Zero", "level_zero")

    # ------------------------------------------------------------------ optional groups, all of methods above

    unordered_batches = OwnMethods()
    partitioning = OwnMethods()
    linking = OwnMethods()
    module_link = OwnMethods()
    external_memory = OwnMethods()
    external_semaphores = OwnMethods()
    interop = OwnMethods()
    module_interop = OwnMethods()
    unsampled_memory = OwnMethods()
    format_views = OwnMethods()
    offset_launch = OwnMethods()
    cooperative_launch = OwnMethods()
    indirect_launch = OwnMethods()
    cache_preference = OwnMethods()
    queue_group = OwnMethods()
    graph = OwnMethods()
    fences = OwnMethods()
    range_barrier = OwnMethods()
    event_pools = OwnMethods()
    ipc = OwnMethods()
    virtual_memory = OwnMethods()
    residency = OwnMethods()
    peer_access = OwnMethods()
    reach = OwnMethods()
