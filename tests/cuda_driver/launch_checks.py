"""Kernels from PTX: launches, parameters, variables, libraries, the linker, and what is refused."""

from __future__ import annotations

import tempfile

import numpy as np

from .driver_rig import AXPY, Rig, ffi, lib

X = np.arange(1000, dtype=np.float32)
ONES = np.ones_like(X)


def check_a_kernel_computes(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    x, y = rig.upload(X), rig.upload(ONES)
    rig.axpy(function, 2.5, x, y, X.size)
    assert np.array_equal(rig.download(y, X), np.float32(2.5) * X + 1)


def check_parameters_come_in_a_buffer_too(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    x, y = rig.upload(X), rig.upload(ONES)
    record = np.zeros(
        1, np.dtype({"names": ["a", "x", "y", "n"], "formats": ["f4", "u8", "u8", "u4"], "offsets": [0, 8, 16, 24]})
    )
    record["a"], record["x"], record["y"], record["n"] = 3, x, y, X.size
    data, size = ffi.from_buffer(record), ffi.new("size_t *", 28)
    extra = ffi.new("void *[]", [ffi.cast("void *", 1), data, ffi.cast("void *", 2), size, ffi.NULL])
    rig.call("cuLaunchKernel", function, 16, 1, 1, 64, 1, 1, 0, ffi.NULL, ffi.NULL, extra)
    assert np.array_equal(rig.download(y, X), 3 * X + 1)
    size[0] = 20
    rig.refuses(1, "cuLaunchKernel", function, 16, 1, 1, 64, 1, 1, 0, ffi.NULL, ffi.NULL, extra)


def check_parameters_have_offsets_and_sizes(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    offset, size = ffi.new("size_t *"), ffi.new("size_t *")
    places = []
    for index in range(4):
        rig.call("cuFuncGetParamInfo", function, index, offset, size)
        places.append((offset[0], size[0]))
    assert places == [(0, 4), (8, 8), (16, 8), (24, 4)]
    rig.refuses(1, "cuFuncGetParamInfo", function, 4, offset, size)


def check_variables_have_addresses_and_values(rig: Rig) -> None:
    size = ffi.new("size_t *")
    address = rig.get("CUdeviceptr *", "cuModuleGetGlobal_v2", size, rig.module(), b"steps")
    assert size[0] == 4 and rig.download(int(address), np.zeros(1, np.uint32))[0] == 7
    rig.refuses(500, "cuModuleGetGlobal_v2", ffi.NULL, ffi.NULL, rig.module(), b"absent")


def check_libraries_give_kernels(rig: Rig) -> None:
    library = rig.get(
        "CUlibrary *", "cuLibraryLoadData", ffi.new("char[]", AXPY), ffi.NULL, ffi.NULL, 0, ffi.NULL, ffi.NULL, 0
    )
    kernel = rig.get("CUkernel *", "cuLibraryGetKernel", library, b"axpy")
    function = rig.get("CUfunction *", "cuKernelGetFunction", kernel)
    x, y = rig.upload(X), rig.upload(ONES)
    rig.axpy(function, 1, x, y, X.size)
    assert np.array_equal(rig.download(y, X), X + 1)
    assert rig.get("unsigned *", "cuLibraryGetKernelCount", library) == 2
    rig.call("cuLibraryUnload", library)
    rig.refuses(400, "cuKernelGetFunction", ffi.new("CUfunction *"), kernel)


def check_the_linker_keeps_ptx(rig: Rig) -> None:
    text, ptx, none = ffi.new("char[]", AXPY), lib.CU_JIT_INPUT_PTX, (0, ffi.NULL, ffi.NULL)
    with tempfile.NamedTemporaryFile() as file:
        file.write(AXPY)
        file.flush()
        path = ffi.new("char[]", file.name.encode())
        for name, *source in (("cuLinkAddData_v2", text, len(AXPY) + 1, b"a"), ("cuLinkAddFile_v2", path)):
            slot, size, image = ffi.new("CUlinkState *"), ffi.new("size_t *"), ffi.new("void **")
            rig.call("cuLinkCreate_v2", *none, slot)
            rig.refuses(301, "cuLinkAddFile_v2", slot[0], ptx, path + len(file.name), *none)
            rig.call(name, slot[0], ptx, *source, *none)
            rig.call("cuLinkComplete", slot[0], image, size)
            module = rig.get("CUmodule *", "cuModuleLoadData", image[0])
            rig.call("cuLinkDestroy", slot[0])
            x, y = rig.upload(X), rig.upload(ONES)
            rig.axpy(rig.function(module, b"axpy"), 4, x, y, X.size)
            assert size[0] > 0 and np.array_equal(rig.download(y, X), 4 * X + 1)


def check_invalid_ptx_gives_a_log(rig: Rig) -> None:
    log = ffi.new("char[1000]")
    options = ffi.new("CUjit_option[]", [lib.CU_JIT_ERROR_LOG_BUFFER, lib.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES])
    values = ffi.new("void *[]", [log, ffi.cast("void *", 1000)])
    text = ffi.new("char[]", AXPY.replace(b"fma.rn.f32", b"fmo.rn.f32"))
    rig.refuses(218, "cuModuleLoadDataEx", ffi.new("CUmodule *"), text, 2, options, values)
    assert ffi.string(log) and int(ffi.cast("uintptr_t", values[1])) == len(ffi.string(log)) + 1


def check_machine_code_is_refused_with_a_log(rig: Rig) -> None:
    log = ffi.new("char[1000]")
    options = ffi.new("CUjit_option[]", [lib.CU_JIT_ERROR_LOG_BUFFER, lib.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES])
    values = ffi.new("void *[]", [log, ffi.cast("void *", 1000)])
    image = ffi.new("char[]", b"\x7fELF\x02\x01\x01\x41")
    rig.refuses(209, "cuModuleLoadDataEx", ffi.new("CUmodule *"), image, 2, options, values)
    assert b"PTX" in ffi.string(log)


def fat_binary(text: bytes, flags: int = 0, kind: int = 1) -> bytes:
    """A fat binary with one entry."""
    text += b"\0" * (8 - len(text) % 8)
    entry = np.array([kind], "<u2").tobytes() + b"\1\1" + np.array([64], "<u4").tobytes()
    entry += (
        np.array([len(text)], "<u8").tobytes() + np.array([0, 0], "<u4").tobytes() + np.array([0, 7], "<u2").tobytes()
    )
    entry += np.array([70, 0, 0], "<u4").tobytes() + np.array([flags, 0, 0], "<u8").tobytes()
    head = np.array([0xBA55ED50], "<u4").tobytes() + np.array([1, 16], "<u2").tobytes()
    return head + np.array([len(entry) + len(text)], "<u8").tobytes() + entry + text


def check_fat_binaries_with_ptx_are_loaded(rig: Rig) -> None:
    module = rig.get("CUmodule *", "cuModuleLoadData", ffi.new("char[]", fat_binary(AXPY)))
    assert rig.get("unsigned *", "cuModuleGetFunctionCount", module) == 2
    for image in (fat_binary(AXPY, flags=0x2000), fat_binary(b"code", kind=2)):
        rig.refuses(209, "cuModuleLoadData", ffi.new("CUmodule *"), ffi.new("char[]", image))


def check_sizes_of_launches_are_checked(rig: Rig) -> None:
    function = rig.function(rig.module(), b"store")
    pointer = ffi.new("uint64_t *", rig.upload(ONES))
    parameters = ffi.new("void *[]", [pointer])
    for grid, block, shared in (
        ((0, 1, 1), (1, 1, 1), 0),
        ((1, 1, 1), (1025, 1, 1), 0),
        ((1, 1, 1), (32, 33, 1), 0),
        ((1, 1, 1), (1, 1, 1), 50000),
    ):
        rig.refuses(1, "cuLaunchKernel", function, *grid, *block, shared, ffi.NULL, parameters, ffi.NULL)
    rig.call("cuFuncSetAttribute", function, lib.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000)
    rig.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 50000, ffi.NULL, parameters, ffi.NULL)


def check_a_fault_stays_with_its_context(rig: Rig) -> None:
    other = rig.get("CUcontext *", "cuCtxCreate_v4", ffi.NULL, 0, 0)
    function = rig.function(rig.module(), b"store")
    parameters = ffi.new("void *[]", [ffi.new("uint64_t *", 0x1000)])
    rig.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, ffi.NULL, parameters, ffi.NULL)
    rig.refuses(700, "cuCtxSynchronize")
    rig.refuses(700, "cuMemAlloc_v2", ffi.new("CUdeviceptr *"), 4)
    rig.call("cuCtxDestroy_v2", other)
    check_a_kernel_computes(rig)


def check_launches_of_before_cuda_4(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    x = np.arange(100, dtype=np.float32)
    pointers = [rig.upload(x), rig.upload(x)]
    rig.call("cuFuncSetBlockShape", function, 32, 1, 1)
    rig.call("cuFuncSetSharedSize", function, 0)
    rig.call("cuParamSetSize", function, 28)
    rig.call("cuParamSetf", function, 0, 3.0)
    rig.call("cuParamSetv", function, 8, ffi.from_buffer(np.array(pointers, np.uint64)), 16)
    rig.call("cuParamSeti", function, 24, 90)
    rig.call("cuLaunchGrid", function, 3, 1)
    assert (rig.download(pointers[1], x) == np.where(x < 90, 4 * x, x)).all()
    rig.call("cuLaunch", function)
    assert (rig.download(pointers[1], x) == np.where(x < 32, 7 * x, np.where(x < 90, 4 * x, x))).all()
    rig.refuses(1, "cuFuncSetBlockShape", function, 0, 1, 1)
    rig.refuses(1, "cuParamSeti", function, 4094, 1)
    rig.refuses(1, "cuLaunchGrid", function, 0, 1)
