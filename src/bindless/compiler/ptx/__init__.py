"""Lowering of OpenCL C to PTX: library functions, atomics, groups, half precision, local memory."""
