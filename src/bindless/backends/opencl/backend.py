"""The OpenCL back end: the contract on top of any driver of the OpenCL loader.

Each group of methods is a module of this package: ``device`` and ``device_info`` (discovery), ``context``, ``queue``
with ``event`` and ``polling``, ``memory`` over ``memory_usm``, ``memory_svm`` and ``memory_buffers``, ``image_memory``,
``image_handle``, ``copy``, ``module`` with ``link``, ``kernel`` with ``kernel_signature`` and ``kernel_arguments``,
``launch``, ``image_functions``, ``external_memory`` with ``external_ownership``, ``native_handles`` with
``adopted_program`` and ``reference_count``. The class here only combines them; docs/internals/opencl.md lists the
driver calls behind each method.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core._submission import Lane
from ...drivers import opencl as driver
from ...model.enums import Backend, Ownership
from ...model.native_handle import NativeHandle
from ..common.absent_streams import AbsentStreams
from ..common.native_handle import HandleTable, native_handle
from ..common.object_methods import ObjectMethods
from ..contract import OptionalGroups, OwnMethods, PlatformRecord, Traits, functions_of
from . import (
    adopted_program,
    deferred_free,
    image_functions,
    image_handle,
    image_memory,
    link,
    memory_buffers,
    native_handles,
)
from . import copy as _copy
from . import device as _device
from . import device_info as _device_info
from . import external_memory as _external_memory
from . import image_format as _image_format
from . import kernel as _kernel
from . import launch as _launch
from . import memory as _memory
from . import module as _module
from . import reference_count as _reference_count
from .context import Context
from .device import Device, all_platforms
from .event import Event
from .external_memory import ExternalMemory, Semaphore
from .kernel import Kernel
from .link import Object
from .module import Module
from .queue import Queue

__all__ = ["OpenCLBackend"]

ffi = driver.ffi

_NATIVE: HandleTable = {
    Device: ("cl_device_id", lambda device: device.handle),
    Context: ("cl_context", lambda context: context.handle),
    Queue: ("cl_command_queue", lambda queue: queue.handle),
    Event: ("cl_event", lambda event: event.handle),
    Module: ("cl_program", lambda module: module.native),
    Object: ("cl_program", lambda program: program.native),
    Kernel: ("cl_kernel", lambda kernel: kernel.native),
    ExternalMemory: ("cl_mem", lambda memory: memory.buffer),
    Semaphore: ("cl_semaphore_khr", lambda semaphore: semaphore.array[0]),
}


class OpenCLBackend(ObjectMethods[Context, Queue, Event, Module, Kernel], AbsentStreams, OptionalGroups):
    """The back end of OpenCL devices. The constructor loads nothing; ``devices`` loads the loader and the drivers."""

    backend = Backend.opencl
    traits = Traits(
        events_release_themselves=True,
        images_are_arguments=True,
        function_language="opencl_c",
        module_languages=("opencl_c", "spirv"),
        module_formats=("OpenCL C", "SPIR-V"),
        build_target="opencl_c",
        driver_binaries=("a cubin", "PTX"),
    )
    streams_absent = "OpenCL has no streams that libraries share"

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
        return Queue(context, device, in_order, profiling)

    def queue_ends(self, queue: Queue) -> Sequence[Event]:
        return queue.ends()

    def queue_lanes(self, queue: Queue) -> tuple[Lane, ...]:
        return (queue,)

    # ------------------------------------------------------------------ events

    def release_event(self, event: Event) -> None:
        """Do nothing: the last reference releases the event, because the queue may still query its status."""

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
    native_lists = frozenset({"kernel_bundle", "event", "buffer", "image"})
    native_counted = frozenset(native_handles.TYPES) - {"platform"}
    default_ownership = Ownership.keep

    platform_handle = staticmethod(native_handles.platform_handle)
    find_device = staticmethod(native_handles.find_device)
    devices_of = staticmethod(native_handles.devices_of)
    adopt_device = staticmethod(native_handles.adopt_device)
    adopt_context = staticmethod(native_handles.adopt_context)
    adopt_queue = staticmethod(native_handles.adopt_queue)
    adopt_event = staticmethod(native_handles.adopt_event)
    describe_memory = staticmethod(native_handles.describe_memory)
    adopt_memory = staticmethod(native_handles.adopt_memory)
    adopt_image = staticmethod(native_handles.adopt_image)
    adopt_programs = staticmethod(adopted_program.adopt_programs)
    adopt_programs_of = staticmethod(adopted_program.adopt_programs_of)
    program_of = staticmethod(adopted_program.program_of)
    adopt_kernel = staticmethod(adopted_program.adopt_kernel)
    reference_count = staticmethod(_reference_count.reference_count)

    def platform_extensions(self, platform: PlatformRecord) -> frozenset[str]:
        """CL_PLATFORM_EXTENSIONS."""
        handle = all_platforms()[platform.index].handle
        return frozenset(driver.get_text("clGetPlatformInfo", handle, driver.lib.CL_PLATFORM_EXTENSIONS).split())

    def device_extensions(self, device: Device) -> frozenset[str]:
        """CL_DEVICE_EXTENSIONS."""
        return device.extensions

    def memory_handle(self, context: Context, address: int, *, image: bool = False) -> NativeHandle | None:
        """The cl_mem of memory, with a reference; None for memory without a cl_mem."""
        native = native_handles.memory_handle(context, address, image=image)
        return None if native is None else _reference_count.held(native, "cl_mem", deferred_free.sweep)

    def memory_or_address(self, context: Context, address: int) -> int:
        """The cl_mem behind an address, if there is one; otherwise the address."""
        if not memory_buffers.is_number(address):
            return address
        return _reference_count.handle_of(memory_buffers.buffer_of(context, address), "cl_mem")

    def held_handle(self, native: object) -> NativeHandle:
        """The cl_... handle of an object, with a reference."""
        handle = self.native_handle(native)
        if isinstance(native, Device) and native.parent is None:  # These objects have no reference counts.
            return handle
        return _reference_count.held(ffi.cast(handle.type, int(handle)), handle.type)

    def native_handle(self, native: object) -> NativeHandle:
        """The address of an object's cl_... handle."""
        return native_handle(_NATIVE, native, ffi, "OpenCL", "opencl")

    # ------------------------------------------------------------------ optional groups: modules, or methods above

    partitioning = functions_of(_device_info)
    unordered_batches = OwnMethods()
    linking = functions_of(link)
    external_memory = functions_of(_external_memory)
    external_semaphores = functions_of(_external_memory)
    interop = OwnMethods()
    counted = OwnMethods()
    unsampled_memory = functions_of(image_handle)
    offset_launch = functions_of(_launch)
