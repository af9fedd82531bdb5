"""``get_include``: the folder of the package's headers."""

from __future__ import annotations

from .llvm.toolchain import include_folder

__all__ = ["get_include"]


def get_include() -> str:
    """Return the folder with the package's headers, for the include path of a compiler.

    ``bindless/cuda.h`` has the image functions for kernels in CUDA C++ (NVRTC, CuPy, nvcc), ``bindless/device.h`` those
    for OpenCL C. `compile_cuda` and `build` find the folder by themselves.

    Returns
    -------
    str
        The absolute path.

    Raises
    ------
    FeatureNotSupportedError
        The headers are missing: install the package again.

    Examples
    --------
    >>> import os, bindless as bl
    >>> os.path.isfile(os.path.join(bl.get_include(), "bindless", "cuda.h"))
    True
    """
    return str(include_folder())
