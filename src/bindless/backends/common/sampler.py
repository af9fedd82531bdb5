"""Samplers that drivers do not have."""

from __future__ import annotations

from ...model.enums import AddressingMode, FilteringMode
from ...model.errors import FeatureNotSupportedError, SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler

__all__ = ["addressing_mode", "require_filterable"]


def require_filterable(desc: ImageDescriptor, sampler: BindlessImageSampler, backend: str) -> None:
    """Raises ``SyclRuntimeError`` for a linear filter over 32-bit integers."""
    if sampler.filtering is FilteringMode.linear and desc.channel.is_integer and desc.channel.size == 4:
        raise SyclRuntimeError(
            f"filtering=linear with channel_type={desc.channel_type}: 32-bit integers are not filtered; use nearest, "
            "or an fp32 image",
            backend=backend,
        )


def addressing_mode(desc: ImageDescriptor, sampler: BindlessImageSampler, driver: str, backend: str) -> AddressingMode:
    """The addressing mode of all dimensions of an image.

    Raises
    ------
    FeatureNotSupportedError
        The modes of the dimensions differ.
    """
    modes = set(sampler.addressing[: desc.dimensions])
    if len(modes) > 1:
        raise FeatureNotSupportedError(
            f"addressing={tuple(map(str, sampler.addressing))}: {driver} has one mode for all dimensions; ask "
            "device.has(Aspect.ext_oneapi_unique_addressing_per_dim) first",
            backend=backend,
        )
    return modes.pop()
