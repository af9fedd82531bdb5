"""Peer access between devices (L0, "Peer-to-Peer Access and Queries")."""

from __future__ import annotations

from ..backends.contract.low_level import PeerRecord as PeerProperties
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..sycl.device.device import Device
from .capability import offered

__all__ = ["PeerProperties", "can_access_peer", "get_peer_properties"]


def _ask(function: str, device: Device, peer: Device) -> object:
    for name, given in (("device", device), ("peer", peer)):
        if not isinstance(given, Device):
            raise InvalidError(f"{name}={shown(given)} is no Device")
    ask = offered(device._backend, function, "peer-to-peer queries")
    if device._backend is not peer._backend:
        return None
    return ask(device._record.native, peer._record.native)


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
    return bool(_ask("can_access_peer", device, peer))


def get_peer_properties(device: Device, peer: Device) -> PeerProperties:
    """What kernels of a device may do with memory of another; errors as ``can_access_peer``.

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
    found = _ask("peer_properties", device, peer)
    return found if isinstance(found, PeerProperties) else PeerProperties(False, False)
