"""``make_sampled_image`` and ``make_unsampled_image``: native images that were made elsewhere (CL, "Construct SYCL
objects from OpenCL ones")."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...bindless_images.device_limits import require_format, require_limits, require_type
from ...bindless_images.image_mem import ImageMem
from ...bindless_images.sycl_images import SampledImage, UnsampledImage
from ...model.enums import Backend, Ownership
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.native_handle import CountedHandle
from ...model.sampler import BindlessImageSampler
from ...submission.event import Event
from ...sycl.device.context import Context
from .backend_lookup import backend_for, counted_of, handle_for, require_context
from .make_runtime import require_event
from .ownership import is_owned, one_at_a_time, pass_on

__all__ = ["make_sampled_image", "make_unsampled_image"]


@one_at_a_time
def make_sampled_image(
    backend: Backend | str,
    native: object,
    context: Context,
    sampler: BindlessImageSampler,
    *,
    available_event: Event | None = None,
    ownership: Ownership | str | None = None,
) -> SampledImage:
    """A sampled image over a native one, which it uses for its whole life and whose pixels it begins with.

    The native image is retained, and released with the image. Until then nobody else writes it; the end of the image
    waits for the commands that use it.

    Parameters
    ----------
    backend : Backend | str
        Whose image it is: ``opencl``.
    native : object
        A cl_mem of one to three dimensions: an int, or a pointer of cffi or ctypes.
    context : Context
        Of the native image. The image can be used in others.
    sampler : BindlessImageSampler
        How it is sampled.
    available_event : Event, optional
        Signals that the native image is ready to be used.
    ownership : Ownership | str, optional
        ``keep``, which is also what None is; or ``transfer``, which takes over the caller's reference, and whose end
        waits for nothing.

    Raises
    ------
    InvalidError
        No such image, one of another context, a buffer or an array, no sampler, or no event.
    FeatureNotSupportedError
        Images of the backend are not made of native ones, or not in this format.
    SyclRuntimeError
        The device has no such sampler.
    BackendMismatchError
        The context is another backend's.
    """
    if not isinstance(sampler, BindlessImageSampler):
        raise InvalidError(f"sampler: a {type(sampler).__name__} is no BindlessImageSampler")
    with _adopted(backend, "sampled_image", native, context, available_event, ownership) as (memory, desc, owned):
        image = SampledImage._over(memory, desc, sampler, available_event, waits=not owned)
    pass_on(native, owned)
    return image


@one_at_a_time
def make_unsampled_image(
    backend: Backend | str,
    native: object,
    context: Context,
    *,
    available_event: Event | None = None,
    ownership: Ownership | str | None = None,
) -> UnsampledImage:
    """An unsampled image over a native one; see ``make_sampled_image``."""
    with _adopted(backend, "unsampled_image", native, context, available_event, ownership) as (memory, desc, owned):
        image = UnsampledImage._over(memory, desc, available_event, waits=not owned)
    pass_on(native, owned)
    return image


@contextmanager
def _adopted(
    backend: Backend | str,
    kind: str,
    native: object,
    context: Context,
    available: Event | None,
    ownership: Ownership | str | None,
) -> Iterator[tuple[ImageMem, ImageDescriptor, bool]]:
    """Image memory of a native image, its descriptor, and whether it was transferred; on failure nothing was."""
    offers = backend_for(backend)
    handle = handle_for(offers, kind, native)
    require_context(offers, context)
    require_event(available)
    owned = is_owned(offers, kind, None, handle, ownership)
    device = context.devices[0]
    counted = counted_of(offers)
    raw, desc = counted.adopt_image(context._native, device._record.native, handle, owned)
    memory = ImageMem._adopted(raw, desc, device, context)
    try:
        require_type(device, desc)
        require_format(device, desc)
        require_limits(device, desc, InvalidError)
        yield memory, desc, owned
    except BaseException:
        caller = counted.memory_handle(context._native, raw, image=True) if owned else None
        if isinstance(caller, CountedHandle):
            caller.detach()  # the reference that goes with the memory is given to the caller again
        memory.close()
        raise
