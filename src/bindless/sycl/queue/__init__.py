"""TODO src/bindless/sycl/queue"""
