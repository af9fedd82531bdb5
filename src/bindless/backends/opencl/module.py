"""Modules: programs from SPIR-V, from OpenCL C, or from a binary of the driver."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import BuildError, Error, FeatureNotSupportedError, InvalidError
from ...model.module import opencl_c, ptx, spirv
from ...model.module.description import Constant, KernelSignature, ModuleDescription
from ...model.module.disk_cache import cache
from ...model.module.spirv_validate import require_whole
from ..common import module as common
from .context import Context
from .device import Device
from .errors import SUCCESS, check, error, release
from .fork_guard import in_fork, refuse_in_fork
from .kernel_signature import reflected_of
from .known_answer_tests import LAYER_MACRO, LayerCoordinate, layer_coordinate
from .optional_features import explain_missing_features
from .program_binary import binary_of, key_of, pack, unpack

__all__ = [
    "ASKING",
    "Module",
    "build_error",
    "build_log",
    "build_program",
    "compile_program",
    "create_program",
    "declared_in",
    "describe_module",
    "hint_of",
    "is_adapted",
    "is_text",
    "load_kept",
    "load_module",
    "names_of",
    "options_of",
    "packed_of",
    "signatures_of",
    "unasked",
]

lib, ffi = driver.lib, driver.ffi

# Requests the names, types and address spaces of kernel parameters.
ASKING = b"-cl-kernel-arg-info"

# The start of a text of `bindless build`: its quotients and roots equal those of the other targets.
_MADE = re.compile(rb"/\* [^\n]* for OpenCL devices, made by `bindless build`\. \*/")
# The marker of a specialization constant in such a text.
_CONSTANT = re.compile(rb"\bBINDLESS_CONSTANT_(\d+)\b")
_TYPED = re.compile(rb"BINDLESS_CONSTANT_(\d+) (bool|int|float) ([1248])(?: = (\S+))?")


class Module:
    """A program that was built for a device.

    Attributes
    ----------
    context
        context of the program; image arguments are looked up in its record of images.
    device
        device of the code.
    native
        cl_program, or None after its release.
    signatures
        kernel signatures of the SPIR-V; empty for text and binaries.
    declared
        kernel signatures in the source text, for drivers without reflection.
    log
        log of the driver's compiler.
    kernels
        created kernels, by name.
    keeps
        objects that have to live as long; the program itself, if another owner releases it.
    owned
        whether ``close`` releases its reference.
    adapted
        whether its text comes from `bindless build` and corrects the layer for drivers that scale its number.
    """

    def __init__(
        self,
        context: Context,
        device: Device,
        native: CData,
        signatures: Mapping[str, KernelSignature],
        log: str = "",
        owned: bool = True,
        keeps: object = None,
        declared: Mapping[str, KernelSignature] | None = None,
        adapted: bool = False,
    ) -> None:
        self.context = context
        self.device = device
        self.native = native
        self.signatures = signatures
        self.declared = declared or {}
        self.log = log
        self.owned = owned
        self.kernels: dict[str, Any] = {}
        self.keeps = keeps
        self.adapted = adapted

    def names(self) -> tuple[str, ...]:
        """Names of the kernels."""
        if self.native is None:
            raise InvalidError("the module was released", backend="opencl")
        return names_of(self.native)

    def close(self) -> None:
        """Release the program and its kernels, which cannot be launched any more."""
        native, self.native = self.native, None
        if native is None or in_fork():
            return
        for kernel in self.kernels.values():
            kernel.close()
        self.kernels.clear()
        self.keeps = None
        if self.owned:
            release(lib.clReleaseProgram(native), "clReleaseProgram")


def names_of(program: CData) -> tuple[str, ...]:
    """Names of the kernels of a built program. For a program without kernels Intel's driver reports that it is not
    built, and NVIDIA's aborts the process when queried for names: the number is queried first.
    """
    try:
        if not any(driver.get_info("clGetProgramInfo", program, lib.CL_PROGRAM_NUM_KERNELS)):
            return ()
        text = driver.get_text("clGetProgramInfo", program, lib.CL_PROGRAM_KERNEL_NAMES)
    except Error as refusal:
        if refusal.native_code != lib.CL_INVALID_PROGRAM_EXECUTABLE:
            raise
        return ()
    return tuple(sorted(filter(None, text.split(";"))))


def is_text(source: bytes) -> bool:
    """Whether a source can be OpenCL C. PTX cannot: it is a binary of NVIDIA's driver."""
    if b"\0" in source or source[:4] in (b"\x7fELF", b"BC\xc0\xde") or ptx.is_ptx(source):
        return False
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_adapted(source: bytes) -> bool:
    """Whether a source is a text of `bindless build`."""
    return _MADE.match(source) is not None


