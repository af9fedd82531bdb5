"""Kernels in Python: ``bindless.kernel`` compiles a function for the devices of queues, by the types of arguments."""

from .device_function import DeviceFunction, device_function
from .kernel import PythonKernel, kernel

__all__ = ["DeviceFunction", "PythonKernel", "device_function", "kernel"]
