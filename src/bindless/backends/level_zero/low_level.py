"""Queue groups, peer access, residency, barriers of ranges, cooperative and indirect launches, and dynamic linking."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError, NdRangeError
from ..contract.low_level import PeerProperties, QueueGroup
from .command_list import ImmediateList, RegularLists
from .context import Context
from .device import Device
from .errors import SUCCESS, check, error, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .kernel import Kernel, Shape
from .launch import Launch, require_kernel, submit
from .module import Module, build_error, text_of_log
from .queue import Queue

__all__ = [
    "barrier_of_ranges",
    "can_access_peer",
    "create_queue_in_group",
    "evict_image",
    "evict_memory",
    "launch_cooperative",
    "launch_indirect",
    "link_loaded",
    "make_image_resident",
    "make_memory_resident",
    "most_cooperative_groups",
    "peer_properties",
    "prefer_cache",
    "queue_groups",
    "reaches_memory",
]

lib, ffi = driver.lib, driver.ffi

_LINK_EXTENSION = "ZE_experimental_bandwidth_properties"
_BANDWIDTH_UNITS = {
    lib.ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC: "bytes_per_nanosecond",
    lib.ZE_BANDWIDTH_UNIT_BYTES_PER_CLOCK: "bytes_per_clock",
}
_LATENCY_UNITS = {
    lib.ZE_LATENCY_UNIT_NANOSEC: "nanoseconds",
    lib.ZE_LATENCY_UNIT_CLOCK: "clocks",
    lib.ZE_LATENCY_UNIT_HOP: "hops",
}

# ---------------------------------------------------------------------- queue groups


def queue_groups(device: Device) -> Sequence[QueueGroup]:
    """The kinds of engines of a device (L0, "Command Queue Groups")."""
    refuse_in_fork()
    return device.groups


def create_queue_in_group(context: Context, device: Device, ordinal: int, engine: int, *, immediate: bool) -> Queue:
    """Create an in-order queue on one engine of a group."""
    refuse_in_fork()
    place = context.device(device)
    group = next(group for group in place.groups if group.ordinal == ordinal)
    way = ImmediateList if immediate else RegularLists
    return Queue.around(context, place, way.create(context.handle, place, group, engine))


# ---------------------------------------------------------------------- peers


def can_access_peer(device: Device, peer: Device) -> bool:
    """Whether kernels of a device can access the memory of another; never for a device of another driver."""
    refuse_in_fork()
    if device.driver is not peer.driver:
        return False
    slot = ffi.new("ze_bool_t *")
    check(lib.zeDeviceCanAccessPeer(device.handle, peer.handle, slot), "zeDeviceCanAccessPeer")
    return bool(slot[0])


def reaches_memory(context: Context, device: Device, other: Device) -> bool:
    """See ``ReachProtocol``."""
    return can_access_peer(device, other)


def peer_properties(device: Device, peer: Device) -> PeerProperties:
    """The properties of the access between two devices."""
    refuse_in_fork()
    if device.driver is not peer.driver:
        return PeerProperties(False, False)
    link = None
    if _LINK_EXTENSION in device.driver.extensions:
        link = driver.make_struct("ze_device_p2p_bandwidth_exp_properties_t")
    properties = driver.get_properties(
        "ze_device_p2p_properties_t", "zeDeviceGetP2PProperties", device.handle, peer.handle, next=link
    )
    can = (
        bool(properties.flags & lib.ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS),
        bool(properties.flags & lib.ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS),
    )
    if link is None:
        return PeerProperties(*can)
    return PeerProperties(
        *can,
        int(link.logicalBandwidth),
        int(link.physicalBandwidth),
        _BANDWIDTH_UNITS.get(link.bandwidthUnit, "unknown"),
        int(link.logicalLatency),
        int(link.physicalLatency),
        _LATENCY_UNITS.get(link.latencyUnit, "unknown"),
    )


# ---------------------------------------------------------------------- residency


def make_memory_resident(context: Context, device: Device, address: int, nbytes: int) -> None:
    """Make memory resident on the device (L0, "Memory Residency")."""
    refuse_in_fork()
    call = lib.zeContextMakeMemoryResident(
        context.handle, context.device(device).handle, ffi.cast("void *", address), nbytes
    )
    check(call, "zeContextMakeMemoryResident", f"{nbytes} bytes at {address:#x}")


def evict_memory(context: Context, device: Device, address: int, nbytes: int) -> None:
    """Let the driver evict memory that no command uses."""
    if not in_fork():
        call = lib.zeContextEvictMemory(
            context.handle, context.device(device).handle, ffi.cast("void *", address), nbytes
        )
        release(call, "zeContextEvictMemory")


def _image(context: Context, handle: int) -> CData:
    storage = context.images.get(handle)
    if storage is None:
        raise InvalidError(f"{handle:#x} is no image memory of this context", backend="level_zero")
    return storage.handle


def make_image_resident(context: Context, device: Device, handle: int) -> None:
    """Make image memory resident on the device."""
    refuse_in_fork()
    check(
        lib.zeContextMakeImageResident(context.handle, context.device(device).handle, _image(context, handle)),
        "zeContextMakeImageResident",
    )


def evict_image(context: Context, device: Device, handle: int) -> None:
    """Let the driver evict image memory that no command uses and that has no image handle."""
    if not in_fork():
        release(
            lib.zeContextEvictImage(context.handle, context.device(device).handle, _image(context, handle)),
            "zeContextEvictImage",
        )


# ---------------------------------------------------------------------- commands


def barrier_of_ranges(queue: Queue, ranges: Sequence[tuple[int, int]], waits: Sequence[Event] = ()) -> Event:
    """Make earlier writes to these ranges visible to later commands (L0, "Memory Ranges Barriers")."""
    sizes = ffi.new("size_t[]", [nbytes for _, nbytes in ranges])
    starts = ffi.new("void const *[]", [ffi.cast("void *", address) for address, _ in ranges])
    return queue.run(
        lambda own, *events: lib.zeCommandListAppendMemoryRangesBarrier(own, len(ranges), sizes, starts, *events),
        "zeCommandListAppendMemoryRangesBarrier",
        waits,
        f"{len(ranges)} ranges",
    )


def _group(local_size: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*local_size, 1, 1)[:3]
    return x, y, z


def launch_cooperative(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Launch a kernel whose work-groups all run at the same time (L0, "Cooperative Kernels")."""
    shape: Shape = kernel.shape(global_size, local_size)
    groups = int(shape.count.groupCountX * shape.count.groupCountY * shape.count.groupCountZ)
    shared = sum(argument for argument in arguments if isinstance(argument, int))
    most = most_cooperative_groups(kernel, shape.group, shared)
    if groups > most:
        raise NdRangeError(
            f"{groups} work-groups of {shape.group} work-items: kernel {kernel.name!r} runs at most {most} together; "
            "take fewer or larger work-groups",
            backend="level_zero",
        )
    require_kernel(queue, kernel)
    call = "zeCommandListAppendLaunchCooperativeKernel"
    way = lib.BINDLESS_COOPERATIVE
    return submit(queue, Launch(kernel, shape.group, shape.count, arguments, way=way, call=call), waits)


