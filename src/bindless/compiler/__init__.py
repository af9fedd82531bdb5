"""Kernels from OpenCL C: the tool behind ``bindless build``, and the device primitives.

``build.py`` is the call, ``toolchain.py`` the steps of a compiler, which ``llvm_tools.py`` and ``pip_tools.py`` do,
``modules.py`` the way from a source to one artifact, which the package's own kernels take too, ``prelude`` the
primitives under ``bindless/device.h``, ``library`` the functions of OpenCL C for NVIDIA GPUs. Nothing here opens a
driver. The file that holds the result is ``bindless.model.kernel_file``.
"""
