"""Compiler of OpenCL C kernels for all targets: the tool behind ``bindless build``, and the device primitives.

``build.py`` is the entry point. ``toolchain.py`` defines the steps of a compiler, which ``llvm_tools.py`` and
``pip_tools.py`` implement. ``modules.py`` compiles a source to one artifact, for the package's own kernels too.
``prelude`` has the primitives under ``bindless/device.h``, ``library`` the functions of OpenCL C for NVIDIA GPUs. No
module opens a driver. ``bindless.model.module.kernel_file`` defines the file that holds the result.
"""
