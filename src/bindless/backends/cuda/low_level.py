"""Peer access, cooperative launches, and the preferred split of L1 cache and shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import cuda as driver
from ...model.errors import FeatureNotSupportedError, InvalidError, NdRangeError
from ..contract.low_level import PeerProperties
from .context import Context
from .device import Device
from .errors import SUCCESS, check
from .event import Event
from .fork_guard import refuse_in_fork
from .kernel import Kernel
from .launch import launch_of
from .queue import Queue

__all__ = [
    "can_access_peer",
    "launch_cooperative",
    "most_cooperative_groups",
    "peer_properties",
    "prefer_cache",
    "reaches_memory",
]

lib, ffi = driver.lib, driver.ffi


# ---------------------------------------------------------------------- peers


def can_access_peer(device: Device, peer: Device) -> bool:
    """Whether kernels of a device can access the memory of another; they always can access their own."""
    refuse_in_fork()
    if device is peer:
        return True
    slot = ffi.new("int *")
    check(lib.cuDeviceCanAccessPeer(slot, device.handle, peer.handle), "cuDeviceCanAccessPeer")
    return bool(slot[0])


def reaches_memory(context: Context, device: Device, other: Device) -> bool:
    """See ``ReachProtocol``. If the driver supports it, peer access is enabled for the primary context, for good."""
    if not can_access_peer(device, other):
        return False
    with context.primary(device):
        result = lib.cuCtxEnablePeerAccess(context.primary(other).handle, 0)
    return result in (SUCCESS, lib.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)


def _peer_attribute(device: Device, peer: Device, attribute: int) -> bool:
    slot = ffi.new("int *")
    check(lib.cuDeviceGetP2PAttribute(slot, attribute, device.handle, peer.handle), "cuDeviceGetP2PAttribute")
    return bool(slot[0])


def peer_properties(device: Device, peer: Device) -> PeerProperties:
    """The properties of the access between two devices."""
    refuse_in_fork()
    if device is peer:
        return PeerProperties(True, True)
    return PeerProperties(
        _peer_attribute(device, peer, lib.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED),
        _peer_attribute(device, peer, lib.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED),
    )


# ---------------------------------------------------------------------- launches


def launch_cooperative(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Launch a kernel whose work-groups all run at the same time."""
    launch = launch_of(queue, kernel, global_size, local_size, arguments)
    shape, shared = launch.shape, launch.shared
    groups, most = shape[0] * shape[1] * shape[2], most_cooperative_groups(kernel, shape[3:], shared)
    if groups > most:
        raise NdRangeError(
            f"{groups} work-groups of {shape[3:]} work-items: kernel {kernel.name!r} runs at most {most} together; "
            "take fewer or larger work-groups",
            backend="cuda",
        )
    return queue.run(
        lambda stream: lib.cuLaunchCooperativeKernel(launch.native, *shape, shared, stream, launch.pointers),
        "cuLaunchCooperativeKernel",
        waits,
        f"kernel {kernel.name!r}",
    )


def most_cooperative_groups(kernel: Kernel, local_size: tuple[int, ...], local_memory: int) -> int:
    """The most work-groups of a size that run at the same time."""
    device, items = kernel.device, 1
    for size in local_size:
        items *= size
    if not device.attribute(lib.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH):
        raise FeatureNotSupportedError(f"{device.name} has no cooperative launches", backend="cuda")
    slot = ffi.new("int *")
    with kernel.primary:
        result = lib.cuOccupancyMaxActiveBlocksPerMultiprocessor(slot, kernel.native, items, local_memory)
    check(result, "cuOccupancyMaxActiveBlocksPerMultiprocessor", f"{items} work-items of kernel {kernel.name!r}")
    return int(slot[0]) * device.attribute(lib.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)


_CACHE = {
    "default": lib.CU_FUNC_CACHE_PREFER_NONE,
    "local_memory": lib.CU_FUNC_CACHE_PREFER_SHARED,
    "data": lib.CU_FUNC_CACHE_PREFER_L1,
}


def prefer_cache(kernel: Kernel, preference: str) -> None:
    """Set the preferred L1/shared-memory split of a kernel (cuFuncSetCacheConfig)."""
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="cuda")
    with kernel.primary:
        check(lib.cuFuncSetCacheConfig(kernel.native, _CACHE[preference]), "cuFuncSetCacheConfig", preference)
