"""Queues as dpctl takes them: a capsule of a ``sycl::queue`` of the same device."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ...model.enums import Backend
from ...model.errors import FeatureNotSupportedError, InvalidError

if TYPE_CHECKING:
    from ..device.device import Device

__all__ = ["sycl_queue_capsule"]


def sycl_queue_capsule(device: Device) -> Any:
    """A capsule named ``SyclQueueRef``, of dpctl's queue for the device in dpctl's default context.

    Level Zero's drivers know memory of every context of a process, so that this queue reaches memory of the package's
    own contexts too. dpctl asks the driver about the memory before it takes it.

    Raises
    ------
    FeatureNotSupportedError
        A device of another backend, whose memory belongs to one context, or no dpctl.
    InvalidError
        Dpctl has no such device.
    """
    if device.backend is not Backend.level_zero:
        raise FeatureNotSupportedError(
            f"memory of the {device.backend} backend is in no context of SYCL's runtime; memory of level_zero is"
        )
    try:
        dpctl = importlib.import_module("dpctl")
    except ImportError as error:
        raise FeatureNotSupportedError(f"a capsule of a sycl::queue is made by dpctl: {error}") from None
    same = [other for other in device.platform.get_devices() if _alike(other, device)]
    candidates = [other for other in dpctl.get_devices(backend="level_zero") if other.name == device.name]
    place = [other.index for other in same].index(device.index)
    if place >= len(candidates):
        raise InvalidError(
            f"dpctl has {len(candidates)} devices of Level Zero named {device.name!r}: {place + 1} are needed"
        )
    return dpctl.SyclQueue(candidates[place])._get_capsule()


def _alike(one: Device, other: Device) -> bool:
    return one.name == other.name and one.type is other.type
