"""cuda.core: kernels from a template that NVRTC compiles, memory of a pool, a stream and events."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, EventOptions, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
N = 1000

device = Device()
device.set_current()
stream = device.create_stream()
program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"compute_{device.arch}"))
module = program.compile("ptx", name_expressions=("axpy<float>", "axpy<double>"))
for name, kind in (("axpy<float>", np.float32), ("axpy<double>", np.float64)):
    x, y = np.arange(N, dtype=kind), np.ones(N, kind)
    buffers = [device.memory_resource.allocate(values.nbytes, stream=stream) for values in (x, y)]
    for buffer, values in zip(buffers, (x, y), strict=True):
        driver.cuMemcpyHtoDAsync(int(buffer.handle), values.ctypes.data, values.nbytes, int(stream.handle))
    config, kernel = LaunchConfig(grid=(N + 127) // 128, block=128), module.get_kernel(name)
    launch(stream, config, kernel, kind(2), *buffers, np.int32(N))
    start = stream.record(options=EventOptions(timing_enabled=True))
    launch(stream, config, kernel, kind(3), *buffers, np.int32(N))
    end = stream.record(options=EventOptions(timing_enabled=True))
    end.sync()
    assert end - start >= 0
    result = np.empty_like(y)
    driver.cuMemcpyDtoHAsync(result.ctypes.data, int(buffers[1].handle), result.nbytes, int(stream.handle))
    stream.sync()
    np.testing.assert_array_equal(result, 5 * x + 1)
