"""``ImageStorage`` and ``View``: the memory of images, and images as kernels use them."""

from __future__ import annotations

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from .device import Device
from .errors import release
from .image_format import native_type_of

__all__ = ["ImageStorage", "View"]

lib, ffi = driver.lib, driver.ffi


class ImageStorage:
    """The storage of a raw handle, which is the address of a cl_mem.

    Attributes
    ----------
    handle
        cl_mem of the image.
    address
        its address.
    device
        device of the image.
    desc
        descriptor of the caller.
    """

    __slots__ = ("address", "desc", "device", "handle")

    def __init__(self, handle: CData, device: Device, desc: ImageDescriptor) -> None:
        self.handle, self.device, self.desc = handle, device, desc
        self.address = int(ffi.cast("uintptr_t", handle))


class View:
    """An image as kernels use it: its handle is a number, for which a launch passes the driver's objects.

    Attributes
    ----------
    image
        cl_mem.
    sampler
        cl_sampler of a sampled image, owned by the context; otherwise None.
    desc
        descriptor of the image.
    owned
        whether the view releases the cl_mem; otherwise the image memory owns it.
    scales_layers
        whether the driver scales layer numbers wrongly; see ``known_answer_tests``.
    """

    __slots__ = ("desc", "image", "owned", "sampler", "scales_layers")

    def __init__(
        self,
        image: CData,
        desc: ImageDescriptor,
        sampler: CData = None,
        owned: bool = False,
        scales_layers: bool = False,
    ) -> None:
        self.image, self.desc, self.sampler, self.owned = image, desc, sampler, owned
        self.scales_layers = scales_layers

    def require(self, type_: str, index: int, kernel: str) -> None:
        """Refuse a parameter of another kind of image; accepts parameters of unknown type.

        Raises
        ------
        InvalidError
            the kernel's parameter is another kind of image.
        """
        if type_.startswith("image") and type_ != native_type_of(self.desc):
            raise InvalidError(
                f"argument {index} of kernel {kernel!r} is an {type_}; the image given is an "
                f"{native_type_of(self.desc)} ({self.desc})",
                backend="opencl",
            )

    def close(self) -> None:
        """Release the objects that the view owns."""
        if self.owned:
            release(lib.clReleaseMemObject(self.image), "clReleaseMemObject")
