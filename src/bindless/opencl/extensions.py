"""Extensions of platforms and devices (CL, "Extension query")."""

from __future__ import annotations

from ..interop.native.backend_lookup import counted_of
from ..model.enums import Backend
from ..model.errors import BackendMismatchError, InvalidError
from ..model.message_values import shown
from ..sycl.device.device import Device
from ..sycl.device.platform import Platform

__all__ = ["has_extension"]


def has_extension(where: Platform | Device, extension: str) -> bool:
    """Whether an OpenCL platform or device has an extension.

    Parameters
    ----------
    where : Platform | Device
        Of the OpenCL backend.
    extension : str
        Its name, such as "cl_khr_fp16".

    Returns
    -------
    bool
        True where the platform or device lists the extension.

    Raises
    ------
    BackendMismatchError
        The platform or device is another backend's.
    InvalidError
        It is neither, or the name is no string.
    """
    if not isinstance(where, (Platform, Device)):
        raise InvalidError(f"where={shown(where)}: it is a Platform or a Device")
    if not isinstance(extension, str):
        raise InvalidError(f"extension={shown(extension)}: it is a name, such as 'cl_khr_fp16'")
    if where.backend is not Backend.opencl:
        raise BackendMismatchError(
            f"{where!r} is of the {where.backend} backend: extensions are of OpenCL's", backend=str(where.backend)
        )
    backend = counted_of(where._backend)
    if isinstance(where, Platform):
        return extension in backend.platform_extensions(where._record)
    return extension in backend.device_extensions(where._record.native)
