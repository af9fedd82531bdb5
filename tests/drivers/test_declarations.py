"""Every function, constant and struct of the APIs is declared; struct layouts equal those recorded from the real
headers."""

from __future__ import annotations

import enum
import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from .conftest import DRIVERS, GENERATED

# Counted by hand: distinct function names in the preprocessed headers (test_headers.py counts them again).
PUBLIC_FUNCTIONS = {"cuda": 449, "level_zero": 248, "opencl": 178}


def module(name: str) -> ModuleType:
    return importlib.import_module(f"bindless.drivers.{name}")


def enums(name: str) -> ModuleType:
    return importlib.import_module(f"bindless.drivers.{name}._enums")


def enum_classes(name: str) -> list[type[enum.IntEnum] | type[enum.IntFlag]]:
    return [
        item
        for item in vars(enums(name)).values()
        if isinstance(item, type)
        and issubclass(item, enum.IntEnum | enum.IntFlag)
        and item.__module__.endswith(f"{name}._enums")
    ]


def functions(name: str) -> list[str]:
    text = (GENERATED / f"{name}_functions.h").read_text()
    return re.findall(r"^[^/#].*?\b(\w+)\((?!\*)", text, re.MULTILINE)


def table(name: str) -> dict[str, str]:
    """Symbol of each function, as compiled into the extension module."""
    lib, ffi = module(name).lib, module(name).ffi
    return {
        ffi.string(lib.bindless_function_name(i)).decode(): ffi.string(lib.bindless_function_symbol(i)).decode()
        for i in range(lib.bindless_function_count())
    }


@pytest.mark.parametrize("name", DRIVERS)
def test_every_declared_function_is_in_the_table_and_callable(name: str) -> None:
    declared = functions(name)
    assert len(declared) > 30
    assert list(table(name)) == declared
    assert all(callable(getattr(module(name).lib, function)) for function in declared)


def test_the_public_functions_are_as_many_as_the_headers_have() -> None:
    report = (GENERATED / "cuda_report.md").read_text()
    assert f"| functions: public | {PUBLIC_FUNCTIONS['cuda']} |" in report
    assert sum(1 for function in table("level_zero") if re.match("ze[A-Z]", function)) == PUBLIC_FUNCTIONS["level_zero"]
    assert len(table("opencl")) == PUBLIC_FUNCTIONS["opencl"]


def test_cuda_names_are_those_that_the_header_maps() -> None:
    cuda = table("cuda")
    assert cuda["cuMemAlloc"] == cuda["cuMemAlloc_v2"] == "cuMemAlloc_v2"
    assert cuda["cuMemAlloc_v1"] == "cuMemAlloc"
    assert cuda["cuCtxCreate"] == "cuCtxCreate_v4"
    assert cuda["cuCtxCreate_v2"] == "cuCtxCreate_v2"
    assert cuda["cuMemcpyHtoDAsync"] == "cuMemcpyHtoDAsync_v2"
    assert cuda["cuMemcpyHtoDAsync_v2_ptsz"] == "cuMemcpyHtoDAsync_v2_ptsz"
    assert cuda["cuGraphInstantiate"] == "cuGraphInstantiateWithFlags"
    assert cuda["cuInit"] == "cuInit"
    assert cuda["cuTexRefSetAddress2D"] == "cuTexRefSetAddress2D_v3"


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("level_zero", "zeMemGetPitchFor2dImage"),
        ("level_zero", "zeImageGetDeviceOffsetExp"),
        ("level_zero", "zeDeviceImportExternalSemaphoreExt"),
        ("level_zero", "zeCommandListAppendWaitExternalSemaphoreExt"),
        ("level_zero", "zelLoaderGetVersions"),
        ("opencl", "clCreateSemaphoreWithPropertiesKHR"),
        ("opencl", "clEnqueueAcquireExternalMemObjectsKHR"),
        ("opencl", "clDeviceMemAllocINTEL"),
        ("opencl", "clCreateProgramWithILKHR"),
        ("opencl", "clGetKernelSubGroupInfoKHR"),
        ("opencl", "clCreateProgramWithIL"),
        ("cuda", "cuImportExternalMemory"),
        ("cuda", "cuMipmappedArrayCreate"),
        ("cuda", "cuTexObjectCreate"),
    ],
)
def test_the_functions_this_project_needs_are_there(name: str, function: str) -> None:
    assert function in table(name)


