"""Starting point of a check: the CUDA driver by its own functions, a context, and short forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bindless.drivers import cuda

lib, ffi = cuda.lib, cuda.ffi
Array = npt.NDArray[Any]

AXPY = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 steps = 7;
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.f32 %f0, [a]; ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p0, %r4, %r0;
    @%p0 bra DONE;
    mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd0, %rd2; add.s64 %rd4, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd4];
    fma.rn.f32 %f3, %f0, %f1, %f2;
    st.global.f32 [%rd4], %f3;
DONE:
    ret;
}
.visible .entry store(.param .u64 p)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd0, [p]; mov.u32 %r0, 3; st.global.u32 [%rd0], %r0; ret;
}
"""


class Failure(Exception):
    """A call that failed: its result is ``code``."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name}: {code}")
        self.code = code


class Rig:
    """A context of its own for one check, which ``close`` destroys."""

    def __init__(self) -> None:
        cuda.load()
        self.call("cuInit", 0)
        self.context = self.get("CUcontext *", "cuCtxCreate_v4", ffi.NULL, 0, 0)

    def close(self) -> None:
        self.call("cuCtxDestroy_v2", self.context)

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(lib, name)(*arguments)
        if code != 0:
            raise Failure(name, int(code))

    def get(self, kind: str, name: str, *arguments: Any) -> Any:
        """The first output of a call."""
        out = ffi.new(kind)
        self.call(name, out, *arguments)
        return out[0]

    def refuses(self, code: int, name: str, *arguments: Any) -> None:
        assert getattr(lib, name)(*arguments) == code, (name, getattr(lib, name)(*arguments), code)

    # ------------------------------------------------------------------ memory

    def upload(self, values: Array) -> int:
        """Device memory with these values."""
        pointer = int(self.get("CUdeviceptr *", "cuMemAlloc_v2", values.nbytes))
        self.call("cuMemcpyHtoD_v2", pointer, ffi.from_buffer(values), values.nbytes)
        return pointer

    def download(self, pointer: int, like: Array) -> Array:
        values = np.empty_like(like)
        self.call("cuMemcpyDtoH_v2", ffi.from_buffer(values), pointer, values.nbytes)
        return values

    # ------------------------------------------------------------------ kernels

    def module(self, text: bytes = AXPY) -> Any:
        return self.get("CUmodule *", "cuModuleLoadData", ffi.new("char[]", text))

    def function(self, module: Any, name: bytes) -> Any:
        return self.get("CUfunction *", "cuModuleGetFunction", module, name)

    def launch(
        self, function: Any, grid: int, block: int, *values: Any, shared: int = 0, cooperative: bool = False
    ) -> None:
        """Launch with numpy scalars, on the default stream."""
        scalars = [np.array([value]) for value in values]
        parameters = ffi.new("void *[]", [ffi.from_buffer(scalar) for scalar in scalars])
        tail = () if cooperative else (ffi.NULL,)
        name = "cuLaunchCooperativeKernel" if cooperative else "cuLaunchKernel"
        self.call(name, function, grid, 1, 1, block, 1, 1, shared, ffi.NULL, parameters, *tail)

    def axpy(self, function: Any, a: float, x: int, y: int, n: int, stream: Any = ffi.NULL) -> None:
        """y = a x + y by the kernel of ``AXPY``."""
        values = [ffi.new("float *", a), ffi.new("uint64_t *", x), ffi.new("uint64_t *", y), ffi.new("uint32_t *", n)]
        parameters = ffi.new("void *[]", [ffi.cast("void *", value) for value in values])
        self.call("cuLaunchKernel", function, (n + 63) // 64, 1, 1, 64, 1, 1, 0, stream, parameters, ffi.NULL)


Check = Callable[[Rig], None]
