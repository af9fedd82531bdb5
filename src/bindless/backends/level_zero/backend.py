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
from ..contract import OptionalGroups, OwnMethods, PointerRecord, Traits, functions_of
from . import copy as _copy
from . import device as _device
from . import device_info as _device_info
from . import external_memory as _external_memory
from . import (
    fence,
    image_functions,
    image_handle,
    image_memory,
    image_view,
    ipc_memory,
    link,
    low_level,
    native_handles,
    user_event_pool,
)
from . import graph as _graph
from . import image_format as _image_format
from . import kernel as _kernel
from . import launch as _launch
from . import memory as _memory
from . import module as _module
from . import virtual_memory as _virtual_memory
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
    _external_memory.ExternalMemory: ("void", lambda memory: memory.pointer),
    _external_memory.Semaphore: ("ze_external_semaphore_ext_handle_t", lambda semaphore: semaphore.array[0]),
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
    destroy_image = staticmethod(image_handle.destroy_image)
    copy_image = staticmethod(_copy.copy_image)
    prepare_copy = staticmethod(_copy.prepare_copy)
    image_call = staticmethod(image_functions.image_call)
    prepare_image_call = staticmethod(image_functions.prepare_image_call)

    # ------------------------------------------------------------------ modules and kernels

    load_module = staticmethod(_module.load_module)
    describe_module = staticmethod(_module.describe_module)
    get_kernel = staticmethod(_kernel.get_kernel)
    launch = staticmethod(_launch.launch)
    prepare_launch = staticmethod(_launch.prepare_launch)

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

    # ------------------------------------------------------------------ optional groups: modules, or methods above

    unordered_batches = OwnMethods()
    partitioning = functions_of(_device_info)
    linking = functions_of(link)
    module_link = functions_of(low_level)
    external_memory = functions_of(_external_memory)
    external_semaphores = functions_of(_external_memory)
    interop = OwnMethods()
    module_interop = functions_of(native_handles)
    unsampled_memory = functions_of(image_handle)
    format_views = functions_of(image_view)
    offset_launch = functions_of(_launch)
    cooperative_launch = functions_of(low_level)
    indirect_launch = functions_of(low_level)
    cache_preference = functions_of(low_level)
    queue_group = functions_of(low_level)
    graph = functions_of(_graph)
    fences = functions_of(fence)
    range_barrier = functions_of(low_level)
    event_pools = functions_of(user_event_pool)
    ipc = functions_of(ipc_memory)
    virtual_memory = functions_of(_virtual_memory)
    residency = functions_of(low_level)
    peer_access = functions_of(low_level)
    reach = functions_of(low_level)