def most_cooperative_groups(kernel: Kernel, local_size: tuple[int, ...], local_memory: int) -> int:
    """The most work-groups of a size that run at the same time."""
    refuse_in_fork()
    group = _group(local_size)
    slot = ffi.new("uint32_t *")
    result = lib.bindless_kernel_count_cooperative(kernel.state, group, slot)
    check(result, "zeKernelSuggestMaxCooperativeGroupCount", f"work-group {group} of kernel {kernel.name!r}")
    return int(slot[0])


def launch_indirect(
    queue: Queue,
    kernel: Kernel,
    address: int,
    local_size: tuple[int, ...],
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Launch a kernel with the number of work-groups that the device reads at the start (L0, "Indirect Launch")."""
    require_kernel(queue, kernel)
    counts = ffi.cast("ze_group_count_t *", address)
    call, way = "zeCommandListAppendLaunchKernelIndirect", lib.BINDLESS_INDIRECT
    return submit(queue, Launch(kernel, _group(local_size), counts, arguments, way=way, call=call), waits)


_CACHE = {
    "default": 0,
    "local_memory": lib.ZE_CACHE_CONFIG_FLAG_LARGE_SLM,
    "data": lib.ZE_CACHE_CONFIG_FLAG_LARGE_DATA,
}


def prefer_cache(kernel: Kernel, preference: str) -> None:
    """Set the preferred split of cache and local memory (zeKernelSetCacheConfig)."""
    refuse_in_fork()
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="level_zero")
    check(lib.bindless_kernel_prefer_cache(kernel.state, _CACHE[preference]), "zeKernelSetCacheConfig", preference)


# ---------------------------------------------------------------------- modules


def link_loaded(modules: Sequence[Module]) -> str:
    """Resolve the imports of modules from each other's exports (L0, "Dynamically Linked Modules")."""
    refuse_in_fork()
    natives = [module.native for module in modules]
    if any(native is None for native in natives):
        raise InvalidError("a module was released", backend="level_zero")
    array, log = ffi.new("ze_module_handle_t[]", natives), ffi.new("ze_module_build_log_handle_t *")
    result = lib.zeModuleDynamicLink(len(natives), array, log)
    said = text_of_log(log[0])
    if result != SUCCESS:
        first = modules[0]
        if result == lib.ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
            raise error(result, "zeModuleDynamicLink", f"for {first.device.name}")
        raise build_error(first.context, first.device, result, "zeModuleDynamicLink", said)
    return said
