"""Level Zero drivers behind the loader, and their functions.

The loader forwards only the driver functions that it knows. Loaders up to 1.8 lack bindless images, pitched allocations
and the wait for an immediate command list. A driver gives such functions by name; ``Driver.function`` asks the loader
first, then the driver.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import Error, FeatureNotSupportedError
from .errors import SUCCESS, check, fail
from .fork_guard import unusable_after_fork

__all__ = ["Driver", "drivers"]

lib, ffi = driver.lib, driver.ffi

Function = Callable[..., int]

# Handle parameters of functions, by type; with several drivers the loader has handles of its own.
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


def _own_handle(kind: int, handle: CData) -> CData:
    """The driver's handle of a loader handle."""
    if not driver.has("zelLoaderTranslateHandle"):
        return handle
    slot = ffi.new("void **")
    check(lib.zelLoaderTranslateHandle(kind, handle, slot), "zelLoaderTranslateHandle")
    return slot[0]


# Version of Level Zero with in-order lists, and the first loader whose validation layer supports them.
_IN_ORDER_SINCE = (1, 6)
_LAYER_KNOWS_ORDER = (1, 9)


def _layer_refuses_order() -> bool:
    """Whether a validation layer treats flags that it does not know as errors."""
    return os.environ.get("ZE_ENABLE_VALIDATION_LAYER") == "1" and driver.version() < _LAYER_KNOWS_ORDER


class Driver:
    """One driver.

    Attributes
    ----------
    index
        number among the loader's drivers.
    handle
        ze_driver_handle_t.
    api
        version of Level Zero that the driver implements, such as (1, 15).
    version
        driver version, such as "1.15.39122".
    extensions
        version by name.
    keeps_order
        whether in-order lists are supported.
    """

    def __init__(self, index: int, handle: CData) -> None:
        self.index = index
        self.handle = handle
        api = ffi.new("ze_api_version_t *")
        check(lib.zeDriverGetApiVersion(handle, api), "zeDriverGetApiVersion")
        self.api: tuple[int, int] = (api[0] >> 16, api[0] & 0xFFFF)
        properties = driver.get_properties("ze_driver_properties_t", "zeDriverGetProperties", handle)
        number = int(properties.driverVersion)
        self.version = f"{number >> 24}.{number >> 16 & 0xFF}.{number & 0xFFFF}"
        self.uuid = bytes(ffi.buffer(ffi.addressof(properties, "uuid")))
        extensions = driver.get_all("ze_driver_extension_properties_t", "zeDriverGetExtensionProperties", handle)
        self.extensions = {ffi.string(item.name).decode("utf-8", "replace"): int(item.version) for item in extensions}
        self.keeps_order = self.api >= _IN_ORDER_SINCE and not _layer_refuses_order()
        self._functions: dict[str, Function | None] = {}

    def function(self, name: str) -> Function | None:
        """A function of the API by name, from the loader or else from the driver; None if both lack it."""
        if name not in self._functions:
            self._functions[name] = getattr(lib, name) if driver.has(name) else self._extension(name)
        return self._functions[name]

    def require(self, name: str, since: str) -> Function:
        """A required function.

        Parameters
        ----------
        since
            version of Level Zero that introduced it.

        Raises
        ------
        FeatureNotSupportedError
            the loader and the driver both lack it.
        """
        function = self.function(name)
        if function is None:
            loader = ".".join(map(str, driver.version())) or "of unknown version"
            raise FeatureNotSupportedError(
                f"{name} came with Level Zero {since}: the driver is of {self.api[0]}.{self.api[1]} and does not have "
                f"it, nor does the loader, {loader}. A newer driver is needed",
                backend="level_zero",
            )
        return function

    def ask(self, name: str, handle: CData, kind: str) -> CData:
        """The value that a function returns for a handle through its second parameter; None without such a function.

        Parameters
        ----------
        kind
            C type of the value.

        Raises
        ------
        Error
            the driver refuses the handle.
        """
        function = self.function(name)
        if function is None:
            return None
        slot = ffi.new(f"{kind} *")
        check(function(handle, slot), name, "the handle is none of this driver")
        return slot[0]

    def is_same(self, kind: str, left: CData, right: CData) -> bool:
        """Whether two handles of a type name the same object: one may be the loader's, the other the driver's own."""
        number = _HANDLES[kind]
        return bool(left == right or _own_handle(number, right) == left)

    def address(self, name: str) -> CData:
        """The address of a function whose parameters C code passes without a translation; NULL if both lack it."""
        return ffi.addressof(lib, name) if driver.has(name) else self._own_address(name)

    def _own_address(self, name: str) -> CData:
        kind, slot = ffi.typeof(getattr(lib, name)), ffi.new("void **")
        if lib.zeDriverGetExtensionFunctionAddress(self.handle, name.encode(), slot) != SUCCESS:
            slot[0] = ffi.NULL
        return ffi.cast(ffi.getctype(kind), slot[0])

    def _extension(self, name: str) -> Function | None:
        call = self._own_address(name)
        if call == ffi.NULL:
            return None
        kind = ffi.typeof(call)
        spelled = {ffi.typeof(handle): number for handle, number in _HANDLES.items()}
        places = [(place, spelled[argument]) for place, argument in enumerate(kind.args) if argument in spelled]

        def translated(*arguments: CData | int) -> int:
            own = list(arguments)
            for place, number in places:
                own[place] = _own_handle(number, own[place])
            result: int = call(*own)
            return result

        return translated

    def memory_context(self, pointer: CData) -> CData:
        """The driver's handle of the context of an allocation; None if the driver does not report it.

        ``zeMemGetAllocProperties`` does not report the context if a driver answers for memory of every context of the
        process.
        """
        slot, context = ffi.new("void **"), ffi.new("ze_context_handle_t *")
        name = b"bindlessGetMemoryContext"
        if lib.zeDriverGetExtensionFunctionAddress(self.handle, name, slot) != SUCCESS or slot[0] == ffi.NULL:
            return None
        ask = ffi.cast("ze_result_t (*)(void const *, ze_context_handle_t *)", slot[0])
        return context[0] if ask(pointer, context) == SUCCESS and context[0] != ffi.NULL else None

    def last_error(self) -> str:
        """The driver's message for the last failure of this thread; often empty."""
        ask = self.function("zeDriverGetLastErrorDescription")
        text = ffi.new("char const **")
        if ask is None or ask(self.handle, text) != SUCCESS or text[0] == ffi.NULL:
            return ""
        return ffi.string(text[0]).decode("utf-8", "replace")


_ADVICE = (
    "install the driver of the Intel GPU (Debian and Ubuntu: apt install libze-intel-gpu1), or take the package's own, "
    "which runs on the processor: ZE_ENABLE_ALT_DRIVERS=$(bindless ze-driver --path)"
)


def _handles() -> list[CData]:
    """Every driver of the loader; drivers are queried only after a successful initialisation."""
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

    Raises
    ------
    PlatformError
        there is no loader, or no driver behind it.
    """
    handles = _handles()
    unusable_after_fork()
    result: list[Driver] = []
    failure: Error | None = None
    for handle in handles:
        try:
            result.append(Driver(len(result), handle))
        except Error as error:  # Another driver may succeed.
            failure = failure or error
    if failure is not None and not result:
        raise failure
    return result
