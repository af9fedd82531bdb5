"""``bindless doctor``: diagnose drivers and tools, and suggest fixes."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..backends.registry import ORDER, available_backends, failures
from ..backends.registry import backend as backend_of
from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.errors import Error
from ..sycl.device.device import Device
from ..sycl.device.selector import get_devices
from ..sycl.queue.queue import Queue
from .doctor_opencl import examine_drivers
from .doctor_sampling import known_images, sampled_formats
from .ls import device_line

__all__ = ["examine"]

_SELECTORS = ("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER")
_SETTINGS = (
    "BINDLESS_REFERENCE_FILTERING",
    "BINDLESS_REFERENCE_NATIVE",
    "BINDLESS_REFERENCE_NATIVE_CC",
    "BINDLESS_LLVM",
    "BINDLESS_LIBCLC",
    "BINDLESS_LIBNVRTC",
    "BINDLESS_CACHE",
    "BINDLESS_CACHE_DIR",
    "BINDLESS_CACHE_SIZE",
    "BINDLESS_BUILD_TIMEOUT",
)


# Results that mean that a loader is there and no driver behind it: nothing is broken.
_NO_DRIVER = ("ZE_RESULT_ERROR_UNINITIALIZED", "CL_PLATFORM_NOT_FOUND_KHR")


def examine() -> int:
    """Prints the report. The exit code is 0 where every device found samples rightly and no variable misleads."""
    print(
        f"bindless {_installed('bindless')}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"cffi {_installed('cffi')}, {platform.system()} {platform.machine()}"
    )
    for name in (*_SELECTORS, *_SETTINGS):
        if name in os.environ:
            print(f"{name}={os.environ[name]}")
    healthy = True
    working = available_backends()
    reasons = failures()
    for backend in ORDER:
        print()
        driver = importlib.import_module(f"bindless.drivers.{backend}")
        healthy &= _examine_driver(backend, driver, backend in working, reasons.get(backend))
        if backend is Backend.opencl and driver.available():
            healthy &= _examine_opencl(backend in working)
        if backend in working:
            for device in _devices(backend):
                healthy &= _examine_device(device)
    print()
    _examine_tools()
    print()
    healthy &= _examine_selection()
    print("all well" if healthy else "something needs mending: see the lines that begin with 'fix:'")
    return 0 if healthy else 1


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _examine_driver(backend: Backend, driver: Any, works: bool, reason: Error | None) -> bool:
    settings = driver._driver
    set_to = os.environ.get(settings.variable)
    available = driver.available()
    print(f"{backend}: {'works' if works else 'library found' if available else 'not available'}")
    print(f"  looked for: {set_to or ', '.join(settings.names)}")
    print(f"  {settings.variable}: {set_to or 'not set'}")
    if available:
        print(f"  found: {driver.path()}, version {_driver_version(driver)}")
        missing = driver.missing_functions()
        if missing and works:
            print(f"  lacks {len(missing)} functions of newer versions, such as {', '.join(missing[:3])}")
    else:
        for attempt in driver.attempts():
            print(f"  tried {attempt.path}: {attempt.reason.removeprefix(f'{attempt.path}: ')}")
    if not available and set_to:
        print(f"  fix: set {settings.variable} to the absolute path of the library, or unset it to search the system")
        return False
    if not available:
        print(f"  to use it: {settings.advice}")
        return backend is not Backend.reference
    if reason is not None and reason.native_name in _NO_DRIVER:
        print(f"  to use it: {reason}")
        return True
    if reason is not None:
        print(f"  fix: {reason}")
        return False
    if not works:
        print(f"  this version calls it only through bindless.drivers.{backend}: it has no {backend} backend yet")
    return True


def _examine_opencl(works: bool) -> bool:
    """The loader's drivers; a library that is a driver itself, named by the variable, has no such list."""
    healthy = bool(os.environ.get("BINDLESS_LIBOPENCL")) or examine_drivers()
    if works:
        inhabited = {device.platform.name for device in _devices(Backend.opencl)}
        for platform_ in backend_of(Backend.opencl).platforms():
            if platform_.name not in inhabited:
                print(f"  {platform_.name} {platform_.version}: no device")
    return healthy


def _driver_version(driver: Any) -> str:
    try:
        return ".".join(map(str, driver.version())) or "not told without a device"
    except Error as error:
        return f"not told: {error}"


def _devices(backend: Backend) -> Iterator[Device]:
    return (device for device in get_devices() if device.backend == backend)


def _examine_device(device: Device) -> bool:
    """Samples images of every kind and format that the device has, whose texels are known."""
    print(f"  {device_line(device)}")
    if not device.has(Aspect.ext_oneapi_bindless_images):
        print("    sampling: none, the device has no images")
        return True
    print(f"    formats that samplers alone read: {', '.join(sampled_formats(device)) or 'none'}")
    faults, count = [], 0
    try:
        with Queue(device, in_order=True) as queue:
            for image in known_images(device):
                count += 1
                fault = image.fault(queue)
                if fault:
                    faults.append(f"{image}: {fault}")
    except Error as error:
        print(f"    sampling: failed\n    fix: {error}")
        return False
    if faults:
        print(f"    sampling: wrong of {len(faults)} of {count} kinds and formats of images")
        for fault in faults:
            print(f"      {fault}")
        print("    fix: update the driver of this device, or use other images")
        return False
    print(f"    sampling: right, of {count} kinds and formats of images")
    return True


def _examine_tools() -> None:
    """Report the toolchains of kernels. Missing tools are not an error: only a user's own kernels need them."""
    from ..compiler.llvm.find_toolchain import find_toolchain
    from ..drivers import nvrtc
    from ..model.module.disk_cache import cache
    from ..python_kernels.compilation import installed_compilers
    from ..python_kernels.compiler_process import INSTALL, missing_packages

    print("kernels of your own")
    try:
        tools = find_toolchain()
        print(f"  bindless build: {tools.name} ({', '.join(tools.versions().values())})")
        print(f"  OpenCL C's functions for PTX: {tools.library() or 'of this package'}")
    except Error as error:
        print(f"  bindless build: not available\n  to use it: {error}")
    missing = missing_packages()
    versions = " and ".join(f"{name} {version}" for name, version in installed_compilers().items())
    print(f"  kernels in Python: {f'not available: {missing}: `{INSTALL}`' if missing else versions}")
    try:
        print("  CUDA C++: NVRTC {}.{}".format(*nvrtc.version()))
    except Error as error:
        print(f"  CUDA C++: not available\n  to use it: {str(error).splitlines()[-1]}")
    binaries = cache()
    print(f"  cache of binaries: {f'{binaries.folder}, up to {binaries.limit >> 20} MiB' if binaries else 'off'}")


def _examine_selection() -> bool:
    try:
        device = Device()
    except Error as error:
        print(f"default device: none\n  fix: {error}")
        return False
    print(f"default device: {device_line(device)}")
    if device.backend is Backend.reference:
        print("  no GPU is used: programs run on this processor, with the numbers of a texture unit")
    return True
