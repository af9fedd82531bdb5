"""Windows handles and names in the structs of drivers; no driver is opened."""

from __future__ import annotations

from typing import Any

import pytest

import bindless as bl
from bindless.backends.common.win32_resource import fill_win32
from bindless.drivers import cuda, level_zero


def cuda_struct(name: str) -> tuple[Any, Any, Any]:
    """The bindings, the struct, and its part with a handle and a name."""
    made = cuda.ffi.new(f"{name} *")
    return cuda.ffi, made, made.handle.win32


def level_zero_struct(name: str) -> tuple[Any, Any, Any]:
    """The bindings and the struct."""
    made = level_zero.make_struct(name)
    return level_zero.ffi, made, made


STRUCTS = [
    pytest.param(cuda_struct, "CUDA_EXTERNAL_MEMORY_HANDLE_DESC", id="cuda-memory"),
    pytest.param(cuda_struct, "CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", id="cuda-semaphore"),
    pytest.param(level_zero_struct, "ze_external_memory_import_win32_handle_t", id="level_zero-memory"),
    pytest.param(level_zero_struct, "ze_external_semaphore_win32_ext_desc_t", id="level_zero-semaphore"),
]


@pytest.mark.parametrize(("struct_of", "name"), STRUCTS)
def test_a_handle(struct_of: Any, name: str) -> None:
    ffi, whole, native = struct_of(name)
    assert fill_win32(ffi, native, bl.ResourceWin32Handle(0x1234)) is None
    assert int(ffi.cast("uintptr_t", native.handle)) == 0x1234
    assert native.name == ffi.NULL
    del whole


@pytest.mark.parametrize(("struct_of", "name"), STRUCTS)
def test_a_name_is_utf16_with_a_terminator(struct_of: Any, name: str) -> None:
    ffi, whole, native = struct_of(name)
    text = fill_win32(ffi, native, bl.ResourceWin32Name("aé€𝄞"))
    expected = bytes.fromhex("6100 e900 ac20 34d8 1edd 0000")
    assert bytes(ffi.buffer(native.name, len(expected))) == expected
    assert native.handle == ffi.NULL
    assert ffi.cast("void *", text) == native.name
    del whole
