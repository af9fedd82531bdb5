"""Naming devices in text: filter strings, ``ONEAPI_DEVICE_SELECTOR`` and ``SYCL_DEVICE_FILTER``, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..model.enums import Backend, DeviceType
from ..model.errors import InvalidError

__all__ = ["EnvironmentSelector", "Filter", "parse_device_filter", "parse_filters", "parse_selector_variable"]

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


class _Listed(Protocol):
    """What a filter looks at of a device."""

    @property
    def backend(self) -> Backend: ...

    @property
    def type(self) -> DeviceType: ...

    @property
    def index(self) -> int: ...


def _backend(word: str) -> str | None:
    """Canonical name of a backend, or None if it is none."""
    name = _ALIASES.get(word, word)
    return name if name in _FOREIGN or name in Backend.__members__ else None


def _known_backends() -> str:
    return ", ".join(Backend.__members__)


@dataclass(frozen=True)
class Filter:
    """``backend:type:index``; None stands for any. The index counts the devices that match the rest."""

    backend: str | None = None
    type: DeviceType | None = None
    index: int | None = None

    def matches(self, device: _Listed) -> bool:
        """Whether backend and type fit."""
        return self.backend in (None, str(device.backend)) and self.type in (None, device.type)


def parse_filters(text: str, name: str = "selector") -> tuple[Filter, ...]:
    """Filters of a string ``backend:type:index``; any part may be ``*`` or left out; commas separate alternatives.

    Raises:
        InvalidError: a part is not known; the message lists what is allowed.
    """
    return tuple(_filter(item, text, name) for item in text.split(","))


def _filter(item: str, text: str, name: str) -> Filter:
    words = [word.strip().lower() for word in item.split(":")]
    found: dict[str, str | DeviceType | int] = {}
    order = ("backend", "type", "index")
    reached = 0
    if not any(words) or len(words) > 3:
        raise InvalidError(f"{name}={text!r}: {item!r} is no filter; it is 'backend:type:index', such as 'cuda:gpu:0'")
    for word in words:
        kind: str
        value: str | DeviceType | int
        if word in ("*", ""):
            reached += 1
            continue
        if word.isdecimal():
            kind, value = "index", int(word)
        elif word in _TYPES:
            kind, value = "type", _TYPES[word]
        else:
            backend = _backend(word)
            if backend is None:
                raise InvalidError(
                    f"{name}={text!r}: {word!r} is neither a backend ({_known_backends()}), "
                    f"nor a type of device ({', '.join(_TYPES)}), nor a number"
                )
            kind, value = "backend", backend
        if order.index(kind) < reached:
            raise InvalidError(f"{name}={text!r}: {word!r} is out of place; the order is 'backend:type:index'")
        reached = order.index(kind) + 1
        found[kind] = value
    return Filter(**found)  # type: ignore[arg-type]


def parse_device_filter(text: str) -> tuple[Filter, ...]:
    """``SYCL_DEVICE_FILTER``: the same triples, with the numbers counting the devices of the backend or of the type."""
    return parse_filters(text, "SYCL_DEVICE_FILTER")


# ---------------------------------------------------------------------- ONEAPI_DEVICE_SELECTOR


@dataclass(frozen=True)
class _Term:
    """``backend:device,device...``; ``types`` and ``indices`` list what is named, ``everything`` stands for ``*``."""

    backend: str
    everything: bool
    types: tuple[DeviceType, ...]
    indices: tuple[int, ...]

    def matches(self, device: _Listed) -> bool:
        if self.backend not in ("*", str(device.backend)):
            return False
        return self.everything or device.type in self.types or device.index in self.indices


@dataclass(frozen=True)
class EnvironmentSelector:
    """The value of ``ONEAPI_DEVICE_SELECTOR``: what is accepted, less what is discarded."""

    accepts: tuple[_Term, ...]
    discards: tuple[_Term, ...]

    def allows(self, device: _Listed) -> bool:
        """Whether the device may be seen."""
        return any(term.matches(device) for term in self.accepts) and not any(
            term.matches(device) for term in self.discards
        )


def parse_selector_variable(text: str) -> EnvironmentSelector:
    """Parses ``[!]backend:devices[;...]``; discards (``!``) come last, and alone they start from all devices.

    ``devices`` is a comma list of ``*``, ``cpu``, ``gpu``, ``fpga`` or a number that counts the devices of the backend.
    ``n.m`` and ``n.*`` name sub-devices: no device of these backends has any, so that they match nothing.

    Raises:
        InvalidError: the text does not follow the grammar; the message shows the part and the way it should be.
    """
    accepts: list[_Term] = []
    discards: list[_Term] = []
    for item in text.split(";"):
        word = item.strip().lower()
        if word.startswith("!"):
            discards.append(_term(word[1:].strip(), text))
        elif discards:
            raise _wrong(text, f"{item.strip()!r} comes after a discarding term; terms with '!' come last")
        else:
            accepts.append(_term(word, text))
    if not accepts:
        accepts.append(_Term("*", True, (), ()))
    return EnvironmentSelector(tuple(accepts), tuple(discards))


def _term(word: str, text: str) -> _Term:
    backend, colon, devices = word.partition(":")
    backend = backend.strip()
    if not word:
        raise _wrong(text, "a term is empty; terms are 'backend:devices', such as 'cuda:gpu' or '*:0'")
    if not colon or not devices.strip():
        raise _wrong(text, f"{word!r} is incomplete; write '{backend or '*'}:*' for all its devices")
    name = "*" if backend == "*" else _backend(backend)
    if name is None:
        raise _wrong(text, f"{backend!r} is no backend; it is *, {_known_backends()}")
    types: list[DeviceType] = []
    indices: list[int] = []
    everything = False
    for device in (part.strip() for part in devices.split(",")):
        if device == "*":
            everything = True
        elif device in _TYPES:
            types.append(_TYPES[device])
        elif device.isdecimal():
            indices.append(int(device))
        elif not _is_sub_device(device.split(".")):
            raise _wrong(text, f"{device!r} is no device; it is *, cpu, gpu, fpga or a number")
    return _Term(name, everything, tuple(types), tuple(indices))


def _is_sub_device(parts: Sequence[str]) -> bool:
    return 2 <= len(parts) <= 3 and all(part == "*" or part.isdecimal() for part in parts)


def _wrong(text: str, reason: str) -> InvalidError:
    return InvalidError(f"ONEAPI_DEVICE_SELECTOR={text!r}: {reason}")
