"""Objects for native handles that were created elsewhere (CL, "Interoperability with the OpenCL API").

OpenCL counts references: an object made from a handle holds its own reference and releases it at its end, so that
neither lifetime depends on the other. ``adopted_program`` handles programs and kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import DeviceType, UsmKind
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.native_handle import NativeHandle
from ..contract import AdoptedQueue, DeviceRecord, NativeQueue, PlatformRecord, PointerRecord
from . import memory_buffers
from .context import WHOLE, Allocation, Context
from .device import Device, Platform, all_platforms, devices
from .errors import SUCCESS
from .event import Event
from .image_format import channel_type_of
from .image_memory import FOREIGN_IMAGES
from .image_objects import ImageStorage
from .queue import Queue
from .reference_count import Reference, checked, handle_of, property_of, retain

__all__ = [
    "TYPES",
    "adopt_context",
    "adopt_device",
    "adopt_event",
    "adopt_image",
    "adopt_memory",
    "adopt_queue",
    "describe_memory",
    "devices_of",
    "find_device",
    "is_among",
    "memory_handle",
    "platform_handle",
    "require_context",
]

lib, ffi = driver.lib, driver.ffi

# Type of the handles of each kind of object.
TYPES = {
    "platform": ("cl_platform_id",),
    "device": ("cl_device_id",),
    "context": ("cl_context",),
    "queue": ("cl_command_queue",),
    "event": ("cl_event",),
    "kernel_bundle": ("cl_program",),
    "kernel": ("cl_kernel",),
    "buffer": ("cl_mem",),
    "sampled_image": ("cl_mem",),
    "unsampled_image": ("cl_mem",),
}

# The queries for the devices and the context of each type.
_DEVICES = {
    "cl_context": ("clGetContextInfo", lib.CL_CONTEXT_DEVICES),
    "cl_command_queue": ("clGetCommandQueueInfo", lib.CL_QUEUE_DEVICE),
    "cl_program": ("clGetProgramInfo", lib.CL_PROGRAM_DEVICES),
}
_CONTEXTS = {
    "cl_command_queue": ("clGetCommandQueueInfo", lib.CL_QUEUE_CONTEXT),
    "cl_event": ("clGetEventInfo", lib.CL_EVENT_CONTEXT),
    "cl_mem": ("clGetMemObjectInfo", lib.CL_MEM_CONTEXT),
    "cl_program": ("clGetProgramInfo", lib.CL_PROGRAM_CONTEXT),
    "cl_kernel": ("clGetKernelInfo", lib.CL_KERNEL_CONTEXT),
}

_images = itertools.count(FOREIGN_IMAGES)


def require_context(context: Context, native: CData, handle: NativeHandle) -> None:
    """Refuse an object of another context.

    Raises
    ------
    InvalidError
        the object belongs to another context, or the driver does not know it.
    """
    call, name = _CONTEXTS[handle.type]
    (own,) = property_of(call, native, name, "cl_context", handle)
    if own != context.handle:
        raise InvalidError(
            f"{handle!r} is of another cl_context than the one given: give that, or make it with make_context",
            backend="opencl",
        )


# ---------------------------------------------------------------------- platforms, devices, contexts


def platform_handle(platform: PlatformRecord) -> NativeHandle:
    """cl_platform_id."""
    return handle_of(all_platforms()[platform.index].handle, "cl_platform_id")


class _ForeignPart(Device):
    """A sub-device that was created elsewhere."""

    def __init__(self, platform: Platform, handle: CData, parent: Device, reference: Reference) -> None:
        super().__init__(platform, handle, parent.index, parent)
        self._reference = reference


# The live sub-devices by address: one object for each sub-device.
_parts: WeakValueDictionary[int, _ForeignPart] = WeakValueDictionary()


def find_device(handle: NativeHandle) -> Device | None:
    """The device of a cl_device_id, or a known sub-device."""
    waiting = [record.native for record in devices()]
    while waiting:
        device: Device = waiting.pop()
        if device.address == handle:
            return device
        waiting.extend(part for parts in list(device._parts.values()) for part in parts)
    return _parts.get(int(handle))


def adopt_device(handle: NativeHandle) -> tuple[DeviceRecord, Device] | None:
    """Adopt a sub-device, created here or elsewhere; return it with its parent, or None if it is no sub-device of a
    known device.
    """
    part = _part(handle)
    return None if part is None or part.parent is None else (part.record(), part.parent)


def _part(handle: NativeHandle) -> Device | None:
    """A known device, or a sub-device of one, retained during its use here."""
    device = find_device(handle)
    if device is not None:
        return device
    native = checked(handle)
    (above,) = property_of("clGetDeviceInfo", native, lib.CL_DEVICE_PARENT_DEVICE, "cl_device_id", handle)
    try:
        parent = None if above == ffi.NULL else _part(handle_of(above, "cl_device_id"))
    except InvalidError:  # An object that is not a device has no parent either.
        return None
    if parent is None:
        return None
    reference = Reference(native, "cl_device_id", False)
    part = _parts[int(handle)] = _ForeignPart(parent.platform, native, parent, reference)
    return part


def devices_of(kind: str, handle: NativeHandle) -> Sequence[Device]:
    """The devices of a context, queue or program."""
    call, name = _DEVICES[handle.type]
    natives = property_of(call, checked(handle), name, "cl_device_id", handle)
    parts = (_part(handle_of(native, "cl_device_id")) for native in natives)
    return tuple(device for device in parts if device is not None)


def is_among(device: Device, natives: Iterable[CData]) -> bool:
    """Whether the driver's list contains a device, or its parent: for contexts of sub-devices PoCL lists the whole
    devices.
    """
    return device.handle in natives or (device.parent is not None and is_among(device.parent, natives))


def adopt_context(handle: NativeHandle, devices: Sequence[Device], owned: bool) -> Context:
    """Adopt a context for some of its devices."""
    native = checked(handle)
    natives = property_of("clGetContextInfo", native, lib.CL_CONTEXT_DEVICES, "cl_device_id", handle)
    for device in devices:
        if not is_among(device, natives):
            raise InvalidError(
                f"{device!r} is no device of {handle!r}, which has {len(natives)} others", backend="opencl"
            )
    context = Context(devices, native)
    if not owned:
        retain(native, "cl_context")
    return context


# ---------------------------------------------------------------------- queues, events


def adopt_queue(context: Context, device: Device, handle: NativeHandle, owned: bool) -> AdoptedQueue:
    """Adopt a queue, in order or not like the native one."""
    native = checked(handle)
    require_context(context, native, handle)
    (place,) = property_of("clGetCommandQueueInfo", native, lib.CL_QUEUE_DEVICE, "cl_device_id", handle)
    if place != device.handle:
        raise InvalidError(
            f"{handle!r} is a queue of another device than {device!r}: name that one with device=, and make the "
            "context with it, make_context(..., devices=[device])",
            backend="opencl",
        )
    (flags,) = property_of(
        "clGetCommandQueueInfo", native, lib.CL_QUEUE_PROPERTIES, "cl_command_queue_properties", handle
    )
    if flags & lib.CL_QUEUE_ON_DEVICE:
        raise InvalidError(f"{handle!r} is a queue that kernels submit to: give one of the host", backend="opencl")
    in_order = not flags & lib.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    profiling = bool(flags & lib.CL_QUEUE_PROFILING_ENABLE)
    if not owned:
        retain(native, "cl_command_queue")
    return AdoptedQueue(NativeQueue(Queue(context, device, in_order, profiling, native)), in_order, profiling)


def adopt_event(context: Context, handle: NativeHandle, owned: bool) -> Event:
    """Adopt an event of the same context."""
    native = checked(handle)
    require_context(context, native, handle)
    if not owned:
        retain(native, "cl_event")
    return Event(int(handle))


# ---------------------------------------------------------------------- memory


def _require_kind(context: Context, handle: NativeHandle) -> tuple[CData, int]:
    """The native object, and its kind of memory."""
    native = checked(handle)
    require_context(context, native, handle)
    (kind,) = property_of("clGetMemObjectInfo", native, lib.CL_MEM_TYPE, "cl_mem_object_type", handle)
    return native, int(kind)


def describe_memory(context: Context, handle: NativeHandle) -> PointerRecord:
    """Kind and size of a buffer; its address is known after its adoption."""
    native, kind = _require_kind(context, handle)
    if kind != lib.CL_MEM_OBJECT_BUFFER:
        raise InvalidError(
            f"{handle!r} is an image: make_sampled_image and make_unsampled_image take those", backend="opencl"
        )
    (size,) = property_of("clGetMemObjectInfo", native, lib.CL_MEM_SIZE, "size_t", handle)
    return PointerRecord(UsmKind.device, int(handle), int(size), context.devices[0])


def adopt_memory(context: Context, handle: NativeHandle, owned: bool) -> PointerRecord:
    """Adopt a buffer under a number, as for drivers without unified memory."""
    record = describe_memory(context, handle)
    native = ffi.cast("cl_mem", int(handle))
    if not owned:
        retain(native, "cl_mem")
    allocation = memory_buffers.around(native, context.devices[0], record.size)
    context.add(allocation)
    return PointerRecord(allocation.kind, allocation.base, allocation.size, allocation.device)


_DIMENSIONS = {lib.CL_MEM_OBJECT_IMAGE1D: 1, lib.CL_MEM_OBJECT_IMAGE2D: 2, lib.CL_MEM_OBJECT_IMAGE3D: 3}


def adopt_image(context: Context, device: Device, handle: NativeHandle, owned: bool) -> tuple[int, ImageDescriptor]:
    """Raw handle of image memory, and its descriptor.

    Raises
    ------
    InvalidError
        the object is a buffer or an array.
    FeatureNotSupportedError
        the package does not support the format.
    """
    native, kind = _require_kind(context, handle)
    dimensions = _DIMENSIONS.get(kind)
    if dimensions is None:
        what = "a buffer" if kind == lib.CL_MEM_OBJECT_BUFFER else "an array, or an image of a buffer"
        raise InvalidError(
            f"{handle!r} is {what}: images are of one to three dimensions (image1d_t, image2d_t, image3d_t)",
            backend="opencl",
        )

    def ask(name: int) -> int:
        return int(property_of("clGetImageInfo", native, name, "size_t", handle)[0])

    formats = property_of("clGetImageInfo", native, lib.CL_IMAGE_FORMAT, "cl_image_format", handle)
    form = formats[0]
    try:
        channel_type, channels = channel_type_of(form)
    except KeyError:
        raise FeatureNotSupportedError(
            f"{handle!r} has channels of order {form.image_channel_order:#x} and type "
            f"{form.image_channel_data_type:#x}: images here are R, RG or RGBA of 8, 16 or 32 bits a channel",
            backend="opencl",
        ) from None
    desc = ImageDescriptor(
        ask(lib.CL_IMAGE_WIDTH),
        ask(lib.CL_IMAGE_HEIGHT) if dimensions > 1 else 0,
        ask(lib.CL_IMAGE_DEPTH) if dimensions > 2 else 0,
        num_channels=channels,
        channel_type=channel_type,
    )
    if not owned:
        retain(native, "cl_mem")
    raw = next(_images)
    context.images[raw] = ImageStorage(native, context.device(device), desc)
    return raw, desc


def memory_handle(context: Context, address: int, *, image: bool = False) -> CData:
    """The cl_mem of a buffer's memory, or of image memory; None for memory without a cl_mem."""
    if image:
        return context.images[address].handle
    allocation = context.allocation_of(address)
    if allocation is None:
        return None
    return allocation.buffer if allocation.buffer is not None else _over(context, allocation)


def _over(context: Context, allocation: Allocation) -> CData:
    """A buffer over unified or shared virtual memory, created once; both end together."""
    if any(device.has_usm and device.type is not DeviceType.cpu for device in context.devices):
        return None  # Such a buffer may be a copy.
    buffer = allocation.parts.get(WHOLE)
    if buffer is None:
        slot = ffi.new("cl_int *")
        pointer = ffi.cast("void *", allocation.base)
        flags = lib.CL_MEM_READ_WRITE | lib.CL_MEM_USE_HOST_PTR
        buffer = lib.clCreateBuffer(context.handle, flags, allocation.size, pointer, slot)
        if slot[0] != SUCCESS:
            return None
        first = allocation.parts.setdefault(WHOLE, buffer)
        if first is not buffer:  # Another thread was faster.
            lib.clReleaseMemObject(buffer)
            buffer = first
    return buffer
