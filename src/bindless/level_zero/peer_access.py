"""Peer access between devices (L0, "Peer-to-Peer Access and Queries")."""

from __future__ import annotations

from ..backends.contract import require_group
from ..backends.contract.low_level import PeerProperties, PeerProtocol
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..sycl.device.device import Device

__all__ = ["PeerProperties", "can_access_peer", "get_peer_properties"]


def _calls(device: Device, peer: Device) -> PeerProtocol | None:
    """The queries of the devices' back end; None for devices of different back ends."""
    for name, item in (("device", device), ("peer", peer)):
        if not isinstance(item, Device):
            raise InvalidError(f"{name}={shown(item)} is no Device")
    calls = require_group(device._backend.peer_access, "peer-to-peer queries", device.backend)
    return calls if device._backend is peer._backend else None


def can_access_peer(device: Device, peer: Device) -> bool:
    """Whether commands of a device reach memory of another. Devices of different backends never do.

    Parameters
    ----------
    device : Device
        The device whose commands run.
    peer : Device
        The device of the memory.

    Returns
    -------
    bool
        True where commands of ``device`` reach the memory of ``peer``.

    Raises
    ------
    InvalidError
        Not devices.
    FeatureNotSupportedError
        The driver has no such query.
    """
    calls = _calls(device, peer)
    return calls is not None and calls.can_access_peer(device._record.native, peer._record.native)


def get_peer_properties(device: Device, peer: Device) -> PeerProperties:
    """Return the access that kernels of a device have to memory of another; errors as ``can_access_peer``.

    Parameters
    ----------
    device : Device
        The device whose kernels run.
    peer : Device
        The device of the memory.

    Returns
    -------
    PeerProperties
        Access, atomics, bandwidth and latency.
    """
    calls = _calls(device, peer)
    if calls is None:
        return PeerProperties(False, False)
    return calls.peer_properties(device._record.native, peer._record.native)