def describe_module(source: bytes) -> ModuleDescription:
    """The kernels and constants of SPIR-V, or the constants of a text of `bindless build`; other properties need a
    build.
    """
    if spirv.is_spirv(source):
        return spirv.describe(source)
    if is_text(source):
        constants = {constant.number: constant for constant in _constants_of(source)}
        return ModuleDescription(constants=constants or None)
    return ModuleDescription()


def _constants_of(source: bytes) -> list[Constant]:
    """Specialization constants of a text: 4-byte integers unless it declares a type."""
    typed = {int(match[1]): match for match in _TYPED.finditer(source)}
    constants = []
    for number in sorted({int(match[1]) for match in _CONSTANT.finditer(source)}):
        match = typed.get(number)
        kind, size = ("int", 4) if match is None else (match[2].decode(), int(match[3]))
        constant = Constant(number, kind, size, bytes(size))
        if match is not None and match[4]:
            text = match[4].decode()
            default = float(text) if kind == "float" else int(text, 0)
            constant = Constant(number, kind, size, constant.pack(default))
        constants.append(constant)
    return constants


def declared_in(source: bytes) -> Mapping[str, KernelSignature]:
    """The kernel signatures of a text that the driver has accepted; empty for other sources."""
    return opencl_c.entries(source) if is_text(source) else {}


def signatures_of(source: bytes) -> Mapping[str, KernelSignature]:
    """The kernel signatures of SPIR-V that the driver has accepted; empty for other sources."""
    if not spirv.is_spirv(source):
        return {}
    try:
        return spirv.describe(source).kernels
    except BuildError:
        return {}


# ---------------------------------------------------------------------- building


def build_log(program: CData, device: Device) -> str:
    """The log of the compiler or linker for a program."""
    try:
        return driver.get_text("clGetProgramBuildInfo", program, device.handle, lib.CL_PROGRAM_BUILD_LOG)
    except Error:
        return ""


def build_error(result: int, call: str, device: Device, said: str = "") -> Error:
    """A BuildError with the log, or the exception of a failure that the module did not cause."""
    failure = error(result, call, f"for {device.name}")
    if result in (lib.CL_OUT_OF_HOST_MEMORY, lib.CL_OUT_OF_RESOURCES, lib.CL_DEVICE_NOT_AVAILABLE):
        return failure
    return common.build_error(failure, said)


def create_program(
    context: Context, device: Device, source: bytes, specialization: Mapping[int, bytes] | None = None
) -> CData:
    """A cl_program without a build.

    Raises
    ------
    BuildError
        the driver cannot read the source, or the source lacks a given specialization constant.
    FeatureNotSupportedError
        the device does not support this kind of source.
    """
    slot = ffi.new("cl_int *")
    if spirv.is_spirv(source):
        program, call = _of_il(context, device, source, slot), device.il_function or ""
    elif is_text(source):
        _require_compiler(device)
        texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(source)]), ffi.new("size_t[]", [len(source)])
        call = "clCreateProgramWithSource"
        program = lib.clCreateProgramWithSource(context.handle, 1, texts, sizes, slot)
    else:
        program, call = _of_binary(context, device, source, slot), "clCreateProgramWithBinary"
    if slot[0] != SUCCESS or program == ffi.NULL:
        raise build_error(slot[0] or lib.CL_INVALID_OPERATION, call, device, hint_of(source))
    try:
        _specialise(program, device, source, specialization or {})
    except BaseException:
        lib.clReleaseProgram(program)
        raise
    return program


def _of_binary(context: Context, device: Device, source: bytes, slot: CData) -> CData:
    if ptx.is_ptx(source) and not device.takes_ptx:
        raise BuildError(
            f"the source is PTX, which CUDA and NVIDIA's OpenCL take; {device.name} takes OpenCL C, or SPIR-V where "
            "its driver does: `bindless build` makes one file for all",
            backend="opencl",
        )
    if device.is_rusticl:
        _require_rusticl_binary(device, source)
    binaries, sizes = ffi.new("unsigned char const *[]", [ffi.from_buffer(source)]), ffi.new("size_t[]", [len(source)])
    devices = ffi.new("cl_device_id[]", [device.handle])
    return lib.clCreateProgramWithBinary(context.handle, 1, devices, sizes, binaries, ffi.NULL, slot)


