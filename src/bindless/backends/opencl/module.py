"""Modules: programs of SPIR-V, of OpenCL C, or of a binary that the driver made."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from ...drivers import opencl as driver
from ...model.errors import BuildError, Error, FeatureNotSupportedError, InvalidError
from ...model.module import opencl_c, ptx, spirv
from ...model.module.description import Constant, KernelSignature, ModuleDescription
from ...model.module.disk_cache import cache
from ...model.module.spirv_validate import require_whole
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

# Asks for the names, types and address spaces of what kernels take.
ASKING = b"-cl-kernel-arg-info"

# How the text of `bindless build` begins: its quotients and roots are those of the other targets.
_MADE = re.compile(rb"/\* [^\n]* for OpenCL devices, made by `bindless build`\. \*/")
# What it writes into it for a specialization constant.
_CONSTANT = re.compile(rb"\bBINDLESS_CONSTANT_(\d+)\b")
_TYPED = re.compile(rb"BINDLESS_CONSTANT_(\d+) (bool|int|float) ([1248])(?: = (\S+))?")


class Module:
    """A program that was built for a device.

    Attributes:
        context: where it was built; its record of images is what image arguments are looked up in.
        device: whose code it is.
        native: cl_program, or None once released.
        signatures: what SPIR-V says of its kernels; empty for text and binaries.
        declared: what a text says of them, where the driver does not tell.
        log: what the driver's compiler said.
        kernels: made so far, by name.
        keeps: what has to live as long; the program itself, where that is not given back here.
        owned: whether its reference is given back at the end.
        adapted: whether its text is of `bindless build`, which finds layers where the driver scales their numbers.
    """

    def __init__(
        self,
        context: Context,
        device: Device,
        native: Any,
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
        """Gives the program and its kernels back; they cannot be launched any more."""
        native, self.native = self.native, None
        if native is None or in_fork():
            return
        for kernel in self.kernels.values():
            kernel.close()
        self.kernels.clear()
        self.keeps = None
        if self.owned:
            release(lib.clReleaseProgram(native), "clReleaseProgram")


def names_of(program: Any) -> tuple[str, ...]:
    """Names of the kernels of a program that was built. Of one without kernels Intel's driver says that it was not, and
    NVIDIA's ends the process when asked for names: it is asked for their number."""
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
    """Whether a source can be OpenCL C. PTX is none: NVIDIA's driver calls it a binary."""
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
    """SPIR-V tells its kernels and constants, a text of `bindless build` its constants; all others are to be built."""
    if spirv.is_spirv(source):
        return spirv.describe(source)
    if is_text(source):
        constants = {constant.number: constant for constant in _constants_of(source)}
        return ModuleDescription(constants=constants or None)
    return ModuleDescription()


def _constants_of(source: bytes) -> list[Constant]:
    """Specialization constants of a text: integers of 4 bytes where it does not tell more."""
    typed = {int(found[1]): found for found in _TYPED.finditer(source)}
    made = []
    for number in sorted({int(found[1]) for found in _CONSTANT.finditer(source)}):
        found = typed.get(number)
        kind, size = ("int", 4) if found is None else (found[2].decode(), int(found[3]))
        constant = Constant(number, kind, size, bytes(size))
        if found is not None and found[4]:
            text = found[4].decode()
            default = float(text) if kind == "float" else int(text, 0)
            constant = Constant(number, kind, size, constant.pack(default))
        made.append(constant)
    return made


def declared_in(source: bytes) -> Mapping[str, KernelSignature]:
    """What a text that the driver has judged says of its kernels; nothing of other sources."""
    return opencl_c.entries(source) if is_text(source) else {}


def signatures_of(source: bytes) -> Mapping[str, KernelSignature]:
    """What SPIR-V that the driver has judged says of its kernels; nothing of other sources."""
    if not spirv.is_spirv(source):
        return {}
    try:
        return spirv.describe(source).kernels
    except BuildError:
        return {}


# ---------------------------------------------------------------------- building


