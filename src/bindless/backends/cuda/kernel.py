"""Kernels: their signature, the layout of their arguments, and the shape of their launches.

Local memory. A CUDA launch has one block of dynamic shared memory. The local-memory arguments of a launch are pieces of
that block in the order of the arguments; each begins at a multiple of 16 bytes. A kernel with a parameter for such an
argument receives the piece's offset in bytes from the beginning of the block (as DPC++ compiles local accessors). A
kernel with parameters for the other arguments only finds the pieces at those offsets by itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError, NdRangeError
from ..common.kernel import Shaped
from ..contract import KernelArgument, KernelRecord
from .device import Device
from .errors import SUCCESS, check
from .guarded_kernel import SMALLEST, GuardedKernel, GuardedLaunch
from .module import Module

__all__ = ["Kernel", "Shape"]

lib, ffi = driver.lib, driver.ffi

Shape = tuple[int, int, int, int, int, int]

_LOCAL_ALIGNMENT = 16
_WARP = 32
_MOST_GUARDED = 1024
_THREADS = 256  # work-items of a group whose size the caller leaves open
_OFFSET_SIZES = (4, 8)


class Kernel(Shaped[Shape]):
    """A kernel of a module, with the cached data of its launches.

    Attributes
    ----------
    module
        module of the kernel, which the kernel keeps alive.
    native
        CUfunction.
    name
        name of the kernel.
    primary
        primary context of the kernel.
    sizes
        bytes of each parameter, or None if neither the driver nor the PTX gives them.
    """

    def __init__(self, module: Module, name: str, native: CData = None) -> None:
        super().__init__()
        self.module = module
        self.name = name
        self.primary = module.primary
        self.device: Device = module.primary.device
        with module.loaded():
            self.native = module.function(name) if native is None else native
            self.max_threads = self._attribute(lib.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
            self.sizes = self._sizes()
        self._shared_limit = 48 * 1024
        self._guarded = GuardedKernel(module, name)
        self._guarded_launches: dict[tuple[int, ...], GuardedLaunch | None] = {}

    def _attribute(self, attribute: int) -> int:
        slot = ffi.new("int *")
        check(lib.cuFuncGetAttribute(slot, attribute, self.native), "cuFuncGetAttribute", f"kernel {self.name!r}")
        return int(slot[0])

    # ------------------------------------------------------------------ signature

    def _sizes(self) -> tuple[int, ...] | None:
        entry = self.module.entries.get(self.name)
        if entry is not None and entry.parameters is not None:
            return tuple(parameter.size for parameter in entry.parameters)
        if not driver.has("cuFuncGetParamInfo"):
            return None
        sizes: list[int] = []
        offset, size = ffi.new("size_t *"), ffi.new("size_t *")
        while (result := lib.cuFuncGetParamInfo(self.native, len(sizes), offset, size)) == SUCCESS:
            sizes.append(size[0])
        if result != lib.CUDA_ERROR_INVALID_VALUE:
            check(result, "cuFuncGetParamInfo", f"kernel {self.name!r}")
        return tuple(sizes)

    def record(self) -> KernelRecord:
        """The signature and limits. A binary module gives sizes only: pointers then count as values of 8 bytes."""
        entry = self.module.entries.get(self.name)
        rows: list[tuple[str, str, int]] | None = None
        if entry is not None and entry.parameters is not None:
            rows = [(parameter.name, parameter.kind, parameter.size) for parameter in entry.parameters]
        elif self.sizes is not None:
            rows = [(f"argument {index}", "value", size) for index, size in enumerate(self.sizes)]
        arguments = None if rows is None else tuple(_argument(index, *said) for index, said in enumerate(rows))
        with self.module.loaded():
            return KernelRecord(
                name=self.name,
                arguments=arguments,
                max_work_group_size=self.max_threads,
                local_memory_size=self._attribute(lib.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                private_memory_size=self._attribute(lib.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                required_work_group_size=entry.required_work_group_size if entry is not None else None,
                properties={
                    "registers": self._attribute(lib.CU_FUNC_ATTRIBUTE_NUM_REGS),
                    "constant_memory_size": self._attribute(lib.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
                    "ptx_version": self._attribute(lib.CU_FUNC_ATTRIBUTE_PTX_VERSION),
                    "binary_version": self._attribute(lib.CU_FUNC_ATTRIBUTE_BINARY_VERSION),
                },
            )

    # ------------------------------------------------------------------ arguments

    def arguments(self, arguments: Sequence[bytes | int]) -> tuple[list[bytes], int]:
        """The arguments as bytes, and the total bytes of dynamic shared memory of the local ones."""
        values: list[bytes] = []
        pieces = int in map(type, arguments)
        listed = self.sizes is None or len(self.sizes) == len(arguments) or not pieces
        shared = 0
        for argument in arguments:
            if not isinstance(argument, int):
                values.append(argument)
                continue
            shared += -shared % _LOCAL_ALIGNMENT
            if listed:
                size = self.sizes[len(values)] if self.sizes is not None else 4
                if size not in _OFFSET_SIZES:
                    raise InvalidError(
                        f"argument {len(values)} of kernel {self.name!r} is a parameter of {size} bytes: local memory "
                        "is passed as an offset of 4 or 8 bytes",
                        backend="cuda",
                    )
                values.append(shared.to_bytes(size, "little"))
            shared += argument
        return values, shared

    # ------------------------------------------------------------------ shape

    def _new_shape(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> Shape:
        """Blocks and threads of a launch, by dimension; work-groups divide the range exactly."""
        local = self._suggest(global_size) if local_size is None else local_size
        sizes = (*global_size, 1, 1)[:3]
        block = (*local, 1, 1)[:3]
        if len(local) != len(global_size) or [b for n, b in zip(sizes, block) if b < 1 or n % b]:
            raise NdRangeError(f"work-group {local} does not divide the range {global_size}", backend="cuda")
        if block[0] * block[1] * block[2] > self.max_threads:
            raise NdRangeError(
                f"work-group {local} has {block[0] * block[1] * block[2]} work-items; kernel {self.name!r} runs with "
                f"at most {self.max_threads} on {self.device.name}",
                backend="cuda",
            )
        grid = sizes[0] // block[0], sizes[1] // block[1], sizes[2] // block[2]
        most = self.device.launch_limits
        for what, counts, limits in (("work-items", block, most[:3]), ("work-groups", grid, most[3:])):
            for dimension, (size, limit) in enumerate(zip(counts, limits)):
                if size > limit:
                    raise NdRangeError(
                        f"range {global_size} in work-groups of {local}: {size} {what} in native dimension "
                        f"{dimension}, "
                        f"and {self.device.name} has at most {limit}",
                        backend="cuda",
                    )
        return (*grid, *block)  # type: ignore[return-value]

    def _suggest(self, global_size: tuple[int, ...]) -> tuple[int, ...]:
        """A work-group size that divides the range: enough work-items to fill the device, whole warps along rows.

        The occupancy of several smaller work-groups is that of one large one, and they end earlier.
        """
        entry = self.module.entries.get(self.name)
        if entry is not None and entry.required_work_group_size is not None:
            return entry.required_work_group_size[: len(global_size)]
        most = self._usual_items()
        if len(global_size) == 1:
            return (_divisor(global_size[0], most),)
        row = _divisor(global_size[0], min(_WARP, most))
        return (row, _divisor(global_size[1], max(most // row, 1)), *(1 for _ in global_size[2:]))

    def _usual_items(self) -> int:
        """Work-items of a group of an open size, divisors left aside."""
        blocks, threads = ffi.new("int *"), ffi.new("int *")
        with self.module.loaded():
            result = lib.cuOccupancyMaxPotentialBlockSize(blocks, threads, self.native, ffi.NULL, 0, 0)
        return min(threads[0] if result == SUCCESS else _THREADS, _THREADS, self.max_threads)

    def guarded(self, global_size: tuple[int, ...]) -> GuardedLaunch | None:
        """A launch in groups of the usual size over a range that only small groups divide; None for other ranges, and
        for a kernel that could observe the difference.
        """
        if math.prod(global_size) < SMALLEST:
            return None
        if global_size in self._guarded_launches:
            return self._guarded_launches[global_size]
        launch, (width, height, _) = None, (*global_size, 1, 1)[:3]
        usual = self._usual_items()
        if GuardedKernel.serves(self._suggest(global_size), usual):
            row = min(usual if len(global_size) == 1 else _WARP, usual, width)
            launch = self._guarded.launch(global_size, (row, min(usual // row, height), 1))
        if launch is not None and any(map(operator.gt, launch.shape[:3], self.device.launch_limits[3:])):
            launch = None
        if len(self._guarded_launches) >= _MOST_GUARDED:
            self._guarded_launches.clear()
        self._guarded_launches[global_size] = launch
        return launch

    # ------------------------------------------------------------------ shared memory

    def allow_shared(self, shared: int) -> None:
        """Raise the kernel's limit of dynamic shared memory if it is too low; the context is current."""
        if shared > self._shared_limit:
            most = self.device.attribute(lib.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            if shared > most:
                raise InvalidError(
                    f"kernel {self.name!r} asks for {shared} bytes of local memory; {self.device.name} has at most "
                    f"{most} a work-group",
                    backend="cuda",
                )
            check(
                lib.cuFuncSetAttribute(self.native, lib.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
                "cuFuncSetAttribute",
                f"{shared} bytes of local memory",
            )
            self._shared_limit = shared


def _argument(index: int, name: str, kind: str, size: int) -> KernelArgument:
    return KernelArgument(index, name, kind, size, may_be_local=kind == "value" and size in _OFFSET_SIZES)


def _divisor(size: int, most: int) -> int:
    """The largest divisor of a size up to ``most``, a multiple of 32 if there is one."""
    most = min(size, most)
    for candidate in range(most - most % 32, 0, -32):
        if size % candidate == 0:
            return candidate
    return next(candidate for candidate in range(most, 0, -1) if size % candidate == 0)
