"""The Level Zero API as in ze_api.h: ``lib``, ``ffi``, enums, loading of the loader, and helpers for its idioms.

Works with loaders of any age: a function that the loaded one lacks returns ``ZE_RESULT_ERROR_UNSUPPORTED_FEATURE``
(loaders up to 1.8 lack bindless images, pitched allocations and external semaphores). ``lib.zeDriverGet`` returns
``ZE_RESULT_ERROR_UNINITIALIZED`` until ``zeInit`` or ``zeInitDrivers`` has succeeded: those loaders crash there.
"""

from __future__ import annotations

import os
import re
import weakref
from typing import TYPE_CHECKING

from ..common.array_elements import elements
from ..common.cffi_types import CData
from ..common.lazy_attributes import lazy_attributes
from ..common.loader import Driver, system_names
from ..common.result_check import Checker
from . import _error_table
from ._bindings import ffi, lib
from ._struct_types import STRUCTURE_TYPES

if TYPE_CHECKING:
    from ._enums import *  # noqa: F403 - at run time __getattr__ gives them, which keeps the import quick

__all__ = [
    "STRUCTURE_TYPES",
    "attempts",
    "available",
    "check",
    "error",
    "ffi",
    "get_all",
    "get_properties",
    "has",
    "init",
    "lib",
    "load",
    "make_struct",
    "missing_functions",
    "path",
    "version",
]

_REQUIRED = (
    "zeInit",
    "zeDriverGet",
    "zeDriverGetApiVersion",
    "zeDeviceGet",
    "zeDeviceGetProperties",
    "zeContextCreate",
    "zeCommandListCreate",
    "zeCommandQueueCreate",
    "zeMemAllocDevice",
    "zeImageCreate",
    "zeSamplerCreate",
    "zeModuleCreate",
    "zeKernelCreate",
    "zeEventCreate",
)

_driver = Driver(
    backend="level_zero",
    title="Level Zero loader",
    variable="BINDLESS_LIBZE_LOADER",
    names=system_names({"linux": ("libze_loader.so.1",), "win32": ("ze_loader.dll",)}),
    required=_REQUIRED,
    advice="Install it (Debian and Ubuntu: apt install libze1) and the driver of the Intel GPU.",
    lib=lib,
    ffi=ffi,
)

load = _driver.load
available = _driver.available
has = _driver.has
missing_functions = _driver.missing_functions
path = _driver.path
attempts = _driver.attempts

# Objects that a struct points to, kept as long as the struct.
_members: weakref.WeakKeyDictionary[CData, object] = weakref.WeakKeyDictionary()


def init(flags: int = 0) -> None:
    """Open the loader and call ``zeInit``.

    Parameters
    ----------
    flags
        ``ze_init_flag_t`` bits; 0 means all drivers.

    Raises
    ------
    PlatformError
        The loader is missing, or finds no driver.
    """
    load()
    check(lib.zeInit(flags), "zeInit")


def version() -> tuple[int, ...]:
    """Return the version of the loader, such as (1, 8, 12), or () where unknown. Opens the loader.

    Raises
    ------
    PlatformError
        The loader could not be opened.
    """
    load()
    # Old loaders report their version only after zeInit; the file name always contains it.
    return max(_component_version(), _file_version())


def make_struct(name: str, next: CData | None = None, **members: object) -> CData:
    """Create a struct with ``stype`` set and ``pNext`` chained.

    Parameters
    ----------
    name
        Name of the type, such as ``"ze_image_desc_t"``.
    next
        The struct for ``pNext``, or None.
    members
        Values of other members: numbers, dicts and lists for nested ones, C values.

    Returns
    -------
    CData
        An owning pointer; it keeps ``next`` and all C values of members alive.

    Raises
    ------
    KeyError
        The type has no ``stype``, or lacks a member.
    """
    values: dict[str, object] = {**members, "stype": STRUCTURE_TYPES[name]}
    if next is not None:
        values["pNext"] = ffi.cast("void *", next)
    struct = ffi.new(f"{name} *", values)
    _members[struct] = (next, members)
    return struct


def get_properties(name: str, function: str, *arguments: object, next: CData | None = None) -> CData:
    """Let a function fill a struct: ``get_properties("ze_device_properties_t", "zeDeviceGetProperties", device)``.

    Returns
    -------
    CData
        The struct, created by ``make_struct``.

    Raises
    ------
    Error
        As for ``check``.
    """
    struct = make_struct(name, next)
    check(getattr(lib, function)(*arguments, struct), function)
    return struct


def get_all(element: str, function: str, *arguments: object) -> list[CData]:
    """Return all elements of a count-then-fill function.

    Parameters
    ----------
    element
        C type of the elements, such as ``"ze_device_handle_t"``; structs get their ``stype``.
    function
        Name of the function, such as ``"zeDeviceGet"``.
    arguments
        Those before the pointer to the count.

    Returns
    -------
    list[CData]
        Handles, or structs that keep their array alive.

    Raises
    ------
    Error
        As for ``check``.
    """
    call = getattr(lib, function)
    count = ffi.new("uint32_t *")
    check(call(*arguments, count, ffi.NULL), function)
    array = ffi.new(f"{element}[]", count[0])
    if element in STRUCTURE_TYPES:
        for item in array:
            item.stype = STRUCTURE_TYPES[element]
    check(call(*arguments, count, array), function)
    return elements(ffi, array, count[0])


def _component_version() -> tuple[int, ...]:
    """Return the version that the loader reports, or ()."""
    count = ffi.new("size_t *")
    if not has("zelLoaderGetVersions") or lib.zelLoaderGetVersions(count, ffi.NULL) or not count[0]:
        return ()
    components = ffi.new("zel_component_version_t[]", count[0])
    if lib.zelLoaderGetVersions(count, components):
        return ()
    for component in components:
        if ffi.string(component.component_name) == b"loader":
            version = component.component_lib_version
            return version.major, version.minor, version.patch
    return ()


def _file_version() -> tuple[int, ...]:
    """Return the version in the loader's file name, or ()."""
    match = re.search(r"\.so\.(\d+(?:\.\d+)+)$", os.path.realpath(path() or ""))
    return tuple(map(int, match[1].split("."))) if match else ()


_ABSENT = ("ZE_RESULT_ERROR_UNSUPPORTED_FEATURE", "ZE_RESULT_ERROR_UNINITIALIZED")
_checker = Checker(_driver, _error_table.EXPLANATIONS, version, _ABSENT)
check = _checker.check
error = _checker.error

__getattr__ = lazy_attributes(__name__, "._enums")