def build_log(program: Any, device: Device) -> str:
    """What the compiler or linker said of a program."""
    try:
        return driver.get_text("clGetProgramBuildInfo", program, device.handle, lib.CL_PROGRAM_BUILD_LOG)
    except Error:
        return ""


def build_error(result: int, call: str, device: Device, said: str = "") -> Error:
    """BuildError with the log; failures that are not the module's own as what they are."""
    found = error(result, call, f"for {device.name}")
    if result in (lib.CL_OUT_OF_HOST_MEMORY, lib.CL_OUT_OF_RESOURCES, lib.CL_DEVICE_NOT_AVAILABLE):
        return found
    said = said or str(found)
    return BuildError(
        f"{found}:\n{said}", log=said, backend="opencl", native_code=result, native_name=found.native_name
    )


def create_program(
    context: Context, device: Device, source: bytes, specialization: Mapping[int, bytes] | None = None
) -> Any:
    """A cl_program that is not built yet.

    Raises:
        BuildError: the driver cannot even read it, or a specialization constant that it does not have.
        FeatureNotSupportedError: the device takes no such source.
    """
    slot = ffi.new("cl_int *")
    if spirv.is_spirv(source):
        found, call = _of_il(context, device, source, slot), device.il_function or ""
    elif is_text(source):
        _require_compiler(device)
        texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(source)]), ffi.new("size_t[]", [len(source)])
        call = "clCreateProgramWithSource"
        found = lib.clCreateProgramWithSource(context.handle, 1, texts, sizes, slot)
    else:
        found, call = _of_binary(context, device, source, slot), "clCreateProgramWithBinary"
    if slot[0] != SUCCESS or found == ffi.NULL:
        raise build_error(slot[0] or lib.CL_INVALID_OPERATION, call, device, hint_of(source))
    try:
        _specialise(found, device, source, specialization or {})
    except BaseException:
        lib.clReleaseProgram(found)
        raise
    return found


def _of_binary(context: Context, device: Device, source: bytes, slot: Any) -> Any:
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
    """rusticl 22.3 ends the process for what is no binary of its own: three words, which are 1, the bytes of SPIR-V and
    the kind of program, and the SPIR-V. Newer ones begin with a mark, and the driver looks for that itself.

    Raises:
        BuildError: it is neither.
    """
    if source.startswith(b"rusticl\0") and not device.driver_version.startswith("22."):
        return
    whole = len(source) > 12 and struct.unpack_from("=2I", source) == (1, len(source) - 12)
    if not whole or not spirv.is_spirv(source[12:]):
        raise build_error(lib.CL_INVALID_BINARY, "clCreateProgramWithBinary", device, hint_of(source))
    require_whole(source[12:])


def hint_of(source: bytes) -> str:
    """What is told of a source that does not build."""
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


def _of_il(context: Context, device: Device, source: bytes, slot: Any) -> Any:
    require_whole(source)
    if device.il_function is None:
        takes = f"{device.name} takes no SPIR-V, only OpenCL C and its own binaries"
        way_out = "give the source, or a file of `bindless build --target opencl_c`"
        raise FeatureNotSupportedError(f"{hint_of(source) or way_out} ({takes})", backend="opencl")
    return getattr(lib, device.il_function)(context.handle, ffi.from_buffer(source), len(source), slot)


def _specialise(program: Any, device: Device, source: bytes, specialization: Mapping[int, bytes]) -> None:
    """Sets the constants of SPIR-V; those of a text are options."""
    if not specialization:
        return
    there = describe_module(source).constants or {}
    for number, value in specialization.items():
        known = there.get(number)
        if known is None or known.size != len(value):
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
    """Options of the compiler: the caller's, and for a text its language, its constants, and names of arguments."""
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
    known = {constant.number: constant for constant in _constants_of(source)}
    for number, value in (specialization or {}).items():
        if number in known:
            parts.append(f"-DBINDLESS_CONSTANT_{number}={_literal(known[number], value)}")
    return " ".join(filter(None, (*parts, options))).encode()


