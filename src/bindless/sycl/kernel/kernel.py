"""``Kernel``: a function that runs over a range of work-items (SYCL 2020 section 4.11.13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...backends.contract import KernelArgument, KernelRecord, NativeKernel
from ...model import info
from ...model.enums import coerce
from ...model.errors import FeatureNotSupportedError, InvalidError, NdRangeError
from ...model.ranges import NdRange, RangeLike, as_range
from ...model.single_owner import SingleOwner
from .bound_launch import BoundLaunch, LaunchQueue

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device
    from .bundle import KernelBundle

__all__ = ["Kernel"]

Sizes = tuple[int, ...]


class Kernel(SingleOwner):
    """A kernel of a bundle, which it keeps alive. ``bundle.get_kernel(name)`` makes one."""

    __slots__ = ("__weakref__", "_bundle", "_context", "_device", "_local", "_native", "_parameters", "_record")

    def __init__(self, _bundle: KernelBundle, _device: Device, _native: NativeKernel, _record: KernelRecord) -> None:
        self._bundle = _bundle
        self._context: Context = _bundle.context
        self._device = _device
        self._native = _native
        self._record = _record
        self._local: Sizes | None = _record.required_work_group_size
        self._parameters: tuple[KernelArgument, ...] | None = _record.arguments

    @property
    def name(self) -> str:
        """The name of the function in its module (``info::kernel::function_name``)."""
        return self._record.name

    @property
    def bundle(self) -> KernelBundle:
        """The kernel bundle that the kernel was taken from."""
        return self._bundle

    @property
    def context(self) -> Context:
        """The context of the kernel bundle (``info::kernel::context``)."""
        return self._context

    @property
    def arguments(self) -> tuple[KernelArgument, ...] | None:
        """Its parameters as the driver reflects them, or None where the driver cannot tell."""
        return self._parameters

    def get_info(
        self, descriptor: info.kernel | info.kernel_device_specific | str, device: Device | None = None
    ) -> Any:
        """The answer to a member of ``info.kernel``, or of ``info.kernel_device_specific`` for a device.

        Parameters
        ----------
        descriptor : info.kernel | info.kernel_device_specific | str
            Its name, or the member.
        device : Device, optional
            None is the device that ``get_kernel`` chose.

        Raises
        ------
        InvalidError
            There is no such descriptor, or the device is not the bundle's.
        FeatureNotSupportedError
            The driver does not tell.
        """
        if str(descriptor) in info.kernel_device_specific.__members__:
            name = coerce(info.kernel_device_specific, descriptor, "descriptor")
            kernel = self if device is None else self._bundle.get_kernel(self.name, device)
            return _ON_DEVICE[name](kernel._record, kernel._device)
        name_ = coerce(info.kernel, descriptor, "descriptor")
        if name_ is info.kernel.function_name:
            return self.name
        if name_ is info.kernel.context:
            return self._context
        if name_ is info.kernel.num_args:
            if self._parameters is None:
                raise FeatureNotSupportedError(f"the driver does not tell how many arguments {self.name!r} takes")
            return len(self._parameters)
        required = self._record.required_work_group_size
        return f"reqd_work_group_size({', '.join(map(str, required))})" if required else ""

    def bind(self, queue: LaunchQueue, index_space: RangeLike | NdRange, *arguments: object) -> BoundLaunch:
        """A launch of this kernel, to be submitted many times: checked and packed here, and no more by ``launch()``.

        Parameters
        ----------
        queue : Queue
            The queue that runs the launches.
        index_space : Range | NdRange
            Sizes in items, as of ``Queue.parallel_for``.
        arguments : object
            As of ``Queue.parallel_for``. Arrays of other libraries are imported here, once.

        Returns
        -------
        BoundLaunch
            The launch; calling it submits.

        Raises
        ------
        KernelArgumentError, NdRangeError, InvalidError
            As of ``Queue.parallel_for``.
        """
        return BoundLaunch(queue, self, index_space, arguments)

    def _on(self, device: Device) -> Kernel:
        """This kernel for another device of its bundle.

        Raises
        ------
        InvalidError
            The bundle was not loaded for the device, or was closed.
        """
        return self if device == self._device else self._bundle.get_kernel(self.name, device)

    def _sizes(self, index_space: RangeLike | NdRange) -> tuple[Sizes, Sizes | None]:
        """Global and local size in the order of the native kernel; None leaves the local size to the backend.

        Raises
        ------
        InvalidError
            No range.
        NdRangeError
            A work-group that the kernel cannot have.
        """
        if type(index_space) is tuple and 0 < len(index_space) <= 3:
            for size in index_space:
                if type(size) is not int or size < 0:
                    break
            else:
                return index_space[::-1], self._local
        if isinstance(index_space, NdRange):
            local = tuple(reversed(tuple(index_space.local_range)))
            sizes = tuple(reversed(tuple(index_space.global_range)))
            if 0 not in sizes:  # else nothing runs, and the local size is ignored
                self._check_local(local)
            return sizes, local
        return tuple(reversed(tuple(as_range(index_space)))), self._local

    def _require_groups(self) -> None:
        """Raises ``NdRangeError`` if the kernel calls functions of work-groups, which a plain range does not have."""
        function = self._record.group_function
        if function:
            raise NdRangeError(
                f"kernel {self.name!r} calls {function}, which the work-items of a group call together, and a plain "
                "range names no work-groups: launch it over NdRange(global_range, local_range)"
            )

    def _check_local(self, local: Sizes) -> None:
        items = 1
        for size in local:
            items *= size
        record = self._record
        if record.max_work_group_size and items > record.max_work_group_size:
            raise NdRangeError(
                f"a work-group of {items} items: kernel {record.name!r} runs at most {record.max_work_group_size}"
            )
        required = record.required_work_group_size
        if required is not None and (*local, 1, 1)[:3] != (*required, 1, 1)[:3]:
            raise NdRangeError(
                f"a work-group of {tuple(reversed(local))}: kernel {record.name!r} was built for "
                f"{tuple(reversed(required))} (SYCL order)"
            )

    def _require_usable(self, context: Context) -> None:
        """Raises ``InvalidError`` if the bundle is closed or of another context."""
        self._bundle._require_open()
        if context is not self._context:
            raise InvalidError(f"kernel {self.name!r} was loaded in another context than the queue's: load it there")

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r}>"


def _sub_group_size(record: KernelRecord, device: Device) -> int:
    return record.properties.get("max_sub_group_size") or max(device.get_info("sub_group_sizes"))


def _work_group_size(record: KernelRecord, device: Device) -> int:
    return record.max_work_group_size or int(device.get_info("max_work_group_size"))


def _required_size(record: KernelRecord, _: Device) -> tuple[int, int, int]:
    x, y, z = (*(record.required_work_group_size or (0, 0, 0)), 1, 1)[:3]
    return (z, y, x)


def _registers(record: KernelRecord, device: Device) -> int:
    try:
        return record.properties["registers"]
    except KeyError:
        raise FeatureNotSupportedError(
            f"{device.name!r} does not tell how many registers kernel {record.name!r} takes",
            backend=str(device.backend),
        ) from None


_ON_DEVICE: dict[info.kernel_device_specific, Callable[[KernelRecord, Device], Any]] = {
    info.kernel_device_specific.work_group_size: _work_group_size,
    info.kernel_device_specific.compile_work_group_size: _required_size,
    info.kernel_device_specific.preferred_work_group_size_multiple: _sub_group_size,
    info.kernel_device_specific.private_mem_size: lambda record, _: record.private_memory_size,
    info.kernel_device_specific.local_mem_size: lambda record, _: record.local_memory_size,
    info.kernel_device_specific.max_num_sub_groups: lambda record, device: (
        -(-_work_group_size(record, device) // _sub_group_size(record, device))
    ),
    info.kernel_device_specific.max_sub_group_size: _sub_group_size,
    info.kernel_device_specific.compile_num_sub_groups: lambda record, _: record.properties.get(
        "compile_num_sub_groups", 0
    ),
    info.kernel_device_specific.compile_sub_group_size: lambda record, _: record.properties.get(
        "compile_sub_group_size", 0
    ),
    info.kernel_device_specific.ext_codeplay_num_regs: _registers,
}
