"""The filtering of the reference device, which ``BINDLESS_REFERENCE_FILTERING`` selects at its first use."""

from __future__ import annotations

import os

from ...model.errors import InvalidError
from ...model.message_values import shown
from .objects import Device

__all__ = ["require_same_filtering"]

_NAME = "BINDLESS_REFERENCE_FILTERING"


def require_same_filtering(device: Device) -> None:
    """Check that the variable still selects the filtering of the device.

    Raises
    ------
    InvalidError
        The variable was changed after the first use of the device.
    """
    value = os.environ.get(_NAME)
    if (value == "exact") is not bool(device.properties.exact_filtering):
        current = "exact" if device.properties.exact_filtering else "hardware"
        raise InvalidError(
            f"{_NAME}={shown(value or '')} came after the first use of the reference device, which filters with "
            f"{current!r}: set it earlier, or give precision= to create_image or to the call",
            backend="reference",
        )
