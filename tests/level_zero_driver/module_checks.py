"""Modules: logs, options, constants, binaries, variables, links."""

from __future__ import annotations

import re
import struct

import numpy as np

from tests.level_zero_driver.rig import Rig, ffi, lib, strict
from tests.support.compile_kernels import assembled, compiled_text

SOURCE = """
kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void shaped(global int *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int)get_local_size(0);
}
"""
CODE = compiled_text(SOURCE, "spirv")

# Sum of two specialization constants: an int (id 7) and a long (id 9).
CONSTANTS = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Int64
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "constants"
               OpDecorate %small SpecId 7
               OpDecorate %large SpecId 9
               OpDecorate %flag SpecId 11
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
    %pointer = OpTypePointer CrossWorkgroup %ulong
      %small = OpSpecConstant %uint 3
      %large = OpSpecConstant %ulong 500
       %flag = OpSpecConstantFalse %bool
        %one = OpConstant %ulong 1000000
       %zero = OpConstant %ulong 0
       %type = OpTypeFunction %void %pointer
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %label = OpLabel
       %wide = OpUConvert %ulong %small
        %sum = OpIAdd %ulong %wide %large
      %extra = OpSelect %ulong %flag %one %zero
      %total = OpIAdd %ulong %sum %extra
               OpStore %out %total Aligned 8
               OpReturn
               OpFunctionEnd
"""

# A module that exports a variable and a function, and a module that imports both.
EXPORTER = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpDecorate %counter LinkageAttributes "counter" Export
               OpDecorate %twice LinkageAttributes "twice" Export
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
       %five = OpConstant %uint 5
    %counter = OpVariable %pointer CrossWorkgroup %five
       %type = OpTypeFunction %uint %uint
      %twice = OpFunction %uint None %type
      %given = OpFunctionParameter %uint
      %label = OpLabel
        %sum = OpIAdd %uint %given %given
               OpReturnValue %sum
               OpFunctionEnd
"""
IMPORTER = """
               OpCapability Addresses
               OpCapability Kernel
               OpCapability Linkage
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "count"
               OpDecorate %counter LinkageAttributes "counter" Import
               OpDecorate %twice LinkageAttributes "twice" Import
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
    %pointer = OpTypePointer CrossWorkgroup %uint
    %counter = OpVariable %pointer CrossWorkgroup
   %function = OpTypeFunction %uint %uint
       %type = OpTypeFunction %void %pointer
      %twice = OpFunction %uint None %function
      %given = OpFunctionParameter %uint
               OpFunctionEnd
       %main = OpFunction %void None %type
        %out = OpFunctionParameter %pointer
      %label = OpLabel
        %old = OpLoad %uint %counter Aligned 4
        %new = OpFunctionCall %uint %twice %old
               OpStore %counter %new Aligned 4
               OpStore %out %new Aligned 4
               OpReturn
               OpFunctionEnd
"""


def _refused(rig: Rig, code: bytes, expected: str, sentence: str, **options: object) -> None:
    """Build a module that must fail with this result and a log that contains this text."""
    module, log = rig.handle("ze_module_handle_t"), rig.handle("ze_module_build_log_handle_t")
    result = rig.result("zeModuleCreate", rig.context, rig.device, rig.module_desc(code, **options), module, log)
    text = rig.log(log[0])
    assert result == getattr(lib, f"ZE_RESULT_ERROR_{expected}"), hex(result)
    assert sentence in text and sentence in rig.driver.last_error(), text
    assert module[0] == ffi.NULL


def _built(rig: Rig, code: bytes, **options: object) -> str:
    """Build a module and return its log."""
    module, log = rig.handle("ze_module_handle_t"), rig.handle("ze_module_build_log_handle_t")
    rig.call("zeModuleCreate", rig.context, rig.device, rig.module_desc(code, **options), module, log)
    rig.call("zeModuleDestroy", module[0])
    return rig.log(log[0])


