"""Kernels: launch shapes and arguments, shared by all drivers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, NoReturn, Protocol, TypeVar

from ...model.errors import InvalidError

__all__ = ["KernelBase", "Shaped", "kernel_of", "refuse_kernel", "unknown_kernel"]

_MOST_SHAPES = 1024

_Shape = TypeVar("_Shape")
_Kernel = TypeVar("_Kernel")

Sizes = tuple[int, ...]


class _Module(Protocol):
    native: Any
    kernels: dict[str, Any]

    def names(self) -> tuple[str, ...]: ...
    def close(self) -> None: ...


class Shaped(Generic[_Shape]):
    """A kernel with a cache of its launch shapes.

    Attributes
    ----------
    shapes
        ranges in the driver's form, by global and local size.
    """

    def __init__(self) -> None:
        self.shapes: dict[tuple[Sizes, Sizes | None], _Shape] = {}

    def shape(self, global_size: Sizes, local_size: Sizes | None) -> _Shape:
        """A range in the driver's form; its work-groups divide it exactly."""
        key = (global_size, local_size)
        shape = self.shapes.get(key)
        if shape is None:
            if len(self.shapes) >= _MOST_SHAPES:
                self.shapes.clear()
            shape = self.shapes[key] = self._new_shape(global_size, local_size)
        return shape

    def _new_shape(self, global_size: Sizes, local_size: Sizes | None) -> _Shape:
        """``shape`` for sizes without a cached shape; raises ``NdRangeError``."""
        raise NotImplementedError


class KernelBase(Shaped[_Shape]):
    """A kernel that checks its arguments one by one.

    Attributes
    ----------
    backend
        back end, for errors.
    name
        name of the kernel.
    device
        device of the kernel.
    module
        module of the kernel, which the kernel keeps alive.
    sizes
        bytes of each parameter, None if the source does not give them.
    count
        number of its parameters.
    """

    backend: ClassVar[str]
    name: str
    device: Any
    module: _Module

    def __init__(self, sizes: Sizes | None, count: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.count = count
        self._total = -1 if sizes is None else sum(sizes)

    def packed(self, arguments: Sequence[bytes | int]) -> bytes | None:
        """The packed arguments, if all are values with as many bytes as the parameters together; a fast path for most
        launches.
        """
        try:
            data = b"".join(arguments)  # type: ignore[arg-type]
        except TypeError:
            return None
        return data if len(data) == self._total and len(arguments) == self.count else None

    def require(self, arguments: Sequence[bytes | int]) -> None:
        """Refuse arguments that do not match the kernel's parameters.

        Raises
        ------
        InvalidError
            the count or a size differs, or the device has less local memory.
        """
        sizes = [argument if isinstance(argument, int) else len(argument) for argument in arguments]
        if len(sizes) != self.count or (
            self.sizes is not None
            and any(
                not isinstance(argument, int) and len(argument) != size for argument, size in zip(arguments, self.sizes)
            )
        ):
            needs = f"{self.count} parameters" + ("" if self.sizes is None else f" of {list(self.sizes)} bytes")
            raise InvalidError(f"kernel {self.name!r} has {needs}, the arguments have {sizes}", backend=self.backend)
        shared = sum(argument for argument in arguments if isinstance(argument, int))
        most = self._most_local() if shared else 0
        if shared > most:
            raise InvalidError(
                f"kernel {self.name!r} asks for {shared} bytes of local memory; {self.device.name} has at most {most} "
                "a work-group",
                backend=self.backend,
            )

    def _most_local(self) -> int:
        """The most bytes of local memory per work-group of the device."""
        raise NotImplementedError


def unknown_kernel(names: Iterable[str], name: str, backend: str) -> InvalidError:
    """The error of an unknown kernel name; it lists the module's kernels."""
    listed = ", ".join(names) or "none"
    return InvalidError(f"no kernel is named {name!r}; the module has kernels {listed}", backend=backend)


def refuse_kernel(kernel: Any, queue: Any) -> NoReturn:
    """Raises ``InvalidError`` for a kernel of a released module, or of another device or context than the queue."""
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend=kernel.backend)
    raise InvalidError(
        f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}, or of another "
        "context: load it there",
        backend=kernel.backend,
    )


def kernel_of(module: _Module, name: str, make: Callable[[], _Kernel], backend: str) -> _Kernel:
    """A kernel of a module, the same one each time; created by ``make`` on first use.

    Raises
    ------
    InvalidError
        the module has no kernel of that name, or was released.
    """
    if module.native is None:
        raise InvalidError(f"kernel {name!r}: the module was released", backend=backend)
    kernel: _Kernel | None = module.kernels.get(name)
    if kernel is None:
        if name not in module.names():
            raise unknown_kernel(module.names(), name, backend)
        kernel = module.kernels.setdefault(name, make())
    return kernel
