"""OpenCL C source: its items, and the lowering of image handles."""
