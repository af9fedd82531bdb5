"""Cost of a call of a driver function, compared with cffi's floor, ABI mode and ctypes.

All call the same function of the same library with the same arguments; the floor is a function of the same signature,
implemented in the same compiled module. Target: at most 1.3 times the floor.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
from cffi import FFI

from bindless.drivers import reference

Compare = Callable[..., Any]
CALLS = 20_000


@pytest.fixture
def library() -> str:
    """Path of the open reference driver."""
    reference.load()
    path = reference.path()
    assert path is not None
    return path


def abi_mode(library: str) -> Callable[[], object]:
    ffi = FFI()
    ffi.cdef("int blrGetVersion(uint32_t *major, uint32_t *minor, uint32_t *patch);")
    function = ffi.dlopen(library).blrGetVersion
    first, second, third = (ffi.new("uint32_t *") for _ in range(3))
    return lambda: function(first, second, third)


def with_ctypes(library: str) -> Callable[[], object]:
    function = ctypes.CDLL(library).blrGetVersion
    function.restype = ctypes.c_int
    function.argtypes = [ctypes.POINTER(ctypes.c_uint32)] * 3
    numbers = [ctypes.c_uint32() for _ in range(3)]
    first, second, third = (ctypes.pointer(number) for number in numbers)
    return lambda: function(first, second, third)


def test_call_cost(compare: Compare, library: str) -> None:
    function, floor = reference.lib.blrGetVersion, reference.lib.bindless_trivial
    first, second, third = (reference.ffi.new("uint32_t *") for _ in range(3))
    assert function(first, second, third) == 0 and (first[0], second[0], third[0]) == reference.version()
    ratios = compare(
        lambda: function(first, second, third),
        {
            "API-mode floor": lambda: floor(first, second, third),
            "ABI mode": abi_mode(library),
            "ctypes": with_ctypes(library),
        },
        name="driver call of three arguments",
        calls=CALLS,
        rounds=15,
        target="API-mode floor at least 0.77: a call costs at most 1.3 times the floor",
    )
    print(f"a driver call costs {1 / ratios['API-mode floor']:.3f} times the floor")


def test_call_cost_by_attribute(compare: Compare, library: str) -> None:
    """The function is looked up in ``lib`` at each call, as in typical code."""
    lib = reference.lib
    first, second, third = (reference.ffi.new("uint32_t *") for _ in range(3))
    compare(
        lambda: lib.blrGetVersion(first, second, third),
        {"API-mode floor": lambda: lib.bindless_trivial(first, second, third)},
        name="driver call through lib",
        calls=CALLS,
        rounds=15,
        target="API-mode floor at least 0.77",
    )
