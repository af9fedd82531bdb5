"""Level Zero's objects, on the package's own driver, which counts what is alive and refuses what is not."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bindless as bl
from tests.interop.native.native_rig import ITEMS, SCALE, Refusal, Rig
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.compile_kernels import compiled_text

__all__ = ["LevelZeroRig"]

NBYTES = 4 * ITEMS


class LevelZeroRig(Rig):
    backend = "level_zero"
    types = ("ze_driver_handle_t", "ze_device_handle_t")
    cast = staticmethod(ffi.cast)
    kinds: ClassVar = {
        "context": "ze_context_handle_t",
        "queue": "ze_command_queue_handle_t",
        "queue.immediate": "ze_command_list_handle_t",
        "event": "ze_event_handle_t",
        "bundle": "ze_module_handle_t",
        "kernel": "ze_kernel_handle_t",
        "buffer": "void",
        "buffer.device": "void",
        "buffer.host": "void",
    }

    with_context = ("queue.immediate", "event", "buffer", "buffer.device", "buffer.host")

    def __init__(self, device: bl.Device) -> None:
        self.device, self.raw = device, Raw(device)
        self.before = self.raw.objects
        self.native = self.raw.context
        self.context = bl.make_context("level_zero", self.native, device, ownership="keep")
        self.pool = self.raw.pool()
        self.spares, self.null, self.wrong = [], ffi.NULL, self.raw.device
        self.other = bl.make_context("level_zero", self.raw.new_context(), device)

    def new(self, kind: str, text: str = SCALE) -> Any:
        raw = self.raw
        if kind.startswith("buffer"):
            memory = raw.memory(kind.partition(".")[2] or "shared", NBYTES)
            self._move(memory, np.arange(ITEMS, dtype=np.float32), to_memory=True)
            return memory
        if kind == "kernel":
            module = self.spare("bundle")
            self.bundle = bl.make_kernel_bundle("level_zero", module, self.context, ownership="keep")
            return raw.kernel(module, "scale")
        return {
            "context": raw.new_context,
            "queue": lambda: raw.queue(False),
            "queue.immediate": lambda: raw.queue(True),
            "event": lambda: raw.event(self.pool, len(raw.events)),
            "bundle": lambda: raw.module(compiled_text(text, "spirv")),
        }[kind]()

    def _move(self, memory: Any, values: npt.NDArray[np.float32], to_memory: bool) -> None:
        queue, host = self.raw.queue(True), ffi.from_buffer(values)
        pair = (memory, host) if to_memory else (host, memory)
        self.raw.run(queue, lambda own: lib.zeCommandListAppendMemoryCopy(own, *pair, NBYTES, ffi.NULL, 0, ffi.NULL))
        self.raw.destroy(queue)

    def read(self, memory: Any) -> npt.NDArray[np.float32]:
        values = np.empty(ITEMS, np.float32)
        self._move(memory, values, to_memory=False)
        return values

    def release(self, *natives: Any) -> None:
        for native in natives:
            if ffi.typeof(native).cname == "void *":
                assert lib.zeMemFree(self.native, native) == 0
            else:
                self.raw.destroy(native)

    def open(self, event: Any) -> None:
        assert lib.zeEventHostSignal(event) == 0

    def wait(self, handle: bl.NativeHandle) -> None:
        assert lib.zeEventHostSynchronize(ffi.cast("ze_event_handle_t", handle), 2**64 - 1) == 0

    def number(self, native: Any) -> int:
        return int(ffi.cast("uintptr_t", native))

    def type_of(self, native: Any) -> str:
        return str(ffi.typeof(native).cname).removeprefix("struct _").removesuffix(" *")

    def is_alive(self, native: Any) -> bool:
        memory = ffi.typeof(native).cname == "void *"
        return self.raw.is_memory(native) if memory else self.raw.is_alive(native)

    def copy(self, queue: Any, to: int, source: int, nbytes: int) -> bool:
        """Native queues are not in order by themselves: after a barrier, and with one behind it."""
        pair = ffi.cast("void *", to), ffi.cast("void *", source)
        self.raw.run(queue, lambda own: lib.zeCommandListAppendBarrier(own, ffi.NULL, 0, ffi.NULL))
        self.raw.run(queue, lambda own: lib.zeCommandListAppendMemoryCopy(own, *pair, nbytes, ffi.NULL, 0, ffi.NULL))
        return True

    def load(self, state: str = "executable") -> bl.KernelBundle:
        return bl.load_kernel_bundle(compiled_text(SCALE, "spirv"), self.device, self.context, state=state)

    def close(self) -> None:
        self.raw.open_gates()
        self.bundle = self.other = None
        self.context.close()
        self.context._resource.close()  # at once, also where a failed test still holds it
        self.release(self.pool, *reversed(self.spares))
        deadline = time.monotonic() + 10  # a thread of the pool may be about to drop what it has completed
        while self.raw.objects > self.before and time.monotonic() < deadline:
            time.sleep(0.005)
        assert self.raw.objects == self.before
        self.raw.destroy(self.native)

    def refusals(self) -> list[Refusal]:
        device, context = self.device, self.context
        memory, regular = self.spare("buffer"), self.raw.regular_list()
        self.spares.append(regular)
        address = self.number(memory)
        invalid = bl.InvalidError
        return [
            Refusal("context", invalid, "devices=", (self.native,)),
            Refusal("context", invalid, None, (self.number(self.raw.device), device)),
            Refusal("queue", invalid, None, (regular, context)),
            # A plain number is taken for a command queue, which the driver knows not to be one.
            Refusal("queue", invalid, "INVALID", (self.number(self.spare("queue.immediate")), context)),
            Refusal("event", invalid, ("ze_event_pool_handle_t", "ze_event_handle_t"), (self.pool, context)),
            Refusal("event", invalid, None, (self.number(self.pool), context)),
            Refusal("bundle", bl.FeatureNotSupportedError, "state='object'", (self.spare("bundle"), context, "object")),
            Refusal("buffer", invalid, None, (np.zeros(4).ctypes.data, context, "int8")),
            Refusal("buffer", invalid, None, (address + 8, context, "int8"), {"ownership": "transfer"}),
            Refusal("buffer", invalid, (4 * ITEMS + 4, 4 * ITEMS), (memory, context, "int32", ITEMS + 1)),
            Refusal("buffer", invalid, None, (memory, context, "S300")),
            Refusal("buffer", invalid, None, (memory, context, "int8", (1, 2, 3, 4))),
            Refusal("buffer", invalid, "ze_context_handle_t; it takes a void", (self.native, context, "int8")),
        ]
