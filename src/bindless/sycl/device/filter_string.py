"""Parsing of device names: filter strings, ``ONEAPI_DEVICE_SELECTOR`` and ``SYCL_DEVICE_FILTER``, as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ...model.enums import Backend, DeviceType
from ...model.errors import InvalidError
from ...model.message_values import shown

__all__ = ["DeviceTerm", "EnvironmentSelector", "parse_device_filter", "parse_filters", "parse_selector_variable"]

_TYPES = {
    "cpu": DeviceType.cpu,
    "gpu": DeviceType.gpu,
    "accelerator": DeviceType.accelerator,
    "acc": DeviceType.accelerator,
    "fpga": DeviceType.accelerator,
    "custom": DeviceType.custom,
}
# Backends that the variables of other SYCL implementations may name; no device here belongs to them.
_FOREIGN = ("hip", "native_cpu", "esimd_emulator", "offload", "host")
_ALIASES = {"ext_oneapi_level_zero": "level_zero", "ext_oneapi_cuda": "cuda", "ext_oneapi_hip": "hip"}


_MOST_DIGITS = 18


class _Listed(Protocol):
    """The properties of a device that a filter matches."""

    @property
    def backend(self) -> Backend: ...

    @property
    def type(self) -> DeviceType: ...

    @property
    def index(self) -> int: ...


def _backend(word: str) -> str | None:
    """Canonical name of a backend, or None if it is none."""
    name = _ALIASES.get(word, word)
    member = Backend.__members__.get(name)
    return str(member) if member is not None else name if name in _FOREIGN else None


def _known_backends() -> str:
    return ", ".join(map(str, Backend))


def _number(word: str) -> int:
    """A number of digits. Of so many that Python refuses them it is one that no device has."""
    return int(word) if len(word) <= _MOST_DIGITS else 10**_MOST_DIGITS


@dataclass(frozen=True)
class DeviceTerm:
    """``backend:type:index``; None stands for any. In a selector the index counts the devices that match the rest."""

    backend: str | None = None
    type: DeviceType | None = None
    index: int | None = None

    def matches(self, device: _Listed) -> bool:
        """Whether backend and type fit."""
        return self.backend in (None, str(device.backend)) and self.type in (None, device.type)


def parse_filters(text: str, name: str = "selector") -> tuple[DeviceTerm, ...]:
    """Filters of a string ``backend:type:index``; any part may be ``*`` or left out; commas separate alternatives.

    Raises
    ------
    InvalidError
        A part is not known; the message lists what is allowed.
    """
    return tuple(_filter(item, text, name) for item in text.split(","))


def _filter(item: str, text: str, name: str) -> DeviceTerm:
    words = [word.strip().lower() for word in item.split(":")]
    fields: dict[str, str | DeviceType | int] = {}
    order = ("backend", "type", "index")
    reached = 0
    if not any(words) or len(words) > 3:
        raise InvalidError(
            f"{name}={shown(text)}: {shown(item)} is no filter; it is 'backend:type:index', such as 'cuda:gpu:0'"
        )
    for word in words:
        kind: str
        value: str | DeviceType | int
        if word in ("*", ""):
            reached += 1
            continue
        if word.isdecimal():
            kind, value = "index", _number(word)
        elif word in _TYPES:
            kind, value = "type", _TYPES[word]
        else:
            backend = _backend(word)
            if backend is None:
                raise InvalidError(
                    f"{name}={shown(text)}: {shown(word)} is neither a backend ({_known_backends()}), "
                    f"nor a type of device ({', '.join(_TYPES)}), nor a number"
                )
            kind, value = "backend", backend
        if order.index(kind) < reached:
            raise InvalidError(
                f"{name}={shown(text)}: {shown(word)} is out of place; the order is 'backend:type:index'"
            )
        reached = order.index(kind) + 1
        fields[kind] = value
    return DeviceTerm(**fields)  # type: ignore[arg-type]


def parse_device_filter(text: str) -> tuple[DeviceTerm, ...]:
    """``SYCL_DEVICE_FILTER``: the same triples, but a number is a device's own, which counts those of its backend."""
    return parse_filters(text, "SYCL_DEVICE_FILTER")


# ---------------------------------------------------------------------- ONEAPI_DEVICE_SELECTOR

_Device = TypeVar("_Device", bound=_Listed)
_MOST_PARTS = 3  # device, sub-device, sub-sub-device

# Numbers of a device, its sub-device and that one's sub-device; None stands for any.
_Path = tuple["int | None", ...]