def _literal(constant: Constant, value: bytes) -> str:
    """The value of a constant as OpenCL C writes it."""
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
    """Builds a module for a device.

    Raises:
        BuildError: it does not build, or is not for this device; ``log`` has the compiler's words.
        KernelNotSupportedError: it does not build without an optional feature that the device lacks.
        FeatureNotSupportedError: the device takes no such source.
    """
    refuse_in_fork()
    place = context.device(device)
    if not source:
        raise InvalidError("the source is empty; it is SPIR-V, OpenCL C, or a binary", backend="opencl")
    kept = cache() if spirv.is_spirv(source) or (is_text(source) and b"#include" not in source) else None
    flags = options_of(place, source, specialization, options)
    key = key_of(place, flags, specialization, source) if kept is not None else ()
    found = kept.get(*key) if kept is not None else None
    if found is not None:
        try:
            return load_kept(context, place, found, is_adapted(source))
        except BuildError:
            pass  # a driver that does not take its binary back compiles the source anew
    with explain_missing_features(place, source):
        program = create_program(context, place, source, specialization)
        said = build(program, place, flags, hint_of(source))
    made = Module(
        context, place, program, signatures_of(source), said, declared=declared_in(source), adapted=is_adapted(source)
    )
    if kept is not None:
        packed = packed_of(made)
        if packed:
            kept.put(packed, *key)
    return made


def build_program(program: Any, devices: Sequence[Device], options: bytes) -> int:
    """clBuildProgram. Where it is asked to tell of arguments, NVIDIA's driver does not build a program that has a
    kernel without parameters: it is not asked then."""
    handles = ffi.new("cl_device_id[]", [device.handle for device in devices])

    def built(flags: bytes) -> int:
        return int(lib.clBuildProgram(program, len(devices), handles, ffi.new("char[]", flags), ffi.NULL, ffi.NULL))

    result = built(options)
    if result == lib.CL_BUILD_PROGRAM_FAILURE and ASKING in options and any(device.takes_ptx for device in devices):
        return built(unasked(options))
    return result


def unasked(options: bytes) -> bytes:
    """Options that do not ask the driver to tell of arguments."""
    return options.replace(ASKING, b"")


def compile_program(program: Any, device: Device, options: bytes = b"", hint: str = "") -> str:
    """Compiles a program to be linked; gives what the compiler said. A hint is told of failures."""
    handles, flags, null = ffi.new("cl_device_id[]", [device.handle]), ffi.new("char[]", options), ffi.NULL
    result = lib.clCompileProgram(program, 1, handles, flags, 0, null, null, null, null)
    said = build_log(program, device)
    if result != SUCCESS:
        raise build_error(result, "clCompileProgram", device, "\n".join(filter(None, (said, hint))))
    return said


def build(program: Any, device: Device, options: bytes, hint: str = "") -> str:
    """Builds a program, which is released if that fails; gives what the compiler said. A hint is told of failures."""
    result = build_program(program, [device], options)
    said = build_log(program, device)
    if result != SUCCESS:
        lib.clReleaseProgram(program)
        raise build_error(result, "clBuildProgram", device, "\n".join(filter(None, (said, hint))))
    return said


def packed_of(module: Module) -> bytes:
    """A module as ``load_kept`` takes it; nothing where the driver gives no binary."""
    binary = binary_of(module.native, module.device)
    signatures = module.signatures or {
        name: reflected_of(module.native, name, module.declared.get(name)) for name in module.names()
    }
    return pack(signatures, module.log, binary) if binary else b""


def load_kept(context: Context, device: Device, packed: bytes, adapted: bool) -> Module:
    """A module that was built before; see ``Module`` for ``adapted``.

    Raises:
        BuildError: the driver does not take it back.
    """
    signatures, said, binary = unpack(packed)
    program = create_program(context, device, binary)
    build(program, device, b"")
    return Module(context, device, program, signatures, said, adapted=adapted)
