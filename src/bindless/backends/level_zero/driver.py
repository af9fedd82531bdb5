"""Level Zero drivers behind the loader, and their functions.

The loader hands a driver's functions on only if it knows them itself; loaders up to 1.8 know neither bindless images
nor pitched allocations nor the wait for an immediate command list. What the driver has nevertheless, it gives by name:
``Driver.function`` asks both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...drivers import level_zero as driver
from ...model.errors import Error, FeatureNotSupportedError
from .errors import SUCCESS, check, fail
from .fork_guard import unusable_after_fork

__all__ = ["Driver", "drivers"]

lib, ffi = driver.lib, driver.ffi

Function = Callable[..., int]

# Handles among the parameters of a function, by type; a loader with several drivers has handles of its own.
_HANDLES = {
    "ze_driver_handle_t": lib.ZEL_HANDLE_DRIVER,
    "ze_device_handle_t": lib.ZEL_HANDLE_DEVICE,
    "ze_context_handle_t": lib.ZEL_HANDLE_CONTEXT,
    "ze_command_queue_handle_t": lib.ZEL_HANDLE_COMMAND_QUEUE,
    "ze_command_list_handle_t": lib.ZEL_HANDLE_COMMAND_LIST,
    "ze_event_pool_handle_t": lib.ZEL_HANDLE_EVENT_POOL,
    "ze_event_handle_t": lib.ZEL_HANDLE_EVENT,
    "ze_image_handle_t": lib.ZEL_HANDLE_IMAGE,
}


def _own_handle(kind: int, handle: Any) -> Any:
    """The driver's own handle for one of the loader."""
    if not driver.has("zelLoaderTranslateHandle"):
        return handle
    slot = ffi.new("void **")
    check(lib.zelLoaderTranslateHandle(kind, handle, slot), "zelLoaderTranslateHandle")
    return slot[0]


# Version of Level Zero that brought lists in order, and the first loader whose validation layer knows them.
_IN_ORDER_SINCE = (1, 6)
_LAYER_KNOWS_ORDER = (1, 9)


def _layer_refuses_order() -> bool:
    """Whether a validation layer stands before the driver that takes what it does not know for an error."""
    return os.environ.get("ZE_ENABLE_VALIDATION_LAYER") == "1" and driver.version() < _LAYER_KNOWS_ORDER


