"""``make_kernel_bundle`` and ``make_kernel``: native modules, programs and kernels that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...backends.contract import BackendProtocol, NativeDevice, require_group
from ...backends.contract.reference_counted import AdoptedBundle
from ...core.ownership import Rank
from ...model.enums import Backend, BundleState, Ownership, coerce
from ...model.errors import BuildError, FeatureNotSupportedError, InvalidError
from ...model.message_values import shown
from ...model.native_handle import NativeHandle
from ...sycl.device.context import Context
from ...sycl.device.device import Device
from ...sycl.kernel.bundle import KernelBundle
from ...sycl.kernel.bundle_source import BundleSource
from ...sycl.kernel.kernel import Kernel
from .backend_lookup import backend_for, counted_of, handle_for, interop_of, require_context
from .ownership import chosen_device, is_owned, named_device, one_at_a_time, pass_on

__all__ = ["bundle_of_kernels", "bundle_of_programs", "kernel_in", "make_kernel", "make_kernel_bundle"]


@one_at_a_time
def make_kernel_bundle(
    backend: Backend | str,
    native: object,
    context: Context,
    state: BundleState | str = BundleState.executable,
    *,
    device: Device | None = None,
    ownership: Ownership | str | None = None,
) -> KernelBundle:
    """A kernel bundle around a native module or program.

    With ``ownership="transfer"`` the native object is destroyed with the bundle, after the commands that run its
    kernels; the caller has destroyed kernels of his own before.

    A program of OpenCL is retained, and released with the bundle. Where it is not in the state yet it is compiled,
    built or linked (CL, "Construct SYCL objects from OpenCL ones").

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, or a pointer of cffi or ctypes.
    context : Context
        Of the native object.
    state : BundleState | str, default BundleState.executable
        ``executable``; for OpenCL also ``input``, of a program that is not built, and ``object``, of one that is not
        built or is compiled.
    device : Device, optional
        That the module was built for; None is the device that the driver reports, or else the context's first.
        Of an OpenCL program None is all devices of the context that it is for.
    ownership : Ownership | str, optional
        ``transfer`` or ``keep``; None is ``transfer``, and for OpenCL ``keep``.

    Raises
    ------
    InvalidError
        No such module, or a handle that was transferred before; an OpenCL program of another context, further than
        the state, or that does not build.
    BuildError
        Its kernels cannot run yet: a Level Zero module has to be linked.
    BackendMismatchError
        The context or the device is another backend's.
    FeatureNotSupportedError
        Another state.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "kernel_bundle", native)
    require_context(offers, context)
    form = coerce(BundleState, state, "state")
    owned = is_owned(offers, "kernel_bundle", Rank.MODULE, handle, ownership)
    if offers.counted is not None:
        devices = context.devices if device is None else (named_device(offers, context, device),)
        try:
            bundle = bundle_of_programs(offers, context, devices, (handle,), form, owned)
        except BuildError as error:
            raise InvalidError(
                str(error), backend=error.backend, native_code=error.native_code, native_name=error.native_name
            ) from error
        pass_on(native, owned)
        return bundle
    if form is not BundleState.executable:
        raise FeatureNotSupportedError(
            f"state={str(form)!r}: a native module of {offers.backend} is built, so that its bundle is 'executable'",
            backend=str(offers.backend),
        )
    chosen = chosen_device(offers, context, device, "kernel_bundle", handle)
    calls = require_group(offers.module_interop, "modules of native handles", offers.backend)
    module = calls.adopt_module(context._native, chosen._record.native, handle, owned)
    return KernelBundle(context, (chosen,), form, BundleSource.without_description(offers), _natives={chosen: [module]})


def bundle_of_programs(
    backend: BackendProtocol,
    context: Context,
    devices: Iterable[Device],
    handles: Sequence[NativeHandle],
    state: BundleState,
    owned: bool,
) -> KernelBundle:
    """A bundle in a state of native programs, which it keeps.

    Raises
    ------
    InvalidError
        Programs that are further than the state, or of another context or device.
    BuildError
        They do not build.
    """
    counted = counted_of(backend)
    facade = {device._record.native: device for device in devices}
    adopted = counted.adopt_programs(context._native, tuple(facade), handles, state, owned)
    return _bundle(backend, context, facade, adopted, state)


