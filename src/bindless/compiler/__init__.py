"""Compiler of OpenCL C kernels for all targets: the tool behind ``bindless build``, and the device primitives.

``build`` is the entry point, ``pipeline`` compiles a source to one artifact, for the package's own kernels too.
``llvm.toolchain`` defines the steps of a compiler, which ``llvm.llvm_tools`` and ``llvm.pip_tools`` implement.
``prelude`` has the primitives under ``bindless/device.h``, ``ptx`` the functions of OpenCL C for NVIDIA GPUs. No
module opens a driver. ``bindless.model.module.kernel_file`` defines the file that holds the result.
"""
