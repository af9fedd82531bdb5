"""Native handles as numbers: accepted values, and errors for others."""

from __future__ import annotations

import copy
import ctypes
import pickle

import numpy as np
import pytest

from bindless.drivers.level_zero import ffi
from bindless.model.errors import InvalidError
from bindless.model.native_handle import NativeHandle, as_handle
from tests.support.error_checks import raises

TYPES = ("ze_command_queue_handle_t", "ze_command_list_handle_t")


def test_a_handle_is_an_int_with_a_type() -> None:
    handle = NativeHandle(0x7F001000, "ze_event_handle_t")
    assert (handle, handle.type, handle + 1, hash(handle)) == (
        0x7F001000,
        "ze_event_handle_t",
        0x7F001001,
        hash(0x7F001000),
    )
    assert repr(handle) == "<ze_event_handle_t 0x7f001000>" and repr(NativeHandle(16)) == "<handle 0x10>"
    for other in (pickle.loads(pickle.dumps(handle)), copy.deepcopy(handle)):
        assert (other, other.type) == (handle, handle.type)


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        (4096, TYPES[0]),
        (np.uint64(4096), TYPES[0]),
        (NativeHandle(4096), TYPES[0]),
        (NativeHandle(4096, TYPES[1]), TYPES[1]),
        (ctypes.c_void_p(4096), TYPES[0]),
        (ctypes.c_uint64(4096), TYPES[0]),
        (ffi.cast("void *", 4096), TYPES[0]),
        (ffi.cast("uint8_t *", 4096), TYPES[0]),
        (ffi.cast("ze_command_queue_handle_t", 4096), TYPES[0]),
        (ffi.cast("ze_command_list_handle_t", 4096), TYPES[1]),
    ],
)
def test_what_is_taken_for_a_handle(native: object, kind: str) -> None:
    found = as_handle(native, TYPES)
    assert (found, found.type) == (4096, kind)


@pytest.mark.parametrize(
    ("native", "message"),
    [
        (0, "is not null"),
        (ctypes.c_void_p(None), "is not null"),
        (ffi.NULL, "is not null"),
        (ffi.cast("ze_command_list_handle_t", 0), "is not null"),
        (-1, "has 64 bits"),
        (2**64, "has 64 bits"),
        (NativeHandle(1, "ze_event_handle_t"), "is a ze_event_handle_t; it takes a ze_command_queue_handle_t or ze_co"),
        (ffi.cast("ze_event_handle_t", 1), "is a ze_event_handle_t; it takes"),
        (ffi.new("ze_command_queue_desc_t *")[0], "as an int or as a pointer"),
        (ffi.cast("uint64_t", 4096), "as an int or as a pointer"),
        (True, "as an int or as a pointer"),
        (1.0, "as an int or as a pointer"),
        ("4096", "as an int or as a pointer"),
        (None, "as an int or as a pointer"),
        (b"x", "as an int or as a pointer"),
        ([1], "as an int or as a pointer"),
    ],
)
def test_what_is_no_handle(native: object, message: str) -> None:
    with raises(InvalidError, names=("native=", message)):
        as_handle(native, TYPES)
