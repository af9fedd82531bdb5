"""TODO src/bindless/sycl/kernel"""
