"""Modules: SPIR-V, which the driver compiles, and native binaries, which it loads as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import BuildError, FeatureNotSupportedError, InvalidError
from ...model.module import spirv
from ...model.module.description import KernelSignature, ModuleDescription
from ...model.module.disk_cache import ModuleCache, cache
from ..common import module as common
from ..common.module import pack, unpack
from .context import Context
from .device import Device
from .errors import SUCCESS, check, error, release
from .fork_guard import in_fork, refuse_in_fork

__all__ = [
    "Constants",
    "Module",
    "build",
    "build_error",
    "describe_module",
    "load_module",
    "module_desc",
    "require_source",
    "text_of_log",
]

lib, ffi = driver.lib, driver.ffi

_NATIVE = (b"\x7fELF", b"blspirv\1")  # of Intel's driver, and of the package's own


class Module:
    """A loaded module.

    Attributes
    ----------
    context
        context of the module; image arguments are looked up in its record of images.
    device
        device of the code.
    native
        ze_module_handle_t, or None after its release.
    signatures
        kernel signatures of the SPIR-V; empty for a binary.
    log
        log of the driver's compiler.
    kernels
        created kernels, by name.
    adopted
        kernels of the module with another owner.
    owned
        whether ``close`` destroys it.
    """

    def __init__(
        self,
        context: Context,
        device: Device,
        native: CData,
        signatures: Mapping[str, KernelSignature],
        log: str = "",
        owned: bool = True,
    ) -> None:
        self.context = context
        self.device = device
        self.native = native
        self.signatures = signatures
        self.log = log
        self.owned = owned
        self.kernels: dict[str, Any] = {}
        self.adopted: list[Any] = []

    def names(self) -> tuple[str, ...]:
        """Names of the kernels."""
        count = ffi.new("uint32_t *")
        check(lib.zeModuleGetKernelNames(self.native, count, ffi.NULL), "zeModuleGetKernelNames")
        array = ffi.new("char const *[]", max(count[0], 1))
        check(lib.zeModuleGetKernelNames(self.native, count, array), "zeModuleGetKernelNames")
        names = {ffi.string(array[place]).decode("utf-8", "replace") for place in range(count[0])}
        # Intel's compiler lists an internal table among them.
        return tuple(sorted(name for name in names if name != "Intel_Symbol_Table_Void_Program"))

    def close(self) -> None:
        """Destroy it and its kernels, which cannot be launched any more."""
        native, self.native = self.native, None
        if native is None or in_fork():
            return
        for kernel in (*self.kernels.values(), *self.adopted):
            if kernel.owned:
                release(lib.zeKernelDestroy(kernel.native), "zeKernelDestroy")
        self.kernels.clear()
        self.adopted.clear()
        if self.owned:
            release(lib.zeModuleDestroy(native), "zeModuleDestroy")


class Constants:
    """Specialization constants in the driver's form.

    Attributes
    ----------
    native
        ze_module_constants_t *, or NULL.
    key
        the same as bytes.
    """

    def __init__(self, source: bytes, specialization: Mapping[int, bytes] | None) -> None:
        self.native = ffi.NULL
        self.key = b""
        if not specialization:
            return
        _require_constants(source, specialization)
        self._ids = ffi.new("uint32_t[]", list(specialization))
        self._values = [ffi.new("char[]", value) for value in specialization.values()]
        self._pointers = ffi.new("void const *[]", [ffi.cast("void *", value) for value in self._values])
        self.native = ffi.new("ze_module_constants_t *", (len(self._values), self._ids, self._pointers))
        self.key = repr(sorted(specialization.items())).encode()


def _require_constants(source: bytes, specialization: Mapping[int, bytes]) -> None:
    """Refuse constants that the source does not declare; a driver may ignore them.

    Raises
    ------
    BuildError
        no constant has this number, or its size differs.
    """
    if not spirv.is_spirv(source):
        raise BuildError(
            f"specialization={dict(specialization)!r}: a native binary has no specialization constants any more; load "
            "the SPIR-V",
            backend="level_zero",
        )
    there = spirv.describe(source).constants or {}
    for number, value in specialization.items():
        constant = there.get(number)
        if constant is None or constant.size != len(value):
            listed = ", ".join(f"{constant.number} of {constant.size} bytes" for constant in there.values()) or "none"
            raise BuildError(
                f"specialization constant {number} of {len(value)} bytes: the module has {listed}", backend="level_zero"
            )


def require_source(device: Device, source: bytes) -> None:
    """Refuse sources that the driver's compiler cannot take.

    Raises
    ------
    FeatureNotSupportedError
        the device does not support SPIR-V.
    BuildError
        the source is neither SPIR-V nor a native binary.
    """
    if not int(device.module.spirvVersionSupported) and not source.startswith(_NATIVE):
        raise FeatureNotSupportedError(
            f"{device.name} takes no SPIR-V: ask device.has(Aspect.online_compiler) first", backend="level_zero"
        )
    if not source:
        raise InvalidError("the source is empty; it is the SPIR-V or native binary of a module", backend="level_zero")
    if not spirv.is_spirv(source) and not source.startswith(_NATIVE):
        raise BuildError(
            f"the source begins with {source[:8]!r}: Level Zero takes SPIR-V, whose first word is 0x07230203, and "
            "native binaries of the driver, as zeModuleGetNativeBinary returns them",
            backend="level_zero",
        )


def describe_module(source: bytes) -> ModuleDescription:
    """The kernels and constants of a source; those of a binary are known only after loading."""
    if source.startswith(_NATIVE):
        return ModuleDescription()
    return spirv.describe(source)


def text_of_log(log: CData) -> str:
    """The text of a build log; destroys the log."""
    if log == ffi.NULL:
        return ""
    size = ffi.new("size_t *")
    said = ""
    if lib.zeModuleBuildLogGetString(log, size, ffi.NULL) == SUCCESS and size[0]:
        text = ffi.new("char[]", size[0] + 1)
        if lib.zeModuleBuildLogGetString(log, size, text) == SUCCESS:
            said = ffi.string(text).decode("utf-8", "replace").strip()
    lib.zeModuleBuildLogDestroy(log)
    return said


_BUILD_FAILURES = (
    lib.ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
    lib.ZE_RESULT_ERROR_MODULE_LINK_FAILURE,
    lib.ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
    lib.ZE_RESULT_ERROR_UNKNOWN,
)


def build(context: Context, device: Device, desc: CData) -> tuple[CData, str]:
    """A ze_module_handle_t and the compiler's log.

    Raises
    ------
    BuildError
        it does not compile; ``log`` has the compiler's messages.
    """
    module, log = ffi.new("ze_module_handle_t *"), ffi.new("ze_module_build_log_handle_t *")
    result = lib.zeModuleCreate(context.handle, device.handle, desc, module, log)
    said = text_of_log(log[0])
    if result != SUCCESS:
        raise build_error(context, device, result, "zeModuleCreate", said)
    return module[0], said


def build_error(context: Context, device: Device, result: int, call: str, said: str) -> Exception:
    """A BuildError with the log, or the exception of a failure that the module did not cause."""
    said = said or context.driver.last_error()
    failure = error(result, call, f"for {device.name}")
    if result not in _BUILD_FAILURES:
        return failure
    return common.build_error(failure, said)


def load_module(
    context: Context,
    device: Device,
    source: bytes,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> Module:
    """Load SPIR-V or a native binary on a device.

    Raises
    ------
    BuildError
        it does not compile, or is not for this device; ``log`` has the compiler's messages.
    FeatureNotSupportedError
        the device takes no SPIR-V.
    """
    refuse_in_fork()
    place = context.device(device)
    require_source(place, source)
    constants = Constants(source, specialization)
    signatures = describe_module(source).kernels  # A damaged module is refused here: it may crash a compiler.
    store = cache() if spirv.is_spirv(source) else None
    if store is not None:
        return _load_kept(store, context, place, source, signatures, constants, options)
    native, said = build(context, place, module_desc(source, constants, options))
    return Module(context, place, native, signatures, said)


def module_desc(source: bytes, constants: Constants, options: str = "") -> CData:
    """ze_module_desc_t of a source."""
    native = source.startswith(_NATIVE)
    return driver.make_struct(
        "ze_module_desc_t",
        format=lib.ZE_MODULE_FORMAT_NATIVE if native else lib.ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize=len(source),
        pInputModule=ffi.from_buffer("uint8_t[]", source),
        pBuildFlags=ffi.new("char[]", options.encode()),
        pConstants=constants.native,
    )


def _load_kept(
    store: ModuleCache,
    context: Context,
    device: Device,
    source: bytes,
    signatures: Mapping[str, KernelSignature],
    constants: Constants,
    options: str,
) -> Module:
    """Load SPIR-V from the native binary in the cache, or compile it and store the binary there."""
    about = f"level_zero {device.driver.uuid.hex()} {device.driver.version} {device.name} {device.ip_version} {options}"
    key = (about.encode(), constants.key, source)
    entry = store.get(*key)
    if entry is not None:
        packed_log, code = unpack(entry)
        binary = driver.make_struct(
            "ze_module_desc_t",
            format=lib.ZE_MODULE_FORMAT_NATIVE,
            inputSize=len(code),
            pInputModule=ffi.from_buffer("uint8_t[]", code),
            pBuildFlags=ffi.new("char[]", options.encode()),
        )
        try:
            return Module(context, device, build(context, device, binary)[0], signatures, packed_log.decode())
        except BuildError:
            pass  # If the driver refuses its binary, it compiles the source again.
    native, said = build(context, device, module_desc(source, constants, options))
    module = Module(context, device, native, signatures, said)
    size = ffi.new("size_t *")
    if lib.zeModuleGetNativeBinary(native, size, ffi.NULL) == SUCCESS and size[0]:
        binary = ffi.new("uint8_t[]", size[0])
        if lib.zeModuleGetNativeBinary(native, size, binary) == SUCCESS:
            store.put(pack(said.encode(), bytes(ffi.buffer(binary, size[0]))), *key)
    return module
