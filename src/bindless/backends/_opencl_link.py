"""Programs compiled one by one and linked (OpenCL 1.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.errors import InvalidError
from ._opencl_context import Context
from ._opencl_device import Device
from ._opencl_errors import SUCCESS
from ._opencl_fork import in_fork, refuse_in_fork
from ._opencl_module import Module, build_error, build_log, create_program, hint_of, options_of, signatures_of

__all__ = ["Object", "compile_module", "link_modules"]

lib, ffi = driver.lib, driver.ffi


class Object:
    """A program that was compiled, and is linked later.

    Attributes:
        native: cl_program, which goes with the last reference.
        source: what it was compiled of.
    """

    __slots__ = ("native", "source")

    def __init__(self, native: Any, source: bytes) -> None:
        self.native, self.source = native, source

    def __del__(self) -> None:
        if not in_fork():
            lib.clReleaseProgram(self.native)


def compile_module(
    context: Context,
    device: Device,
    source: bytes,
    *,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> tuple[Object, str]:
    """Compiles a module that may use functions of others; gives also what the compiler said.

    Raises:
        BuildError: it does not compile; ``log`` has the compiler's words.
    """
    refuse_in_fork()
    place = context.device(device)
    if not source:
        raise InvalidError("the source is empty; it is SPIR-V or OpenCL C", backend="opencl")
    made = Object(create_program(context, place, source, specialization), source)
    flags = ffi.new("char[]", options_of(place, source, specialization, options))
    handles = ffi.new("cl_device_id[]", [place.handle])
    result = lib.clCompileProgram(made.native, 1, handles, flags, 0, ffi.NULL, ffi.NULL, ffi.NULL, ffi.NULL)
    said = build_log(made.native, place)
    if result != SUCCESS:
        raise build_error(result, "clCompileProgram", place, "\n".join(filter(None, (said, hint_of(source)))))
    return made, said


def link_modules(context: Context, device: Device, objects: Sequence[Object], *, options: str = "") -> Module:
    """One module of several compiled ones.

    Raises:
        BuildError: they do not fit together; ``log`` has the linker's words.
    """
    refuse_in_fork()
    place = context.device(device)
    slot = ffi.new("cl_int *")
    programs = ffi.new("cl_program[]", [part.native for part in objects])
    handles = ffi.new("cl_device_id[]", [place.handle])
    flags = ffi.new("char[]", options.encode())
    found = lib.clLinkProgram(context.handle, 1, handles, flags, len(programs), programs, ffi.NULL, ffi.NULL, slot)
    said = build_log(found, place) if found != ffi.NULL else ""
    if slot[0] != SUCCESS:
        if found != ffi.NULL:
            lib.clReleaseProgram(found)
        raise build_error(slot[0], "clLinkProgram", place, said)
    signatures = {name: told for part in objects for name, told in signatures_of(part.source).items()}
    return Module(context, place, found, signatures, said)
