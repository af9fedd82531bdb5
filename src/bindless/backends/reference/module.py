"""SPIR-V modules and kernels of the reference driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...compiler.native_code import gains, has_compiler
from ...compiler.native_slots import native_slot
from ...drivers.common.cffi_types import FFI, CData
from ...model.errors import BuildError, InvalidError
from ..common.kernel import unknown_kernel
from ..contract import KernelArgument, KernelRecord

if TYPE_CHECKING:
    from ...drivers.reference._bindings import Library

__all__ = ["Kernel", "Kernels", "Module", "Object"]

_ARGUMENT_KINDS = ("value", "pointer", "local", "image", "sampler")


class Kernel:
    """A kernel: its handle and its signature; a kernel that is not ``owned`` is never destroyed here."""

    __slots__ = ("handle", "owned", "record", "sizes")

    def __init__(self, handle: CData, record: KernelRecord, owned: bool = True) -> None:
        self.handle, self.record, self.owned = handle, record, owned
        self.sizes = tuple(argument.size for argument in record.arguments or ())


class Module:
    """A module and its requested or ``adopted`` kernels; a module that is not ``owned`` is never destroyed here."""

    __slots__ = ("adopted", "handle", "kernels", "names", "owned")

    def __init__(self, handle: CData, names: tuple[str, ...], owned: bool = True) -> None:
        self.handle, self.names, self.owned = handle, names, owned
        self.kernels: dict[str, Kernel] = {}
        self.adopted: list[Kernel] = []


class Object:
    """A module to be linked: the driver builds it again for the link, which takes milliseconds."""

    __slots__ = ("source", "specialization")

    def __init__(self, source: bytes, specialization: Mapping[int, bytes] | None) -> None:
        self.source, self.specialization = source, specialization


class Kernels:
    """The driver's calls for kernels.

    Parameters
    ----------
    lib, ffi
        bindings of the driver.
    check
        function that raises for a result other than success.
    """

    def __init__(self, lib: Library, ffi: FFI, check: Callable[[int, str], None]) -> None:
        self._lib, self._ffi, self._check = lib, ffi, check

    # ------------------------------------------------------------------ modules

    def load(self, context: CData, source: bytes, specialization: Mapping[int, bytes] | None, options: str) -> Module:
        """Load a module; ``BuildError`` names the invalid or unsupported instruction, and its word."""
        _refuse_options(options)
        handle = self._built("blrModuleCreate", context, source, specialization)
        return Module(handle, self._names(handle))

    def compile(
        self, context: CData, source: bytes, specialization: Mapping[int, bytes] | None, options: str
    ) -> Object:
        """Compile a module that may use functions and variables of other modules; built once to find its errors."""
        _refuse_options(options)
        self._lib.blrModuleDestroy(self._built("blrModuleCompile", context, source, specialization))
        return Object(source, specialization)

    def link(self, context: CData, objects: Sequence[Object], options: str) -> Module:
        """Link several modules into one; ``BuildError`` names undefined symbols and duplicates."""
        _refuse_options(options)
        linked = self._ffi.new("blr_module_t *")
        parts: list[CData] = []
        try:
            for part in objects:
                parts.append(self._built("blrModuleCompile", context, part.source, part.specialization))
            handles = self._ffi.new("blr_module_t[]", parts)
            self._checked(self._lib.blrModuleLink(context, len(parts), handles, linked), "blrModuleLink")
        finally:
            for handle in parts:
                self._lib.blrModuleDestroy(handle)
        return Module(linked[0], self._names(linked[0]))

    def _built(self, call: str, context: CData, source: bytes, specialization: Mapping[int, bytes] | None) -> CData:
        """The handle that blrModuleCreate or blrModuleCompile returns."""
        ffi = self._ffi
        constants = ffi.new("blr_specialization_t[]", max(len(specialization or {}), 1))
        buffers = []
        for row, (number, value) in zip(constants, (specialization or {}).items()):
            buffers.append(ffi.from_buffer(value))
            row.id, row.size, row.value = number, len(value), buffers[-1]
        module = ffi.new("blr_module_t *")
        self._checked(getattr(self._lib, call)(context, source, len(source), len(buffers), constants, module), call)
        return module[0]

    def _checked(self, result: int, call: str) -> None:
        """Raise an error with the driver's sentence as the build log."""
        try:
            self._check(result, call)
        except BuildError as error:
            raise BuildError(
                str(error),
                log=str(error),
                backend="reference",
                native_code=error.native_code,
                native_name=error.native_name,
            ) from None

    def _names(self, module: CData) -> tuple[str, ...]:
        ffi = self._ffi
        count, name = ffi.new("uint32_t *"), ffi.new("char const **")
        self._check(self._lib.blrModuleGetKernelCount(module, count), "blrModuleGetKernelCount")
        names = []
        for index in range(count[0]):
            self._check(self._lib.blrModuleGetKernelName(module, index, name), "blrModuleGetKernelName")
            names.append(ffi.string(name[0]).decode("utf-8", "replace"))
        return tuple(sorted(names))

    def release(self, module: Module) -> None:
        """Release the module and its kernels; submitted launches keep their data."""
        for kernel in (*module.kernels.values(), *module.adopted):
            if kernel.owned:
                self._lib.blrKernelDestroy(kernel.handle)
        module.kernels.clear()
        module.adopted.clear()
        if module.owned:
            self._lib.blrModuleDestroy(module.handle)

    def adopt(self, handle: CData, owned: bool) -> Module:
        """Adopt a module that was created elsewhere."""
        return Module(handle, self._names(handle), owned)

    def adopt_kernel(self, module: Module, handle: CData, owned: bool) -> Kernel:
        """Adopt a kernel of a module; the driver reports its name."""
        if owned and any(own.handle == handle and own.owned for own in (*module.kernels.values(), *module.adopted)):
            raise InvalidError(
                "ownership='transfer' of a kernel that a Kernel of this package owns already: get_native does not "
                "transfer ownership; give ownership='keep'",
                backend="reference",
            )
        properties = self._ffi.new("blr_kernel_properties_t *")
        self._check(self._lib.blrKernelGetProperties(handle, properties), "blrKernelGetProperties")
        name = self._ffi.string(properties.name).decode("utf-8", "replace")
        if name not in module.names:
            listed = ", ".join(module.names) or "none"
            raise InvalidError(
                f"this is a kernel {name!r}; the kernel bundle's module has {listed}: give the bundle of its module",
                backend="reference",
            )
        kernel = Kernel(handle, self._record(handle, name), owned)
        module.adopted.append(kernel)
        return kernel

    # ------------------------------------------------------------------ kernels

    def get(self, module: Module, name: str) -> Kernel:
        """The kernel of this name; ``InvalidError`` lists the module's kernels."""
        if name not in module.names:
            raise unknown_kernel(module.names, name, "reference")
        if name not in module.kernels:
            kernel = self._ffi.new("blr_kernel_t *")
            self._check(self._lib.blrKernelCreate(module.handle, name.encode(), kernel), "blrKernelCreate")
            module.kernels[name] = Kernel(kernel[0], self._record(kernel[0], name))
            self._translate(kernel[0])
        return module.kernels[name]

    def _translate(self, kernel: CData) -> None:
        """Give the kernel native code, now or later; without a translation or a compiler the executor runs it."""
        mode = os.environ.get("BINDLESS_REFERENCE_NATIVE")
        if mode not in ("1", "background") or not has_compiler():
            return
        size = self._ffi.new("uint64_t *")
        self._check(self._lib.blrKernelGetNativeText(kernel, self._ffi.NULL, size), "blrKernelGetNativeText")
        if size[0] == 0:
            return
        buffer = self._ffi.new("char[]", size[0])
        self._check(self._lib.blrKernelGetNativeText(kernel, buffer, size), "blrKernelGetNativeText")
        text = self._ffi.string(buffer)
        if gains(text):
            slot = self._ffi.cast("void *", native_slot(text, mode == "1"))
            self._check(self._lib.blrKernelSetNative(kernel, slot), "blrKernelSetNative")

    def _record(self, kernel: CData, name: str) -> KernelRecord:
        ffi = self._ffi
        properties, argument = ffi.new("blr_kernel_properties_t *"), ffi.new("blr_kernel_argument_t *")
        self._check(self._lib.blrKernelGetProperties(kernel, properties), "blrKernelGetProperties")
        arguments = []
        for index in range(properties.argument_count):
            self._check(self._lib.blrKernelGetArgument(kernel, index, argument), "blrKernelGetArgument")
            text = ffi.string(argument.name).decode("utf-8", "replace")
            arguments.append(KernelArgument(index, text, _ARGUMENT_KINDS[int(argument.kind)], int(argument.size)))
        required = tuple(int(size) for size in properties.required_work_group_size)
        return KernelRecord(
            name=name,
            arguments=tuple(arguments),
            max_work_group_size=int(properties.max_work_group_size),
            local_memory_size=int(properties.local_memory_size),
            private_memory_size=int(properties.private_memory_size),
            required_work_group_size=required if any(required) else None,
            properties={
                "max_sub_group_size": int(properties.sub_group_size),
                "compile_sub_group_size": int(properties.required_sub_group_size),
            },
        )


def _refuse_options(options: str) -> None:
    if options.strip():
        raise InvalidError(
            f"options={options!r}: the reference device takes SPIR-V as it is and knows no options; leave them out",
            backend="reference",
        )
