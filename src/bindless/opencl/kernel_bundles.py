"""Kernel bundles of several native programs or kernels (CL, "Interoperability with kernel bundles")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..backends.contract import BackendProtocol
from ..interop.native.backend_lookup import backend_for, require_context
from ..interop.native.make_kernels import bundle_of_kernels, bundle_of_programs, kernel_in
from ..interop.native.ownership import named_device, one_at_a_time
from ..model.enums import Backend, BundleState, coerce
from ..model.errors import BuildError, Error, InvalidError
from ..model.message_values import shown
from ..model.native_handle import NativeHandle, as_handle
from ..sycl.device.context import Context
from ..sycl.device.device import Device
from ..sycl.kernel.bundle import KernelBundle

__all__ = ["create_bundle"]


@one_at_a_time
def create_bundle(
    context: Context,
    devices: Device | Iterable[Device],
    natives: Sequence[object],
    state: BundleState | str = BundleState.executable,
) -> KernelBundle:
    """A kernel bundle of native programs, or of native kernels with their programs.

    The programs are retained, and released with the bundle. Those that are not in the state yet are compiled, built and
    linked as ``make_kernel_bundle`` does; several that are compiled, or that do not build without each other, become
    one program. A kernel that was given is what ``get_kernel`` gives by its name, with the arguments that it has.

    Parameters
    ----------
    context : Context
        Of the programs or kernels.
    devices : Device | Iterable[Device]
        Of the context, which all programs are for.
    natives : Sequence[object]
        cl_program alone or cl_kernel alone: ints, which are programs, pointers of cffi, objects of PyOpenCL, or
        ``NativeHandle(number, "cl_kernel")``.
    state : BundleState | str, default BundleState.executable
        Of the bundle; that of kernels is ``executable``.

    Returns
    -------
    KernelBundle
        The bundle.

    Raises
    ------
    InvalidError
        None, or both kinds; objects of another context; devices that are not the context's or that a program is not
        for; programs that are further than the state.
    BuildError
        They do not build; ``log`` has the words of the compiler or linker. Every other error of the driver, too.
    BackendMismatchError
        The context or a device is another backend's.
    """
    offers = backend_for(Backend.opencl)
    require_context(offers, context)
    named = (devices,) if isinstance(devices, Device) else _several(devices, "devices", "a Device, or several")
    chosen = tuple(dict.fromkeys(named_device(offers, context, device) for device in named))
    if not chosen:
        raise InvalidError("devices=(): a bundle is for one device at least")
    programs = _several(natives, "natives", "a list of programs, or of kernels")
    handles = [as_handle(native, ("cl_program", "cl_kernel"), "natives") for native in programs]
    kinds = {handle.type for handle in handles}
    if len(kinds) != 1:
        raise InvalidError(f"natives={shown(natives)}: give programs, or kernels, one at least")
    form = coerce(BundleState, state, "state")
    try:
        if kinds == {"cl_program"}:
            return bundle_of_programs(offers, context, chosen, handles, form, False)
        if form is not BundleState.executable:
            raise InvalidError(f"state={str(form)!r}: a bundle of kernels is 'executable'")
        return _of_kernels(offers, context, chosen, handles)
    except Error as error:
        if error.native_code is None or isinstance(error, BuildError):
            raise
        raise BuildError(
            str(error), backend=error.backend, native_code=error.native_code, native_name=error.native_name
        ) from error


def _several(items: Iterable[object], name: str, what: str) -> tuple[object, ...]:
    try:
        return tuple(items)
    except TypeError:
        raise InvalidError(f"{name}={shown(items)}: it is {what}") from None


def _of_kernels(
    backend: BackendProtocol, context: Context, devices: tuple[Device, ...], handles: Sequence[NativeHandle]
) -> KernelBundle:
    bundle = bundle_of_kernels(backend, context, devices, handles)
    for handle in handles:
        kernel = kernel_in(bundle, handle, False)
        bundle._kernels[kernel.name, kernel._device] = kernel._native, kernel._record
    return bundle
