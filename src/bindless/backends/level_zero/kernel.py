"""Kernels: their signature, the setting of their arguments, and the shape of their launches."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError, NdRangeError
from ..common.kernel import KernelBase, kernel_of, unknown_kernel
from ..contract import KernelArgument, KernelRecord
from .device import Device
from .errors import check
from .module import Module

__all__ = ["Kernel", "Shape", "get_kernel"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL

_POINTER_SIZE = 8

# What kernels may reach by addresses that they find in memory.
_INDIRECT = (
    lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST
    | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
    | lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED
)


class Shape:
    """A range divided into work-groups.

    Attributes
    ----------
    group
        work-items of a work-group by dimension.
    count
        ze_group_count_t.
    """

    __slots__ = ("count", "group")

    def __init__(self, group: tuple[int, int, int], count: tuple[int, ...]) -> None:
        self.group = group
        self.count = ffi.new("ze_group_count_t *", count)


class Kernel(KernelBase[Shape]):
    """A kernel of a module, with the cached data of its launches.

    Attributes
    ----------
    module
        module of the kernel, which the kernel keeps alive.
    native
        ze_kernel_handle_t.
    state
        bindless_kernel_t: the kernel with its work-group, offset and arguments; C code sets them for each launch.
    name
        name of the kernel.
    properties
        ze_kernel_properties_t.
    kinds, sizes
        kind and bytes of each parameter, or None if the source does not give them.
    shapes
        shapes of earlier launches, by size.
    has_objects
        whether it has parameters that take driver objects: images or samplers.
    owned
        whether its module destroys it.
    """

    module: Module

    backend = "level_zero"

    def __init__(self, module: Module, name: str, native: CData = None, owned: bool = True) -> None:
        """Create a kernel, or adopt an existing ze_kernel_handle_t, ``native``."""
        self.module = module
        self.name = name
        self.device: Device = module.device
        self.owned = owned
        self.native = _create(module, name) if native is None else native
        try:
            check(
                lib.zeKernelSetIndirectAccess(self.native, _INDIRECT), "zeKernelSetIndirectAccess", f"kernel {name!r}"
            )
            self.properties = driver.get_properties("ze_kernel_properties_t", "zeKernelGetProperties", self.native)
            self.max_group = self._max_group()
        except BaseException:
            if native is None:
                lib.zeKernelDestroy(self.native)
            raise
        signature = module.signatures.get(name)
        parameters = None if signature is None else signature.parameters
        self.parameters = parameters
        sizes = None if parameters is None else tuple(parameter.size for parameter in parameters)
        count = int(self.properties.numKernelArgs)
        super().__init__(sizes, count if sizes is None else len(sizes))
        self.kinds = None if parameters is None else tuple(parameter.kind for parameter in parameters)
        kinds = self.kinds or ("",) * count
        self.has_objects = any(kind in _OPAQUE for kind in kinds)
        plain = [size if kind == "value" else 0 for kind, size in zip(kinds, sizes or (0,) * count)]
        offset = self.device.driver.address("zeKernelSetGlobalOffsetExp")
        self.state = ffi.gc(lib.bindless_kernel_create(self.native, offset, len(plain), plain), _forget)

    def _max_group(self) -> int:
        """Work-items of the kernel's largest work-group."""
        most = int(self.device.compute.maxTotalGroupSize)
        if "ZE_extension_kernel_max_group_size_properties" not in self.device.driver.extensions:
            return most
        limit = driver.make_struct("ze_kernel_max_group_size_properties_ext_t")
        driver.get_properties("ze_kernel_properties_t", "zeKernelGetProperties", self.native, next=limit)
        return int(limit.maxGroupSize) or most

    # ------------------------------------------------------------------ signature

    @property
    def required(self) -> tuple[int, int, int] | None:
        """The kernel's required work-group size."""
        own = self.properties
        sizes = int(own.requiredGroupSizeX), int(own.requiredGroupSizeY), int(own.requiredGroupSizeZ)
        return sizes if any(sizes) else None

    def record(self) -> KernelRecord:
        """The signature and limits."""
        arguments: tuple[KernelArgument, ...] | None = None
        if self.parameters is not None:
            arguments = tuple(
                KernelArgument(index, parameter.name, parameter.kind, parameter.size)
                for index, parameter in enumerate(self.parameters)
            )
        properties = self.properties
        return KernelRecord(
            name=self.name,
            arguments=arguments,
            max_work_group_size=self.max_group,
            local_memory_size=int(properties.localMemSize),
            private_memory_size=int(properties.privateMemSize),
            required_work_group_size=self.required,
            properties={
                "max_sub_group_size": int(properties.maxSubgroupSize),
                "compile_num_sub_groups": int(properties.requiredNumSubGroups),
                "compile_sub_group_size": int(properties.requiredSubgroupSize),
                "spill_memory_size": int(properties.spillMemSize),
            },
        )

    # ------------------------------------------------------------------ arguments

    def _most_local(self) -> int:
        return int(self.device.compute.maxSharedLocalMemory)

    def bytes_of(self, index: int, argument: bytes) -> bytes:
        """The value of an argument for the driver."""
        if self.kinds is None or self.kinds[index] not in _OPAQUE:
            return argument
        return self._opaque(index, argument)

    def _opaque(self, index: int, argument: bytes) -> bytes:
        """The driver's object of an image handle, or its sampler."""
        assert self.kinds is not None
        handle, context = int.from_bytes(argument, "little"), self.module.context
        view = context.sampled.get(handle) or context.unsampled.get(handle)
        if view is None:
            raise InvalidError(
                f"argument {index} of kernel {self.name!r}: {handle:#x} is no image of this context",
                backend="level_zero",
            )
        native = view.sampler() if self.kinds[index] == "sampler" else view.image
        return int(ffi.cast("uintptr_t", native)).to_bytes(_POINTER_SIZE, "little")

    # ------------------------------------------------------------------ shape

    def _new_shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> Shape:
        local = self._suggest(global_size) if local_size is None else local_size
        x, y, z = (*global_size, 1, 1)[:3]
        a, b, c = (*local, 1, 1)[:3]
        if len(local) != len(global_size) or min(a, b, c) < 1 or x % a or y % b or z % c:
            raise NdRangeError(f"work-group {local} does not divide the range {global_size}", backend="level_zero")
        if a * b * c > self.max_group:
            raise NdRangeError(
                f"work-group {local} has {a * b * c} work-items; kernel {self.name!r} runs with at most "
                f"{self.max_group} on {self.device.name}",
                backend="level_zero",
            )
        count, limits = (x // a, y // b, z // c), self.device.compute
        for dimension, sizes in enumerate(
            (
                (a, limits.maxGroupSizeX, count[0], limits.maxGroupCountX),
                (b, limits.maxGroupSizeY, count[1], limits.maxGroupCountY),
                (c, limits.maxGroupSizeZ, count[2], limits.maxGroupCountZ),
            )
        ):
            if sizes[0] > sizes[1] or sizes[2] > sizes[3]:
                size, most, what = (*sizes[:2], "items") if sizes[0] > sizes[1] else (*sizes[2:], "groups")
                raise NdRangeError(
                    f"range {global_size} in work-groups of {local}: {size} work-{what} in native dimension "
                    f"{dimension}, and {self.device.name} has at most {most}",
                    backend="level_zero",
                )
        return Shape((a, b, c), count)

    def _suggest(self, global_size: tuple[int, ...]) -> tuple[int, ...]:
        """The required work-group, or the driver's suggestion if it divides the range, or the largest that does."""
        sizes, required = (*global_size, 1, 1)[:3], self.required
        if required is not None:
            return required[: len(global_size)]
        if max(sizes) < 2**32:
            group = ffi.new("uint32_t[3]")
            lib.bindless_kernel_suggest_group(self.state, sizes, group)
            if group[0]:
                return tuple(group)[: len(global_size)]
        first = _divisor(global_size[0], self.max_group)
        return (first, *(1 for _ in global_size[1:]))


_OPAQUE = ("image", "sampler")
_forget = lib.bindless_kernel_destroy


def _create(module: Module, name: str) -> CData:
    """A ze_kernel_handle_t."""
    slot = ffi.new("ze_kernel_handle_t *")
    desc = driver.make_struct("ze_kernel_desc_t", pKernelName=ffi.new("char[]", name.encode()))
    result = lib.zeKernelCreate(module.native, desc, slot)
    if result == lib.ZE_RESULT_ERROR_INVALID_KERNEL_NAME:
        raise unknown_kernel(module.names(), name, "level_zero")
    check(result, "zeKernelCreate", f"kernel {name!r}")
    return slot[0]


def get_kernel(module: Module, name: str) -> Kernel:
    """A kernel of a module, the same one each time."""
    return kernel_of(module, name, lambda: Kernel(module, name), "level_zero")


def _divisor(size: int, most: int) -> int:
    """The largest divisor of a size up to ``most``."""
    return next(candidate for candidate in range(min(size, most), 0, -1) if size % candidate == 0)