class Driver:
    """One driver.

    Attributes:
        index: counts those that the loader found.
        handle: ze_driver_handle_t.
        api: version of Level Zero that it implements, such as (1, 15).
        version: its own, such as "1.15.39122".
        extensions: version by name.
        keeps_order: whether lists run their commands in order by themselves when asked.
    """

    def __init__(self, index: int, handle: Any) -> None:
        self.index = index
        self.handle = handle
        api = ffi.new("ze_api_version_t *")
        check(lib.zeDriverGetApiVersion(handle, api), "zeDriverGetApiVersion")
        self.api: tuple[int, int] = (api[0] >> 16, api[0] & 0xFFFF)
        properties = driver.get_properties("ze_driver_properties_t", "zeDriverGetProperties", handle)
        number = int(properties.driverVersion)
        self.version = f"{number >> 24}.{number >> 16 & 0xFF}.{number & 0xFFFF}"
        self.uuid = bytes(ffi.buffer(ffi.addressof(properties, "uuid")))
        found = driver.get_all("ze_driver_extension_properties_t", "zeDriverGetExtensionProperties", handle)
        self.extensions = {ffi.string(item.name).decode("utf-8", "replace"): int(item.version) for item in found}
        self.keeps_order = self.api >= _IN_ORDER_SINCE and not _layer_refuses_order()
        self._functions: dict[str, Function | None] = {}

    def function(self, name: str) -> Function | None:
        """A function of the API by its name, as the loader has it or else the driver; None where neither has it."""
        if name not in self._functions:
            self._functions[name] = getattr(lib, name) if driver.has(name) else self._extension(name)
        return self._functions[name]

    def require(self, name: str, since: str) -> Function:
        """A function that there must be.

        Args:
            since: version of Level Zero that brought it.

        Raises:
            FeatureNotSupportedError: neither the loader nor the driver has it.
        """
        found = self.function(name)
        if found is None:
            loader = ".".join(map(str, driver.version())) or "of unknown version"
            raise FeatureNotSupportedError(
                f"{name} came with Level Zero {since}: the driver is of {self.api[0]}.{self.api[1]} and does not have "
                f"it, nor does the loader, {loader}. A newer driver is needed",
                backend="level_zero",
            )
        return found

    def ask(self, name: str, handle: Any, kind: str) -> Any:
        """What a function tells of a handle through its second parameter; None where there is no such function.

        Args:
            kind: C type of the answer.

        Raises:
            Error: the driver refuses the handle.
        """
        function = self.function(name)
        if function is None:
            return None
        slot = ffi.new(f"{kind} *")
        check(function(handle, slot), name, "the handle is none of this driver")
        return slot[0]

    def is_same(self, kind: str, left: Any, right: Any) -> bool:
        """Whether two handles of a type are of one object: one may be the loader's, the other the driver's own."""
        number = _HANDLES[kind]
        return bool(left == right or _own_handle(number, right) == left)

    def _extension(self, name: str) -> Function | None:
        slot = ffi.new("void **")
        result = lib.zeDriverGetExtensionFunctionAddress(self.handle, name.encode(), slot)
        if result != SUCCESS or slot[0] == ffi.NULL:
            return None
        kind = ffi.typeof(getattr(lib, name))
        call = ffi.cast(ffi.getctype(kind), slot[0])
        spelled = {ffi.typeof(handle): number for handle, number in _HANDLES.items()}
        places = [(place, spelled[argument]) for place, argument in enumerate(kind.args) if argument in spelled]

        def translated(*arguments: Any) -> int:
            own = list(arguments)
            for place, number in places:
                own[place] = _own_handle(number, own[place])
            result: int = call(*own)
            return result

        return translated

    def memory_context(self, pointer: Any) -> Any:
        """The driver's own handle of the context that memory was allocated in; None of a driver that does not say.

        ``zeMemGetAllocProperties`` does not say it where a driver answers for memory of every context of the process.
        """
        slot, found = ffi.new("void **"), ffi.new("ze_context_handle_t *")
        name = b"bindlessGetMemoryContext"
        if lib.zeDriverGetExtensionFunctionAddress(self.handle, name, slot) != SUCCESS or slot[0] == ffi.NULL:
            return None
        ask = ffi.cast("ze_result_t (*)(void const *, ze_context_handle_t *)", slot[0])
        return found[0] if ask(pointer, found) == SUCCESS and found[0] != ffi.NULL else None

    def last_error(self) -> str:
        """What the driver says of the last failure of this thread; most often nothing."""
        ask = self.function("zeDriverGetLastErrorDescription")
        text = ffi.new("char const **")
        if ask is None or ask(self.handle, text) != SUCCESS or text[0] == ffi.NULL:
            return ""
        return ffi.string(text[0]).decode("utf-8", "replace")


_ADVICE = (
    "install the driver of the Intel GPU (Debian and Ubuntu: apt install libze-intel-gpu1), or take the package's own, "
    "which runs on the processor: ZE_ENABLE_ALT_DRIVERS=$(bindless ze-driver --path)"
)


def _handles() -> list[Any]:
    """Every driver that the loader finds; drivers are asked for only where an initialisation has succeeded."""
    driver.load()
    if driver.has("zeInitDrivers"):
        kinds = driver.make_struct("ze_init_driver_type_desc_t", flags=lib.ZE_INIT_DRIVER_TYPE_FLAG_GPU)
        count = ffi.new("uint32_t *")
        if lib.zeInitDrivers(count, ffi.NULL, kinds) == SUCCESS and count[0]:
            array = ffi.new("ze_driver_handle_t[]", count[0])
            check(lib.zeInitDrivers(count, array, kinds), "zeInitDrivers")
            return [array[index] for index in range(count[0])]
    result = lib.zeInit(0)
    if result != SUCCESS:
        fail(result, "zeInit", _ADVICE)
    return driver.get_all("ze_driver_handle_t", "zeDriverGet")


def drivers() -> list[Driver]:
    """All drivers, initialised.

    Raises:
        PlatformError: there is no loader, or no driver behind it.
    """
    handles = _handles()
    unusable_after_fork()
    found: list[Driver] = []
    failure: Error | None = None
    for handle in handles:
        try:
            found.append(Driver(len(found), handle))
        except Error as error:  # another driver may do
            failure = failure or error
    if failure is not None and not found:
        raise failure
    return found
