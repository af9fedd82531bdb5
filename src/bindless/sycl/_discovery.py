"""The devices that there are, and those that the environment lets this process see. Nothing is made on them here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

from ..backends import registry
from ..backends.contract import BackendProtocol
from ..model.errors import Error, InvalidError
from ._filters import parse_device_filter, parse_selector_variable
from .device import Device

__all__ = ["environment", "visible_devices"]

SELECTOR_VARIABLE = "ONEAPI_DEVICE_SELECTOR"
FILTER_VARIABLE = "SYCL_DEVICE_FILTER"

_listed: dict[int, tuple[BackendProtocol, tuple[Device, ...]]] = {}


def _all_devices() -> list[Device]:
    devices: list[Device] = []
    for name in registry.available_backends():
        backend = registry.backend(name)
        known = _listed.get(id(backend))
        if known is None or known[0] is not backend:
            try:
                known = (backend, tuple(Device._of(backend, record) for record in backend.devices()))
            except Error as error:  # it worked when the backend was made
                registry.note_failure(name, error)
                continue
            _listed[id(backend)] = known
        devices.extend(known[1])
    if not devices:
        for forked in registry.fork_errors():
            raise forked
    return devices


def environment() -> tuple[str, str] | None:
    """Name and value of the variable that limits the devices, or None.

    Raises:
        InvalidError: both variables are set.
    """
    selector, device_filter = os.environ.get(SELECTOR_VARIABLE, ""), os.environ.get(FILTER_VARIABLE, "")
    if selector and device_filter:
        raise InvalidError(
            f"{SELECTOR_VARIABLE}={selector!r} and {FILTER_VARIABLE}={device_filter!r} are both set: "
            f"unset {FILTER_VARIABLE}, which is deprecated"
        )
    if selector:
        return SELECTOR_VARIABLE, selector
    return (FILTER_VARIABLE, device_filter) if device_filter else None


def visible_devices() -> tuple[Device, ...]:
    """All devices in the order of preference, less those that the environment hides.

    Raises:
        InvalidError: a variable does not follow its grammar.
    """
    limit = environment()
    if limit is None:
        return tuple(_all_devices())
    variable, text = limit
    allows: Callable[[Device], bool]
    if variable == SELECTOR_VARIABLE:
        allows = parse_selector_variable(text).allows
        return tuple(device for device in _all_devices() if allows(device))
    filters = parse_device_filter(text)
    warnings.warn(
        f"{FILTER_VARIABLE} is deprecated: use {SELECTOR_VARIABLE}, with terms such as 'cuda:gpu'",
        DeprecationWarning,
        stacklevel=3,
    )
    devices = _all_devices()
    kept: set[Device] = set()
    for entry in filters:
        matching = [device for device in devices if entry.matches(device)]
        kept.update(matching if entry.index is None else matching[entry.index : entry.index + 1])
    return tuple(device for device in devices if device in kept)