def _require_rusticl_binary(device: Device, source: bytes) -> None:
    """Refuse binaries of other drivers, for which rusticl 22.3 aborts the process. Its own binaries are three words (1,
    the bytes of SPIR-V, the kind of program) and the SPIR-V. Newer versions begin with a magic number, which the driver
    checks itself.

    Raises
    ------
    BuildError
        the binary has neither form.
    """
    if source.startswith(b"rusticl\0") and not device.driver_version.startswith("22."):
        return
    whole = len(source) > 12 and struct.unpack_from("=2I", source) == (1, len(source) - 12)
    if not whole or not spirv.is_spirv(source[12:]):
        raise build_error(lib.CL_INVALID_BINARY, "clCreateProgramWithBinary", device, hint_of(source))
    require_whole(source[12:])


def hint_of(source: bytes) -> str:
    """A hint for a source that does not build."""
    if spirv.is_spirv(source) and spirv.BINDLESS_IMAGES in spirv.capabilities(source):
        return (
            "image handles are numbers in this module, which kernels may find in memory (capability "
            "BindlessImagesINTEL), and OpenCL devices have none such: there a handle is a parameter of a kernel. Build "
            "it with `bindless build --target opencl_c`, which names every handle that is no parameter"
        )
    if spirv.is_spirv(source) or is_text(source):
        return ""
    return (
        f"the source begins with {source[:8]!r}: it is neither SPIR-V, whose first word is 0x07230203, nor the text of "
        "OpenCL C, nor a binary that this driver made for this device"
    )


def _require_compiler(device: Device) -> None:
    if not device.number(lib.CL_DEVICE_COMPILER_AVAILABLE):
        raise FeatureNotSupportedError(
            f"{device.name} has no compiler for OpenCL C: ask device.has(Aspect.online_compiler) first",
            backend="opencl",
        )


def _of_il(context: Context, device: Device, source: bytes, slot: CData) -> CData:
    require_whole(source)
    if device.il_function is None:
        takes = f"{device.name} takes no SPIR-V, only OpenCL C and its own binaries"
        way_out = "give the source, or a file of `bindless build --target opencl_c`"
        raise FeatureNotSupportedError(f"{hint_of(source) or way_out} ({takes})", backend="opencl")
    return getattr(lib, device.il_function)(context.handle, ffi.from_buffer(source), len(source), slot)


def _specialise(program: CData, device: Device, source: bytes, specialization: Mapping[int, bytes]) -> None:
    """Set the constants of SPIR-V; those of a text are options."""
    if not specialization:
        return
    there = describe_module(source).constants or {}
    for number, value in specialization.items():
        constant = there.get(number)
        if constant is None or constant.size != len(value):
            listed = ", ".join(f"{constant.number} of {constant.size} bytes" for constant in there.values()) or "none"
            raise BuildError(
                f"specialization constant {number} of {len(value)} bytes: the module has {listed}", backend="opencl"
            )
    if not spirv.is_spirv(source):
        return
    call = device.platform.require("clSetProgramSpecializationConstant", "OpenCL 2.2")
    for number, value in specialization.items():
        check(call(program, number, len(value), ffi.from_buffer(value)), "clSetProgramSpecializationConstant")


def options_of(device: Device, source: bytes, specialization: Mapping[int, bytes] | None, options: str) -> bytes:
    """Compiler options: the caller's, and for a text its language version, its constants, and argument info."""
    if not is_text(source) or spirv.is_spirv(source):
        return options.encode()
    parts = [ASKING.decode()]
    if LAYER_MACRO.encode() in source and layer_coordinate(device) == LayerCoordinate.SCALED:
        parts.append(f"-D{LAYER_MACRO}")
    if "-cl-std" not in options:
        parts.append("-cl-std=CL{}.{}".format(*device.c_version) if device.c_version >= (1, 2) else "")
    exact = device.number(lib.CL_DEVICE_SINGLE_FP_CONFIG) & lib.CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
    if exact and is_adapted(source):
        parts.append("-cl-fp32-correctly-rounded-divide-sqrt")
    constants = {constant.number: constant for constant in _constants_of(source)}
    for number, value in (specialization or {}).items():
        if number in constants:
            parts.append(f"-DBINDLESS_CONSTANT_{number}={_literal(constants[number], value)}")
    return " ".join(filter(None, (*parts, options))).encode()


