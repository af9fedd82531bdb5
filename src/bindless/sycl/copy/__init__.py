"""TODO src/bindless/sycl/copy"""