def bundle_of_kernels(
    backend: BackendProtocol, context: Context, devices: Iterable[Device], kernels: Sequence[NativeHandle]
) -> KernelBundle:
    """An executable bundle of the programs of native kernels.

    Raises
    ------
    InvalidError
        Kernels of another context, or for other devices.
    BuildError
        The driver says no.
    """
    facade = {device._record.native: device for device in devices}
    adopted = counted_of(backend).adopt_programs_of(context._native, tuple(facade), kernels)
    return _bundle(backend, context, facade, adopted, BundleState.executable)


def _bundle(
    backend: BackendProtocol,
    context: Context,
    facade: Mapping[NativeDevice, Device],
    adopted: AdoptedBundle,
    state: BundleState,
) -> KernelBundle:
    source = BundleSource.without_description(backend)
    if state is BundleState.input:
        source = BundleSource.of_modules(backend, adopted.sources)
    return KernelBundle(
        context,
        tuple(facade[native] for native in adopted.devices),
        state,
        source,
        _natives={facade[native]: modules for native, modules in adopted.modules.items()},
        _objects={facade[native]: objects for native, objects in adopted.objects.items()},
        _programs=adopted.programs,
    )


@one_at_a_time
def make_kernel(
    backend: Backend | str,
    native: object,
    bundle: KernelBundle | Context | None = None,
    context: Context | None = None,
    *,
    ownership: Ownership | str | None = None,
) -> Kernel:
    """A kernel around a native one.

    With ``ownership="transfer"`` the native kernel is destroyed with its bundle.

    A kernel of OpenCL is retained, and released with the kernel made of it. Arguments that were set before stay set:
    launched without arguments it runs with them, and their memory is the caller's to keep (CL, "Interoperability with
    kernels").

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, or a pointer of cffi or ctypes.
    bundle : KernelBundle | Context, optional
        Of exactly one native module, which the kernel is of; for OpenCL its context does, too, here or below.
    context : Context, optional
        Of the bundle; None takes that.
    ownership : Ownership | str, optional
        ``transfer`` or ``keep``; None is ``transfer``, and for OpenCL ``keep``.

    Raises
    ------
    InvalidError
        No such kernel, a kernel of another module, a bundle that is closed, is yet to be built or has several
        modules, another context, or a handle that was transferred before.
    BackendMismatchError
        The bundle or the context is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "kernel", native)
    owned = is_owned(offers, "kernel", None, handle, ownership)
    within = context if bundle is None else bundle
    if isinstance(within, Context) and offers.counted is not None:
        require_context(offers, within)
        bundle = bundle_of_kernels(offers, within, within.devices, (handle,))
    if not isinstance(bundle, KernelBundle):
        raise InvalidError(f"bundle={shown(bundle)} is no KernelBundle")
    bundle._require_open()
    require_context(offers, bundle.context)
    if context is not None and require_context(offers, context) is not bundle.context:
        raise InvalidError(f"context={shown(context)} is another one than that of {bundle!r}")
    kernel = kernel_in(bundle, handle, owned)
    pass_on(native, owned)
    return kernel


def kernel_in(bundle: KernelBundle, handle: NativeHandle, owned: bool) -> Kernel:
    """The kernel of a handle in the bundle of its module."""
    offers = bundle.context._backend
    modules = [(device, module) for device, natives in bundle._natives.items() for module in natives]
    if len(modules) != 1 and offers.counted is None:
        raise InvalidError(
            f"{bundle!r} has {len(modules)} native modules: a kernel is made with a bundle of exactly one, such as "
            "make_kernel_bundle gives"
        )
    if offers.counted is not None:
        program = offers.counted.program_of(bundle.context._native, handle)
        own = [row for row in modules if offers.native_handle(row[1]) == program]
        modules = own or modules
    if not modules:
        raise InvalidError(f"{bundle!r} is in state {str(bundle.state)!r}, and kernels are of executables: build() it")
    device, module = modules[0]
    kernel = interop_of(offers).adopt_kernel(module, handle, owned)
    return Kernel(bundle, device, kernel, offers.kernel_info(kernel))
