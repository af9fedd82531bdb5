"""NVIDIA devices: discovery, attributes, and each device's primary context."""

from __future__ import annotations

import functools
import re
from typing import Any

from ...core.lock import Lock
from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...kernels.load import Library
from ...model.enums import DeviceType, Errc
from ..contract import DeviceRecord, PlatformRecord
from .errors import SUCCESS, check
from .fork_guard import refuse_in_fork, unusable_after_fork

__all__ = ["Device", "PrimaryContext", "cuda_version", "devices", "driver_release", "platforms"]

lib, ffi = driver.lib, driver.ffi

_activate = lib.bindless_activate

_KERNEL_MODULE = "/proc/driver/nvidia/version"


class PrimaryContext:
    """The primary context of one device, shared by all libraries of the process; retained once, and never released.

    Attributes
    ----------
    device
        the device.
    handle
        CUcontext; NULL in the child of a fork, where every call with it fails.
    events
        unused events, without and with timing (see ``event``).
    event_handles
        addresses of the events that the package created.
    rest
        cache of freed arrays, by kind (see ``object_cache``).
    views
        cache of textures and surfaces, by raw handle of their memory and by texture descriptor.
    markers
        unused bindless_markers_t (see ``take_markers``).
    mapped
        addresses of unused pinned buffers (see ``mapped_image_call``).
    library
        built-in kernels of the device.
    staging
        buffers for copies of pageable host memory (see ``pinned_staging``).
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        slot = ffi.new("CUcontext *")
        check(
            lib.cuDevicePrimaryCtxRetain(slot, device.handle),
            "cuDevicePrimaryCtxRetain",
            f"{device.name} cannot be used by this process: is it in exclusive mode, or its memory full?",
        )
        self.handle = slot[0]
        self.address = int(ffi.cast("uintptr_t", self.handle))
        self.events: tuple[list[CData], list[CData]] = ([], [])
        self.event_handles: set[int] = set()
        self.markers: list[CData] = []
        self._all_markers: list[CData] = []
        self.rest: dict[str, list[int]] = {}
        self.views: dict[int, dict[CData | None, int]] = {}
        self.staging: Any = None
        self.mapped: list[int] = []
        self.library: Library[object] = Library("ptx", "cuda")
        unusable_after_fork(self)

    def take_markers(self) -> CData:
        """A bindless_markers_t for one stream, which puts it back into ``markers``; it lives as long as the process."""
        try:
            return self.markers.pop()
        except IndexError:
            markers = lib.bindless_markers_create(self.handle)
            if not markers:
                raise MemoryError from None
            self._all_markers.append(markers)
            return markers

    def made_event(self, handle: int) -> bool:
        """Whether the package created the CUevent at this address."""
        event = ffi.cast("CUevent", handle)
        return handle in self.event_handles or any(
            lib.bindless_markers_have(markers, event) for markers in self._all_markers
        )

    def activate(self) -> None:
        """Make it the current context of this thread; other libraries may have changed that since the last call."""
        result = _activate(self.handle)
        if result != SUCCESS:
            refuse_in_fork()
            check(result, "cuCtxSetCurrent")

    def is_current(self) -> bool:
        """Whether it is the current context of this thread."""
        return bool(lib.bindless_is_current(self.handle))

    def __enter__(self) -> PrimaryContext:
        """Make it current until the end of the block, then restore the previous context."""
        refuse_in_fork()
        check(lib.cuCtxPushCurrent(self.handle), "cuCtxPushCurrent")
        return self

    def __exit__(self, *exception: object) -> None:
        lib.cuCtxPopCurrent(ffi.new("CUcontext *"))


_LAUNCH_LIMITS = (
    lib.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    lib.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    lib.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    lib.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    lib.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
    lib.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
)


class Device:
    """One device as the driver enumerates it; the device has no context before ``context`` is called.

    Attributes
    ----------
    index
        the driver's ordinal.
    handle
        CUdevice.
    name
        name that the driver reports.
    vendor
        NVIDIA, or "bindless" for the package's driver for processors.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        slot = ffi.new("CUdevice *")
        check(lib.cuDeviceGet(slot, index), "cuDeviceGet")
        self.handle: int = slot[0]
        text = ffi.new("char[]", 256)
        check(lib.cuDeviceGetName(text, 256, self.handle), "cuDeviceGetName")
        self.name = ffi.string(text).decode("utf-8", "replace")
        self.vendor = "bindless" if self.name.startswith("bindless reference") else "NVIDIA Corporation"
        self._attributes: dict[int, int] = {}
        self._context: PrimaryContext | None = None
        self._lock = Lock()

    @functools.cached_property
    def launch_limits(self) -> tuple[int, ...]:
        """The most work-items of a work-group, and the most work-groups, by dimension."""
        return tuple(map(self.attribute, _LAUNCH_LIMITS))

    @property
    def gather_limits(self) -> tuple[int, int]:
        """Width and height of the largest array that supports gathers; zeros without support."""
        width = self.attribute(lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH)
        height = self.attribute(lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT)
        return (width, height) if width and height else (0, 0)

    def attribute(self, attribute: int) -> int:
        """The value of an attribute; 0 if the driver is too old for it."""
        value = self._attributes.get(attribute)
        if value is None:
            slot = ffi.new("int *")
            success = lib.cuDeviceGetAttribute(slot, attribute, self.handle) == SUCCESS
            value = self._attributes[attribute] = slot[0] if success else 0
        return value

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability, such as (9, 0)."""
        return (
            self.attribute(lib.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self.attribute(lib.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )

    @functools.cached_property
    def memory_size(self) -> int:
        """Bytes of device memory."""
        slot = ffi.new("size_t *")
        check(lib.cuDeviceTotalMem(slot, self.handle), "cuDeviceTotalMem")
        return int(slot[0])

    @functools.cached_property
    def uuid(self) -> bytes:
        """16 bytes, the same as Vulkan and OpenCL report."""
        slot = ffi.new("CUuuid *")
        result = lib.cuDeviceGetUuid(slot, self.handle)
        if result != SUCCESS:
            result = lib.cuDeviceGetUuid_v1(slot, self.handle)
        check(result, "cuDeviceGetUuid")
        return bytes(ffi.buffer(slot))

    @functools.cached_property
    def pci_address(self) -> str:
        """domain:bus:device.function."""
        text = ffi.new("char[]", 32)
        check(lib.cuDeviceGetPCIBusId(text, 32, self.handle), "cuDeviceGetPCIBusId")
        return ffi.string(text).decode("ascii").lower()

    def context(self) -> PrimaryContext:
        """The primary context, retained on first use."""
        refuse_in_fork()
        with self._lock:
            if self._context is None:
                context = PrimaryContext(self)
                self._context = self._context or context  # a finalizer may have made one meanwhile
            return self._context

    def __repr__(self) -> str:
        return f"<cuda device {self.index}: {self.name}>"


def driver_release(text: str | None = None) -> str:
    """Version of the installed NVIDIA driver, such as 580.95.05, or the CUDA version that it supports.

    Parameters
    ----------
    text
        replaces the version text of the kernel module.
    """
    if text is None:
        try:
            with open(_KERNEL_MODULE, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            text = ""
    match = re.search(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)", text)
    return match[1] if match else cuda_version()


@functools.cache
def cuda_version() -> str:
    """The CUDA version that the driver supports, such as 13.0."""
    return "{}.{}".format(*driver.version())


def platforms() -> tuple[PlatformRecord, ...]:
    """The platform, with or without devices; the driver library is loaded."""
    return (PlatformRecord(0, "NVIDIA CUDA", "NVIDIA Corporation", f"CUDA {cuda_version()}"),)


_discovery = Lock()
_records: tuple[DeviceRecord, ...] | None = None


def devices() -> tuple[DeviceRecord, ...]:
    """All devices; the driver is queried once.

    Raises
    ------
    PlatformError
        the driver library is missing, too old, or does not start.
    """
    global _records
    refuse_in_fork()
    with _discovery:
        if _records is None:
            driver.load()
            records = _discover()
            if _records is None:  # else a finalizer has asked meanwhile
                _records = records
        return _records


def _discover() -> tuple[DeviceRecord, ...]:
    result = lib.cuInit(0)
    if result == lib.CUDA_ERROR_NO_DEVICE:
        return ()
    if result != SUCCESS:
        details = "the NVIDIA driver is installed but does not start; nvidia-smi may say more"
        check(result, "cuInit", details, Errc.platform)
    unusable_after_fork()
    count = ffi.new("int *")
    check(lib.cuDeviceGetCount(count), "cuDeviceGetCount")
    (platform,) = platforms()
    release = driver_release()
    return tuple(
        DeviceRecord(
            native=device,
            platform=platform,
            index=device.index,
            type=DeviceType.gpu,
            name=device.name,
            vendor=device.vendor,
            driver_version=release,
            version="{}.{}".format(*device.capability),
            uuid=device.uuid,
        )
        for device in map(Device, range(count[0]))
    )
