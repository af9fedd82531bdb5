"""Functions that kernels in Python call: work-items, images, atomic operations, local memory, groups.

Each is also an ordinary function, which ``PythonKernel.run_in_python`` calls. ``math``, numpy's scalar functions and
casts work in kernels too.
"""

from __future__ import annotations

from .atomics import (
    atomic_add,
    atomic_and,
    atomic_compare_exchange,
    atomic_exchange,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_sub,
    atomic_xor,
)
from .bricks import sample_bricks
from .fused import fma
from .groups import (
    sub_group_all,
    sub_group_any,
    sub_group_broadcast,
    sub_group_local_id,
    sub_group_reduce,
    sub_group_scan,
    sub_group_shuffle,
    sub_group_shuffle_xor,
    sub_group_size,
    work_group_all,
    work_group_any,
    work_group_broadcast,
    work_group_reduce,
    work_group_scan,
)
from .local_memory import local_array
from .pixels import (
    fetch_cubemap,
    fetch_image,
    fetch_image_array,
    fetch_sampled_image,
    fetch_sampled_image_array,
    write_cubemap,
    write_image,
    write_image_array,
)
from .printing import printf
from .sampling import (
    gather_image,
    sample_cubemap,
    sample_image,
    sample_image_array,
    sample_mipmap,
)
from .vector_functions import (
    cross,
    dot,
    float2,
    float3,
    float4,
    int2,
    int3,
    int4,
    length,
    normalize,
    uint2,
    uint3,
    uint4,
)
from .work_items import barrier, group_id, group_range, item_id, item_range, local_id, local_range

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_compare_exchange",
    "atomic_exchange",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_store",
    "atomic_sub",
    "atomic_xor",
    "barrier",
    "cross",
    "dot",
    "fetch_cubemap",
    "fetch_image",
    "fetch_image_array",
    "fetch_sampled_image",
    "fetch_sampled_image_array",
    "float2",
    "float3",
    "float4",
    "fma",
    "gather_image",
    "group_id",
    "group_range",
    "int2",
    "int3",
    "int4",
    "item_id",
    "item_range",
    "length",
    "local_array",
    "local_id",
    "local_range",
    "normalize",
    "printf",
    "sample_bricks",
    "sample_cubemap",
    "sample_image",
    "sample_image_array",
    "sample_mipmap",
    "sub_group_all",
    "sub_group_any",
    "sub_group_broadcast",
    "sub_group_local_id",
    "sub_group_reduce",
    "sub_group_scan",
    "sub_group_shuffle",
    "sub_group_shuffle_xor",
    "sub_group_size",
    "uint2",
    "uint3",
    "uint4",
    "work_group_all",
    "work_group_any",
    "work_group_broadcast",
    "work_group_reduce",
    "work_group_scan",
    "write_cubemap",
    "write_image",
    "write_image_array",
]


def __dir__() -> list[str]:
    return __all__
