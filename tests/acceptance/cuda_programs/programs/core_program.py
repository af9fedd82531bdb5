"""cuda.core: kernels from a template that NVRTC compiles, memory of a pool, a stream, events and graphs."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, EventOptions, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.graph import GraphDefinition

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

# Graphs: of a capture that divides into two streams, and of nodes. They own the functions that they call.
x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
one, two = (device.memory_resource.allocate(x.nbytes, stream=stream) for _ in range(2))
config, kernel = LaunchConfig(grid=(N + 127) // 128, block=128), module.get_kernel("axpy<float>")
calls: list[str] = []


def upload() -> None:
    for buffer, values in ((one, x), (two, y)):
        driver.cuMemcpyHtoDAsync(int(buffer.handle), values.ctypes.data, values.nbytes, int(stream.handle))


def download(buffer: object) -> np.ndarray:
    values = np.empty_like(x)
    driver.cuMemcpyDtoHAsync(values.ctypes.data, int(buffer.handle), values.nbytes, int(stream.handle))
    stream.sync()
    return values


upload()
builder = device.create_graph_builder().begin_building()
left, right = builder.split(2)
launch(left, config, kernel, np.float32(1), one, one, np.int32(N))
launch(right, config, kernel, np.float32(2), two, two, np.int32(N))
builder = builder.join(left, right)
launch(builder, config, kernel, np.float32(1), one, two, np.int32(N))
builder.callback(lambda: calls.append("capture"))
graph = builder.end_building().complete()
builder.close()
graph.launch(stream)
graph.launch(stream)
np.testing.assert_array_equal(download(one), 4 * x)
np.testing.assert_array_equal(download(two), 3 * (3 * y + 2 * x) + 4 * x)
assert calls == ["capture"] * 2

upload()
definition = GraphDefinition()
fill = definition.memset(two, np.float32(3).view(np.uint32), N)
add = fill.launch(config, kernel, np.float32(2), one, two, np.int32(N))
copy = add.memcpy(one, two, x.nbytes)
copy.callback(lambda: calls.append("nodes"))
assert len(definition.nodes()) == 4 and (fill, add) in definition.edges()
graph = definition.instantiate()
graph.launch(stream)
np.testing.assert_array_equal(download(one), 2 * x + 3)
assert calls == ["capture"] * 2 + ["nodes"]

fill.update(value=np.float32(4).view(np.uint32))
add.update(args=(np.float32(-1), one, two, np.int32(N)))
child = GraphDefinition()
child.launch(config, kernel, np.float32(1), one, one, np.int32(N))
copy.embed(child)
with np.testing.assert_raises(Exception):
    graph.update(definition)
graph = definition.instantiate()
del definition, child, fill, add, copy
upload()
graph.launch(stream)
np.testing.assert_array_equal(download(one), 2 * (4 - x))
