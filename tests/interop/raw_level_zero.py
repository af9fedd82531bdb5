"""A Level Zero program independent of the package: native objects for the interop tests."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import bindless as bl
from bindless.drivers import level_zero as zero

__all__ = ["Raw", "ffi", "lib"]

lib, ffi = zero.lib, zero.ffi
SUCCESS = lib.ZE_RESULT_SUCCESS

# The last element of each entry is the index of the handle parameter.
_DESTROY = {
    "ze_context_handle_t": "zeContextDestroy",
    "ze_command_queue_handle_t": "zeCommandQueueDestroy",
    "ze_command_list_handle_t": "zeCommandListDestroy",
    "ze_event_pool_handle_t": "zeEventPoolDestroy",
    "ze_event_handle_t": "zeEventDestroy",
    "ze_module_handle_t": "zeModuleDestroy",
    "ze_kernel_handle_t": "zeKernelDestroy",
    "ze_fence_handle_t": "zeFenceDestroy",
}


class Raw:
    """A native context of a device, and the native objects that a program makes in it.

    Attributes
    ----------
    facade
        The device.
    driver, device, context
        Native handles.
    events
        Events made so far.
    """

    def __init__(self, device: bl.Device) -> None:
        self.facade = device
        self.driver = ffi.cast("ze_driver_handle_t", bl.get_native(device.platform))
        self.device = ffi.cast("ze_device_handle_t", bl.get_native(device))
        self._count = self._extension("bindlessGetObjectCount", "ze_result_t (*)(uint64_t *)")
        self.events: list[Any] = []
        self.context = self.new_context()

    def _extension(self, name: str, kind: str) -> Callable[..., int]:
        slot = ffi.new("void **")
        assert lib.zeDriverGetExtensionFunctionAddress(self.driver, name.encode(), slot) == SUCCESS
        found: Callable[..., int] = ffi.cast(kind, slot[0])
        return found

    @property
    def objects(self) -> int:
        """Number of live driver objects, after a garbage collection."""
        gc.collect()
        slot = ffi.new("uint64_t *")
        assert self._count(slot) == SUCCESS
        return int(slot[0])

    @staticmethod
    def make(kind: str, call: str, *arguments: Any) -> Any:
        """The handle that a call returns in its last parameter."""
        slot = ffi.new(f"{kind} *")
        result = getattr(lib, call)(*arguments, slot)
        assert result == SUCCESS, f"{call} gives {result:#x}"
        return slot[0]

    @staticmethod
    def destroy(*handles: Any) -> None:
        for handle in handles:
            name = _DESTROY[ffi.typeof(handle).cname.removeprefix("struct _").removesuffix(" *")]
            assert getattr(lib, name)(handle) == SUCCESS, name

    # ------------------------------------------------------------------ objects

    def new_context(self) -> Any:
        return self.make("ze_context_handle_t", "zeContextCreate", self.driver, zero.make_struct("ze_context_desc_t"))

    def queue(self, immediate: bool, context: Any = None) -> Any:
        """A command queue or an immediate command list, neither of which is in-order."""
        kind, call = "ze_command_queue_handle_t", "zeCommandQueueCreate"
        if immediate:
            kind, call = "ze_command_list_handle_t", "zeCommandListCreateImmediate"
        desc = zero.make_struct("ze_command_queue_desc_t", mode=lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)
        return self.make(kind, call, context or self.context, self.device, desc)

    def regular_list(self) -> Any:
        desc = zero.make_struct("ze_command_list_desc_t")
        return self.make("ze_command_list_handle_t", "zeCommandListCreate", self.context, self.device, desc)

    def pool(self, context: Any = None) -> Any:
        flags = lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE
        desc = zero.make_struct("ze_event_pool_desc_t", flags=flags, count=8)
        return self.make("ze_event_pool_handle_t", "zeEventPoolCreate", context or self.context, desc, 0, ffi.NULL)

    def event(self, pool: Any, index: int = 0) -> Any:
        desc = zero.make_struct("ze_event_desc_t", index=index, signal=lib.ZE_EVENT_SCOPE_FLAG_HOST)
        self.events.append(self.make("ze_event_handle_t", "zeEventCreate", pool, desc))
        return self.events[-1]

    def open_gates(self) -> None:
        """Signal all events, so that nothing waits after a failed test: the driver refuses to destroy events in use."""
        for event in self.events:
            lib.zeEventHostSignal(event)

    def module(self, code: bytes) -> Any:
        desc = zero.make_struct(
            "ze_module_desc_t",
            format=lib.ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize=len(code),
            pInputModule=ffi.from_buffer("uint8_t[]", code),
        )
        slot = ffi.new("ze_module_handle_t *")
        assert lib.zeModuleCreate(self.context, self.device, desc, slot, ffi.NULL) == SUCCESS
        return slot[0]

    def kernel(self, module: Any, name: str) -> Any:
        desc = zero.make_struct("ze_kernel_desc_t", pKernelName=ffi.new("char[]", name.encode()))
        return self.make("ze_kernel_handle_t", "zeKernelCreate", module, desc)

    def memory(self, kind: str, nbytes: int, context: Any = None) -> Any:
        """An allocation of kind ``device``, ``host`` or ``shared``."""
        slot, context = ffi.new("void **"), context or self.context
        of_device = zero.make_struct("ze_device_mem_alloc_desc_t")
        of_host = zero.make_struct("ze_host_mem_alloc_desc_t")
        if kind == "device":
            result = lib.zeMemAllocDevice(context, of_device, nbytes, 64, self.device, slot)
        elif kind == "shared":
            result = lib.zeMemAllocShared(context, of_device, of_host, nbytes, 64, self.device, slot)
        else:
            result = lib.zeMemAllocHost(context, of_host, nbytes, 64, slot)
        assert result == SUCCESS
        return slot[0]

    def is_memory(self, pointer: Any) -> bool:
        """Whether an address belongs to an allocation of the context."""
        found = zero.make_struct("ze_memory_allocation_properties_t")
        result = lib.zeMemGetAllocProperties(self.context, pointer, found, ffi.NULL)
        return result == SUCCESS and found.type != lib.ZE_MEMORY_TYPE_UNKNOWN

    def is_alive(self, handle: Any) -> bool:
        """Whether the driver still accepts a context, command list, command queue, event or kernel."""
        ask = {
            "struct _ze_context_handle_t *": lambda: lib.zeContextGetStatus(handle),
            "struct _ze_command_queue_handle_t *": lambda: lib.zeCommandQueueSynchronize(handle, 2**64 - 1),
            "struct _ze_command_list_handle_t *": lambda: lib.zeCommandListAppendBarrier(handle, ffi.NULL, 0, ffi.NULL),
            "struct _ze_event_handle_t *": lambda: lib.zeEventQueryStatus(handle),
            "struct _ze_module_handle_t *": lambda: lib.zeModuleGetKernelNames(handle, ffi.new("uint32_t *"), ffi.NULL),
            "struct _ze_kernel_handle_t *": lambda: lib.zeKernelGetName(handle, ffi.new("size_t *"), ffi.NULL),
        }[ffi.typeof(handle).cname]
        return ask() in (SUCCESS, lib.ZE_RESULT_NOT_READY)

    def run(self, queue: Any, append: Callable[[Any], int]) -> None:
        """Run a command on a command queue or an immediate command list, and wait for it."""
        immediate = "command_list" in ffi.typeof(queue).cname
        own = queue if immediate else self.regular_list()
        pool = self.pool()
        event = self.event(pool)
        assert append(own) == SUCCESS
        assert lib.zeCommandListAppendBarrier(own, event, 0, ffi.NULL) == SUCCESS
        if not immediate:
            assert lib.zeCommandListClose(own) == SUCCESS
            lists = ffi.new("ze_command_list_handle_t *", own)
            assert lib.zeCommandQueueExecuteCommandLists(queue, 1, lists, ffi.NULL) == SUCCESS
            assert lib.zeCommandQueueSynchronize(queue, 2**64 - 1) == SUCCESS
        assert lib.zeEventHostSynchronize(event, 2**64 - 1) == SUCCESS
        self.destroy(event, pool, *(() if immediate else (own,)))
