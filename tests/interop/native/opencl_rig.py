"""OpenCL's objects, whose reference counts show whose they are: at the end the program alone has any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bindless as bl
from tests.interop.native.native_rig import ITEMS, SCALE, Refusal, Rig
from tests.interop.raw_opencl import Raw, ffi, lib, type_of

__all__ = ["OpenCLRig"]


class OpenCLRig(Rig):
    backend = "opencl"
    types = ("cl_platform_id", "cl_device_id")
    cast = staticmethod(ffi.cast)
    kinds: ClassVar = {
        "context": "cl_context",
        "queue": "cl_command_queue",
        "queue.out_of_order": "cl_command_queue",
        "event": "cl_event",
        "bundle": "cl_program",
        "kernel": "cl_kernel",
        "buffer": "cl_mem",
    }
    retains = True
    with_context = ("queue", "queue.out_of_order", "event", "bundle", "kernel", "buffer")

    def __init__(self, device: bl.Device) -> None:
        self.device, self.raw, self.spares = device, Raw(device), []
        self.native, self.null, self.wrong = self.raw.context, ffi.NULL, self.raw.device
        self.other = bl.Context(device)
        self.context = bl.make_context("opencl", self.native)

    def new(self, kind: str, text: str = SCALE) -> Any:
        raw = self.raw
        if kind == "kernel":
            program = raw.built(SCALE)
            self.bundle = bl.make_kernel_bundle("opencl", program, self.context)
            return raw.kernel(program, "scale")
        if kind == "queue.out_of_order":
            free = lib.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
            return raw.queue(lib.CL_QUEUE_PROFILING_ENABLE | free)
        return {
            "context": raw.new_context,
            "queue": lambda: raw.queue(lib.CL_QUEUE_PROFILING_ENABLE),
            "event": raw.event,
            "bundle": lambda: raw.built(text),
            "buffer": lambda: raw.buffer(np.arange(ITEMS, dtype=np.float32)),
        }[kind]()

    def arguments(self, kind: str) -> tuple[Any, ...]:
        return () if kind == "context" else super().arguments(kind)  # the driver tells a context's devices

    def release(self, *natives: Any) -> None:
        """``Raw.close`` releases all, and checks that there is one reference to each: the program's."""

    @contextmanager
    def owner(self, native: Any, ownership: str | None) -> Iterator[None]:
        """Transfer a second reference: the first remains, as ``Raw.close`` checks."""
        if ownership == "transfer":
            self.raw.retain(native)
        yield

    def open(self, event: Any) -> None:
        assert lib.clSetUserEventStatus(event, lib.CL_COMPLETE) == 0

    def wait(self, handle: bl.NativeHandle) -> None:
        events = ffi.new("cl_event[]", [ffi.cast("cl_event", int(handle))])
        assert lib.clWaitForEvents(1, events) == 0

    def read(self, memory: Any) -> npt.NDArray[np.float32]:
        return self.raw.read(self.raw.queue(), memory, np.empty(ITEMS, np.float32))

    def number(self, native: Any) -> int:
        return self.raw.number(native)

    def type_of(self, native: Any) -> str:
        return type_of(native)

    def references(self, native: Any) -> int:
        return self.raw.count(native)

    def load(self, state: str = "executable") -> bl.KernelBundle:
        return bl.load_kernel_bundle(SCALE.encode(), self.device, self.context, state=state)

    def close(self) -> None:
        self.bundle = None
        self.context.close()
        self.context._resource.close()
        self.raw.close()

    def refusals(self) -> list[Refusal]:
        device, context, raw = self.device, self.context, self.raw
        invalid = bl.InvalidError
        memory, image = raw.buffer(4 * ITEMS), raw.image(np.zeros((2, 2, 4), np.float32))
        broken = raw.program("kernel void broken(global int *data) { data[0] = nothing; }")
        unresolved = raw.compiled("int absent(int);\nkernel void run(global int *data) { data[0] = absent(1); }")
        reference = bl.Device("reference:*:*")
        return [
            Refusal("context", bl.BackendMismatchError, ("reference", "opencl"), (self.native, reference)),
            Refusal("bundle", invalid, ("CL_BUILD_PROGRAM_FAILURE", "nothing"), (broken, context)),
            Refusal("bundle", invalid, "_PROGRAM_FAILURE", (unresolved, context)),
            Refusal("context", invalid, "OpenCL", (0x7000_0000_0008, device)),
            Refusal("context", invalid, "OpenCL", (self.number(self.native) + 4, device)),
            Refusal("buffer", invalid, None, (memory, context, "int32", (16, 16))),
            Refusal("buffer", invalid, None, (memory, context, "int32", ITEMS + 1)),
            Refusal("buffer", invalid, None, (image, context, "int32")),
        ]
