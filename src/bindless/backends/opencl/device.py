"""Platforms, devices and sub-devices: discovery and driver properties."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable

from ...core.lock import Lock
from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import DeviceType, Errc, UsmKind
from ...model.errors import Error, FeatureNotSupportedError
from ..contract import DeviceRecord, PlatformRecord
from .errors import SUCCESS, error
from .fork_guard import refuse_in_fork, unusable_after_fork

__all__ = ["Device", "Platform", "all_platforms", "devices", "platforms"]

lib, ffi = driver.lib, driver.ffi

_TYPES = {
    lib.CL_DEVICE_TYPE_GPU: DeviceType.gpu,
    lib.CL_DEVICE_TYPE_CPU: DeviceType.cpu,
    lib.CL_DEVICE_TYPE_ACCELERATOR: DeviceType.accelerator,
}


class Platform:
    """One driver.

    Attributes
    ----------
    handle
        cl_platform_id.
    record
        the contract's description of it.
    version
        version of OpenCL, such as (3, 0).
    """

    def __init__(self, handle: CData, index: int) -> None:
        self.handle = handle
        texts = [
            driver.get_text("clGetPlatformInfo", handle, name)
            for name in (lib.CL_PLATFORM_NAME, lib.CL_PLATFORM_VENDOR, lib.CL_PLATFORM_VERSION)
        ]
        self.record = PlatformRecord(index, *texts)
        self.version = version_of(texts[2])

        self._offers: dict[str, bool] = {}

    @functools.cached_property
    def handles(self) -> list[CData]:
        """cl_device_id of its devices; empty without devices, or if the driver fails to list them."""
        try:
            return driver.get_all("cl_device_id", "clGetDeviceIDs", self.handle, lib.CL_DEVICE_TYPE_ALL)
        except Error:
            return []

    def offers(self, function: str) -> bool:
        """Whether the driver has a function; extension functions are looked up through the platform."""
        answer = self._offers.get(function)
        if answer is None:
            answer = self._offers[function] = driver.has_for(function, self.handle)
        return answer

    def require(self, function: str, needs: str) -> Callable[..., int]:
        """A function of the driver.

        Raises
        ------
        FeatureNotSupportedError
            the driver lacks the function; ``needs`` names the requirement.
        """
        if not self.offers(function):
            raise FeatureNotSupportedError(
                f"{self.record.name} has no {function}, which needs {needs}", backend="opencl"
            )
        call: Callable[..., int] = getattr(lib, function)
        return call


def version_of(text: str) -> tuple[int, int]:
    """The numbers in a version such as "OpenCL 3.0 PoCL" or "OpenCL C 1.2"."""
    match = re.search(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (1, 0)


class Device:
    """One device or sub-device as the driver enumerates it; it holds no native objects of its own.

    Attributes
    ----------
    platform
        platform of the device.
    handle
        cl_device_id.
    index
        number among the devices of all platforms; a sub-device has the number of its device.
    parent
        device of a sub-device.
    name, vendor, driver_version
        texts that the driver reports.
    version
        version of OpenCL that it supports.
    extensions
        names of its extensions.
    """

    def __init__(self, platform: Platform, handle: CData, index: int, parent: Device | None = None) -> None:
        self.platform = platform
        self.handle = handle
        self.address = int(ffi.cast("uintptr_t", handle))
        self.index = index
        self.parent = parent
        self.name = self.text(lib.CL_DEVICE_NAME)
        self.vendor = self.text(lib.CL_DEVICE_VENDOR)
        self.driver_version = self.text(lib.CL_DRIVER_VERSION)
        self.version_text = self.text(lib.CL_DEVICE_VERSION)
        self.version = version_of(self.version_text)
        self.extensions = frozenset(self.text(lib.CL_DEVICE_EXTENSIONS).split())
        self._lock = Lock()
        self._parts: dict[object, tuple[Device, ...]] = {}

    # ------------------------------------------------------------------ properties

    def text(self, name: int) -> str:
        """A property that is a text."""
        return driver.get_text("clGetDeviceInfo", self.handle, name)

    def number(self, name: int, default: int = 0) -> int:
        """A property that is a number or a set of flags; the default if the driver does not support the query."""
        slot, size = ffi.new("cl_ulong *"), ffi.new("size_t *")
        if lib.clGetDeviceInfo(self.handle, name, 8, slot, size) != SUCCESS or not size[0]:
            return default
        return int.from_bytes(bytes(ffi.buffer(slot, size[0])), "little")

    def numbers(self, name: int, kind: str = "size_t") -> tuple[int, ...]:
        """A property that is a list of numbers; empty if the driver does not support the query."""
        try:
            data = driver.get_info("clGetDeviceInfo", self.handle, name)
        except Error:
            return ()
        return tuple(ffi.from_buffer(f"{kind}[]", data))

    @functools.cached_property
    def type(self) -> DeviceType:
        """The device type of the driver; for several types the most specific one."""
        flags = self.number(lib.CL_DEVICE_TYPE)
        return next((kind for flag, kind in _TYPES.items() if flags & flag), DeviceType.custom)

    @functools.cached_property
    def has_images(self) -> bool:
        return bool(self.number(lib.CL_DEVICE_IMAGE_SUPPORT))

    @functools.cached_property
    def has_usm(self) -> bool:
        """Whether it has unified memory by cl_intel_unified_shared_memory. PoCL 6's is not used: every allocation keeps
        the context for good and slows later ones. Its shared virtual memory serves as well.
        """
        if self.platform.record.name == "Portable Computing Language" and version_of(self.driver_version)[0] == 6:
            return False
        return "cl_intel_unified_shared_memory" in self.extensions and self.platform.offers("clDeviceMemAllocINTEL")

    @functools.cached_property
    def svm(self) -> int:
        """Its kinds of shared virtual memory, as flags; 0 without such memory."""
        if self.version < (2, 0) or not self.platform.offers("clSVMAlloc"):
            return 0
        return self.number(lib.CL_DEVICE_SVM_CAPABILITIES)

    @functools.cached_property
    def takes_il(self) -> bool:
        """Whether it supports SPIR-V."""
        return self.il_function is not None

    @functools.cached_property
    def il_function(self) -> str | None:
        """The function that creates programs from SPIR-V."""
        core, extension = "clCreateProgramWithIL", "clCreateProgramWithILKHR"
        try:
            if not self.text(lib.CL_DEVICE_IL_VERSION):
                return None
        except Error:  # Older drivers do not support the query.
            return None
        if self.platform.version >= (2, 1) and self.platform.offers(core):
            return core
        return extension if "cl_khr_il_program" in self.extensions and self.platform.offers(extension) else None

    @functools.cached_property
    def takes_ptx(self) -> bool:
        """Whether its driver's own binaries are PTX: true for NVIDIA's driver, which only its extensions reveal."""
        return any(name.startswith("cl_nv_") for name in self.extensions)

    @functools.cached_property
    def is_rusticl(self) -> bool:
        """Whether its driver is Mesa's rusticl, whose faults no query reports."""
        return self.platform.record.name == "rusticl"

    @functools.cached_property
    def c_version(self) -> tuple[int, int]:
        """The newest OpenCL C that its compiler supports."""
        newest = version_of(self.text(lib.CL_DEVICE_OPENCL_C_VERSION))
        data = b""
        if self.version >= (3, 0):
            try:
                data = driver.get_info("clGetDeviceInfo", self.handle, lib.CL_DEVICE_OPENCL_C_ALL_VERSIONS)
            except Error:
                data = b""
        size = ffi.sizeof("cl_name_version")
        listed = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), size)]
        return max([newest, *((number >> 22, number >> 12 & 0x3FF) for number in listed)])

    @functools.cached_property
    def linear_alignment(self) -> int:
        """Alignment in pixels of the rows and addresses of images over buffers; 0 without such images."""
        if "cl_khr_image2d_from_buffer" not in self.extensions and not (2, 0) <= self.version < (3, 0):
            return 0  # OpenCL 2 requires them; they are optional before and after.
        return max(
            self.number(lib.CL_DEVICE_IMAGE_PITCH_ALIGNMENT), self.number(lib.CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT)
        )

    @functools.cached_property
    def has_linear_images(self) -> bool:
        """Whether images over its linear memory are known to share that memory, and not a copy.

        A buffer of OpenCL 1 is itself such memory, and an image over shared virtual memory has to share it (OpenCL 2,
        section on creating buffers). For Intel's unified memory only processors are known to share it.
        """
        if not self.linear_alignment or not self.has_images:
            return False
        return not self.has_usm or self.type is DeviceType.cpu

    @functools.cached_property
    def writes_3d(self) -> bool:
        """Whether kernels can write three-dimensional images."""
        return "cl_khr_3d_image_writes" in self.extensions or (2, 0) <= self.version < (3, 0)

    @functools.cached_property
    def sub_buffer_alignment(self) -> int:
        """Alignment in bytes of the offset of a sub-buffer."""
        return max(self.number(lib.CL_DEVICE_MEM_BASE_ADDR_ALIGN) // 8, 1)

    @functools.cached_property
    def work_item_sizes(self) -> tuple[int, ...]:
        """The most work-items of a work-group, by dimension."""
        return self.numbers(lib.CL_DEVICE_MAX_WORK_ITEM_SIZES)

    @functools.cached_property
    def uuid(self) -> bytes:
        """16 bytes, the same as Vulkan and Level Zero report; derived from the names if the driver has none."""
        if "cl_khr_device_uuid" in self.extensions:
            try:
                return driver.get_info("clGetDeviceInfo", self.handle, lib.CL_DEVICE_UUID_KHR)[:16]
            except Error:  # The driver announces an extension that it lacks.
                pass
        names = repr((self.platform.record.name, self.vendor, self.name, self.index))
        return hashlib.sha256(names.encode()).digest()[:16]

    def no_memory(self, result: int, call: str, kind: UsmKind, nbytes: int, alignment: int = 0) -> Error:
        """The error of a failed allocation."""
        request = f"{nbytes} bytes of {kind} memory" + (f" at multiples of {alignment}" if alignment else "")
        whole = self.number(lib.CL_DEVICE_GLOBAL_MEM_SIZE)
        details = f"{request}; {self.name} has {whole}: free memory or ask for less"
        return error(result, call, details, Errc.memory_allocation)

    # ------------------------------------------------------------------ parts

    def parts(self, properties: tuple[int, ...]) -> tuple[Device, ...]:
        """Its sub-devices by cl_device_partition_property, the same objects each time."""
        with self._lock:
            parts = self._parts.get(properties)
            if parts is None:
                partition = ffi.new("cl_device_partition_property[]", [*properties, 0])
                handles = driver.get_all("cl_device_id", "clCreateSubDevices", self.handle, partition)
                fresh = tuple(Device(self.platform, handle, self.index, self) for handle in handles)
                parts = self._parts.setdefault(properties, fresh)
            return parts

    def record(self) -> DeviceRecord:
        """The contract's description of it."""
        return DeviceRecord(
            native=self,
            platform=self.platform.record,
            index=self.index,
            type=self.type,
            name=self.name,
            vendor=self.vendor,
            driver_version=self.driver_version,
            version="{}.{}".format(*self.version),
            uuid=self.uuid,
            parent=None if self.parent is None else self.parent.record(),
        )

    def __repr__(self) -> str:
        return f"<opencl {self.type} {self.index}: {self.name}>"


def _where_listed() -> str:
    """The places that the loader searched for drivers, and advice on how to install one."""
    place = os.environ.get("OCL_ICD_VENDORS")
    where = f"OCL_ICD_VENDORS={place!r}" if place else "/etc/OpenCL/vendors"
    return f"{where} names none that works; apt install pocl-opencl-icd has one for every processor"


_records: tuple[tuple[Platform, ...], tuple[Device, ...]] | None = None
_lock = Lock()


def _discover() -> tuple[tuple[Platform, ...], tuple[Device, ...]]:
    global _records
    refuse_in_fork()
    with _lock:
        if _records is None:
            driver.load()
            unusable_after_fork()
            platforms = tuple(Platform(handle, index) for index, handle in enumerate(driver.platforms()))
            if not platforms:
                raise error(lib.CL_PLATFORM_NOT_FOUND_KHR, "clGetPlatformIDs", _where_listed())
            pairs = [(platform, handle) for platform in platforms for handle in platform.handles]
            devices = tuple(Device(platform, handle, index) for index, (platform, handle) in enumerate(pairs))
            if _records is None:  # else a finalizer has asked meanwhile
                _records = platforms, devices
        return _records


def all_platforms() -> tuple[Platform, ...]:
    """The drivers of the loader, in its order."""
    return _discover()[0]


def platforms() -> tuple[PlatformRecord, ...]:
    """The drivers, including those without a device."""
    return tuple(platform.record for platform in all_platforms())


def devices() -> tuple[DeviceRecord, ...]:
    """All devices of all platforms.

    Raises
    ------
    PlatformError
        there is no OpenCL loader, or no driver that it finds.
    """
    return tuple(device.record() for device in _discover()[1])
