"""Linked modules: SPIR-V modules that use each other's functions and variables, built as one program.

The extension ``ZE_experimental_module_program`` builds one module from several. The core's ``zeModuleDynamicLink``
keeps the modules separate; ``link_loaded`` offers it for modules loaded one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...drivers import level_zero as driver
from ...model.errors import BuildError, InvalidError
from ...model.module import spirv
from .context import Context
from .device import Device
from .errors import SUCCESS, release
from .fork_guard import refuse_in_fork
from .module import Constants, Module, build, describe_module, module_desc, require_source, text_of_log

__all__ = ["LINKER", "Object", "compile_module", "link_modules"]

lib, ffi = driver.lib, driver.ffi

LINKER = "ZE_experimental_module_program"


class Object:
    """SPIR-V to be linked, with its constants and compile options."""

    __slots__ = ("constants", "options", "source")

    def __init__(self, source: bytes, constants: Constants, options: str) -> None:
        self.source = source
        self.constants = constants
        self.options = options


def compile_module(
    context: Context,
    device: Device,
    source: bytes,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> tuple[Object, str]:
    """Compile a module that may use functions of other modules; return it with the compiler's log.

    The driver compiles all modules of a program together; this call compiles one by itself to find its errors.

    Raises
    ------
    The exceptions of ``load_module``; ``InvalidError`` for a native binary, which cannot be linked.
    """
    refuse_in_fork()
    place = context.device(device)
    require_source(place, source)
    if not spirv.is_spirv(source):
        raise InvalidError(
            "the source is a native binary, and objects to be linked are SPIR-V: load it with state='executable'",
            backend="level_zero",
        )
    describe_module(source)  # A damaged module is refused here: it may crash a compiler.
    unit = Object(source, Constants(source, specialization), options)
    native, said = build(context, place, module_desc(source, unit.constants, options))
    release(lib.zeModuleDestroy(native), "zeModuleDestroy")
    return unit, said


def link_modules(context: Context, device: Device, objects: Sequence[Object], options: str = "") -> Module:
    """Link several modules into one. Options of the link are added to those of each object.

    Raises
    ------
    BuildError
        a function is undefined or defined twice; ``log`` has the driver's messages.
    """
    refuse_in_fork()
    place = context.device(device)
    sources = [ffi.from_buffer("uint8_t[]", item.source) for item in objects]
    words = [ffi.new("char[]", " ".join(filter(None, (item.options, options))).encode()) for item in objects]
    program = driver.make_struct(
        "ze_module_program_exp_desc_t",
        count=len(objects),
        inputSizes=ffi.new("size_t[]", [len(item.source) for item in objects]),
        pInputModules=ffi.new("uint8_t const *[]", sources),
        pBuildFlags=ffi.new("char const *[]", words),
        pConstants=ffi.new("ze_module_constants_t const *[]", [item.constants.native for item in objects]),
    )
    # With a program its own input is ignored, but the validation layer requires one.
    desc = driver.make_struct(
        "ze_module_desc_t",
        program,
        format=lib.ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize=len(sources[0]),
        pInputModule=sources[0],
    )
    native, said = build(context, place, desc)
    signatures = {name: row for item in objects for name, row in describe_module(item.source).kernels.items()}
    module = Module(context, place, native, signatures, said)
    try:
        _require_whole(module)
    except BaseException:
        module.close()
        raise
    return module


def _require_whole(module: Module) -> None:
    """Refuse a program with unresolved imports: a driver may build it, but its kernels cannot run."""
    properties = driver.get_properties("ze_module_properties_t", "zeModuleGetProperties", module.native)
    if properties.flags & lib.ZE_MODULE_PROPERTY_FLAG_IMPORTS:
        missing = imports(module) or module.log
        raise BuildError(f"unresolved imports of the linked modules:\n{missing}", log=missing, backend="level_zero")


def imports(module: Module) -> str:
    """The unresolved imports of a module, in the driver's words; empty if the driver does not report them."""
    inspect = module.device.driver.function("zeModuleInspectLinkageExt")
    if inspect is None:
        return ""
    desc = driver.make_struct(
        "ze_linkage_inspection_ext_desc_t", flags=lib.ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS
    )
    log = ffi.new("ze_module_build_log_handle_t *")
    result = inspect(desc, 1, ffi.new("ze_module_handle_t *", module.native), log)
    return text_of_log(log[0]) if result == SUCCESS else ""
