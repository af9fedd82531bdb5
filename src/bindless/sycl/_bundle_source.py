"""What a kernel bundle is built from: the source, its specialization constants, and the ways of building it."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..backends.contract import LinkingProtocol, NativeModule, NativeObject
from ..model.aspects import Aspect
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.module import ModuleDescription, pack_constant
from ._where import resolve_where
from .context import Context

if TYPE_CHECKING:
    from .device import Device

__all__ = ["BundleSource", "link_objects", "read_source", "where_to_load"]


def where_to_load(where: Sequence[object]) -> tuple[tuple[Device, ...], Context]:
    """Devices and context of ``queue``, ``device, context`` or ``context``."""
    if len(where) == 1 and isinstance(where[0], Context):
        context = where[0]
        context._native  # noqa: B018  raises if it has ended
        return context.devices, context
    device, context = resolve_where(*where)
    # The context's own object, by which launches know the device at once.
    return (context.devices[context.devices.index(device)],), context


def read_source(source: object) -> bytes:
    """The bytes of a source or of the file of this name.

    Raises:
        InvalidError: the file cannot be read, it is empty, or it is neither.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif isinstance(source, (str, os.PathLike)):
        try:
            with open(source, "rb") as file:
                data = file.read()
        except (OSError, ValueError) as error:
            raise InvalidError(f"source={os.fspath(source)!r} cannot be read: {error}") from error
    else:
        raise InvalidError(f"source: a {type(source).__name__} is neither a path nor bytes")
    if not data:
        raise InvalidError("source is empty: it is PTX or cubin on cuda, SPIR-V elsewhere")
    return data


class BundleSource:
    """One module before it is built.

    Args:
        context: whose backend is to build it.
        data: the module.
        options: for the driver's compiler.

    Raises:
        InvalidError: the options are no string.
        BuildError: the source cannot be one of the backend's languages.
    """

    __slots__ = ("_backend", "_described", "_packed", "_values", "data", "options")

    def __init__(self, context: Context, data: bytes, options: str) -> None:
        self._backend = context._backend
        self.data = data
        self.options = _checked_options(options)
        self._described: ModuleDescription = self._backend.describe_module(data)
        self._values: dict[int, Any] = {}
        self._packed: dict[int, bytes] = {}

    def _copy(self) -> BundleSource:
        made = BundleSource.__new__(BundleSource)
        made._backend, made.data, made.options = self._backend, self.data, self.options
        made._described, made._values, made._packed = self._described, dict(self._values), dict(self._packed)
        return made

    def with_options(self, options: str) -> BundleSource:
        """The same with more options, and with constants that are not set any more when this one's are."""
        made = self._copy()
        made.options = " ".join(filter(None, (self.options, _checked_options(options))))
        return made

    def joined(self, others: Sequence[BundleSource]) -> BundleSource:
        """What is known of several modules that were linked."""
        made = self._copy()
        names = [other._described.kernel_names for other in (self, *others)]
        constants = [other._described.constants for other in (self, *others)]
        made._described = ModuleDescription(
            None if None in names else tuple(name for part in names for name in part or ()),
            {number: row for part in constants for number, row in (part or {}).items()} if any(constants) else None,
        )
        for other in others:
            made._values.update(other._values)
        return made

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """What the source tells of its kernels."""
        names = self._described.kernel_names
        if names is None:
            raise FeatureNotSupportedError(
                "the source does not tell its kernels before it is built: call bundle.build(), or ask has_kernel there",
                backend=str(self._backend.backend),
            )
        return names

    # ------------------------------------------------------------------ specialization constants

    @property
    def constants(self) -> Mapping[int, Any] | None:
        """What the source tells of its specialization constants; None where its language has none."""
        return self._described.constants

    def set(self, number: object, value: object) -> None:
        """Sets a constant."""
        key = _constant_number(number)
        packed = pack_constant(key, value) if self.constants is None else self._constant(key).pack(value)
        self._values[key], self._packed[key] = value, packed

    def get(self, number: object) -> Any:
        """The value set, or else the default."""
        key = _constant_number(number)
        if key in self._values:
            return self._values[key]
        constant = self._constant(key)
        return constant.value(constant.default)

    def values(self) -> dict[int, Any]:
        """All of them."""
        known = {number: constant.value(constant.default) for number, constant in (self.constants or {}).items()}
        return {**known, **self._values}

    def _constant(self, number: int) -> Any:
        known = self.constants or {}
        if number not in known:
            listed = ", ".join(map(str, known)) or "none"
            raise InvalidError(f"specialization constant {number}: the source has {listed}")
        return known[number]

    # ------------------------------------------------------------------ building

    def load(self, context: Context, devices: Sequence[Device]) -> tuple[dict[Device, NativeModule], dict[Device, str]]:
        """A module for each device, and what the compiler said. If one fails none is left."""
        natives: dict[Device, NativeModule] = {}
        try:
            for device in devices:
                natives[device] = self._backend.load_module(
                    context._native,
                    device._record.native,
                    self.data,
                    specialization=self._packed or None,
                    options=self.options,
                )
        except BaseException:
            for native in natives.values():
                self._backend.release_module(native)
            raise
        return natives, {device: self._backend.module_log(native) for device, native in natives.items()}

    def compile(
        self, context: Context, devices: Sequence[Device]
    ) -> tuple[dict[Device, NativeObject], dict[Device, str]]:
        """What is linked later, for each device. Without a linker that is the source, once it has built."""
        objects: dict[Device, NativeObject] = {}
        logs: dict[Device, str] = {}
        for device in devices:
            if device.has(Aspect.online_linker):
                objects[device], logs[device] = cast(LinkingProtocol, self._backend).compile_module(
                    context._native,
                    device._record.native,
                    self.data,
                    specialization=self._packed or None,
                    options=self.options,
                )
            else:
                natives, said = self.load(context, (device,))
                self._backend.release_module(natives[device])
                objects[device], logs[device] = self, said[device]
        return objects, logs


def link_objects(
    context: Context, objects: Mapping[Device, Sequence[NativeObject]], first: BundleSource, options: str
) -> tuple[dict[Device, NativeModule], dict[Device, str]]:
    """A module for each device of its objects. Every driver links one object; several need a linker."""
    options = _checked_options(options)
    natives: dict[Device, NativeModule] = {}
    backend = context._backend
    try:
        for device, parts in objects.items():
            if device.has(Aspect.online_linker):
                linker = cast(LinkingProtocol, backend)
                natives[device] = linker.link_modules(context._native, device._record.native, parts, options=options)
            else:
                if len(parts) > 1:
                    device._require(Aspect.online_linker, f"linking {len(parts)} bundles")
                natives.update(first.with_options(options).load(context, (device,))[0])
    except BaseException:
        for native in natives.values():
            backend.release_module(native)
        raise
    return natives, {device: backend.module_log(native) for device, native in natives.items()}


def _checked_options(options: object) -> str:
    if not isinstance(options, str):
        raise InvalidError(f"options={options!r} is no string")
    return options


def _constant_number(key: object) -> int:
    try:
        number = operator.index(key)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise InvalidError(f"specialization: {key!r} is no number of a specialization constant (0 to {2**32 - 1})")
    return number
