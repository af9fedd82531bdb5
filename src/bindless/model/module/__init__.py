"""Kernel modules: SPIR-V, PTX, OpenCL C and kernel files, and their descriptions."""
