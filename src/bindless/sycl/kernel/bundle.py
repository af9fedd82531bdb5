"""``KernelBundle``: a module of kernels in one of a driver's own languages (SYCL 2020 section 4.11)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...backends.contract import KernelRecord, NativeKernel, NativeModule, NativeObject
from ...core import ownership
from ...core._submission import Openable
from ...core.lock import Lock
from ...model.enums import BundleState, coerce
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...model.module.kernel_file import KernelFile
from ...model.single_owner import SingleOwner
from ...submission.active_streams import wait_for_users
from .bundle_source import BundleSource, link_objects, where_to_load
from .kernel import Kernel
from .module_choice import read_source

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device

__all__ = ["KernelBundle", "load_kernel_bundle"]


class KernelBundle(Openable, SingleOwner):
    """Kernels for the devices of a context; ``load_kernel_bundle`` makes one.

    A bundle is in one of three states. ``input``: nothing is built; specialization constants can be set. ``object``:
    each module is compiled, and can be linked with others. ``executable``: its kernels run. ``compile``, ``link`` and
    ``build`` make a new bundle in the next state and leave this one as it is.

    Kernels keep their bundle alive. Closing it unloads them after the commands that run them.

    Attributes
    ----------
    context
        Where it was loaded.
    devices
        For which.
    state
        A ``BundleState``.
    """

    __slots__ = (
        "__weakref__",
        "_kernels",
        "_lock",
        "_logs",
        "_natives",
        "_objects",
        "_programs",
        "_resources",
        "_source",
        "context",
        "devices",
        "state",
    )

    def __init__(
        self,
        _context: Context,
        _devices: tuple[Device, ...],
        _state: BundleState,
        _source: BundleSource,
        *,
        _natives: Mapping[Device, Sequence[NativeModule]] | None = None,
        _objects: Mapping[Device, Sequence[NativeObject]] | None = None,
        _logs: Mapping[Device, str] | None = None,
        _programs: tuple[NativeObject, ...] = (),
    ) -> None:
        self.context = _context
        self.devices = _devices
        self.state = _state
        self._source = _source
        self._natives = dict(_natives or {})
        self._objects = dict(_objects or {})
        self._logs = dict(_logs or {})
        self._programs = _programs  # what it was made of, where that was made elsewhere
        self._lock = Lock()
        self._kernels: dict[tuple[str, Device], tuple[NativeKernel, KernelRecord]] = {}
        self._open = True
        release = _context._backend.release_module
        self._resources = tuple(
            ownership.Resource(ownership.Rank.MODULE, _context._resource, release, native)
            for modules in self._natives.values()
            for native in modules
        )

    @property
    def device(self) -> Device:
        """Its first device."""
        return self.devices[0]

    @property
    def log(self) -> str:
        """The log of the driver's compiler and linker, often empty. ``BuildError.log`` has that of a failure."""
        return "\n".join(filter(None, dict.fromkeys(self._logs.values())))

    # ------------------------------------------------------------------ kernels

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of its kernels.

        Raises
        ------
        FeatureNotSupportedError
            The driver reports them for built modules only, and this one is not built.
        """
        self._require_open()
        if self.state is BundleState.executable:
            backend = self.context._backend
            return tuple(name for native in self._natives[self.device] for name in backend.kernel_names(native))
        return self._source.kernel_names

    def has_kernel(self, name: str, device: Device | None = None) -> bool:
        """Whether it has a kernel of this name, for a device if one is given.

        Parameters
        ----------
        name : str
            Name of the kernel.
        device : Device, optional
            A device of the bundle; None for any of them.

        Returns
        -------
        bool
            True where the bundle has the kernel.
        """
        return name in self.kernel_names and (device is None or device in self.devices)

    def get_kernel(self, name: str, device: Device | None = None) -> Kernel:
        """The kernel of this name, for any of its devices.

        Parameters
        ----------
        name : str
            One of ``kernel_names``.
        device : Device, optional
            Where it will run; saves a look-up at each launch in a bundle with several devices.

        Returns
        -------
        Kernel
            The kernel.

        Raises
        ------
        InvalidError
            There is none, the message lists the names; or the bundle is not executable.
        """
        self._require_open()
        if self.state is not BundleState.executable:
            raise InvalidError(
                f"get_kernel({name!r}): this bundle is in state {str(self.state)!r}; its kernels run once it is "
                + ("built: bundle.build()" if self.state is BundleState.input else "linked: bundle.link()")
            )
        chosen = self._own(device)
        with self._lock:
            if (name, chosen) not in self._kernels:
                backend = self.context._backend
                names = {own: native for native in self._natives[chosen] for own in backend.kernel_names(native)}
                if name not in names:
                    raise InvalidError(f"no kernel is named {name!r}; this bundle has {', '.join(names) or 'none'}")
                kernel = backend.get_kernel(names[name], name)
                self._kernels[name, chosen] = kernel, self._source.complete(backend.kernel_info(kernel))
            return Kernel(self, chosen, *self._kernels[name, chosen])

    def _own(self, device: Device | None) -> Device:
        """One of its devices; the first for None."""
        if device is None:
            return self.devices[0]
        if device not in self.devices:
            raise InvalidError(f"{device!r} is not a device of {self!r}: load the bundle for it")
        return self.devices[self.devices.index(device)]

    # ------------------------------------------------------------------ specialization constants

    @property
    def contains_specialization_constants(self) -> bool:
        """Whether its source has any."""
        return bool(self._source.constants)

    @property
    def specialization_constants(self) -> dict[int, Any]:
        """Values by number: those that were set, and the other defaults where the source declares them."""
        return self._source.values()

    def has_specialization_constant(self, number: int | str) -> bool:
        """Whether its source has the constant of this number or name."""
        constants = self._source.constants or {}
        return number in constants or any(number == constant.name for constant in constants.values() if constant.name)

    def get_specialization_constant(self, number: int | str) -> Any:
        """The value that it has been or will be built with.

        Raises
        ------
        InvalidError
            There is no such constant; the message lists the numbers.
        """
        return self._source.get(number)

    def set_specialization_constant(self, number: int | str, value: object) -> None:
        """Sets a constant before the bundle is built.

        Parameters
        ----------
        number : int | str
            Of the constant, or its name.
        value : object
            bool, int, float, a numpy scalar of its type, or its bytes.

        Raises
        ------
        InvalidError
            There is no such constant, the value does not fit it, or the bundle is built already.
        """
        self._require_open()
        self._require_state(BundleState.input, "set_specialization_constant")
        self._source.set(number, value)

    # ------------------------------------------------------------------ building

    def compile(self, options: str = "") -> KernelBundle:
        """This input compiled: a bundle in state ``object``.

        Parameters
        ----------
        options : str, default ""
            For the driver's compiler; they are added to those of ``load_kernel_bundle``.

        Returns
        -------
        KernelBundle
            A bundle in state ``object``.

        Raises
        ------
        InvalidError
            The bundle is no input, or was closed.
        BuildError
            It does not compile; ``log`` holds the compiler's words.
        FeatureNotSupportedError
            A device has no compiler (``Aspect.online_compiler``).
        """
        self._require_open()
        self._require_state(BundleState.input, "compile")
        source = self._source.with_options(options)
        objects, logs = source.compile(self.context, self.devices)
        return KernelBundle(self.context, self.devices, BundleState.object, source, _objects=objects, _logs=logs)

    def link(self, *others: KernelBundle, options: str = "") -> KernelBundle:
        """This and other compiled bundles joined: a bundle in state ``executable``, for the devices that all have.

        Raises
        ------
        InvalidError
            One is no object, was closed, or is of another context; no device is common to all.
        BuildError
            They do not fit together; ``log`` holds the linker's words.
        FeatureNotSupportedError
            There are others, and a device has no linker (``Aspect.online_linker``).
        """
        bundles = (self, *others)
        for bundle in bundles:
            if not isinstance(bundle, KernelBundle):
                raise InvalidError(f"link({bundle!r}): it takes KernelBundle objects")
            bundle._require_open()
            bundle._require_state(BundleState.object, "link")
            if bundle.context is not self.context:
                raise InvalidError(f"link: {bundle!r} is of another context than {self!r}")
        devices = tuple(device for device in self.devices if all(device in bundle.devices for bundle in others))
        if not devices:
            raise InvalidError("link: no device is common to all bundles")
        objects = {device: [part for bundle in bundles for part in bundle._objects[device]] for device in devices}
        natives, logs = link_objects(self.context, objects, self._source, options)
        source = self._source.merge([bundle._source for bundle in others])
        return KernelBundle(self.context, devices, BundleState.executable, source, _natives=natives, _logs=logs)

    def compile_with_source(self, source: str | bytes | KernelFile, options: str = "") -> KernelBundle:
        """A source compiled for the devices of this bundle, to be linked with it (CL, "Offline linking").

        Parameters
        ----------
        source : str | bytes | KernelFile
            The text of OpenCL C on ``opencl``; elsewhere the bytes of a module, or a file of ``bindless build``.
        options : str, default ""
            For the driver's compiler.

        Returns
        -------
        KernelBundle
            A bundle in state ``object`` with the source alone: ``bundle.link(other)`` joins both.

        Raises
        ------
        InvalidError
            The bundle was closed, or the source is none of these.
        BuildError
            It does not compile, or the devices do not run such a source.
        FeatureNotSupportedError
            A device has no compiler (``Aspect.online_compiler``).
        """
        self._require_open()
        data = source.encode() if isinstance(source, str) else source
        added = BundleSource(self.context, read_source(data), options, self.devices)
        return KernelBundle(self.context, self.devices, BundleState.input, added).compile()

    def build_with_source(self, source: str | bytes | KernelFile, options: str = "") -> KernelBundle:
        """This bundle linked with a source (CL, "Offline linking with OpenCL C libraries").

        Parameters
        ----------
        source : str | bytes | KernelFile
            As of ``compile_with_source``: it defines what this bundle declares, or uses what this one defines.
        options : str, default ""
            For the driver's compiler.

        Returns
        -------
        KernelBundle
            A bundle in state ``executable``, with the kernels of both.

        Raises
        ------
        InvalidError
            The bundle is built already, or was closed.
        BuildError
            One does not compile, or they do not fit together.
        FeatureNotSupportedError
            A device has no compiler or linker.

        Examples
        --------
        >>> for device in bindless.get_devices():
        ...     if device.has("online_linker") and device.backend == "opencl":
        ...         source = b"float twice(float x); kernel void run(global float *x) { *x = twice(*x); }"
        ...         bundle = bindless.load_kernel_bundle(source, bindless.Queue(device), state="input")
        ...         built = bundle.build_with_source("float twice(float x) { return 2 * x; }")
        """
        self._require_open()
        own = self.compile() if self.state is BundleState.input else self
        return own.link(self.compile_with_source(source, options))

    def build(self, options: str = "") -> KernelBundle:
        """This input compiled and linked: a bundle in state ``executable``.

        Parameters
        ----------
        options : str, default ""
            Options for the driver's compiler.

        Returns
        -------
        KernelBundle
            A bundle in state ``executable``.

        Raises
        ------
        InvalidError, BuildError
            As of ``compile``.
        """
        self._require_open()
        self._require_state(BundleState.input, "build")
        source = self._source.with_options(options)
        natives, logs = source.load(self.context, self.devices)
        return KernelBundle(self.context, self.devices, BundleState.executable, source, _natives=natives, _logs=logs)

    def _require_state(self, state: BundleState, call: str) -> None:
        if self.state is not state:
            raise InvalidError(
                f"{call}: this bundle is in state {str(self.state)!r}, and it takes one in state {str(state)!r}; "
                "load_kernel_bundle(..., state='input') makes bundles that are yet to be built"
            )

    # ------------------------------------------------------------------ end

    def _require_open(self) -> None:
        if not self._open:
            raise InvalidError("this kernel bundle was closed: load it again with load_kernel_bundle")
        self.context._native  # noqa: B018  raises if it has ended

    def close(self) -> None:
        """Unloads it after the commands that use it; a second call does nothing."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        wait_for_users(self)
        for resource in self._resources:
            resource.close()
        self._kernels.clear()
        self._objects.clear()
        self._programs = ()

    def __enter__(self) -> KernelBundle:
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(device._label for device in self.devices)
        return f"<KernelBundle on {names}, {self.state}{'' if self._open else ', closed'}>"


