"""The reference driver's objects, which it counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.drivers import reference as driver
from bindless.submission.active_streams import sweep
from tests.interop.native.native_rig import ITEMS, SCALE, Refusal, Rig
from tests.support.compile_kernels import compiled_text
from tests.support.opencl_devices import settled
from tests.support.reference_object_count import objects

__all__ = ["ReferenceRig", "call", "ffi", "lib"]

lib, ffi = driver.lib, driver.ffi
DESTROY = {
    "blr_context_t": "blrContextDestroy",
    "blr_queue_t": "blrQueueDestroy",
    "blr_event_t": "blrEventRelease",
    "blr_module_t": "blrModuleDestroy",
    "blr_kernel_t": "blrKernelDestroy",
}


def call(name: str, *arguments: Any) -> None:
    driver.check(getattr(lib, name)(*arguments), name)


def make(kind: str, name: str, *arguments: Any) -> Any:
    """What a call returns in its last parameter."""
    slot = ffi.new(f"{kind} *")
    call(name, *arguments, slot)
    return slot[0]


class ReferenceRig(Rig):
    backend = "reference"
    types = ("blr_device_t",)
    cast = staticmethod(ffi.cast)
    kinds: ClassVar = {
        "context": "blr_context_t",
        "queue.out_of_order": "blr_queue_t",
        "event": "blr_event_t",
        "bundle": "blr_module_t",
        "kernel": "blr_kernel_t",
        "buffer": "void",
    }

    def __init__(self, device: bl.Device) -> None:
        self.device, self.spares, self.gate_list, self.other = device, [], list[Any](), None
        self.null, self.wrong = ffi.NULL, ffi.cast("blr_device_t", bl.get_native(device))
        self.native = self.new("context")
        sweep()
        self.before = objects()
        self.context = bl.make_context("reference", self.native, device, ownership="keep")

    def new(self, kind: str, text: str = SCALE) -> Any:
        if kind == "context":
            return make("blr_context_t", "blrContextCreate", ffi.cast("blr_device_t", bl.get_native(self.device)))
        if kind == "queue.out_of_order":
            return make("blr_queue_t", "blrQueueCreate", self.native, 0)
        if kind == "event":
            self.gate_list.append(make("blr_event_t", "blrEventCreateUser", self.native))
            return self.gate_list[-1]
        if kind == "bundle":
            code = compiled_text(text, "spirv")
            return make("blr_module_t", "blrModuleCreate", self.native, code, len(code), 0, ffi.NULL)
        if kind == "kernel":
            module = self.spare("bundle")
            self.bundle = bl.make_kernel_bundle("reference", module, self.context, ownership="keep")
            return make("blr_kernel_t", "blrKernelCreate", module, b"scale")
        memory = make("void *", "blrMemoryAllocate", self.native, 1, 4 * ITEMS, 0)
        ffi.buffer(memory, 4 * ITEMS)[:] = np.arange(ITEMS, dtype=np.float32).tobytes()
        return memory

    def release(self, *natives: Any) -> None:
        for native in natives:
            kind = self.type_of(native)
            if kind == "void":
                call("blrMemoryFree", self.native, native)
            else:
                call(DESTROY[kind], native)

    def open(self, event: Any) -> None:
        call("blrEventSignalUser", event, 0)

    def wait(self, handle: bl.NativeHandle) -> None:
        call("blrEventWait", ffi.cast("blr_event_t", handle), 2**64 - 1)

    def read(self, memory: Any) -> npt.NDArray[np.float32]:
        return np.frombuffer(ffi.buffer(memory, 4 * ITEMS), np.float32).copy()

    def number(self, native: Any) -> int:
        return int(ffi.cast("uintptr_t", native))

    def type_of(self, native: Any) -> str:
        return next((kind for kind in (*DESTROY, "blr_device_t") if ffi.typeof(native) is ffi.typeof(kind)), "void")

    def is_alive(self, native: Any) -> bool | None:
        kind = str(ffi.typeof(native).cname)
        if "queue" in kind:
            return bool(lib.blrQueueQuery(native) != lib.BLR_RESULT_INVALID_HANDLE)
        if "event" in kind:
            return bool(lib.blrEventWait(native, 0) != lib.BLR_RESULT_INVALID_HANDLE)
        return None  # close() counts them

    def load(self, state: str = "executable") -> bl.KernelBundle:
        return bl.load_kernel_bundle(compiled_text(SCALE, "spirv"), self.device, self.context, state=state)

    def close(self) -> None:
        for event in self.gate_list:
            lib.blrEventSignalUser(event, 0)  # a failed test may leave it incomplete
        self.bundle = None
        self.context.close()
        self.context._resource.close()
        self.release(*reversed(self.spares))
        # A thread lets go of a command shortly after its end, also of one that an earlier test dropped.
        assert settled(objects, self.before) <= self.before
        self.release(self.native)

    def refusals(self) -> list[Refusal]:
        address, context = self.number(self.native), self.context
        arguments: dict[str, tuple[Any, ...]] = {"buffer": ("int8",)}
        device = bl.get_native(self.device)
        return [
            *(
                Refusal(kind, bl.InvalidError, None, (address, context, *arguments.get(kind, ())))
                for kind in ("queue", "event", "bundle", "buffer")
            ),
            Refusal("context", bl.InvalidError, None, (device, self.device)),
        ]
