"""Limits and aspects of devices, checked before a driver is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.aspects import Aspect
from ..model.enums import ImageChannelType, ImageType
from ..model.errors import Error, FeatureNotSupportedError, InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown

if TYPE_CHECKING:
    from ..sycl.device.device import Device

__all__ = [
    "ASPECT_OF_TYPE",
    "Checked",
    "limit",
    "most_anisotropy",
    "require",
    "require_format",
    "require_image_type",
    "require_limits",
    "require_type",
]

ASPECT_OF_TYPE = {
    ImageType.standard: Aspect.ext_oneapi_bindless_images,
    ImageType.mipmap: Aspect.ext_oneapi_mipmap,
    ImageType.array: Aspect.ext_oneapi_image_array,
    ImageType.cubemap: Aspect.ext_oneapi_cubemap,
}

# Limits of image memory by dimensions: (field of the descriptor, information descriptor).
_LIMITS = {
    1: (("width", "image1d_max_width"),),
    2: (("width", "image2d_max_width"), ("height", "image2d_max_height")),
    3: (("width", "image3d_max_width"), ("height", "image3d_max_height"), ("depth", "image3d_max_depth")),
}

_limits: dict[tuple[str, int, str], int | None] = {}


class Checked(dict[tuple[int, ...], tuple[object, ...]]):
    """Remembers which values have passed all checks on a device, so that making many images of one kind is quick.

    Its keys are the identities of the device's aspects and of the values, which are cheaper than their equality; they
    are immutable, and kept so that no other object takes their identity.
    """

    __slots__ = ()

    _MOST = 256

    def add(self, device: Device, *values: object) -> None:
        """Notes that these values have passed on this device."""
        if len(self) >= self._MOST:
            self.clear()
        key = (device.aspects, *values)
        self[tuple(map(id, key))] = key


def require(device: Device, aspect: Aspect, what: str) -> None:
    """Raises ``FeatureNotSupportedError`` naming the aspect where the device lacks it."""
    if not device.has(aspect):
        raise FeatureNotSupportedError(
            f"{device.name} does not support {what}: ask device.has(Aspect.{aspect.name}) first",
            backend=str(device.backend),
        )


def require_type(device: Device, desc: ImageDescriptor) -> None:
    """The device has images of this type."""
    require(device, Aspect.ext_oneapi_bindless_images, "bindless images")
    if desc.type is not ImageType.standard:
        require(device, ASPECT_OF_TYPE[desc.type], f"{desc.type} images")


def require_format(device: Device, desc: ImageDescriptor) -> None:
    """The device has images of this channel type and count."""
    if not device._backend.supports_format(device._record.native, desc.channel_type, desc.num_channels):
        offers, native = device._backend.supports_format, device._record.native
        there = [str(count) for count in (1, 2, 3, 4) if offers(native, desc.channel_type, count)]
        way_out = f"use {' or '.join(there)} of them" if there else "use another channel type"
        if desc.channel.block:
            way_out = 'decode them: Image.from_blocks(..., queue=Queue("reference")).numpy()'
        elif desc.channel_type is ImageChannelType.unorm_int8_srgb:
            way_out = "make linear values of the codes first, and an image of fp16"
        raise FeatureNotSupportedError(
            f"{device.name} has no images of {desc.num_channels} channels of {desc.channel_type}: {way_out}",
            backend=str(device.backend),
        )


def limit(device: Device, name: str) -> int | None:
    """A number of ``info.device``, or None where the device cannot tell."""
    key = (str(device.backend), device._record.index, name)
    if key not in _limits:
        try:
            _limits[key] = int(device.get_info(name))
        except FeatureNotSupportedError:
            _limits[key] = None
    return _limits[key]


def most_anisotropy(device: Device) -> int:
    """Largest ratio of a footprint's axes that the device blends; texture units do 16."""
    return limit(device, "mipmap_max_anisotropy") or 16


def require_limits(device: Device, desc: ImageDescriptor, error: type[Error]) -> None:
    """The image's sizes are ones that the device has."""
    checks = [(field, name) for field, name in _LIMITS[desc.dimensions]]
    if desc.type is ImageType.array:
        checks.append(("array_size", "image_max_array_size"))
    for field, name in checks:
        value, bound = getattr(desc, field), limit(device, name)
        if bound is not None and value > bound:
            raise error(
                f"{field}={value}: {device.name} has images of at most {bound} (info.device.{name}); "
                "split the image, or make it smaller",
                backend=str(device.backend),
            )


def require_image_type(value: object, function: str) -> None:
    """Refuses what is no text in the place of ``image_type``: the argument was left out, or stands elsewhere.

    Raises
    ------
    InvalidError
        The message has the call.
    """
    if not isinstance(value, str):
        raise InvalidError(
            f"image_type={shown(value)}: the call is {function}(handle, image_type, queue), where image_type is the "
            'type of the descriptor, such as "standard"'
        )
