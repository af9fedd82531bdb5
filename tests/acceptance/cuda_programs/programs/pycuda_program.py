"""PyCUDA: a module from PTX of NVRTC, memory, streams, events, and a texture object's array."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from cuda.bindings import nvrtc

SOURCE = b"""
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
_, program = nvrtc.nvrtcCreateProgram(SOURCE, b"program.cu", 0, [], [])
nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"])
text = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
nvrtc.nvrtcGetPTX(program, text)
axpy = cuda.module_from_buffer(text).get_function("axpy")

x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
expected = 4 * x + y
start, end, stream = cuda.Event(), cuda.Event(), cuda.Stream()
start.record(stream)
axpy(np.float32(4), cuda.In(x), cuda.InOut(y), np.int32(x.size), grid=(8, 1), block=(128, 1, 1), stream=stream)
end.record(stream)
end.synchronize()
np.testing.assert_array_equal(y, expected)
assert start.time_till(end) >= 0

memory = cuda.mem_alloc(x.nbytes)
cuda.memcpy_htod(memory, x)
back = np.empty_like(x)
cuda.memcpy_dtoh(back, memory)
np.testing.assert_array_equal(back, x)
