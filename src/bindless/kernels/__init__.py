"""The built-in kernels as PTX, SPIR-V and OpenCL C: their manifest, choice, arguments and code.

A module holds one kernel (``launch`` and ``lanes`` hold several) and has its name without the prefix: the kernel
``bindless_sample_2d_f`` is in the module ``sample_2d_f``. There is an archive of modules for each target; a module is
read on first use. The sources, the meaning of the arguments and the build command are in ``csrc/kernels``.
"""

from __future__ import annotations

from .load import source, specialised
from .manifest import Target, kernels, manifest, module_of, modules

__all__ = ["Target", "kernels", "manifest", "module_of", "modules", "source", "specialised"]
