"""``Errc``: the codes of the exceptions, below the exceptions themselves."""

from __future__ import annotations

from .string_enum import StringEnum

__all__ = ["Errc"]


class Errc(StringEnum):
    """Error codes (SYCL 2020 section 4.13.2)."""

    runtime = "runtime"
    kernel = "kernel"
    accessor = "accessor"
    nd_range = "nd_range"
    event = "event"
    kernel_argument = "kernel_argument"
    build = "build"
    invalid = "invalid"
    memory_allocation = "memory_allocation"
    platform = "platform"
    profiling = "profiling"
    feature_not_supported = "feature_not_supported"
    kernel_not_supported = "kernel_not_supported"
    backend_mismatch = "backend_mismatch"
