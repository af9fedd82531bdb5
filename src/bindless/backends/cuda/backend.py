"""The CUDA backend: the contract on NVIDIA's driver API.

Each group of methods is a module: ``_cuda_device`` and ``_cuda_info`` (discovery), ``_cuda_queue`` over
``_cuda_stream`` and ``_cuda_event``, ``_cuda_memory``, ``_cuda_image`` and ``_cuda_handle``, ``_cuda_copy``,
``_cuda_module``, ``_cuda_link``, ``_cuda_kernel`` and ``_cuda_launch``, ``_cuda_functions`` and ``_cuda_host_call``,
``_cuda_interop``, ``_cuda_native``; beside the contract ``_cuda_external``, ``_cuda_extra``, ``_cuda_ipc`` and
``_cuda_virtual``. Here they are only put together.

Everything happens in the primary context of each device, which other libraries of the process share. A method makes it
the calling thread's current context where it is not; those that make or give back something restore the one before, if
the thread had one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...drivers import cuda as driver
from ...model.aspects import Aspect
from ...model.enums import Backend, EventStatus, ImageChannelType, UsmKind
from ...model.errors import BackendMismatchError, InvalidError
from ...model.image_call import ImageCall
from ...model.module.description import ModuleDescription
from ...model.native_handle import NativeHandle
from . import (copy as _cuda_copy, prepared_copy as _cuda_copy_again, external_memory as _cuda_external, low_level as _cuda_extra, image_functions as _cuda_functions, graph as _cuda_graph, image_handle as _cuda_handle, pipelined_image_call as _cuda_host_call, image_memory as _cuda_image, device_info as _cuda_info, foreign_stream as _cuda_interop, ipc_memory as _cuda_ipc, launch as _cuda_launch, link as _cuda_link, memory as _cuda_memory, native_handles as _cuda_native, virtual_memory as _cuda_virtual)
from .context import Context
from .device import Device, devices, platforms
from .errors import release
from .event import Event
from .fork_guard import in_fork
from .image_format import CHANNEL_COUNTS, fits_surfaces
from .kernel import Kernel
from .module import Module, describe_module, load_module
from .queue import Queue
from ..contract import DeviceRecord, KernelRecord, PlatformRecord, PointerRecord

__all__ = ["CudaBackend"]

lib, ffi = driver.lib, driver.ffi

_NATIVE: dict[type, tuple[str, Callable[[Any], Any]]] = {
    _cuda_external.ExternalMemory: ("CUexternalMemory", lambda memory: memory.handle),
    _cuda_external.Semaphore: ("CUexternalSemaphore", lambda semaphore: semaphore.handle),
    Device: ("CUdevice", lambda device: device.handle),
    Context: ("CUcontext", lambda context: context.primary(None).handle),
    Queue: ("CUstream", lambda queue: None if queue.closed else queue.streams[0].handle),
    Event: ("CUevent", lambda event: event.native_handle()),
    Module: ("CUmodule", lambda module: module.native),
    Kernel: ("CUfunction", lambda kernel: kernel.native),
}


class CudaBackend:
    """NVIDIA GPUs. Making it opens nothing; ``devices`` loads the driver."""

    backend = Backend.cuda
    # An event goes back to its context with its last reference; see ``Event.__del__``.
    events_release_themselves = True
    copies_pinned_quicker = True
    launches_directly = True
    events_cross_contexts = memory_crosses_contexts = True

    # ------------------------------------------------------------------ discovery

    def platforms(self) -> Sequence[PlatformRecord]:
        return platforms()

    def devices(self) -> Sequence[DeviceRecord]:
        return devices()

    def aspects(self, device: Device) -> frozenset[Aspect]:
        return _cuda_info.aspects(device)

    def device_info(self, device: Device, name: str) -> Any:
        return _cuda_info.device_info(device, name)

    def supports_format(self, device: Device, channel_type: ImageChannelType, num_channels: int) -> bool:
        return num_channels in CHANNEL_COUNTS

    # ------------------------------------------------------------------ contexts, queues

    def create_context(self, devices: Sequence[Device]) -> Context:
        return Context(devices)

    def release_context(self, context: Context) -> None:
        """Forgets what it knows; the primary contexts stay, for other contexts and libraries use them too."""
        context.textures.clear()
        context.surfaces.clear()
        if context.retained and not in_fork():
            release(lib.cuDevicePrimaryCtxRelease(context.devices[0].handle), "cuDevicePrimaryCtxRelease")

    def create_queue(
        self, context: Context, device: Device, *, in_order: bool, profiling: bool, immediate: bool | None = None
    ) -> Queue:
        return Queue(context, device, in_order, profiling)

    def release_queue(self, queue: Queue) -> None:
        queue.close()

    def wait_queue(self, queue: Queue) -> None:
        queue.wait()

    def queue_is_idle(self, queue: Queue) -> bool:
        return queue.is_idle()

    # ------------------------------------------------------------------ events

    def barrier(self, queue: Queue, waits: Sequence[Event] = ()) -> Event:
        return queue.barrier(waits)

    def wait_event(self, event: Event) -> None:
        event.wait()

    def event_status(self, event: Event) -> EventStatus:
        return event.status()

    def event_times(self, event: Event) -> tuple[int, int, int]:
        return event.times()

    def release_event(self, event: Event) -> None:
        event.release()

    # ------------------------------------------------------------------ memory

    def allocate(self, context: Context, device: Device | None, kind: UsmKind, nbytes: int, alignment: int = 0) -> int:
        return _cuda_memory.allocate(context, device, kind, nbytes, alignment)

    def allocate_pitched(
        self, context: Context, device: Device, width_in_bytes: int, height: int, element_size: int
    ) -> tuple[int, int]:
        return _cuda_memory.allocate_pitched(context, device, width_in_bytes, height, element_size)

    def free(self, context: Context, address: int) -> None:
        _cuda_memory.free(context, address)

    def pointer_info(self, context: Context, address: int) -> PointerRecord:
        return _cuda_memory.pointer_info(context, address)

    def copy(self, queue: Queue, dst: int, src: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
        return _cuda_memory.copy(queue, dst, src, nbytes, waits)

    def fill(self, queue: Queue, dst: int, pattern: bytes, count: int, waits: Sequence[Event] = ()) -> Event:
        return _cuda_memory.fill(queue, dst, pattern, count, waits)

    def prefetch(self, queue: Queue, address: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
        return _cuda_memory.prefetch(queue, address, nbytes, waits)

    def advise(self, queue: Queue, address: int, nbytes: int, advice: int, waits: Sequence[Event] = ()) -> Event:
        return _cuda_memory.advise(queue, address, nbytes, advice, waits)

    # ------------------------------------------------------------------ image memory and handles

    allocate_image = staticmethod(_cuda_image.allocate_image)
    free_image = staticmethod(_cuda_image.free_image)
    image_info = staticmethod(_cuda_image.image_info)
    image_level = staticmethod(_cuda_image.image_level)
    create_unsampled_image = staticmethod(_cuda_handle.create_unsampled_image)
    create_sampled_image = staticmethod(_cuda_handle.create_sampled_image)
    create_sampled_image_usm = staticmethod(_cuda_handle.create_sampled_image_usm)
    fits_unsampled = staticmethod(fits_surfaces)
    destroy_image = staticmethod(_cuda_handle.destroy_image)
    copy_image = staticmethod(_cuda_copy.copy_image)
    prepare_copy = staticmethod(_cuda_copy_again.prepare_copy)

    def image_call(self, queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
        return _cuda_functions.image_call(queue, call, waits)

    host_call = staticmethod(_cuda_host_call.host_call)

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
        return load_module(context, device, source, specialization, options)

    def describe_module(self, source: bytes) -> ModuleDescription:
        return describe_module(source)

    def module_log(self, module: Module) -> str:
        return module.log

    def compile_module(
        self,
        context: Context,
        device: Device,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> tuple[_cuda_link.Object, str]:
        return _cuda_link.compile_module(context, device, source, specialization, options)

    def link_modules(
        self, context: Context, device: Device, objects: Sequence[_cuda_link.Object], *, options: str = ""
    ) -> Module:
        return _cuda_link.link_modules(context, device, objects, options)

    def release_module(self, module: Module) -> None:
        module.close()

    def kernel_names(self, module: Module) -> tuple[str, ...]:
        return module.names()

    def get_kernel(self, module: Module, name: str) -> Kernel:
        return Kernel(module, name)

    def kernel_info(self, kernel: Kernel) -> KernelRecord:
        return kernel.record()

    launch = staticmethod(_cuda_launch.launch)
    prepare_launch = staticmethod(_cuda_launch.prepare_launch)
    queue_ends = staticmethod(Queue.ends)

    # ------------------------------------------------------------------ beside the contract: native_contract.py

    can_access_peer = staticmethod(_cuda_extra.can_access_peer)
    peer_properties = staticmethod(_cuda_extra.peer_properties)
    reaches_memory = staticmethod(_cuda_extra.reaches_memory)
    launch_cooperative = staticmethod(_cuda_extra.launch_cooperative)
    most_cooperative_groups = staticmethod(_cuda_extra.most_cooperative_groups)
    prefer_cache = staticmethod(_cuda_extra.prefer_cache)
    export_memory = staticmethod(_cuda_ipc.export_memory)
    end_export = staticmethod(_cuda_ipc.end_export)
    open_memory = staticmethod(_cuda_ipc.open_memory)
    close_memory = staticmethod(_cuda_ipc.close_memory)
    records_graphs = staticmethod(_cuda_graph.records_graphs)
    record_graph = staticmethod(_cuda_graph.record_graph)
    launch_graph = staticmethod(_cuda_graph.launch_graph)
    release_graph = staticmethod(_cuda_graph.release_graph)
    virtual_page_size = staticmethod(_cuda_virtual.virtual_page_size)
    reserve_addresses = staticmethod(_cuda_virtual.reserve_addresses)
    release_addresses = staticmethod(_cuda_virtual.release_addresses)
    create_physical = staticmethod(_cuda_virtual.create_physical)
    destroy_physical = staticmethod(_cuda_virtual.destroy_physical)
    map_physical = staticmethod(_cuda_virtual.map_physical)
    unmap = staticmethod(_cuda_virtual.unmap)
    set_access = staticmethod(_cuda_virtual.set_access)

    # ------------------------------------------------------------------ memory and semaphores of others

    importable_memory = staticmethod(_cuda_external.importable_memory)
    import_memory = staticmethod(_cuda_external.import_memory)
    release_memory = staticmethod(_cuda_external.release_memory)
    map_image = staticmethod(_cuda_external.map_image)
    unmap_image = staticmethod(_cuda_external.unmap_image)
    map_linear = staticmethod(_cuda_external.map_linear)
    unmap_linear = staticmethod(_cuda_external.unmap_linear)
    import_semaphore = staticmethod(_cuda_external.import_semaphore)
    release_semaphore = staticmethod(_cuda_external.release_semaphore)
    wait_semaphore = staticmethod(_cuda_external.wait_semaphore)
    signal_semaphore = staticmethod(_cuda_external.signal_semaphore)
    prepare_semaphore = staticmethod(_cuda_external.prepare_semaphore)

    # ------------------------------------------------------------------ streams of other libraries

    make_stream_wait = staticmethod(_cuda_interop.make_stream_wait)
    wait_for_stream = staticmethod(_cuda_interop.wait_for_stream)

    # ------------------------------------------------------------------ native handles: InteropProtocol

    native_types = _cuda_native.TYPES
    native_lists = frozenset({"kernel_bundle"})
    native_counted = frozenset({"context"})
    describe_memory = pointer_info
    platform_handle = staticmethod(_cuda_native.platform_handle)
    find_device = staticmethod(_cuda_native.find_device)
    devices_of = staticmethod(_cuda_native.devices_of)
    adopt_context = staticmethod(_cuda_native.adopt_context)
    adopt_queue = staticmethod(_cuda_native.adopt_queue)
    adopt_event = staticmethod(_cuda_native.adopt_event)
    adopt_module = staticmethod(_cuda_native.adopt_module)
    adopt_kernel = staticmethod(_cuda_native.adopt_kernel)
    adopt_memory = staticmethod(_cuda_native.adopt_memory)

    def native_handle(self, native: object) -> NativeHandle:
        """CUdevice, or the address that is a CUcontext, CUstream, CUevent, CUmodule or CUfunction.

        Of a context with several devices it is the first one's; of an out-of-order queue its first stream, which the
        queue's waits and barriers include.
        """
        for kind, (name, handle_of) in _NATIVE.items():
            if isinstance(native, kind):
                handle = handle_of(native)
                if handle is None:
                    raise InvalidError(
                        f"this {kind.__name__.lower()} was released: it has no native handle", backend="cuda"
                    )
                return NativeHandle(int(handle if name == "CUdevice" else ffi.cast("uintptr_t", handle)), name)
        raise BackendMismatchError(f"{native!r} is no object of the CUDA backend", backend="cuda")
