"""The CUDA back end: the contract on top of NVIDIA's driver API.

Each group of methods is a module of this package: ``device`` and ``device_info`` (discovery), ``queue`` over ``stream``
and ``event``, ``memory``, ``image_memory`` and ``image_handle``, ``copy``, ``module``, ``link``, ``kernel`` and
``launch``, ``image_functions``, ``mapped_image_call`` and ``pipelined_image_call``, ``foreign_stream``,
``native_handles``; for the optional parts of the contract ``external_memory``, ``low_level``, ``ipc_memory`` and
``virtual_memory``. The class here only combines them.

All work runs in the primary context of each device, which other libraries of the process share. A method makes that
context current on the calling thread if it is not; methods that create or destroy objects restore the previous context,
if the thread had one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core._submission import Lane
from ...drivers import cuda as driver
from ...model.dlpack import DLDeviceType
from ...model.enums import Backend, ImageChannelType
from ...model.image_call import ImageCall
from ...model.native_handle import NativeHandle
from ..common.native_handle import HandleTable, native_handle
from ..common.object_methods import ObjectMethods
from ..contract import OptionalGroups, OwnMethods, PointerRecord, Traits, functions_of
from . import copy as _copy
from . import device as _device
from . import device_info as _device_info
from . import external_memory as _external_memory
from . import (
    foreign_stream,
    image_functions,
    image_handle,
    image_memory,
    ipc_memory,
    link,
    low_level,
    mapped_image_call,
    native_handles,
    pipelined_image_call,
)
from . import graph as _graph
from . import launch as _launch
from . import memory as _memory
from . import module as _module
from . import virtual_memory as _virtual_memory
from .context import Context
from .device import Device
from .event import Event
from .image_format import fits_surfaces, supports_format
from .kernel import Kernel
from .module import Module
from .queue import Queue

__all__ = ["CudaBackend"]

ffi = driver.ffi

_NATIVE: HandleTable = {
    _external_memory.ExternalMemory: ("CUexternalMemory", lambda memory: memory.handle),
    _external_memory.Semaphore: ("CUexternalSemaphore", lambda semaphore: semaphore.handle),
    Device: ("CUdevice", lambda device: device.handle),
    Context: ("CUcontext", lambda context: context.primary(None).handle),
    Queue: ("CUstream", lambda queue: None if queue.closed else queue.streams[0].handle),
    Event: ("CUevent", lambda event: event.native_handle()),
    Module: ("CUmodule", lambda module: module.native),
    Kernel: ("CUfunction", lambda kernel: kernel.native),
}


class CudaBackend(ObjectMethods[Context, Queue, Event, Module, Kernel], OptionalGroups):
    """The back end of NVIDIA GPUs. The constructor loads nothing; ``devices`` loads the driver."""

    backend = Backend.cuda
    traits = Traits(
        events_release_themselves=True,  # to their context; see ``Event.__del__``
        copies_boxes=True,
        copies_pinned_quicker=True,
        events_cross_contexts=True,
        memory_crosses_contexts=True,
        orders_streams=True,
        has_texture_units=True,
        device_memory=DLDeviceType.cuda,
        function_language="ptx",
        module_languages=("cubin", "ptx"),
        module_formats=("PTX", "a cubin", "a fat binary of CUDA"),
        build_target="ptx",
    )

    # ------------------------------------------------------------------ discovery

    platforms = staticmethod(_device.platforms)
    devices = staticmethod(_device.devices)
    aspects = staticmethod(_device_info.aspects)
    device_info = staticmethod(_device_info.device_info)

    def supports_format(self, device: Device, channel_type: ImageChannelType, num_channels: int) -> bool:
        return supports_format(channel_type, num_channels)

    # ------------------------------------------------------------------ contexts, queues

    create_context = staticmethod(Context)

    def create_queue(
        self, context: Context, device: Device, *, in_order: bool, profiling: bool, immediate: bool | None = None
    ) -> Queue:
        return Queue(context, device, in_order, profiling)

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
    fits_unsampled = staticmethod(fits_surfaces)
    destroy_image = staticmethod(image_handle.destroy_image)
    copy_image = staticmethod(_copy.copy_image)
    prepare_copy = staticmethod(_copy.prepare_copy)
    prepare_bytes = staticmethod(_copy.prepare_bytes)
    image_call = staticmethod(image_functions.image_call)
    prepare_image_call = staticmethod(image_functions.prepare_image_call)

    def host_call(self, queue: Queue, call: ImageCall) -> Callable[[Sequence[Event]], Event] | None:
        """See ``HostCallProtocol``: by way of pinned memory for small arrays, in pieces for large ones."""
        return mapped_image_call.host_call(queue, call) or pipelined_image_call.host_call(queue, call)

    prepare_host_call = staticmethod(mapped_image_call.prepare_host_call)

    # ------------------------------------------------------------------ modules and kernels

    load_module = staticmethod(_module.load_module)
    describe_module = staticmethod(_module.describe_module)
    get_kernel = staticmethod(Kernel)
    launch = staticmethod(_launch.launch)
    prepare_launch = staticmethod(_launch.prepare_launch)

    def queue_ends(self, queue: Queue) -> list[Event]:
        return queue.ends()

    # ------------------------------------------------------------------ streams of other libraries

    make_stream_wait = staticmethod(foreign_stream.make_stream_wait)
    wait_for_stream = staticmethod(foreign_stream.wait_for_stream)

    # ------------------------------------------------------------------ native handles: InteropProtocol

    native_types = native_handles.TYPES
    native_lists = frozenset({"kernel_bundle"})
    native_counted = frozenset({"context"})
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
        """CUdevice, or the address of the CUcontext, CUstream, CUevent, CUmodule or CUfunction.

        The handle of a context with several devices is that of the first device; the handle of an out-of-order queue is
        its first stream, which the queue's waits and barriers include.
        """
        return native_handle(_NATIVE, native, ffi, "CUDA", "cuda")

    # ------------------------------------------------------------------ optional groups: modules, or methods above

    host_calls = OwnMethods()
    byte_copies = OwnMethods()
    unordered_batches = OwnMethods()
    linking = functions_of(link)
    external_memory = functions_of(_external_memory)
    external_semaphores = functions_of(_external_memory)
    interop = OwnMethods()
    module_interop = functions_of(native_handles)
    surface_limits = OwnMethods()
    cooperative_launch = functions_of(low_level)
    cache_preference = functions_of(low_level)
    graph = functions_of(_graph)
    ipc = functions_of(ipc_memory)
    virtual_memory = functions_of(_virtual_memory)
    peer_access = functions_of(low_level)
    reach = functions_of(low_level)
