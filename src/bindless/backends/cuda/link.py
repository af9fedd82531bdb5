"""Linked modules: the driver's linker combines PTX modules that call each other's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...drivers import cuda as driver
from ...model.module.ptx import entries
from .context import Context
from .device import Device
from .errors import SUCCESS, check
from .module import Build, Module, add_input, for_driver, linker, require_source

__all__ = ["Object", "compile_module", "link_modules"]

lib, ffi = driver.lib, driver.ffi

_FAT_BINARY = b"\x50\xed\x55\xba"


class Object:
    """An input of the linker, with its compile options."""

    __slots__ = ("options", "source")

    def __init__(self, source: bytes, options: str) -> None:
        self.source = source
        self.options = options

    @property
    def kind(self) -> int:
        """CUjitInputType."""
        if self.source.startswith(b"\x7fELF"):
            return int(lib.CU_JIT_INPUT_CUBIN)
        return int(lib.CU_JIT_INPUT_FATBINARY if self.source.startswith(_FAT_BINARY) else lib.CU_JIT_INPUT_PTX)


def compile_module(
    context: Context,
    device: Device,
    source: bytes,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> tuple[Object, str]:
    """Compile a module that may use functions of other modules; return it with the compiler's log.

    The driver compiles a module again for each link; this call compiles it once to find its errors.

    Raises
    ------
    The exceptions of ``load_module``.
    """
    require_source(source, specialization)
    build = Build(options)
    unit = Object(source, options)
    with context.primary(device), linker(build) as state:
        add_input(state, build, for_driver(unit.source, device), unit.kind, device)
    return unit, build.log


def link_modules(context: Context, device: Device, objects: Sequence[Object], options: str = "") -> Module:
    """Link several modules into one. The options are those of the objects, in their order, then those of the link.

    Raises
    ------
    BuildError
        a function is undefined or defined twice; ``log`` has the linker's messages.
    InvalidError
        an option is unknown.
    """
    words = " ".join(dict.fromkeys(filter(None, (*(item.options for item in objects), options))))
    build = Build(words)
    primary = context.primary(device)
    module, cubin, size = ffi.new("CUmodule *"), ffi.new("void **"), ffi.new("size_t *")
    with primary, linker(build) as state:
        for item in objects:
            add_input(state, build, for_driver(item.source, device), item.kind, device)
        result = lib.cuLinkComplete(state, cubin, size)
        if result != SUCCESS:
            raise build.error(result, "cuLinkComplete", device)
        check(lib.cuModuleLoadData(module, cubin[0]), "cuModuleLoadData", f"linked for {device.name}")
    described = {name: entry for item in objects for name, entry in entries(item.source).items()}
    return Module(primary, module[0], described, build.log)
