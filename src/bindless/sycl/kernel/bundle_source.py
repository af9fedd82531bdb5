"""Source of a kernel bundle: text or modules, specialization constants, and build steps."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...backends.contract import (
    BackendProtocol,
    KernelArgument,
    KernelRecord,
    NativeModule,
    NativeObject,
    require_group,
)
from ...model.aspects import Aspect
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.message_values import shown
from ...model.module.description import KernelSignature, ModuleDescription, pack_constant
from ...model.module.kernel_file import KernelFile
from ..device.context import Context
from ..device.device_context import resolve_where
from .module_choice import choose_modules

if TYPE_CHECKING:
    from ..device.device import Device

__all__ = ["BundleSource", "link_objects", "where_to_load"]


Natives = dict["Device", list[NativeModule]]


def where_to_load(where: Sequence[object]) -> tuple[tuple[Device, ...], Context]:
    """Devices and context of ``queue``, ``device, context`` or ``context``."""
    if len(where) == 1 and isinstance(where[0], Context):
        context = where[0]
        context._native  # noqa: B018  raises if it has ended
        return context.devices, context
    device, context = resolve_where(*where)
    # The context's own object, by which launches know the device at once.
    return (context.devices[context.devices.index(device)],), context


class BundleSource:
    """Modules before they are built: one, or several of a file of ``bindless build``.

    Parameters
    ----------
    context : Context
        Whose backend is to build them.
    source : bytes | KernelFile
        The module, or the file.
    options : str
        For the driver's compiler.
    devices : Sequence[Device]
        That are to run them.

    Raises
    ------
    InvalidError
        The options are no string.
    BuildError
        The source cannot be one of the backend's languages.
    """

    __slots__ = ("_backend", "_constants", "_description", "_packed", "_values", "modules", "options")

    def __init__(self, context: Context, source: bytes | KernelFile, options: str, devices: Sequence[Device]) -> None:
        self._backend = context._backend
        self.modules = choose_modules(source, self._backend, devices)
        self.options = _require_text(options)
        descriptions = [self._backend.describe_module(module) for module in self.modules]
        signatures: Mapping[str, KernelSignature] = {}
        if isinstance(source, KernelFile):  # it has signatures, which a text lacks
            signatures = {kernel.name: kernel for kernel in source.kernels}
            names = {section.data: section.kernels for section in source.sections}
            descriptions = [
                replace(each, kernel_names=names[module]) if each.kernel_names is None else each
                for each, module in zip(descriptions, self.modules)
            ]
        self._constants = tuple(description.constants for description in descriptions)
        self._description = _merge(descriptions, signatures)
        self._values: dict[int, Any] = {}
        self._packed: dict[int, bytes] = {}

    @classmethod
    def without_description(cls, backend: BackendProtocol) -> BundleSource:
        """The source of a module that was built elsewhere: without a description."""
        source = cls.__new__(cls)
        source._backend, source.modules, source.options, source._constants = backend, (), "", ()
        source._description, source._values, source._packed = ModuleDescription(), {}, {}
        return source

    @classmethod
    def of_modules(cls, backend: BackendProtocol, modules: Sequence[bytes]) -> BundleSource:
        """Create the source of modules in the backend's own languages."""
        source = cls.without_description(backend)
        descriptions = [backend.describe_module(module) for module in modules]
        source.modules, source._constants = tuple(modules), tuple(description.constants for description in descriptions)
        source._description = _merge(descriptions, {})
        return source

    def _copy(self) -> BundleSource:
        copy = BundleSource.__new__(BundleSource)
        copy._backend, copy.modules, copy.options = self._backend, self.modules, self.options
        copy._constants = self._constants
        copy._description, copy._values, copy._packed = self._description, dict(self._values), dict(self._packed)
        return copy

    def with_options(self, options: str) -> BundleSource:
        """Return a copy with more options. Constants set in this source later do not change the copy."""
        copy = self._copy()
        copy.options = " ".join(filter(None, (self.options, _require_text(options))))
        return copy

    def merge(self, others: Sequence[BundleSource]) -> BundleSource:
        """Return the source of linked modules, with merged descriptions."""
        copy = self._copy()
        copy._description = _merge([other._description for other in (self, *others)], {})
        for other in others:
            copy._values.update(other._values)
        return copy

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that the source describes."""
        names = self._description.kernel_names
        if names is None:
            raise FeatureNotSupportedError(
                "the source does not tell its kernels before it is built: call bundle.build(), or ask has_kernel there",
                backend=str(self._backend.backend),
            )
        return names

    def complete(self, record: KernelRecord) -> KernelRecord:
        """The record of a kernel from the driver, completed from the source: names, kinds, work-group size."""
        signature = self._description.kernels.get(record.name)
        return record if signature is None else _complete(record, signature)

    # ------------------------------------------------------------------ specialization constants

    @property
    def constants(self) -> Mapping[int, Any] | None:
        """The specialization constants that the source declares; None where its language has none."""
        return self._description.constants

    def set(self, number: object, value: object) -> None:
        """Sets a constant, by its number or name."""
        key = self.number(number)
        packed = pack_constant(key, value) if self.constants is None else self._constant(key).pack(value)
        self._values[key], self._packed[key] = value, packed

    def get(self, number: object) -> Any:
        """The value set, or else the default."""
        key = self.number(number)
        if key in self._values:
            return self._values[key]
        constant = self._constant(key)
        return constant.value(constant.default)

    def number(self, key: object) -> int:
        """The number of a constant, given by that or by its name."""
        if not isinstance(key, str):
            return _constant_number(key)
        names = {constant.name: number for number, constant in (self.constants or {}).items() if constant.name}
        if key not in names:
            raise InvalidError(
                f"specialization: no constant is named {shown(key)}; the source names {', '.join(names) or 'none'}, "
                f"and has the numbers {', '.join(map(str, self.constants or ())) or 'none'}"
            )
        number: int = names[key]
        return number

    def values(self) -> dict[int, Any]:
        """Return the values of all specialization constants."""
        defaults = {number: constant.value(constant.default) for number, constant in (self.constants or {}).items()}
        return {**defaults, **self._values}

    def _constant(self, number: int) -> Any:
        constants = self.constants or {}
        if number not in constants:
            numbers = ", ".join(map(str, constants)) or "none"
            raise InvalidError(f"specialization constant {number}: the source has {numbers}")
        return constants[number]

    # ------------------------------------------------------------------ building

    def load(self, context: Context, devices: Sequence[Device]) -> tuple[Natives, dict[Device, str]]:
        """Modules for each device, and what the compiler said. If one fails none is left."""
        natives: dict[Device, list[NativeModule]] = {device: [] for device in devices}
        try:
            for device in devices:
                for number, module in enumerate(self.modules):
                    native = self._backend.load_module(
                        context._native,
                        device._record.native,
                        module,
                        specialization=self._packed_for(number),
                        options=self.options,
                    )
                    natives[device].append(native)
        except BaseException:
            _release(self._backend, natives)
            raise
        return natives, _logs(self._backend, natives)

    def _packed_for(self, number: int) -> dict[int, bytes] | None:
        """The constants that are set of one module."""
        own = self._constants[number]
        if own is None or len(self.modules) == 1:
            return self._packed or None
        return {key: value for key, value in self._packed.items() if key in own} or None

    def compile(
        self, context: Context, devices: Sequence[Device]
    ) -> tuple[dict[Device, tuple[NativeObject, ...]], dict[Device, str]]:
        """Native objects to link later, for each device; without a linker the source, once it has built."""
        objects: dict[Device, tuple[NativeObject, ...]] = {}
        logs: dict[Device, str] = {}
        for device in devices:
            if device.has(Aspect.online_linker):
                compiler = require_group(self._backend.linking, "linker", self._backend.backend)
                results = [
                    compiler.compile_module(
                        context._native,
                        device._record.native,
                        module,
                        specialization=self._packed_for(number),
                        options=self.options,
                    )
                    for number, module in enumerate(self.modules)
                ]
                objects[device] = tuple(native for native, _ in results)
                logs[device] = "\n".join(filter(None, (log for _, log in results)))
            else:
                natives, log = self.load(context, (device,))
                _release(self._backend, natives)
                objects[device], logs[device] = (self,), log[device]
        return objects, logs


def link_objects(
    context: Context, objects: Mapping[Device, Sequence[NativeObject]], first: BundleSource, options: str
) -> tuple[Natives, dict[Device, str]]:
    """Modules for each device of its objects. Every driver links one object; several need a linker."""
    options = _require_text(options)
    natives: dict[Device, list[NativeModule]] = {}
    backend = context._backend
    try:
        for device, parts in objects.items():
            if device.has(Aspect.online_linker):
                linker = require_group(backend.linking, "linker", backend.backend)
                native = linker.link_modules(context._native, device._record.native, parts, options=options)
                natives[device] = [native]
            else:
                if len(parts) > 1:
                    device._require(Aspect.online_linker, f"linking {len(parts)} bundles")
                natives.update(first.with_options(options).load(context, (device,))[0])
    except BaseException:
        _release(backend, natives)
        raise
    return natives, _logs(backend, natives)


def _release(backend: BackendProtocol, natives: Mapping[Device, Sequence[NativeModule]]) -> None:
    for modules in natives.values():
        for native in modules:
            backend.release_module(native)


def _logs(backend: BackendProtocol, natives: Mapping[Device, Sequence[NativeModule]]) -> dict[Device, str]:
    return {device: "\n".join(filter(None, map(backend.module_log, modules))) for device, modules in natives.items()}


def _merge(descriptions: Sequence[ModuleDescription], signatures: Mapping[str, KernelSignature]) -> ModuleDescription:
    """Merge module descriptions; signatures in ``signatures`` override reflected ones."""
    names = [description.kernel_names for description in descriptions]
    constants = [description.constants for description in descriptions]
    kernels = {name: kernel for description in descriptions for name, kernel in description.kernels.items()}
    return ModuleDescription(
        None if None in names else tuple(name for part in names for name in part or ()),
        {number: row for part in constants for number, row in (part or {}).items()}
        if any(part is not None for part in constants)
        else None,
        {**kernels, **signatures},
    )


def _complete(record: KernelRecord, signature: KernelSignature) -> KernelRecord:
    arguments = record.arguments
    parameters = signature.parameters
    if parameters is not None and (arguments is None or len(arguments) == len(parameters)):
        known_arguments = arguments or [
            KernelArgument(index, "", parameter.kind, parameter.size) for index, parameter in enumerate(parameters)
        ]
        arguments = tuple(
            replace(
                argument,
                name=parameter.name or argument.name,
                kind=parameter.kind if argument.kind == "value" else argument.kind,
                type=parameter.type or argument.type,
                may_be_local=argument.may_be_local and not parameter.type,
            )
            for argument, parameter in zip(known_arguments, parameters)
        )
    return replace(
        record,
        arguments=arguments,
        required_work_group_size=record.required_work_group_size or signature.required_work_group_size,
        group_function=signature.group_function,
    )


def _require_text(options: object) -> str:
    if not isinstance(options, str):
        raise InvalidError(f"options={shown(options)} is no string")
    return options


def _constant_number(key: object) -> int:
    try:
        number = operator.index(key)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise InvalidError(f"specialization: {shown(key)} is no number of a specialization constant (0 to {2**32 - 1})")
    return number
