"""Kernels in Python: ``bindless.kernel`` compiles a function for the devices of queues, by the types of arguments."""
