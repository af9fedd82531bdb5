"""TODO src/bindless/backends/opencl"""