@pytest.mark.parametrize("name", DRIVERS)
def test_enum_members_are_constants_of_lib_with_the_same_value(name: str) -> None:
    lib = module(name).lib
    classes = enum_classes(name)
    assert classes
    members = [(member, value) for cls in classes for member, value in cls.__members__.items()]
    assert [(m, getattr(lib, m)) for m, _ in members] == [(m, int(v)) for m, v in members]


@pytest.mark.parametrize("name", DRIVERS)
def test_integer_macros_are_constants_of_lib_with_the_same_value(name: str) -> None:
    lib = module(name).lib
    constants = {n: v for n, v in vars(enums(name)).items() if n.isidentifier() and type(v) is int}
    assert constants
    assert {n: getattr(lib, n) for n in constants} == constants


def test_known_values() -> None:
    """Values taken by hand from the public documentation."""
    cuda, zero, opencl = module("cuda"), module("level_zero"), module("opencl")
    assert cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY == 2
    assert cuda.CUarray_format.CU_AD_FORMAT_HALF == 0x10
    assert cuda.CUDA_ARRAY3D_LAYERED == 1
    assert zero.ze_result_t.ZE_RESULT_ERROR_INVALID_SIZE == 0x78000008
    assert zero.STRUCTURE_TYPES["ze_image_desc_t"] == zero.ze_structure_type_t.ZE_STRUCTURE_TYPE_IMAGE_DESC
    assert opencl.cl_channel_order.CL_RGBA == 0x10B5
    assert opencl.cl_device_type.CL_DEVICE_TYPE_GPU == 4
    assert opencl.CL_KHR_IL_PROGRAM_EXTENSION_NAME == "cl_khr_il_program"
    assert opencl.lib.CL_ICD2_TAG_KHR == 0x4F50454E434C3331


@pytest.mark.parametrize("name", DRIVERS)
def test_bit_fields_are_flags_and_other_enums_are_not(name: str) -> None:
    expected = {
        "cuda": ("CUctx_flags", "CUresult"),
        "level_zero": ("ze_device_mem_alloc_flag_t", "ze_result_t"),
        "opencl": ("cl_mem_flags", "cl_device_info"),
        "reference": ("blr_queue_flags_t", "blr_result_t"),
    }
    flags, plain = expected[name]
    assert issubclass(getattr(enums(name), flags), enum.IntFlag)
    assert not issubclass(getattr(enums(name), plain), enum.IntFlag)


def layouts(name: str) -> Iterator[tuple[str, ...]]:
    for line in (GENERATED / f"{name}_layout.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield tuple(line.split("\t"))


@pytest.mark.skipif(
    sys.platform == "win32", reason="recorded with 64-bit long; the header test compares on this system"
)
@pytest.mark.parametrize("name", DRIVERS)
def test_layouts_are_those_recorded_from_the_real_headers(name: str) -> None:
    ffi = module(name).ffi
    records = 0
    for row in layouts(name):
        if len(row) == 3:
            struct, size, alignment = row
            records += 1
            assert (struct, ffi.sizeof(struct), ffi.alignof(struct)) == (struct, int(size), int(alignment))
        else:
            struct, path, offset, size = row
            assert (struct, path, ffi.offsetof(struct, *path.split("."))) == (struct, path, int(offset))
            assert (struct, path, member_size(ffi, struct, path)) == (struct, path, int(size))
    assert records == sum(1 for row in layouts(name) if len(row) == 3) > 5


def member_size(ffi: Any, struct: str, path: str) -> int:
    ctype = ffi.typeof(struct)
    for part in path.split("."):
        ctype = member(ctype, part).type
    return int(ffi.sizeof(ctype))


def member(ctype: Any, name: str) -> Any:
    """A member, searched in unnamed structs and unions too."""
    fields = dict(ctype.fields)
    if name in fields:
        return fields[name]
    for label, inner in ctype.fields:
        if not label:
            try:
                return member(inner.type, name)
            except KeyError:
                continue
    raise KeyError(name)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_first_line_says_how_a_file_was_made(name: str) -> None:
    package = GENERATED.parents[2] / "src" / "bindless" / "drivers"
    files = [*GENERATED.glob(f"{name}_*"), package / name / "_enums.py", package / name / "_bindings.pyi"]
    has_exports = name in ("cuda", "level_zero")  # of the package's own driver
    assert len(files) == (9 if has_exports else 7)
    for file in files:
        first = file.read_text().splitlines()[0]
        assert f"Generated by: python csrc/bindgen/generate.py {name} " in first, file
