"""Import of external semaphores, and its end (Importing external semaphores)."""

from __future__ import annotations

from ..backends.contract import require_group
from ..model.aspects import Aspect
from ..model.errors import InvalidError
from ..model.external import ExternalSemaphoreDescriptor
from ..model.message_values import shown
from ..sycl.device.device_context import Where, resolve
from ..sycl.device.imported_resource import let_go, take_over
from ..sycl.queue.external_semaphore import ExternalSemaphore, require_semaphore

__all__ = ["import_external_semaphore", "release_external_semaphore"]


def import_external_semaphore(desc: ExternalSemaphoreDescriptor, *where: Where) -> ExternalSemaphore:
    """Imports a semaphore that another interface or process exported.

    A successful import takes a file descriptor over: it is closed, by the driver or here. One that raises leaves it.

    Parameters
    ----------
    desc : ExternalSemaphoreDescriptor
        The handle, and of what kind it is.
    where : Queue | Device | Context
        A queue, or a device and a context.

    Returns
    -------
    ExternalSemaphore
        The semaphore; release it with ``release_external_semaphore``.

    Raises
    ------
    InvalidError
        The descriptor is closed, of another kind, or refused by the driver; ``where`` is none.
    FeatureNotSupportedError
        The device imports no semaphores (``Aspect.ext_oneapi_external_semaphore_import``), or none of this kind.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Importing external semaphores".
    """
    if not isinstance(desc, ExternalSemaphoreDescriptor):
        raise InvalidError(f"desc={shown(desc)} is no ExternalSemaphoreDescriptor")
    device, context = resolve(where)
    device._require(Aspect.ext_oneapi_external_semaphore_import, "importing external semaphores")
    calls = require_group(context._backend.external_semaphores, "external semaphores", context._backend.backend)
    native = take_over(desc, lambda: calls.import_semaphore(context._native, device._record.native, desc))
    return ExternalSemaphore(native, desc, device, context)


def release_external_semaphore(semaphore: ExternalSemaphore, *where: Where) -> None:
    """Ends the use of an imported semaphore; the driver's object goes once no submitted command uses it.

    Parameters
    ----------
    semaphore : ExternalSemaphore
        What ``import_external_semaphore`` returned.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the import.

    Raises
    ------
    InvalidError
        It was released before, or is of another context.
    """
    device, context = resolve(where)
    require_semaphore(semaphore)
    semaphore._forget_commands()
    let_go(semaphore, device, context)
