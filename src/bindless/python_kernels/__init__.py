"""Kernels in Python: ``bindless.kernel`` compiles a function for the devices of queues, by the types of arguments."""

from .kernel import PythonKernel, kernel
from .device_function import DeviceFunction, device_function

__all__ = ["DeviceFunction", "PythonKernel", "device_function", "kernel"]