def _literal(constant: Constant, value: bytes) -> str:
    """The value of a constant as an OpenCL C literal."""
    if constant.kind == "float":
        number = constant.value(value)
        if constant.size == 4:
            return f"as_float({int.from_bytes(value, 'little'):#x}u)"
        return f"as_double({int.from_bytes(value, 'little'):#x}ul)" if constant.size == 8 else repr(float(number))
    whole: int = struct.unpack({1: "<b", 2: "<h", 4: "<i", 8: "<q"}[constant.size], value)[0]
    if constant.size == 8:
        return f"((long){int.from_bytes(value, 'little'):#x}ul)"
    return f"({whole})"


def load_module(
    context: Context,
    device: Device,
    source: bytes,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> Module:
    """Build a module for a device.

    Raises
    ------
    BuildError
        it does not build, or is not for this device; ``log`` has the compiler's messages.
    KernelNotSupportedError
        it does not build without an optional feature that the device lacks.
    FeatureNotSupportedError
        the device takes no such source.
    """
    refuse_in_fork()
    place = context.device(device)
    if not source:
        raise InvalidError("the source is empty; it is SPIR-V, OpenCL C, or a binary", backend="opencl")
    store = cache() if spirv.is_spirv(source) or (is_text(source) and b"#include" not in source) else None
    flags = options_of(place, source, specialization, options)
    key = key_of(place, flags, specialization, source) if store is not None else ()
    entry = store.get(*key) if store is not None else None
    if entry is not None:
        try:
            return load_kept(context, place, entry, is_adapted(source))
        except BuildError:
            pass  # If the driver refuses its own binary, it compiles the source again.
    with explain_missing_features(place, source):
        program = create_program(context, place, source, specialization)
        said = build(program, place, flags, hint_of(source))
    module = Module(
        context, place, program, signatures_of(source), said, declared=declared_in(source), adapted=is_adapted(source)
    )
    if store is not None:
        packed = packed_of(module)
        if packed:
            store.put(packed, *key)
    return module


def build_program(program: CData, devices: Sequence[Device], options: bytes) -> int:
    """clBuildProgram. With argument info requested, NVIDIA's driver does not build a program that has a kernel without
    parameters: it is then built without.
    """
    handles = ffi.new("cl_device_id[]", [device.handle for device in devices])

    def built(flags: bytes) -> int:
        return int(lib.clBuildProgram(program, len(devices), handles, ffi.new("char[]", flags), ffi.NULL, ffi.NULL))

    result = built(options)
    if result == lib.CL_BUILD_PROGRAM_FAILURE and ASKING in options and any(device.takes_ptx for device in devices):
        return built(unasked(options))
    return result


def unasked(options: bytes) -> bytes:
    """Options without the request for argument info."""
    return options.replace(ASKING, b"")


def compile_program(program: CData, device: Device, options: bytes = b"", hint: str = "") -> str:
    """Compile a program to be linked; return the compiler's log. The hint is part of the error of a failure."""
    handles, flags, null = ffi.new("cl_device_id[]", [device.handle]), ffi.new("char[]", options), ffi.NULL
    result = lib.clCompileProgram(program, 1, handles, flags, 0, null, null, null, null)
    said = build_log(program, device)
    if result != SUCCESS:
        raise build_error(result, "clCompileProgram", device, "\n".join(filter(None, (said, hint))))
    return said


def build(program: CData, device: Device, options: bytes, hint: str = "") -> str:
    """Build a program, which is released on failure; return the compiler's log. The hint is part of the error of a
    failure.
    """
    result = build_program(program, [device], options)
    said = build_log(program, device)
    if result != SUCCESS:
        lib.clReleaseProgram(program)
        raise build_error(result, "clBuildProgram", device, "\n".join(filter(None, (said, hint))))
    return said


def packed_of(module: Module) -> bytes:
    """A module in the form of ``load_kept``; empty if the driver gives no binary."""
    binary = binary_of(module.native, module.device)
    signatures = module.signatures or {
        name: reflected_of(module.native, name, module.declared.get(name)) for name in module.names()
    }
    return pack(signatures, module.log, binary) if binary else b""


def load_kept(context: Context, device: Device, packed: bytes, adapted: bool) -> Module:
    """Load a module that was built before; see ``Module`` for ``adapted``.

    Raises
    ------
    BuildError
        the driver refuses its own binary.
    """
    signatures, said, binary = unpack(packed)
    program = create_program(context, device, binary)
    build(program, device, b"")
    return Module(context, device, program, signatures, said, adapted=adapted)
