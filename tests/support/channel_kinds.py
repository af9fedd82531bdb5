"""Channel types by who reads them."""

from __future__ import annotations

import bindless as bl
from bindless.model.channels import CHANNELS

__all__ = ["PLAIN", "SAMPLED_ONLY", "has_format"]

PLAIN = tuple(str(kind) for kind in bl.ImageChannelType if not CHANNELS[kind].is_sampled_only)
"""Types that samplers and device functions read and write."""

SAMPLED_ONLY = tuple(str(kind) for kind in bl.ImageChannelType if CHANNELS[kind].is_sampled_only)
"""Blocks, words of ten bits and codes of sRGB, which samplers alone read."""


def has_format(queue: bl.Queue, channel_type: str) -> bool:
    """Whether the queue's device has images of a type that samplers alone read."""
    kind = bl.ImageChannelType(channel_type)
    return queue.device._backend.supports_format(queue.device._record.native, kind, CHANNELS[kind].channels)
