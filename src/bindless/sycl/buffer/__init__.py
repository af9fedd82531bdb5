"""TODO src/bindless/sycl/buffer"""