def load_kernel_bundle(
    source: str | os.PathLike[str] | bytes | KernelFile,
    *where: object,
    specialization: Mapping[int | str, Any] | None = None,
    options: str = "",
    state: BundleState | str = BundleState.executable,
) -> KernelBundle:
    """Loads a module of kernels, and builds it unless asked otherwise.

    Parameters
    ----------
    source : str | os.PathLike[str] | bytes | KernelFile
        A file of ``bindless build``, of which the device's own modules are taken; or PTX or cubin on cuda, SPIR-V
        elsewhere, OpenCL C on opencl, and binaries of the driver itself on level_zero and opencl. A path, the bytes,
        or what ``build`` returned.
    specialization : Mapping[int | str, Any], optional
        Values of specialization constants by their number, or their name where the source has one. Where the source
        tells its constants, a bool, int or float of the constant's own size; else a bool has 1 byte, an int 4 (8
        where it does not fit), a float 4. numpy scalars and bytes have their own size.
    options : str, default ""
        For the driver's compiler.
    state : BundleState | str, default BundleState.executable
        ``executable``; ``input`` to build it later; ``object`` to link it with others.
    where : object
        A queue; a device and a context; or a context alone, for all its devices.

    Returns
    -------
    KernelBundle
        The bundle.

    Raises
    ------
    InvalidError
        The file cannot be read, is empty, or an argument is none of these.
    BuildError
        The module does not build, and ``log`` holds the compiler's words; or the source is damaged, or holds nothing
        that the devices run.
    FeatureNotSupportedError
        The device loads no kernels.
    """
    devices, context = where_to_load(where)
    target_state = coerce(BundleState, state, "state")
    if specialization is not None and not isinstance(specialization, Mapping):
        raise InvalidError(f"specialization={shown(specialization)}: it is a dict of numbers or names and values")
    bundle_source = BundleSource(context, read_source(source), options, devices)
    for number, value in (specialization or {}).items():
        bundle_source.set(number, value)
    bundle = KernelBundle(context, devices, BundleState.input, bundle_source)
    if target_state is BundleState.input:
        return bundle
    return bundle.compile() if target_state is BundleState.object else bundle.build()
