"""Code generation of Python kernels, in a process of its own: Numba's front end, LLVM through llvmlite."""