@dataclass(frozen=True)
class _Term:
    """``backend:device,device...``; ``types`` and ``paths`` list what is named, ``*`` is the path ``(None,)``."""

    backend: str
    types: tuple[DeviceType, ...]
    paths: tuple[_Path, ...]

    def matches(self, root: _Listed, path: tuple[int, ...]) -> bool:
        """Whether it names the part at ``path`` of a device; the path of the device itself is its number alone."""
        if self.backend not in ("*", str(root.backend)):
            return False
        if len(path) == 1 and root.type in self.types:
            return True
        return any(
            len(named) == len(path) and all(name in (None, number) for name, number in zip(named, path))
            for named in self.paths
        )

    @property
    def depth(self) -> int:
        """1 where it names devices alone, 2 with sub-devices, 3 with sub-devices of those."""
        return max((len(path) for path in self.paths), default=1)


@dataclass(frozen=True)
class EnvironmentSelector:
    """The value of ``ONEAPI_DEVICE_SELECTOR``: what is accepted, less what is discarded."""

    accepts: tuple[_Term, ...]
    discards: tuple[_Term, ...]

    def select(self, devices: Sequence[_Device], divide: Callable[[_Device], Sequence[_Device]]) -> tuple[_Device, ...]:
        """The devices that may be seen.

        Parameters
        ----------
        devices : Sequence[_Device]
            All there are.
        divide : Callable[[_Device], Sequence[_Device]]
            Gives the sub-devices of a device, none where it has none; asked only where terms name them.
        """
        depth = max(term.depth for term in self.accepts)
        parts: list[_Device] = []
        for root in devices:
            self._visit(root, root, (root.index,), depth, divide, parts)
        return tuple(parts)

    def _visit(
        self,
        root: _Device,
        part: _Device,
        path: tuple[int, ...],
        depth: int,
        divide: Callable[[_Device], Sequence[_Device]],
        parts: list[_Device],
    ) -> None:
        if any(term.matches(root, path) for term in self.accepts) and not any(
            term.matches(root, path) for term in self.discards
        ):
            parts.append(part)
        if len(path) < depth:
            for number, smaller in enumerate(divide(part)):
                self._visit(root, smaller, (*path, number), depth, divide, parts)


def parse_selector_variable(text: str) -> EnvironmentSelector:
    """Parses ``[!]backend:devices[;...]``; discards (``!``) come last, and alone they start from all devices.

    ``devices`` is a comma list of ``*``, ``cpu``, ``gpu``, ``fpga`` or a number that counts the devices of the backend.
    ``n.m``, ``n.*`` and ``*.*`` name sub-devices by next-partitionable affinity domain, with a third part the
    sub-devices of those; devices that cannot be divided so have none.

    Raises
    ------
    InvalidError
        The text does not follow the grammar; the message shows the part and the way it should be.
    """
    accepts: list[_Term] = []
    discards: list[_Term] = []
    for item in text.split(";"):
        word = item.strip().lower()
        if word.startswith("!"):
            discards.append(_term(word[1:].strip(), text))
        elif discards:
            raise _wrong(text, f"{shown(item.strip())} comes after a discarding term; terms with '!' come last")
        else:
            accepts.append(_term(word, text))
    if not accepts:
        accepts.append(_Term("*", (), ((None,),)))
    return EnvironmentSelector(tuple(accepts), tuple(discards))


def _term(word: str, text: str) -> _Term:
    backend, colon, devices = word.partition(":")
    backend = backend.strip()
    if not word:
        raise _wrong(text, "a term is empty; terms are 'backend:devices', such as 'cuda:gpu' or '*:0'")
    if not colon or not devices.strip():
        raise _wrong(text, f"{shown(word)} is incomplete; write '{backend or '*'}:*' for all its devices")
    name = "*" if backend == "*" else _backend(backend)
    if name is None:
        raise _wrong(text, f"{shown(backend)} is no backend; it is *, {_known_backends()}")
    types: list[DeviceType] = []
    paths: list[_Path] = []
    for device in (part.strip() for part in devices.split(",")):
        if device in _TYPES:
            types.append(_TYPES[device])
        else:
            paths.append(_path(device, text))
    return _Term(name, tuple(types), tuple(paths))


def _path(device: str, text: str) -> _Path:
    parts = device.split(".")
    if not all(part == "*" or part.isdecimal() for part in parts):
        if len(parts) > 1:
            raise _wrong(text, f"{shown(device)} is no sub-device; it is 'n.m', 'n.*' or '*.*', with numbers n and m")
        raise _wrong(
            text, f"{shown(device)} is no device; it is *, cpu, gpu, fpga, a number or a sub-device such as '0.1'"
        )
    if len(parts) > _MOST_PARTS:
        raise _wrong(
            text, f"{shown(device)} has {len(parts)} parts; sub-devices have their own, as in '0.1.2', and no more"
        )
    path = tuple(None if part == "*" else _number(part) for part in parts)
    stars = [number is None for number in path]
    if stars != sorted(stars):
        raise _wrong(text, f"{shown(device)}: after '*' there is only '*', as in '{'.'.join('*' * len(parts))}'")
    return path


def _wrong(text: str, reason: str) -> InvalidError:
    return InvalidError(f"ONEAPI_DEVICE_SELECTOR={shown(text)}: {reason}")
