"""TODO src/bindless/sycl/device"""
