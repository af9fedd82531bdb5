"""Kernel bundles and kernels around native programs and kernels that were made elsewhere (CL, "Construct SYCL objects
from OpenCL ones", "Interoperability with kernel bundles").

Bundle state by the binary type of a program (CL_PROGRAM_BINARY_TYPE):

none                                  input; object, once compiled; executable, once built
compiled object, intermediate, library  object; executable, once linked
executable                            executable
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import BundleState
from ...model.errors import BuildError, Error, InvalidError
from ...model.native_handle import NativeHandle
from ..contract import KernelRecord, NativeModule
from ..contract.reference_counted import AdoptedBundle
from . import memory_svm
from .context import Context
from .device import Device
from .errors import SUCCESS
from .kernel import Kernel, get_kernel
from .link import Object, link_modules
from .module import ASKING, Module, build_error, build_log, build_program, compile_program, declared_in
from .native_handles import find_device, is_among, require_context
from .reference_count import Reference, checked, handle_of, property_of

__all__ = ["adopt_kernel", "adopt_programs", "adopt_programs_of", "program_of"]

lib, ffi = driver.lib, driver.ffi

_NONE = lib.CL_PROGRAM_BINARY_TYPE_NONE
_EXECUTABLE = lib.CL_PROGRAM_BINARY_TYPE_EXECUTABLE
_NAMES = {
    _NONE: "not built",
    lib.CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT: "a compiled object",
    lib.CL_PROGRAM_BINARY_TYPE_LIBRARY: "a library",
    lib.CL_PROGRAM_BINARY_TYPE_INTERMEDIATE: "an intermediate representation",
    _EXECUTABLE: "an executable",
}


class _Program:
    """A given cl_program, its devices, and its binary type on each."""

    def __init__(self, context: Context, handle: NativeHandle, chosen: Sequence[Device]) -> None:
        self.handle = handle
        self.native = checked(handle)
        require_context(context, self.native, handle)
        _require_program(context, self.native, handle)
        members = property_of("clGetProgramInfo", self.native, lib.CL_PROGRAM_DEVICES, "cl_device_id", handle)
        self.devices = tuple(device for device in chosen if is_among(device, members))
        if not self.devices or (len(self.devices) < len(chosen) and not _is_whole(context, chosen)):
            there = [handle_of(native, "cl_device_id") for native in members]
            names = ", ".join(str(find_device(native) or native) for native in there)
            raise InvalidError(f"{handle!r} is a program for {names}, not for {list(chosen)!r}", backend="opencl")

    def binary_type(self, device: Device) -> int:
        """CL_PROGRAM_BINARY_TYPE; none for a program that failed to build, which PoCL reports as an executable."""
        status = self._ask(device, lib.CL_PROGRAM_BUILD_STATUS)
        failed = lib.CL_BUILD_ERROR & 0xFFFFFFFF
        return int(_NONE) if status == failed else self._ask(device, lib.CL_PROGRAM_BINARY_TYPE)

    def is_on_all(self, devices: Sequence[Device], *types: int) -> bool:
        """Whether its binary type is one of these on all devices."""
        return all(self.binary_type(device) in types for device in devices)

    def _ask(self, device: Device, name: int) -> int:
        try:
            answer = driver.get_info("clGetProgramBuildInfo", self.native, device.handle, name)
        except Error as error:
            raise InvalidError(str(error), backend="opencl", native_code=error.native_code) from error
        return int.from_bytes(answer, "little")

    def refuse(self, state: BundleState, device: Device) -> InvalidError:
        kind = _NAMES.get(self.binary_type(device), "of an unknown kind")
        return InvalidError(
            f"{self.handle!r} is {kind} on {device.name}: a bundle in state {str(state)!r} is not made of it. "
            + (
                "Give state='executable'"
                if kind == _NAMES[_EXECUTABLE]
                else "Give state='object', or 'executable' to have it linked"
            ),
            backend="opencl",
        )

    def text(self) -> bytes:
        """Its source in OpenCL C; empty without such a source."""
        return driver.get_info("clGetProgramInfo", self.native, lib.CL_PROGRAM_SOURCE).rstrip(b"\0")

    def source(self) -> bytes:
        """Its source: OpenCL C, or SPIR-V.

        Raises
        ------
        InvalidError
            the program has a binary and no source.
        """
        text = self.text()
        if text:
            return text
        try:
            module = driver.get_info("clGetProgramInfo", self.native, lib.CL_PROGRAM_IL)
        except Error:  # Older drivers do not support the query.
            module = b""
        if not module:
            raise InvalidError(
                f"{self.handle!r} has a binary and no source: a bundle in state 'input' is not made of it. Give "
                "state='executable'",
                backend="opencl",
            )
        return module

    def _has_kernels(self) -> bool:
        """Whether kernels can be created. Intel's driver reports a given binary as a built executable even before its
        build, and then aborts the process for most queries: the test creates a kernel under an unused name.
        """
        slot = ffi.new("cl_int *")
        lib.clCreateKernel(self.native, b"is it built", slot)
        return bool(slot[0] != lib.CL_INVALID_PROGRAM_EXECUTABLE)

    def build(self) -> None:
        """Build it in place, for its devices without a build."""
        devices = [device for device in self.devices if self.binary_type(device) == _NONE]
        if not devices and not self._has_kernels():
            devices = list(self.devices)
        if not devices:
            return
        result = build_program(self.native, devices, ASKING)
        if result != SUCCESS:
            said = "\n".join(filter(None, (build_log(self.native, device) for device in devices)))
            raise build_error(result, "clBuildProgram", devices[0], said)


def _require_program(context: Context, native: CData, handle: NativeHandle) -> None:
    """Refuse other objects as far as they can be detected: PoCL dereferences any pointer, and a cl_kernel has a context
    too.

    Raises
    ------
    InvalidError
        the program has more devices than its context.
    """
    (most,) = property_of("clGetContextInfo", context.handle, lib.CL_CONTEXT_NUM_DEVICES, "cl_uint", handle)
    (count,) = property_of("clGetProgramInfo", native, lib.CL_PROGRAM_NUM_DEVICES, "cl_uint", handle)
    if not 1 <= count <= most:
        raise InvalidError(
            f"{handle!r} is no cl_program: give NativeHandle(number, 'cl_kernel') where it is a kernel",
            backend="opencl",
        )


def _is_whole(context: Context, chosen: Sequence[Device]) -> bool:
    """Whether the devices are all of the context: then no device was requested that a program may lack."""
    return len(chosen) == len(context.devices)


def adopt_programs(
    context: Context,
    devices: Sequence[Device],
    handles: Sequence[NativeHandle],
    state: BundleState,
    owned: bool,
) -> AdoptedBundle:
    """The modules or objects of programs for a bundle in a state; compiles, builds and links the programs as needed.

    Parameters
    ----------
    devices
        devices of the context, or the devices that every program has to support.
    owned
        whether the bundle takes over the caller's references; otherwise it retains its own.

    Raises
    ------
    InvalidError
        not a program of the context, not for these devices, or past this state.
    BuildError
        it does not build; ``log`` has the messages of the compiler or linker.
    """
    programs = [_Program(context, handle, devices) for handle in handles]
    common = tuple(device for device in devices if all(device in program.devices for program in programs))
    if not common:
        raise InvalidError(f"no device is common to the programs {list(handles)!r}", backend="opencl")
    for program in programs:
        for device in common:
            kind = program.binary_type(device)
            if (state is BundleState.input and kind != _NONE) or (state is BundleState.object and kind == _EXECUTABLE):
                raise program.refuse(state, device)
    sources = tuple(program.source() for program in programs) if state is BundleState.input else ()
    if state is BundleState.object:
        for program in programs:
            for device in common:
                if program.binary_type(device) == _NONE:
                    compile_program(program.native, device)
    objects: list[Object] = []
    modules: dict[Device, list[Module]] = {}
    if state is BundleState.executable:
        try:
            _make_executable(context, common, programs, modules)
        except BaseException:
            for of_device in modules.values():
                for module in of_device:
                    module.close()
            raise
    for program in programs:
        objects.append(Object(program.native, b""))
        if not owned:
            lib.clRetainProgram(program.native)
    for found_modules in modules.values():
        for module in found_modules:
            module.keeps = tuple(objects)
    parts = {device: tuple(objects) for device in common} if state is BundleState.object else {}
    natives = {device: [NativeModule(module) for module in rows] for device, rows in modules.items()}
    return AdoptedBundle(common, natives, parts, sources, tuple(objects))


def _make_executable(
    context: Context, devices: Sequence[Device], programs: Sequence[_Program], modules: dict[Device, list[Module]]
) -> None:
    """Create modules of programs: built programs, programs that build alone, and one module linked from the compiled
    ones. If one does not build, or these do not fit together, the programs may need each other: all but the executables
    are compiled and linked.
    """
    executable = [program for program in programs if program.is_on_all(devices, _EXECUTABLE)]
    others = [program for program in programs if program not in executable]
    alone = [program for program in others if program.is_on_all(devices, _NONE, _EXECUTABLE)]
    try:
        for program in executable + alone:
            program.build()
        linked = _linked(context, devices, [program for program in others if program not in alone])
    except BuildError:
        if len(others) < 2 or not alone:
            raise
        for program in alone:
            for device in devices:
                compile_program(program.native, device, ASKING)
        linked, alone = _linked(context, devices, others), []
    for device in devices:
        for program in programs:
            if program in executable or program in alone:
                said, declared = build_log(program.native, device), declared_in(program.text())
                module = Module(context, device, program.native, {}, said, owned=False, declared=declared)
                modules.setdefault(device, []).append(module)
        modules.setdefault(device, []).extend(linked.get(device, ()))


def _linked(context: Context, devices: Sequence[Device], parts: Sequence[_Program]) -> dict[Device, list[Module]]:
    """Link compiled programs into one module per device, after compiling the others."""
    result: dict[Device, list[Module]] = {}
    try:
        for device in devices if parts else ():
            objects = []
            for part in parts:
                if part.binary_type(device) == _NONE:
                    compile_program(part.native, device)
                lib.clRetainProgram(part.native)
                objects.append(Object(part.native, part.text()))
            result[device] = [link_modules(context, device, objects)]
    except BaseException:
        for modules in result.values():
            for module in modules:
                module.close()
        raise
    return result


# ---------------------------------------------------------------------- kernels


def program_of(context: Context, handle: NativeHandle) -> NativeHandle:
    """The cl_program of a cl_kernel of the context."""
    native = checked(handle)
    require_context(context, native, handle)
    (program,) = property_of("clGetKernelInfo", native, lib.CL_KERNEL_PROGRAM, "cl_program", handle)
    return handle_of(program, "cl_program")


class _EndedProgram(Module):
    """The program of kernels that outlived it. A program lives as long as its kernels, but Intel's driver forgets a
    program that the caller has released, and still runs the kernels.
    """

    def __init__(self, context: Context, device: Device, program: NativeHandle, names: tuple[str, ...]) -> None:
        super().__init__(context, device, ffi.cast("cl_program", int(program)), {}, owned=False)
        self._names = names

    def names(self) -> tuple[str, ...]:
        """Names of the remaining kernels."""
        return self._names


def adopt_programs_of(context: Context, devices: Sequence[Device], kernels: Sequence[NativeHandle]) -> AdoptedBundle:
    """The modules of an executable bundle made from native kernels.

    Parameters
    ----------
    devices
        see ``adopt_programs``.

    Raises
    ------
    InvalidError
        not kernels of the context, or not for these devices.
    BuildError
        see ``adopt_programs``.
    """
    of: dict[NativeHandle, list[NativeHandle]] = {}
    for kernel in kernels:
        of.setdefault(program_of(context, kernel), []).append(kernel)
    alive = tuple(program for program in of if _is_alive(context, program))
    ended = {program: kernels_of for program, kernels_of in of.items() if program not in alive}
    if not ended:
        return adopt_programs(context, devices, alive, BundleState.executable, False)
    common = tuple(device for device in devices if all(_runs_on(device, k) for group in ended.values() for k in group))
    if not common:
        raise InvalidError(f"no device is common to the kernels {list(kernels)!r}", backend="opencl")
    adopted = AdoptedBundle(common, {}, {}, (), ())
    if alive:
        adopted = adopt_programs(context, common, alive, BundleState.executable, False)
    modules = {device: list(adopted.modules.get(device, ())) for device in adopted.devices}
    for program, group in ended.items():
        names = tuple(sorted({_name_of(ffi.cast("cl_kernel", int(kernel))) for kernel in group}))
        for device, natives in modules.items():
            natives.append(NativeModule(_EndedProgram(context, device, program, names)))
    return replace(adopted, modules=modules)


def _is_alive(context: Context, program: NativeHandle) -> bool:
    """Whether the driver knows the program of a kernel."""
    try:
        require_context(context, checked(program), program)
    except InvalidError:
        return False
    return True


def _runs_on(device: Device, kernel: NativeHandle) -> bool:
    """Whether a kernel was built for a device."""
    slot = ffi.new("size_t *")
    native, name = ffi.cast("cl_kernel", int(kernel)), lib.CL_KERNEL_WORK_GROUP_SIZE
    result = lib.clGetKernelWorkGroupInfo(native, device.handle, name, ffi.sizeof("size_t"), slot, ffi.NULL)
    return bool(result == SUCCESS)


def _name_of(kernel: CData) -> str:
    return driver.get_text("clGetKernelInfo", kernel, lib.CL_KERNEL_FUNCTION_NAME)


class _ForeignKernel(Kernel):
    """A kernel that was created elsewhere. Without arguments it runs with those that its owner has set."""

    def __init__(self, module: Module, name: str, reference: Reference) -> None:
        super().__init__(module, name, reference.native, owned=False)
        self._reference = reference
        # NVIDIA's driver takes no buffer for an argument that was an address of shared virtual memory before: there the
        # program's own cl_kernel holds the arguments.
        self._apart = self.means is memory_svm and self.device.takes_ptx

    def for_nulls(self, arguments: Sequence[bytes | int]) -> Kernel:
        if arguments and self._apart:
            return get_kernel(self.module, self.name).for_nulls(arguments)
        return super().for_nulls(arguments)

    def record(self) -> KernelRecord:
        return replace(super().record(), may_be_set=True)

    def packed(self, arguments: Sequence[bytes | int]) -> bytes | None:
        """None: the owner's arguments are not known."""

    def require(self, arguments: Sequence[bytes | int]) -> None:
        if arguments:
            super().require(arguments)

    def find(self, arguments: Sequence[bytes | int]) -> CData:
        if arguments:
            return super().find(arguments)
        settings = ffi.new("bindless_settings_t *")  # of none
        settings.generation, settings.foreign = self.context.state.generation, True
        return (), settings, None


def adopt_kernel(module: Module, handle: NativeHandle, owned: bool) -> Kernel:
    """Adopt a kernel of a module."""
    if module.native is None:
        raise InvalidError("the module was released", backend="opencl")
    native = checked(handle)
    if program_of(module.context, handle) != int(ffi.cast("uintptr_t", module.native)):
        listed = ", ".join(module.names()) or "none"
        raise InvalidError(
            f"{handle!r} is a kernel of another cl_program than the bundle's, which has kernels {listed}: give the "
            "bundle of its program, or its context instead",
            backend="opencl",
        )
    name = _name_of(native)
    reference = Reference(native, "cl_kernel", owned)
    try:
        return _ForeignKernel(module, name, reference)
    except BaseException:
        if owned:  # The caller keeps ownership.
            reference.native = None
        raise
