"""The scalar types of OpenCL C as types of numpy (CL, "Data types"): sizes and signs are the same everywhere.

``cl_half`` is for kernels of devices with ``Aspect.fp16``, ``cl_double`` for those with ``Aspect.fp64``; memory of
either can be copied anywhere. ``cl_size_t`` is that of devices with addresses of 64 bits, which the package needs.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "cl_bool",
    "cl_char",
    "cl_double",
    "cl_float",
    "cl_half",
    "cl_int",
    "cl_long",
    "cl_short",
    "cl_size_t",
    "cl_uchar",
    "cl_uint",
    "cl_ulong",
    "cl_ushort",
]

cl_bool = np.bool_
cl_char = np.int8
cl_uchar = np.uint8
cl_short = np.int16
cl_ushort = np.uint16
cl_int = np.int32
cl_uint = np.uint32
cl_long = np.int64
cl_ulong = np.uint64
cl_half = np.float16
cl_float = np.float32
cl_double = np.float64
cl_size_t = np.uint64
