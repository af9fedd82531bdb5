"""Discovery of devices, filtered by the environment. No context is created."""

from __future__ import annotations

import os
import warnings

from ...backends import registry
from ...backends.contract import BackendProtocol
from ...model.enums import Backend, coerce
from ...model.errors import Error, InvalidError
from ...model.message_values import shown
from .device import Device
from .filter_string import parse_device_filter, parse_selector_variable
from .partition import next_partitionable
from .platform import Platform

__all__ = ["environment", "get_platforms", "is_backend_active", "visible_devices", "visible_platforms"]

SELECTOR_VARIABLE = "ONEAPI_DEVICE_SELECTOR"
FILTER_VARIABLE = "SYCL_DEVICE_FILTER"

_devices_of: dict[int, tuple[BackendProtocol, tuple[Device, ...]]] = {}


def _all_devices() -> list[Device]:
    devices: list[Device] = []
    for name in registry.available_backends():
        backend = registry.backend(name)
        entry = _devices_of.get(id(backend))
        if entry is None:  # an entry keeps its backend, so no other one has its id
            try:
                entry = (backend, tuple(Device._of(backend, record) for record in backend.devices()))
            except Error as error:  # it worked when the backend was made
                registry.note_failure(name, error)
                continue
            entry = _devices_of.setdefault(id(backend), entry)  # else another thread has just made them
        devices.extend(entry[1])
    if not devices:
        forked = registry.fork_error()
        if forked is not None:
            raise forked
    return devices


def is_backend_active(name: Backend | str) -> bool:
    """Whether a back end works in this process: its driver is found and starts.

    The first call opens the driver. It may have no device, and ``ONEAPI_DEVICE_SELECTOR`` may hide those it has:
    ``get_devices`` lists the visible ones.

    Parameters
    ----------
    name : Backend | str
        ``cuda``, ``level_zero``, ``opencl`` or ``reference``.

    Returns
    -------
    bool
        True if commands can be submitted to its devices.

    Raises
    ------
    InvalidError
        There is no such back end.

    See Also
    --------
    get_platforms : The platforms of all active back ends.

    Examples
    --------
    >>> bindless.is_backend_active("reference")
    True
    """
    return coerce(Backend, name, "name") in registry.available_backends()


def environment() -> tuple[str, str] | None:
    """Name and value of the variable that limits the devices, or None.

    Raises
    ------
    InvalidError
        Both variables are set.
    """
    selector, device_filter = os.environ.get(SELECTOR_VARIABLE, ""), os.environ.get(FILTER_VARIABLE, "")
    if selector and device_filter:
        raise InvalidError(
            f"{SELECTOR_VARIABLE}={shown(selector)} and {FILTER_VARIABLE}={shown(device_filter)} are both set: "
            f"unset {FILTER_VARIABLE}, which is deprecated"
        )
    if selector:
        return SELECTOR_VARIABLE, selector
    return (FILTER_VARIABLE, device_filter) if device_filter else None


def visible_devices() -> tuple[Device, ...]:
    """All devices in the order of preference, less those that the environment hides.

    Raises
    ------
    InvalidError
        A variable does not follow its grammar.
    """
    limit = environment()
    if limit is None:
        return tuple(_all_devices())
    variable, text = limit
    if variable == SELECTOR_VARIABLE:
        return parse_selector_variable(text).select(_all_devices(), next_partitionable)
    filters = parse_device_filter(text)
    warnings.warn(
        f"{FILTER_VARIABLE} is deprecated: use {SELECTOR_VARIABLE}, with terms such as 'cuda:gpu'",
        DeprecationWarning,
        stacklevel=3,
    )
    return tuple(
        device
        for device in _all_devices()
        if any(entry.matches(device) and entry.index in (None, device.index) for entry in filters)
    )


def visible_platforms() -> tuple[Platform, ...]:
    """The platforms of all devices that may be seen, and those that have no device at all."""
    visible = dict.fromkeys(device.platform for device in visible_devices())
    inhabited = {device.platform for device in _all_devices()}
    platforms: list[Platform] = []
    for name in registry.available_backends():
        backend = registry.backend(name)
        for platform in (Platform(backend, record) for record in backend.platforms()):
            if platform in visible or platform not in inhabited:
                platforms.append(platform)
    return tuple(platforms)


def get_platforms() -> tuple[Platform, ...]:
    """The platforms in the order of preference of their backends.

    A driver that works and has no device is an empty platform; one whose devices the environment hides is left out.

    Returns
    -------
    tuple[Platform, ...]
        The platforms that have a device.

    Notes
    -----
    SYCL 2020, 4.6.2, "Platform class".

    Examples
    --------
    >>> "reference" in [str(platform.backend) for platform in bindless.get_platforms()]
    True
    """
    return visible_platforms()


Platform._visible_devices = staticmethod(visible_devices)
