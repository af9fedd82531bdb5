"""Choosing devices: by score, by name, by filter string (SYCL 2020 section 4.6.1.1)."""

from __future__ import annotations

from ...backends import registry
from ...model.enums import Backend, DeviceType
from ...model.errors import InvalidError
from ...model.message_values import shown
from .device import Device, Score, Selector
from .discovery import environment, visible_devices, visible_platforms
from .filter_string import parse_filters

__all__ = ["get_devices", "ranked_devices", "select_device"]

_ALL: frozenset[str | None] = frozenset(map(str, Backend))
_PREFERENCE = {backend: len(registry.ORDER) - place for place, backend in enumerate(registry.ORDER)}


def _is_processor(device: Device) -> bool:
    """Whether the device is the host's processor, run by a driver for accelerators."""
    return device.type is DeviceType.cpu and not device._backend.traits.is_for_processors


def _default_score(device: Device) -> float:
    """A processor is never the default but through the reference driver, which serves images best. Naming it in the
    environment is a choice, not a default."""
    if _is_processor(device):
        return 0 if environment() is not None else -1
    return _PREFERENCE[device.backend]


def _typed_score(kind: DeviceType) -> Score:
    def score(device: Device) -> float:
        if device.type is not kind:
            return -1
        # The reference driver has every image function, a processor of another may have none.
        return 0 if _is_processor(device) else _PREFERENCE[device.backend]

    return score


_NAMED: dict[str, Score] = {
    "default": _default_score,
    "gpu": _typed_score(DeviceType.gpu),
    "cpu": _typed_score(DeviceType.cpu),
    "accelerator": _typed_score(DeviceType.accelerator),
}


def _by_score(score: Score, devices: tuple[Device, ...]) -> tuple[Device, ...]:
    scored = []
    for place, device in enumerate(devices):
        value = score(device)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise InvalidError(
                f"the selector gave {value!r} for {device!r}: a score is a number, negative for a device to be left out"
            )
        if value >= 0:
            scored.append((-value, place, device))
    scored.sort(key=lambda row: row[:2])
    return tuple(device for _, _, device in scored)


def _by_filters(text: str, devices: tuple[Device, ...]) -> tuple[Device, ...]:
    matches: dict[Device, None] = {}
    for entry in parse_filters(text):
        matching = [device for device in devices if entry.matches(device)]
        if entry.index is not None:
            matching = matching[entry.index : entry.index + 1]
        matches.update(dict.fromkeys(matching))
    return tuple(matches)


def ranked_devices(selector: Selector) -> tuple[Device, ...]:
    """The devices that a selector accepts, best first.

    Raises
    ------
    InvalidError
        It is no selector, or a score is no number.
    """
    if isinstance(selector, Device):
        return (selector,)
    devices = visible_devices()
    if selector is None or isinstance(selector, str):
        name = "default" if selector is None else str(selector).strip().lower()
        if name in _NAMED:
            return _by_score(_NAMED[name], devices)
        try:
            return _by_filters(name, devices)
        except InvalidError as error:
            raise InvalidError(f"{error}. {_inventory(devices)}") from None
    if callable(selector):
        return _by_score(selector, devices)
    raise InvalidError(
        f"selector={shown(selector)} is none: it is 'default', 'gpu', 'cpu', 'accelerator', a filter such as "
        "'cuda:gpu:0', a Device, or a callable that scores devices"
    )


def select_device(selector: Selector) -> Device:
    """The best device for a selector.

    Raises
    ------
    InvalidError
        None fits; the message lists the devices and why backends are missing.
    """
    ranked = ranked_devices(selector)
    if ranked:
        return ranked[0]
    what = "the default selector" if selector is None else f"selector {shown(selector)}"
    raise InvalidError(f"no device fits {what}. {_inventory(visible_devices(), _backends_of(selector))}")


def get_devices(selector: Selector = None) -> tuple[Device, ...]:
    """All devices, or those that a selector accepts, best first.

    Parameters
    ----------
    selector : Selector, optional
        As of ``Device``.

    Returns
    -------
    tuple[Device, ...]
        The devices, best first; empty where none matches.

    Raises
    ------
    InvalidError
        The selector is none. No matching device is no error: the result is empty.

    Notes
    -----
    SYCL 2020, 4.6.4, "Device class".

    Examples
    --------
    >>> [str(device.backend) for device in bindless.get_devices("reference")]
    ['reference']
    """
    return visible_devices() if selector is None else ranked_devices(selector)


def _backends_of(selector: Selector) -> frozenset[str | None]:
    """The backends that a selector names; all of them where it leaves one open."""
    if not isinstance(selector, str) or selector.strip().lower() in _NAMED:
        return _ALL
    named = frozenset(entry.backend for entry in parse_filters(selector.strip().lower()))
    return _ALL if None in named else named


def _inventory(devices: tuple[Device, ...], backends: frozenset[str | None] = _ALL) -> str:
    """The devices that there are, and why these backends are missing."""
    parts = []
    if devices:
        listed = ", ".join(f"{device.backend}:{device.type}:{device.index} ({device.name})" for device in devices)
        parts.append(f"Devices: {listed}")
    else:
        parts.append("There are no devices")
    limit = environment()
    if limit is not None:
        parts.append(f"limited by {limit[0]}={shown(limit[1])}")
    inhabited = {device.platform for device in devices}
    for platform in visible_platforms():
        if platform not in inhabited and str(platform.backend) in backends:
            parts.append(f"{platform.name} of {platform.backend} has no device")
    for backend, error in registry.failures().items():
        if str(backend) not in backends:
            continue
        reason = str(error).splitlines()[0].removesuffix(" Tried:").removesuffix(".")
        parts.append(f"{backend} is missing: {reason}")
    return "; ".join(parts) + "; run `bindless doctor` for details"


Device._select = staticmethod(select_device)
