"""Lazy import of the PyPI package ``vulkan``, and translation of its errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

from ...drivers.common.cffi_types import CData
from ...model.errors import Error, FeatureNotSupportedError, InvalidError, MemoryAllocationError, SyclRuntimeError
from ...model.message_values import shown

__all__ = ["OPAQUE_FD_MEMORY", "OPAQUE_FD_SEMAPHORE", "binding", "device_function", "require_handle", "translated"]

# VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
OPAQUE_FD_MEMORY = 1
OPAQUE_FD_SEMAPHORE = 1


@cache
def binding() -> ModuleType:
    """The module ``vulkan``.

    Raises
    ------
    FeatureNotSupportedError
        The package is missing, or the Vulkan loader that it opens.
    """
    try:
        module = importlib.import_module("vulkan")
        if not hasattr(module, "vkCreateInstance"):
            raise ImportError(f"{module.__path__} is another module of that name")
        return module
    except ImportError as error:
        raise FeatureNotSupportedError(
            f"the Python package 'vulkan' cannot be imported ({error}): pip install 'bindless[vulkan]'"
        ) from None
    except OSError as error:
        raise FeatureNotSupportedError(
            f"the package 'vulkan' finds no Vulkan loader ({error}): apt install libvulkan1, or the vendor's driver"
        ) from None


def require_handle(value: object, kind: str) -> None:
    """Refuses what is no handle of a kind, such as ``VkDevice``: Vulkan's drivers do not look, and crash.

    Raises
    ------
    InvalidError
        It is none, or null.
    FeatureNotSupportedError
        The package is missing.
    """
    ffi = binding().ffi
    if not isinstance(value, ffi.CData) or ffi.typeof(value) is not ffi.typeof(kind) or value == ffi.NULL:
        raise InvalidError(f"{shown(value)} is no {kind} of the package 'vulkan'")


# What a result of Vulkan's means in this package; everything else is a failure of the driver.
_ERRORS: dict[str, type[Error]] = {
    "VK_ERROR_OUT_OF_HOST_MEMORY": MemoryAllocationError,
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": MemoryAllocationError,
    "VK_ERROR_TOO_MANY_OBJECTS": MemoryAllocationError,
    "VK_ERROR_FORMAT_NOT_SUPPORTED": FeatureNotSupportedError,
    "VK_ERROR_FEATURE_NOT_PRESENT": FeatureNotSupportedError,
    "VK_ERROR_EXTENSION_NOT_PRESENT": FeatureNotSupportedError,
}


@cache
def _result_codes() -> dict[type[Exception], tuple[int, str]]:
    """Exception of the binding to Vulkan's number and name of it."""
    vk = binding()
    names = {
        getattr(vk, name): name
        for name in dir(vk)
        if name.startswith("VK_ERROR_") or name in ("VK_NOT_READY", "VK_TIMEOUT")
    }
    return {kind: (code, names.get(code, str(code))) for code, kind in vk.exception_codes.items()}


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Failures of Vulkan's inside the block become errors of this package that begin with ``what``."""
    vk = binding()
    try:
        yield
    except (vk.VkError, vk.VkException) as error:
        code, name = _result_codes()[type(error)]
        raise _ERRORS.get(name, SyclRuntimeError)(f"{what}: {name}", native_code=code, native_name=name) from None


def device_function(device: CData, name: str, extension: str) -> Callable[..., int]:
    """A function of an extension of a VkDevice.

    Raises
    ------
    FeatureNotSupportedError
        The device was made without it.
    """
    vk = binding()
    try:
        function: Callable[..., int] = vk.vkGetDeviceProcAddr(device, name)
        return function
    except (vk.ProcedureNotFoundError, vk.ExtensionNotSupportedError):
        raise FeatureNotSupportedError(
            f"this VkDevice has no {name}: create it with ppEnabledExtensionNames that hold {extension} "
            "(bindless.interop.vulkan.device_extensions(physical_device) lists what sharing needs)"
        ) from None
