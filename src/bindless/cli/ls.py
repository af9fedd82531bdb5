"""``bindless ls``: one line a device, in the shape of ``sycl-ls``."""

from __future__ import annotations

from typing import Any

from ..model import info
from ..model.aspects import Aspect
from ..model.errors import FeatureNotSupportedError
from ..sycl.device.device import Device
from ..sycl.device.selector import get_devices

__all__ = ["device_line", "list_devices"]

_LIMITS = (
    info.device.image1d_max_width,
    info.device.image2d_max_width,
    info.device.image2d_max_height,
    info.device.image3d_max_width,
    info.device.image3d_max_height,
    info.device.image3d_max_depth,
    info.device.image_max_array_size,
    info.device.image_row_pitch_align,
    info.device.max_image_linear_width,
    info.device.max_image_linear_height,
    info.device.max_image_linear_row_pitch,
    info.device.mipmap_max_anisotropy,
    info.device.max_compute_units,
    info.device.global_mem_size,
)


def device_line(device: Device) -> str:
    """``[backend:type][backend:N] Platform, Device version [driver]``."""
    record = device._record
    backend = device.backend
    return (
        f"[{backend}:{record.type}][{backend}:{record.index}] {record.platform.name}, "
        f"{record.name} {record.version} [{record.driver_version}]"
    )


def list_devices(selector: str | None, verbose: bool) -> int:
    """Prints the devices that a selector matches, best first; the exit code says whether there is one."""
    devices = get_devices(selector)
    for device in devices:
        print(device_line(device))
    if verbose:
        for device in devices:
            _describe(device)
    return 0 if devices else 1


def _describe(device: Device) -> None:
    print(f"\n{device_line(device)}")
    print(f"  vendor: {device.vendor}")
    print(f"  uuid: {device._record.uuid.hex()}")
    print("  image aspects:")
    for aspect in Aspect:
        if str(aspect).startswith("ext_oneapi_"):
            print(f"    {'yes' if device.has(aspect) else 'no ':<3}  {aspect}")
    print("  limits:")
    for limit in _LIMITS:
        print(f"    {limit}: {_answer(device, limit)}")


def _answer(device: Device, limit: info.device) -> Any:
    try:
        return device.get_info(limit)
    except FeatureNotSupportedError:
        return "not reported by this driver"
