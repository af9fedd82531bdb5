"""``ImageStorage`` and ``View``: the memory of images, and images as kernels use them."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import ImageChannelType
from ...model.image_descriptor import ImageDescriptor
from .device import Device
from .errors import check, release

__all__ = ["ImageStorage", "View"]

lib, ffi = driver.lib, driver.ffi


class ImageStorage:
    """The storage of a raw handle, which is the address of a ze_image_handle_t.

    Attributes
    ----------
    handle
        ze_image_handle_t.
    device
        device of the image.
    desc
        descriptor of the caller; the driver raises unused sizes to 1.
    views
        images of other formats over the same memory, by channel type and number of channels.
    """

    __slots__ = ("desc", "device", "handle", "views")

    def __init__(self, handle: CData, device: Device, desc: ImageDescriptor) -> None:
        self.handle, self.device, self.desc = handle, device, desc
        self.views: dict[tuple[ImageChannelType, int], CData] = {}


class View:
    """An image as kernels use it: its handle is the kernel argument.

    Attributes
    ----------
    image
        ze_image_handle_t of the view.
    device
        where it was made.
    desc
        descriptor of the image.
    """

    __slots__ = ("_context", "_sampler", "_sampler_desc", "desc", "device", "image")

    def __init__(
        self, context: CData, image: CData, device: Device, desc: ImageDescriptor, sampler: CData = None
    ) -> None:
        """Take the ze_context_handle_t and, for a sampled image, its ze_sampler_desc_t."""
        self.image, self.device, self.desc = image, device, desc
        self._context, self._sampler_desc, self._sampler = context, sampler, None

    def sampler(self) -> CData:
        """ze_sampler_handle_t of a sampled image, for kernels with separate image and sampler parameters."""
        if self._sampler is None and self._sampler_desc is not None:
            slot = ffi.new("ze_sampler_handle_t *")
            desc = driver.make_struct("ze_sampler_desc_t")
            for name in ("addressMode", "filterMode", "isNormalized"):
                setattr(desc, name, getattr(self._sampler_desc, name))
            check(lib.zeSamplerCreate(self._context, self.device.handle, desc, slot), "zeSamplerCreate")
            self._sampler = slot[0]
        return self._sampler

    def close(self) -> None:
        """Destroys it."""
        if self._sampler is not None:
            release(lib.zeSamplerDestroy(self._sampler), "zeSamplerDestroy")
        release(lib.zeImageDestroy(self.image), "zeImageDestroy")
