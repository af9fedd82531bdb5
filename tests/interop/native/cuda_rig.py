"""CUDA's objects, on a GPU or on the package's driver for processors."""

from __future__ import annotations

import gc
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bindless as bl
from bindless.drivers import cuda as driver
from tests.interop.native.native_rig import ITEMS, SCALE, Refusal, Rig

__all__ = ["PTX", "CudaRig", "ffi", "lib", "ok"]

lib, ffi = driver.lib, driver.ffi
PTX = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor)
{
.reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %d<3>;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
ld.param.u64 %d0, [data]; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1;
ld.global.f32 %f0, [%d2]; ld.param.f32 %f1, [factor]; mul.f32 %f2, %f0, %f1; st.global.f32 [%d2], %f2;
ret;
}
.visible .entry other(.param .u64 data) { ret; }
"""
DESTROY = {
    "CUstream": "cuStreamDestroy",
    "CUevent": "cuEventDestroy",
    "CUmodule": "cuModuleUnload",
}


def ok(result: int) -> None:
    assert result == 0, result


def make(kind: str, call: str, *arguments: Any) -> Any:
    """What a call returns in its first parameter."""
    slot = ffi.new(f"{kind} *")
    ok(getattr(lib, call)(slot, *arguments))
    return slot[0]


class CudaRig(Rig):
    backend = "cuda"
    types = ("CUdevice",)
    cast = staticmethod(ffi.cast)
    kinds: ClassVar = {
        "context": "CUcontext",
        "queue": "CUstream",
        "event": "CUevent",
        "bundle": "CUmodule",
        "kernel": "CUfunction",
        "buffer": "CUdeviceptr",
    }
    gates = False

    def __init__(self, device: bl.Device) -> None:
        self.device, self.spares, self.other = device, [], None
        self.null, self.wrong = ffi.NULL, ffi.cast("CUstream", 8)
        self.lists_kernels = driver.has("cuModuleEnumerateFunctions")  # older ones list those of PTX modules only
        self.native = self.new("context")
        ok(lib.cuCtxPushCurrent(self.native))
        self.context = bl.make_context("cuda", self.native, ownership="keep")
        self.stream, self.scratch = self.new("queue"), make("CUdeviceptr", "cuMemAlloc", 1 << 20)

    def new(self, kind: str, text: str = SCALE) -> Any:
        if kind == "context":
            return make("CUcontext", "cuDevicePrimaryCtxRetain", self.device.index)
        if kind == "queue":
            return make("CUstream", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
        if kind == "event":  # after much work of another stream
            event = make("CUevent", "cuEventCreate", lib.CU_EVENT_DISABLE_TIMING)
            for value in range(50):
                ok(lib.cuMemsetD32Async(self.scratch, value, 1 << 18, self.stream))
            ok(lib.cuEventRecord(event, self.stream))
            return event
        if kind == "bundle":
            return make("CUmodule", "cuModuleLoadData", ffi.from_buffer(PTX + b"\0"))
        if kind == "kernel":
            module = self.spare("bundle")
            self.bundle = bl.make_kernel_bundle("cuda", module, self.context, ownership="keep")
            return make("CUfunction", "cuModuleGetFunction", module, ffi.new("char[]", b"scale"))
        memory, values = make("CUdeviceptr", "cuMemAlloc", 4 * ITEMS), np.arange(ITEMS, dtype=np.float32)
        ok(lib.cuMemcpyAsync(memory, values.ctypes.data, values.nbytes, self.stream))
        self.finish(self.stream)
        return memory

    @staticmethod
    def finish(stream: Any) -> None:
        while (result := lib.cuStreamQuery(stream)) == lib.CUDA_ERROR_NOT_READY:
            pass
        ok(result)

    def release(self, *natives: Any) -> None:
        for native in natives:
            if isinstance(native, int):
                ok(lib.cuMemFree(native))
            elif (kind := self.type_of(native)) == "CUcontext":
                ok(lib.cuDevicePrimaryCtxRelease(self.device.index))
            elif kind in DESTROY:
                ok(getattr(lib, DESTROY[kind])(native))

    def open(self, event: Any) -> None:
        self.finish(self.stream)

    def wait(self, handle: bl.NativeHandle) -> None:
        ok(lib.cuStreamWaitEvent(self.stream, ffi.cast("CUevent", handle), 0))
        self.finish(self.stream)

    def read(self, memory: Any) -> npt.NDArray[np.float32]:
        values = np.empty(ITEMS, np.float32)
        ok(lib.cuMemcpyAsync(values.ctypes.data, memory, values.nbytes, self.stream))
        self.finish(self.stream)
        return values

    def number(self, native: Any) -> int:
        return native if isinstance(native, int) else int(ffi.cast("uintptr_t", native))

    def type_of(self, native: Any) -> str:
        return _NAMES[str(ffi.typeof(native).cname)]

    def copy(self, queue: Any, to: int, source: int, nbytes: int) -> bool:
        ok(lib.cuMemcpyAsync(to, source, nbytes, queue))
        return True

    def load(self, state: str = "executable") -> bl.KernelBundle:
        return bl.load_kernel_bundle(PTX, self.device, self.context, state=state)

    def close(self) -> None:
        self.bundle = None
        gc.collect()
        self.finish(self.stream)
        self.release(self.stream, self.scratch, *reversed(self.spares))
        ok(lib.cuCtxPopCurrent(ffi.new("CUcontext *")))
        self.release(self.native)

    def refusals(self) -> list[Refusal]:
        memory, array = self.spare("buffer"), np.zeros(16, np.int32)
        invalid = bl.InvalidError
        return [
            Refusal("queue", invalid, "legacy default stream", (1, self.context), {"ownership": "transfer"}),
            Refusal("queue", invalid, "another one in every thread", (2, self.context), {"ownership": "keep"}),
            Refusal("buffer", invalid, "cuMemAlloc", (array.ctypes.data, self.context, "int32", 16)),
            Refusal("buffer", invalid, None, (memory + 128, self.context, "int32")),
            Refusal("buffer", invalid, (4 * ITEMS + 4, 4 * ITEMS), (memory, self.context, "int32", ITEMS + 1)),
        ]


_NAMES = {str(ffi.typeof(kind).cname): kind for kind in ("CUcontext", "CUfunction", *DESTROY)}