def check_builds_and_logs(rig: Rig) -> None:
    _refused(rig, CODE[:-4], "MODULE_BUILD_FAILURE", "")
    _refused(rig, b"no SPIR-V at all", "MODULE_BUILD_FAILURE", "SPIR-V")
    _refused(rig, b"\x03\x02\x23\x07", "MODULE_BUILD_FAILURE", "")
    swapped = np.frombuffer(CODE, np.uint32).byteswap().tobytes()
    rig.kernel(rig.module(swapped), "scale")
    make = ("zeModuleCreate", rig.context, rig.device)
    end = (rig.handle("ze_module_handle_t"), ffi.NULL)
    rig.fails("INVALID_SIZE", "", *make, rig.module_desc(b""), *end)
    rig.fails("INVALID_NULL_POINTER", "", *make, rig.struct("ze_module_desc_t", inputSize=8), *end)
    chained = rig.struct(
        "ze_module_desc_t", rig.struct("ze_fence_desc_t"), inputSize=8, pInputModule=ffi.from_buffer("uint8_t[]", CODE)
    )
    rig.fails("UNSUPPORTED_ENUMERATION", "stype", *make, chained, *end)


def check_options(rig: Rig) -> None:
    documented = "-ze-opt-disable -ze-opt-level=0  -ze-opt-level 2\t-g -ze-opt-greater-than-4GB-buffer-required"
    rig.module(CODE, flags=documented + " -ze-opt-large-register-file -ze-opt-has-buffer-offset-arg")
    rig.module(CODE, flags="  ")
    for wrong in ("-ze-opt-fast", "-O2", "-ze-opt-level", "-ze-opt-level=3", "-ze-opt-level x", "-gg"):
        sentence = f"the build option '{wrong.split()[0]}'"
        with strict():
            _refused(rig, CODE, "MODULE_BUILD_FAILURE", sentence, flags=f"-g {wrong}")
        assert sentence in _built(rig, CODE, flags=f"-g {wrong}")
    many = ["-cl-mad-enable", "-ze-intel-greater-than-4GB-buffer-required", "-cl-fast-relaxed-math"]
    text = _built(rig, CODE, flags=" ".join(["-g", *many]))
    assert [option in line for option, line in zip(many, text.splitlines(), strict=True)] == [True] * 3


