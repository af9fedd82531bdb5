"""Linked programs: compiled one by one, then linked (OpenCL 1.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .context import Context
from .device import Device
from .errors import SUCCESS
from .fork_guard import in_fork, refuse_in_fork
from .module import (
    ASKING,
    Module,
    build_error,
    build_log,
    compile_program,
    create_program,
    declared_in,
    hint_of,
    is_adapted,
    options_of,
    signatures_of,
    unasked,
)
from .optional_features import explain_missing_features

__all__ = ["Object", "compile_module", "link_modules"]

lib, ffi = driver.lib, driver.ffi


class Object:
    """A compiled program to be linked.

    Attributes
    ----------
    native
        cl_program, released with the last reference.
    source
        source of the program.
    options
        its compile options.
    """

    __slots__ = ("native", "options", "source")

    def __init__(self, native: CData, source: bytes, options: bytes = b"") -> None:
        self.native, self.source, self.options = native, source, options

    # Bound here: at exit the module's names are gone.
    def __del__(
        self, _release: Callable[[CData], int] = lib.clReleaseProgram, _in_fork: Callable[[], bool] = in_fork
    ) -> None:
        if not _in_fork():
            _release(self.native)


def compile_module(
    context: Context,
    device: Device,
    source: bytes,
    *,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> tuple[Object, str]:
    """Compile a module that may use functions of other modules; return it with the compiler's log.

    Raises
    ------
    BuildError
        it does not compile; ``log`` has the compiler's messages.
    KernelNotSupportedError
        it does not compile without an optional feature that the device lacks.
    """
    refuse_in_fork()
    place = context.device(device)
    if not source:
        raise InvalidError("the source is empty; it is SPIR-V or OpenCL C", backend="opencl")
    flags = options_of(place, source, specialization, options)
    with explain_missing_features(place, source):
        unit = Object(create_program(context, place, source, specialization), source, flags)
        return unit, compile_program(unit.native, place, flags, hint_of(source))


def link_modules(context: Context, device: Device, objects: Sequence[Object], *, options: str = "") -> Module:
    """Link several compiled modules into one.

    Raises
    ------
    BuildError
        they do not fit together; ``log`` has the linker's messages.
    """
    refuse_in_fork()
    place = context.device(device)
    result, program, said = _linked(context, place, objects, options)
    if result == lib.CL_LINK_PROGRAM_FAILURE and place.takes_ptx:
        # As for built programs: NVIDIA's driver does not link a kernel without parameters when argument info is on.
        again = [_unasked(context, place, part) for part in objects]
        result, program, said = _linked(context, place, again, options)
    if result != SUCCESS:
        raise build_error(result, "clLinkProgram", place, said)
    signatures = {name: row for part in objects for name, row in signatures_of(part.source).items()}
    declared = {name: row for part in objects for name, row in declared_in(part.source).items()}
    adapted = all(is_adapted(part.source) for part in objects)
    return Module(context, place, program, signatures, said, declared=declared, adapted=adapted)


def _linked(context: Context, place: Device, objects: Sequence[Object], options: str) -> tuple[int, CData, str]:
    """The linker's result code, the linked module (None on failure), and the log."""
    slot = ffi.new("cl_int *")
    programs = ffi.new("cl_program[]", [part.native for part in objects])
    handles = ffi.new("cl_device_id[]", [place.handle])
    flags = ffi.new("char[]", options.encode())
    program = lib.clLinkProgram(context.handle, 1, handles, flags, len(programs), programs, ffi.NULL, ffi.NULL, slot)
    said = build_log(program, place) if program != ffi.NULL else ""
    if slot[0] != SUCCESS and program != ffi.NULL:
        lib.clReleaseProgram(program)
    return int(slot[0]), program, said


def _unasked(context: Context, place: Device, part: Object) -> Object:
    """The same module, compiled without argument info; the module itself if it has none."""
    if ASKING not in part.options:
        return part
    unit = Object(create_program(context, place, part.source), part.source, unasked(part.options))
    compile_program(unit.native, place, unit.options, hint_of(unit.source))
    return unit