def _member(name: str, code: bytes) -> bytes:
    """Return a member of an ar archive."""
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{0:<8}{len(code):<10}`\n".encode() + code + b"\n" * (len(code) % 2)


def _elf(*sections: bytes) -> bytes:
    """Return an ELF file of 64 bits with sections that have no names."""
    at = 64 + 64 * len(sections)
    table = b""
    for section in sections:
        table += struct.pack("<IIQQQQIIQQ", 0, 0xFF000009, 0, 0, at, len(section), 0, 0, 1, 0)
        at += len(section)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 0xFF, 0, 1, 0, 0, 64, 0, 64, 0, 0, 64, len(sections), 0)
    return head + table + b"".join(sections)


def check_binaries_of_ocloc(rig: Rig) -> None:
    """Archives and ELF files of Intel's offline compiler are modules where they contain SPIR-V."""
    start = b"!<arch>\n"
    ir = _elf(b"words", CODE)
    for binary in (
        start + _member("12.55.8", b"gpu") + _member("generic_ir", CODE),
        start + _member("generic_ir/", ir) + _member("12.55.8", b"gpu"),
        ir,
    ):
        rig.kernel(rig.module(binary, native=True), "scale")
        for size in range(8, len(binary), 97):  # a part of it, in memory of its own
            module, desc = rig.handle("ze_module_handle_t"), rig.module_desc(binary[:size], native=True)
            if rig.result("zeModuleCreate", rig.context, rig.device, desc, module, ffi.NULL) == 0:
                rig.call("zeModuleDestroy", module[0])
    for binary in (start, start + _member("12.55.8", b"gpu"), start + _member("generic_ir", b"none"), _elf(b"none")):
        _refused(rig, binary, "INVALID_NATIVE_BINARY", "ocloc", native=True)


def check_kernel_names_and_properties(rig: Rig) -> None:
    module = rig.module(CODE)
    count = ffi.new("uint32_t *")
    rig.call("zeModuleGetKernelNames", module, count, ffi.NULL)
    names = ffi.new("char const *[]", count[0])
    rig.call("zeModuleGetKernelNames", module, count, names)
    assert sorted(ffi.string(name).decode() for name in names) == ["scale", "shaped"]
    properties = rig.struct("ze_module_properties_t")
    rig.call("zeModuleGetProperties", module, properties)
    assert properties.flags == 0
    slot = rig.handle("ze_kernel_handle_t")
    text = ffi.new("char[]", b"missing")
    rig.fails(
        "INVALID_KERNEL_NAME",
        "missing",
        "zeKernelCreate",
        module,
        rig.struct("ze_kernel_desc_t", pKernelName=text),
        slot,
    )
    rig.fails("INVALID_FUNCTION_NAME", "scale", "zeModuleGetFunctionPointer", module, b"scale", ffi.new("void **"))
    rig.fails("INVALID_NULL_POINTER", "", "zeModuleGetFunctionPointer", module, ffi.NULL, ffi.new("void **"))
    rig.fails("INVALID_NULL_POINTER", "", "zeModuleGetFunctionPointer", module, b"scale", ffi.NULL)
    rig.fails("INVALID_GLOBAL_NAME", "scale", "zeModuleGetGlobalPointer", module, b"scale", ffi.NULL, ffi.NULL)


def _constants(rig: Rig, **values: object) -> object:
    """ze_module_constants_t of constants with these ids."""
    held = [ffi.from_buffer(np.asarray(value).tobytes()) for value in values.values()]
    ids = ffi.new("uint32_t[]", [int(name[1:]) for name in values])
    pointers = ffi.new("void const *[]", [ffi.cast("void *", value) for value in held])
    constants = ffi.new(
        "ze_module_constants_t *", {"numConstants": len(held), "pConstantIds": ids, "pConstantValues": pointers}
    )
    rig.kept.append((held, ids, pointers))
    return constants


def _total(rig: Rig, module: object) -> int:
    pointer, out = rig.array(np.zeros(1, np.uint64))
    rig.launch(rig.kernel(module, "constants"), (1,), pointer)
    return int(out[0])


def check_specialization_constants(rig: Rig) -> None:
    code = assembled(CONSTANTS)
    assert _total(rig, rig.module(code)) == 503
    assert _total(rig, rig.module(code, constants=_constants(rig, _9=np.uint64(2**40), _7=np.uint32(4)))) == 2**40 + 4
    special = rig.module(code, constants=_constants(rig, _11=np.uint8(1), _7=np.uint32(0)))
    assert _total(rig, special) == 1000500
    binary = _binary(rig, special)
    assert _total(rig, rig.module(binary, native=True)) == 1000500
    _refused(rig, code, "MODULE_BUILD_FAILURE", "number 8", constants=_constants(rig, _8=np.uint32(1)))


def _binary(rig: Rig, module: object) -> bytes:
    size = ffi.new("size_t *")
    rig.call("zeModuleGetNativeBinary", module, size, ffi.NULL)
    binary = ffi.new("uint8_t[]", size[0])
    rig.call("zeModuleGetNativeBinary", module, size, binary)
    size[0] -= 1
    rig.fails("INVALID_SIZE", "bytes", "zeModuleGetNativeBinary", module, size, binary)
    return bytes(ffi.buffer(binary))


def check_native_binaries(rig: Rig) -> None:
    """A native binary builds the same kernels; any altered binary is refused."""
    binary = _binary(rig, rig.module(CODE))
    again = rig.module(binary, native=True)
    assert _binary(rig, again) == binary
    pointer, data = rig.array(np.arange(8, dtype=np.float32))
    rig.launch(rig.kernel(again, "scale"), (8,), pointer, np.float32(3))
    assert np.array_equal(data, np.arange(8) * 3)
    generator = np.random.default_rng(8)
    for place in (0, 8, 12, 16, 24, *generator.integers(32, len(binary), 20)):
        changed = bytearray(binary)
        changed[place] ^= 1 << int(generator.integers(8))
        _refused(rig, bytes(changed), "INVALID_NATIVE_BINARY", "native binary", native=True)
    for size in (1, 31, 32, len(binary) - 1):
        _refused(rig, binary[:size], "INVALID_NATIVE_BINARY", "native binary", native=True)
    _refused(rig, binary + b"\0", "INVALID_NATIVE_BINARY", "native binary", native=True)
    _refused(rig, CODE, "INVALID_NATIVE_BINARY", "native binary", native=True)


def check_variables_and_links(rig: Rig) -> None:
    """A kernel calls a function and changes a variable of another module."""
    exporter, importer = rig.module(assembled(EXPORTER)), rig.module(assembled(IMPORTER))
    properties = rig.struct("ze_module_properties_t")
    rig.call("zeModuleGetProperties", importer, properties)
    assert properties.flags == lib.ZE_MODULE_PROPERTY_FLAG_IMPORTS
    text = ffi.new("char[]", b"count")
    desc = rig.struct("ze_kernel_desc_t", pKernelName=text)
    rig.fails(
        "INVALID_MODULE_UNLINKED",
        "zeModuleDynamicLink",
        "zeKernelCreate",
        importer,
        desc,
        rig.handle("ze_kernel_handle_t"),
    )
    log = rig.handle("ze_module_build_log_handle_t")
    alone = ffi.new("ze_module_handle_t[]", [importer])
    rig.fails("MODULE_LINK_FAILURE", "", "zeModuleDynamicLink", 1, alone, log)
    told = rig.log(log[0])
    assert "counter" in told or "twice" in told
    both = ffi.new("ze_module_handle_t[]", [importer, exporter])
    inspection = rig.struct("ze_linkage_inspection_ext_desc_t", flags=7)
    rig.call("zeModuleInspectLinkageExt", inspection, 1, alone, log)
    lines = ["", "import counter", "import twice", "unresolvable import counter", "unresolvable import twice"]
    assert sorted(rig.log(log[0]).split("\n")) == lines
    rig.call("zeModuleInspectLinkageExt", inspection, 2, both, log)
    assert sorted(rig.log(log[0]).split("\n")) == [
        "",
        "export counter",
        "export twice",
        "import counter",
        "import twice",
    ]
    rig.call("zeModuleDynamicLink", 2, both, log)
    assert rig.log(log[0]) == ""
    rig.call("zeModuleDynamicLink", 2, both, ffi.NULL)  # a second link has no effect
    size, pointer = ffi.new("size_t *"), ffi.new("void **")
    rig.call("zeModuleGetGlobalPointer", exporter, b"counter", size, pointer)
    assert size[0] == 4
    out, values = rig.array(np.zeros(1, np.uint32))
    kernel = rig.kernel(importer, "count")
    rig.launch(kernel, (1,), out)
    assert values[0] == 10
    ten = np.array([70], np.uint32)
    rig.append("zeCommandListAppendMemoryCopy", pointer[0], ffi.from_buffer(ten), 4)
    rig.launch(kernel, (1,), out)
    assert values[0] == 140
    rig.append("zeCommandListAppendMemoryCopy", ffi.from_buffer(ten), pointer[0], 4)
    assert ten[0] == 140


# Functions that modules export, and a kernel that takes a pointer to one from the host.
FUNCTIONS = """
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef uint (*binary)(uint, uint);
__attribute__((noinline)) uint less(uint a, uint b) { return a - b; }
__attribute__((noinline)) uint mean(uint a, uint b) { return (a + b) / 2; }
__attribute__((noinline)) uint hidden(uint a, uint b) { return a ^ b; }
kernel void apply(global uint *x, ulong f) { x[get_global_id(0)] = ((binary)f)(x[get_global_id(0)], 3); }
"""
LIBRARY = """
uint least(uint a, uint b) { return a < b ? a : b; }
kernel void other(global uint *x) { x[0] = least(x[0], 9); }
"""


def check_function_pointers(rig: Rig) -> None:
    """The host passes the functions that a program exports, by their addresses, to a kernel which calls them."""
    code = compiled_text(FUNCTIONS, "spirv", "apply,less,mean", "mem2reg", "SPV_INTEL_function_pointers")
    library = compiled_text(LIBRARY, "spirv", "other,least", "mem2reg")
    x = np.arange(100, dtype=np.uint32) * 7 + 3
    pointer, whole = ffi.new("void **"), rig.handle("ze_module_handle_t")
    rig.call("zeModuleCreate", rig.context, rig.device, _program(rig, [code, library]), whole, ffi.NULL)
    for module, names in ((rig.module(code), ("less", "mean")), (whole[0], ("less", "mean", "least"))):
        kernel = rig.kernel(module, "apply")
        for name in names:
            rig.call("zeModuleGetFunctionPointer", module, name.encode(), pointer)
            out, values = rig.array(x)
            rig.launch(kernel, (100,), out, np.uint64(int(ffi.cast("uintptr_t", pointer[0]))))
            expected = {"less": x - 3, "mean": (x + 3) // 2, "least": np.minimum(x, 3)}[name]
            np.testing.assert_array_equal(values, expected)
        rig.fails("INVALID_FUNCTION_NAME", "hidden", "zeModuleGetFunctionPointer", module, b"hidden", pointer)
    rig.call("zeModuleDestroy", whole[0])


def _program(
    rig: Rig, codes: list[bytes], flags: list[bytes] | None = None, constants: list[object] | None = None
) -> object:
    """ze_module_desc_t of several inputs; the driver ignores its own input."""
    inputs = [ffi.from_buffer("uint8_t[]", code) for code in codes]
    words = [ffi.new("char[]", text) for text in flags or ()]
    program = rig.struct(
        "ze_module_program_exp_desc_t",
        count=len(codes),
        inputSizes=ffi.new("size_t[]", [len(code) for code in codes]),
        pInputModules=ffi.new("uint8_t const *[]", inputs),
        pBuildFlags=ffi.new("char const *[]", words) if flags else ffi.NULL,
        pConstants=ffi.new("ze_module_constants_t const *[]", constants) if constants else ffi.NULL,
    )
    rig.kept.append((inputs, words))
    return rig.struct("ze_module_desc_t", program, inputSize=4, pInputModule=ffi.from_buffer("uint8_t[]", b"none"))


def check_programs_of_several_modules(rig: Rig) -> None:
    """One module of several inputs: linked, with constants and options per input, also as a native binary."""
    importer, exporter = assembled(IMPORTER), assembled(EXPORTER)
    module, log = rig.handle("ze_module_handle_t"), rig.handle("ze_module_build_log_handle_t")
    make = ("zeModuleCreate", rig.context, rig.device)
    constants = [ffi.NULL, ffi.NULL, _constants(rig, _7=np.uint32(4), _9=np.uint64(6))]
    desc = _program(rig, [importer, exporter, assembled(CONSTANTS)], [b"-g", b"", b"-ze-opt-disable"], constants)
    rig.call(*make, desc, module, log)
    assert rig.log(log[0]) == ""
    for whole in (module[0], rig.module(_binary(rig, module[0]), native=True)):
        assert _total(rig, whole) == 10
        properties = rig.struct("ze_module_properties_t")
        rig.call("zeModuleGetProperties", whole, properties)
        assert properties.flags == 0
        inspection = rig.struct("ze_linkage_inspection_ext_desc_t", flags=7)
        rig.call("zeModuleInspectLinkageExt", inspection, 1, ffi.new("ze_module_handle_t[]", [whole]), log)
        assert sorted(rig.log(log[0]).split("\n")) == ["", "export counter", "export twice"]
        out, values = rig.array(np.zeros(1, np.uint32))
        rig.launch(rig.kernel(whole, "count"), (1,), out)
        size, pointer, found = ffi.new("size_t *"), ffi.new("void **"), np.zeros(1, np.uint32)
        rig.call("zeModuleGetGlobalPointer", whole, b"counter", size, pointer)
        rig.append("zeCommandListAppendMemoryCopy", ffi.from_buffer(found), pointer[0], 4)
        assert values[0] == found[0] == 10 and size[0] == 4
    rig.call("zeModuleDestroy", module[0])
    for codes, expected, sentence in (
        ([importer, assembled(CONSTANTS)], "MODULE_LINK_FAILURE", "counter|twice"),
        ([importer, exporter, exporter], "MODULE_LINK_FAILURE", "defined twice"),
        ([importer, exporter[:-4]], "MODULE_BUILD_FAILURE", ""),
    ):
        rig.fails(expected, "", *make, _program(rig, codes), module, log)
        assert re.search(sentence, rig.log(log[0])) and module[0] == ffi.NULL
    wrong = _program(rig, [importer, exporter], [b"", b"-gg"])
    with strict():
        rig.fails("MODULE_BUILD_FAILURE", "-gg", *make, wrong, module, ffi.NULL)
    rig.fails("INVALID_SIZE", "count", *make, _program(rig, []), module, ffi.NULL)
    rig.fails("INVALID_SIZE", "inputSize", *make, _program(rig, [importer, b""]), module, ffi.NULL)
    nothing = rig.struct("ze_module_program_exp_desc_t", count=1)
    empty = rig.struct("ze_module_desc_t", nothing, inputSize=4, pInputModule=ffi.from_buffer("uint8_t[]", b"none"))
    rig.fails("INVALID_NULL_POINTER", "inputSizes", *make, empty, module, ffi.NULL)
    native = _program(rig, [importer, exporter])
    native.format = lib.ZE_MODULE_FORMAT_NATIVE
    rig.fails("INVALID_ENUMERATION", "SPIRV", *make, native, module, ffi.NULL)


def check_modules_outlive_their_handles(rig: Rig) -> None:
    module = rig.module(CODE)
    rig.forget()
    kernel = rig.kernel(module, "scale")
    pointer, data = rig.array(np.ones(64, np.float32))
    rig.call("zeModuleDestroy", module)
    rig.fails("INVALID_ARGUMENT", "", "zeModuleDestroy", module)
    rig.launch(kernel, (4,), pointer, np.float32(2), size=(16, 1, 1))
    assert (data == 2).all()
